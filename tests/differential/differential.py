#!/usr/bin/env python3
"""Compare Classmate with the reference on random expressions and ads. See README.md beside this file."""
import argparse
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from random import Random
from xml.etree import ElementTree

from ads import AdTexts
from expressions import Generator
from functions import FUNCTIONS
from reference import environment
from shrink import Shrinker

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SLOW = 60  # seconds that a batch may take
HANG = 10  # seconds that one case may take

# Differences that are meant: the entry of QUIRKS.md that says why, and whether a shrunk case, with the reference's and
# Classmate's answers, is one.
KNOWN = []


def known(entry):
    def register(test):
        KNOWN.append((entry, test))
        return test
    return register


def shown(answer, part="text"):
    return str((answer.get("value") or {}).get(part, ""))


# What makes lists that the reference tells from written ones.
MADE = r"(split\w*|argsToList|evalInEachContext|userMap)\s*\(|\]\s*\)*\s*\["
# A text that is not written where it stands: a name, a call, an operator, more than one literal.
STRING = r'"(?:\\.|[^"\\])*"'


@known("Q1")
def written_and_computed(case, reference, classmate):
    """`{1} =?= split("1")` is false in the reference; here identity of lists is always an error."""
    return (shown(reference, "type") == "boolean" and shown(classmate) == "error"
            and re.search(r"=\?=|=!=|\bisn?t?\b|identicalMember", text_of(case), re.I) is not None and re.search(MADE, text_of(case), re.I) is not None)


@known("Q2")
def computed_duration(case, reference, classmate):
    """`relTime` of a computed string reads stale memory: mostly zero."""
    computed = re.search(r"relTime\s*\(", text_of(case), re.I) is not None
    tested = re.search(r"isError\s*\(\s*relTime\s*\(", text_of(case), re.I) is not None
    empty = '""' in text_of(case) and shown(reference) != "error"
    return (computed and (shown(reference, "type") == "reltime" or empty) and shown(classmate) == "error"
            or tested and (shown(reference), shown(classmate)) == ("false", "true"))


@known("Q49")
def match_ad_as_a_context(case, reference, classmate):
    """`evalInEachContext(x + 0, { parent })`: the ad around a match, as an element."""
    return (re.search(r"evalInEachContext|countMatches", text_of(case), re.I) is not None
            and re.search(r"\{[^{}]*\bparent\b", text_of(case), re.I) is not None)


@known("Q16")
def newer_patterns(case, reference, classmate):
    """`\\K` in assertions, lookbehind with groups of differing lengths, names of properties."""
    patterns = re.findall(STRING, text_of(case))
    return (any(re.search(r"\(\?<?[=!].*\\\\K|\(\?<[=!][^)]*\([^)]*\||\\\\[pP]\{|\(\*LIMIT_|\\\\c", pattern) for pattern in patterns)
            and re.search(r"regexp|replace|unresolved", text_of(case), re.I) is not None)


@known("Q18")
def repeated_token(case, reference, classmate):
    """`(( 1)/*`: the token before an unterminated comment counts twice in a full parse."""
    text = re.sub(STRING, "", case.get("expr", ""))
    return ("/*" in re.sub(r"/\*.*?\*/", "", text, flags=re.S) and reference.get("full_parse") is True and classmate.get("parse") is False) or (
        re.search(r"eval\s*\(", text, re.I) is not None and "/*" in text_of(case) and shown(classmate) == "error")


@known("Q19")
def endless_projection(case, reference, classmate):
    """`[a = {a.d}].a[0]`: the reference gives something when it runs out of depth, or overflows its stack."""
    return shown(classmate) == "error" and re.search(r"\b(\w+)\s*=\s*[^;]*\{[^;]*\b\1\b", text_of(case), re.I) is not None


@known("Q11")
def year_out_of_range(case, reference, classmate):
    """Years that do not fit in 32 bits: the reference shows what is left of other calls."""
    years = [abs(int(year)) for year in re.findall(r"Year = (-?\d+)", shown(reference))] + [abs(int(year)) for year in re.findall(r"-?\d{6,}", shown(reference))]
    return shown(classmate) == "error" and re.search(r"splitTime|formatTime", text_of(case), re.I) is not None and any(year > 10 ** 6 for year in years)


@known("Q20")
def leaked_depth(case, reference, classmate):
    """Very long chains only."""
    return shown(reference, "failed") == "True" and re.search(r"strcat|join", text_of(case), re.I) is not None and len(text_of(case)) > 1000


@known("Q21")
def aborted_detection(case, reference, classmate):
    """The reference ends the process."""
    return case.get("format") == "fileauto" and reference.get("died", False)


@known("Q12")
def json_escape(case, reference, classmate):
    """Escapes of JSON above `\\u007f`."""
    return case.get("format") in ("json", "jsonl", "fileauto", "auto") and re.search(r"\\u(?!00[0-7])[0-9a-f]{4}", case.get("input", ""), re.I) is not None


@known("Q28")
def damaged_xml(case, reference, classmate):
    """XML that is cut or damaged: a bare `&` may swallow tags, and how far the reference has looked ahead decides whether it reports an error."""
    text = case.get("input", "")
    if case.get("format") not in ("xml", "fileauto") or "<" not in text:
        return False
    try:
        ElementTree.fromstring("<ads>%s</ads>" % re.sub(r"<[?!][^>]*>|</?classads>", "", text))
    except ElementTree.ParseError:
        return True
    return re.search(r"<(\w+)[^>]*>\s*<(?!/\1|a |i>|r>|s>|s/|b |un/|er/|at>|rt>|e>|l>|c>)", text) is not None


@known("Q28")
def damaged_text(case, reference, classmate):
    """Text that is no ad: whether it says that it read to the end, and what it makes of a bracket or comment that is not closed."""
    text = case.get("input", "")
    if reference.get("died") or "crash" in classmate or "input" not in case:
        return False
    told = reference.get("ads") == classmate.get("ads") and reference.get("ok") != classmate.get("ok")
    unclosed = text.count("[") > text.count("]") or text.rfind("/*") > text.rfind("*/")
    return told or unclosed


def text_of(case):
    return " ".join(str(case.get(key) or "") for key in ("expr", "my", "target", "input"))


class Pair:
    """The two programs, fed with files of cases."""

    def __init__(self, binary, mode, kind, folder):
        self.binary, self.mode, self.kind, self.folder = binary, mode, kind, folder
        self.worker = None
        self.batch = 0
        self.ran = 0
        self.deaths = []
        self.slow = SLOW

    def start(self):
        self.worker = subprocess.Popen([sys.executable, os.path.join(HERE, "reference.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env=environment(self.mode), text=True)

    def stop(self):
        if self.worker:
            self.worker.kill()
            self.worker.wait()
            self.worker = None

    def request(self, how, source, sink, kind=None):
        if self.worker is None or self.worker.poll() is not None:
            self.start()
        try:
            self.worker.stdin.write("\t".join([kind or self.kind, how, source, sink]) + "\n")
            self.worker.stdin.flush()
        except BrokenPipeError:
            pass

    def wait(self, seconds):
        """Whether the worker finished its request; a worker that did not is gone."""
        ready, _, _ = select.select([self.worker.stdout], [], [], seconds)
        if ready and self.worker.stdout.readline() == "done\n":
            return True
        self.stop()
        return False

    def reference(self, lines, how="fast", kind=None):
        """The reference's answers, None for a case it did not survive."""
        source, sink = (os.path.join(self.folder, "reference." + end) for end in ("in", "out"))
        answers = []
        while len(answers) < len(lines):
            rest = lines[len(answers):]
            write(source, rest)
            self.request(how, source, sink, kind)
            if self.wait(self.slow if how == "fast" else HANG + len(rest) / 100):
                got = read(sink)
                answers.extend(got[: len(rest)])
                answers.extend([None] * (len(rest) - len(got)))
            elif how == "fast":
                how = "careful"
            else:
                got = [line for line in read(sink)][: len(rest) - 1]
                answers.extend(got)
                if len(lines) > 500:
                    self.deaths.append(lines[len(answers)])
                answers.append(None)
        return answers

    def classmate(self, lines):
        """Classmate's answers; a crash or a hang is a finding of its own."""
        source, sink = (os.path.join(self.folder, "classmate." + end) for end in ("in", "out"))
        write(source, lines)
        return self.collect(self.launch(source, sink), lines, sink)

    def launch(self, source, sink):
        with open(source, "rb") as cases, open(sink, "wb") as answers:
            return subprocess.Popen([self.binary, "conform", self.kind], stdin=cases, stdout=answers, stderr=subprocess.PIPE)

    def collect(self, process, lines, sink):
        try:
            _, errors = process.communicate(timeout=self.slow)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            errors = b"hangs"
        answers = read(sink)
        if process.returncode == 0 and len(answers) == len(lines):
            return answers
        if len(lines) == 1:
            return [json.dumps({"crash": errors.decode(errors="replace")[-300:]})]
        half = len(lines) // 2
        return self.classmate(lines[:half]) + self.classmate(lines[half:])

    def begin(self, lines):
        """Starts a batch; `finish` gets its answers."""
        source, theirs, ours = (os.path.join(self.folder, "batch%d.%s" % (self.batch % 2, end)) for end in ("in", "reference", "classmate"))
        self.batch += 1
        write(source, lines)
        self.request("fast", source, theirs)
        return lines, theirs, ours, self.launch(source, ours)

    def finish(self, batch):
        lines, theirs, ours, process = batch
        mine = self.collect(process, lines, ours)
        self.ran += len(lines)
        if self.wait(self.slow):
            answers = read(theirs)
        else:
            answers = self.reference(lines, "careful")
        return answers, mine

    def both(self, cases, how="careful"):
        """Answers of both to a few cases, as objects."""
        lines = [json.dumps({**case, "id": 0}) for case in cases]
        answers = [(parsed(theirs), parsed(ours)) for theirs, ours in zip(self.reference(lines, how), self.classmate(lines))]
        return [({"undecodable": True}, ours) if CLOCK.search(line) else (theirs, ours) for line, (theirs, ours) in zip(lines, answers)]


    def crashes(self, cases):
        """Answers of Classmate alone to a few cases: whatever the reference says of them, a crash is a bug."""
        return [({}, parsed(ours)) for ours in self.classmate([json.dumps({**case, "id": 0}) for case in cases])]


def write(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def read(path):
    with open(path, encoding="ascii") as file:
        text = file.read()
    return text[: text.rfind("\n") + 1].splitlines()


def parsed(line):
    try:
        return {"died": True} if line is None else json.loads(line)
    except ValueError:
        return {"undecodable": True} if line.endswith('"not text"}') else {"crash": "no JSON: " + line[:200]}


CRASH = "classmate crashes"


def number(value):
    return float(value) if isinstance(value, (int, float)) else value


# Calls whose answer depends on the moment; a generated call never is one, a broken or shrunk text may become one.
CLOCK = re.compile(r"(?:\b(?:absTime|formatTime|time|currentTime|dayTime|random)\s*\([^\w\"]*\)|\bCurrentTime\b|\brandom\b)", re.I)


def difference(reference, classmate):
    """What the two answers differ in, as a short signature; None if they agree."""
    if "crash" in classmate:
        return CRASH
    if reference.get("died") or reference.get("undecodable") or reference.get("ads") == "not text":
        return None
    if "malformed" in reference or "malformed" in classmate:
        return None if ("malformed" in reference) == ("malformed" in classmate) else "ad"
    for key in ("parse", "full_parse", "unparsed", "ok"):
        if reference.get(key) != classmate.get(key):
            return "%s %s/%s" % (key, reference.get(key), classmate.get(key)) if key != "unparsed" else key
    theirs, ours = reference.get("value"), classmate.get("value")
    if theirs != ours:
        theirs, ours = theirs or {}, ours or {}
        if {**theirs, "seconds": 0} == {**ours, "seconds": 0} and number(theirs.get("seconds")) == number(ours.get("seconds")):
            return None
        if theirs.get("seconds") != theirs.get("seconds"):  # NaN: its text is that of a conversion
            return None if ours.get("seconds") != ours.get("seconds") else "value nan"
        kinds = [str(value.get("type")) + (" failed" if value.get("failed") else "") for value in (theirs, ours)]
        return "value %s/%s" % tuple(kinds)
    theirs, ours = reference.get("ads"), classmate.get("ads")
    if theirs != ours:
        if len(theirs or ()) != len(ours or ()):
            return "ads %d/%d" % (min(len(theirs or ()), 2), min(len(ours or ()), 2))
        columns = [key for one, other in zip(theirs, ours) for key in one if one[key] != other.get(key)]
        return "ads " + (columns[0] if columns else "?")
    return None


class Findings:
    """Differences, shrunk and grouped."""

    def __init__(self, most):
        self.groups = {}
        self.signatures = Counter()
        self.unshrunk = Counter()
        self.most = most

    def add(self, pair, cases):
        """Takes cases whose fast answers differed; returns those that really do."""
        different = []
        for start in range(0, len(cases), 500):
            some = cases[start:start + 500]
            for case, (reference, classmate) in zip(some, pair.both(some)):
                signature = difference(reference, classmate)
                if signature:
                    different.append((len(text_of(case)), case, signature))
        for _, case, signature in sorted(different, key=lambda item: item[0]):
            self.signatures[signature] += 1
            if self.signatures[signature] > self.most:
                self.unshrunk[signature] += 1
                continue
            small = Shrinker(pair.crashes if signature == CRASH else pair.both, difference).shrink(case, signature)
            (reference, classmate), = pair.both([small])
            self.file(small, signature, reference, classmate)
        return len(different)

    def file(self, case, signature, reference, classmate):
        entry = next((entry for entry, test in KNOWN if test(case, reference, classmate)), None)
        words = re.sub(r'"(?:\\.|[^"\\])*"', '"', text_of(case))
        features = sorted(set(re.findall(r"[A-Za-z_]\w*(?=\s*\()|=\?=|=!=|[<>=!&|]{2,3}|[-+*/%<>^~?.\[{!&|]", words)))
        key = (signature, entry, " ".join(features))
        size = len(text_of(case))
        if key not in self.groups or size < self.groups[key][0]:
            count = self.groups.get(key, (0, 0))[1]
            self.groups[key] = (size, count + 1, {**case, **{k: v for k, v in reference.items() if k != "id"}}, classmate)
        else:
            size, count, record, found = self.groups[key]
            self.groups[key] = (size, count + 1, record, found)

    def unexplained(self):
        return [key for key in self.groups if key[1] is None]

    def records(self):
        for at, (key, (_, count, record, found)) in enumerate(sorted(self.groups.items(), key=lambda item: (item[0][1] or "", item[0][0], item[1][0]))):
            found = {k: v for k, v in found.items() if k != "id"}
            yield {"id": "differential-%04d" % (at + 1), "area": "differential", **record, "difference": key[0], "quirk": key[1], "times": count, "found": found}


def missing_functions(pair):
    """Functions that this build of Classmate does not answer as the reference does in the simplest call."""
    probes = [(name, call) for name, _, call in FUNCTIONS if call]
    answers = pair.both([{"mode": pair.mode, "expr": call} for _, call in probes])
    return {name for (name, _), (reference, classmate) in zip(probes, answers) if shown(classmate, "type") == "error" != shown(reference, "type")}


def run_eval(options, random, folder, findings):
    """Random expressions; returns how many ran."""
    modes = ["htcondor", "strict"] if options.mode == "both" else [options.mode]
    began, lanes = time.monotonic(), []
    for mode in modes:
        os.makedirs(os.path.join(folder, mode), exist_ok=True)
        pair = Pair(options.binary, mode, "eval", os.path.join(folder, mode))
        missing = missing_functions(pair)
        if missing:
            print("functions left out, this build does not know them (%s): %s" % (mode, " ".join(sorted(missing))), file=sys.stderr)
        generator = Generator(random, mode, [function for function in FUNCTIONS if function[0] not in missing], missing)
        lanes.append((pair, generator))

    def accepted(pair):
        return lambda ads: [reference.get("parse") and classmate.get("parse") for reference, classmate in pair.both([{"expr": ad, "mode": pair.mode} for ad in ads], "fast")]

    quote, escape = json.encoder.encode_basestring_ascii, None
    done = round_number = 0
    pending = None
    types = Counter()

    def settle(pending):
        nonlocal done
        pair, generator, lines, batch, texts = pending
        theirs, ours = pair.finish(batch)
        differing = []
        find = TYPE.search
        for at, (reference, classmate) in enumerate(zip(theirs, ours)):
            if reference == classmate:
                match = find(reference)
                if match:
                    shape = match.group(1)
                    types[shape] += 1
                    generator.keep(texts[at], shape)
                else:
                    types["syntax error"] += 1
            elif reference is not None and not reference.endswith('"not text"}') or '"crash"' in classmate:
                if difference(parsed(reference), parsed(classmate)):
                    differing.append({k: v for k, v in json.loads(lines[at]).items() if k != "id"})
        done += len(lines)
        if differing:
            findings.add(pair, differing)

    escape = quote
    while True:
        over = (options.seconds and time.monotonic() - began >= options.seconds) or (options.count and done >= options.count)
        if not over:
            pair, generator = lanes[1 if len(lanes) > 1 and round_number % 4 == 3 else 0]
            if round_number % 16 < len(lanes) + 2:
                if pending:
                    settle(pending)
                    pending = None
                generator.refresh(accepted(pair))
            lines, texts = [], []
            head = ',"mode":"%s","syntax":"new","expr":' % pair.mode
            old = ',"mode":"%s","syntax":"old","expr":' % pair.mode
            chance, expression, contexts = random.random, generator.expression, generator.contexts
            for at in range(options.batch):
                text = expression()
                context = contexts[int(chance() * len(contexts))][2]
                if chance() < 0.08 and "\n" not in text and "\r" not in text:
                    lines.append('{"id":%d%s%s%s}' % (at, old, escape(text), context))
                else:
                    lines.append('{"id":%d%s%s%s}' % (at, head, escape(text), context))
                texts.append(text)
            round_number += 1
        if pending:
            settle(pending)
            pending = None
        if over:
            break
        pending = (pair, generator, lines, pair.begin(lines), texts)
        if options.progress and round_number % 20 == 0:
            print("%d expressions, %.0f a second, %d groups of differences" % (done, done / (time.monotonic() - began), len(findings.groups)), file=sys.stderr)
    seconds = time.monotonic() - began
    for pair, _ in lanes:
        tell_deaths(pair)
        pair.stop()
    print("%d expressions in %.1f s, %.0f a second; values: %s" % (done, seconds, done / seconds, ", ".join("%s %d" % pair for pair in types.most_common())), file=sys.stderr)
    return done


def tell_deaths(pair):
    if pair.deaths:
        print("the reference did not survive %d cases, such as %s" % (len(pair.deaths), min(pair.deaths, key=len)[:400]), file=sys.stderr)


TYPE = re.compile(r'"value":\{"type":"([a-z]+)"')


def run_ads(options, random, folder, findings):
    """Random texts of whole ads in every format; returns how many ran."""
    began, done = time.monotonic(), 0
    pair = Pair(options.binary, "htcondor", "ads", folder)
    texts = AdTexts(random, FUNCTIONS)
    while not (options.seconds and time.monotonic() - began >= options.seconds) and not (options.count and done >= options.count):
        inputs = [json.dumps({"input": text}) for text in texts.ads(200)]
        shown_ads = [json.loads(line or "null") for line in pair.reference(inputs, kind="show")]
        cases = [case for ad in shown_ads if ad for case in texts.cases(ad)]
        lines = [json.dumps({"id": at, "mode": "htcondor", **case}) for at, case in enumerate(cases)]
        theirs, ours = pair.reference(lines), pair.classmate(lines)
        differing = [{"mode": "htcondor", **case} for case, reference, classmate in zip(cases, theirs, ours) if reference != classmate and difference(parsed(reference), parsed(classmate))]
        done += len(lines)
        if differing:
            findings.add(pair, differing)
    tell_deaths(pair)
    pair.stop()
    print("%d texts of ads in %.1f s" % (done, time.monotonic() - began), file=sys.stderr)
    return done


def replay(options, folder, findings):
    """The cases of a file."""
    done = 0
    with open(options.cases, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file if line.strip()]
    for mode in ("htcondor", "strict"):
        some = [{k: case[k] for k in ("mode", "syntax", "expr", "my", "target", "format", "input") if case.get(k) is not None} for case in cases if case.get("mode", "htcondor") == mode]
        if some:
            os.makedirs(os.path.join(folder, mode), exist_ok=True)
            pair = Pair(options.binary, mode, options.kind, os.path.join(folder, mode))
            findings.add(pair, some)
            pair.stop()
            done += len(some)
    print("%d cases" % done, file=sys.stderr)
    return done


def default_binary():
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    found = [path for path in (os.path.join(target, profile, "classmate") for profile in ("release", "debug")) if os.path.exists(path)]
    return max(found, key=os.path.getmtime) if found else os.path.join(target, "release", "classmate")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="where the random sequence begins (default: a new one, printed)")
    parser.add_argument("--count", type=int, default=0, help="how many cases, rounded up to batches")
    parser.add_argument("--seconds", type=float, default=0, help="how long (default 60 when --count is not given)")
    parser.add_argument("--binary", default=default_binary(), help="the classmate to test (default: the newest build)")
    parser.add_argument("--mode", choices=["htcondor", "strict", "both"], default="both")
    parser.add_argument("--kind", choices=["eval", "ads"], default="eval")
    parser.add_argument("--cases", help="compare the cases of this file of JSON lines instead of random ones")
    parser.add_argument("--report", help="write the differences to this file instead of standard output")
    parser.add_argument("--batch", type=int, default=4000, help=argparse.SUPPRESS)
    parser.add_argument("--shrink", type=int, default=12, help="how many differences of one signature are shrunk")
    parser.add_argument("--progress", action="store_true")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        subprocess.run([sys.executable, "-c", "import classad2, htcondor2"], check=True, env=environment("htcondor"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        print("skipped: the reference is not installed here (pip install htcondor==25.14.1)")
        return 0
    if not os.path.exists(options.binary):
        print("no classmate at %s: build it, or name one with --binary" % options.binary, file=sys.stderr)
        return 2
    if not options.count and not options.seconds:
        options.seconds = 60
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
    print("seed %d, %s" % (seed, options.binary), file=sys.stderr)
    findings = Findings(options.shrink)
    with tempfile.TemporaryDirectory(prefix="differential") as folder:
        if options.cases:
            replay(options, folder, findings)
        elif options.kind == "ads":
            run_ads(options, Random(seed), folder, findings)
        else:
            run_eval(options, Random(seed), folder, findings)
    records = [json.dumps(record) for record in findings.records()]
    if options.report:
        with open(options.report, "w", encoding="ascii") as file:
            file.writelines(record + "\n" for record in records)
    else:
        for record in records:
            print(record)
    for signature, count in findings.unshrunk.items():
        print("%d more differences like `%s` were not shrunk" % (count, signature), file=sys.stderr)
    unexplained = findings.unexplained()
    print("%d groups of differences, %d of them not in QUIRKS.md" % (len(findings.groups), len(unexplained)), file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
