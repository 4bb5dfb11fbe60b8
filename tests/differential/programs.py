#!/usr/bin/env python3
"""Compare the Python module classmate.classad2 with HTCondor's classad2 on random programs.

    programs.py [--count 20000] [--seed 1] [--module classmate.classad2] [--seconds S]

A program is a list of statements with hostile arguments over a few variables; each statement's outcome (value, exception,
message) is compared, up to the first difference. Both modules run in processes of their own, forked for every batch, so that
a crash costs one program. Printed are the differences, then `N programs, N statements, N differ, N crashes of the reference`.
Exit status 1 if something differs that is not meant to, or Classmate crashes.
"""
import argparse
import ast
import contextlib
import datetime
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from random import Random

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
NUMBER = re.compile(r"\b\d{10}\b")
# Messages that the reference words itself; others are those of the interpreter.
WORDED = {"Unable to parse string into a ClassAd.", "Unable to parse input stream into a ClassAd.",
          "Unable to convert Python object to a ClassAd expression.", "Insert(key, v) failed", "ClassAd keys are strings",
          "scope must be a ClassAd", "target must be a ClassAd", "expr must be an ExprTree", "ad must be a ClassAd",
          "input must be None, str, or dict", "failed to evaluate expression", "Invalid string to unquote",
          "String does not parse to a ClassAd literal", "ClassAd literal is not a string value", "Unable to flatten expression.",
          "Unable to determine external references.", "Unable to determine internal references.",
          "Can not look ahead in stream; you must explicitly specify a parser.", "embedded null character"}

PRELUDE = '''
import copy, datetime, decimal, enum, io, os, pickle, tempfile, collections, types
from classad2 import *
class Raises:
    def __iter__(self): yield 1; raise KeyError("stop")
class Old:
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return i
class Items:
    def __getitem__(self, i): return 1
    def items(self): return [("p", 1), ("Q", "x")]
class BadItems:
    def __getitem__(self, i): raise IndexError
    def items(self): return 5
class RaisingItems:
    def __getitem__(self, i): raise IndexError
    def items(self): raise RuntimeError("no items")
class SubStr(str): pass
class SubInt(int): pass
class SubFloat(float): pass
class SubDict(dict): pass
class SubAd(ClassAd): pass
class Color(enum.Enum): RED = 1
class Num(enum.IntEnum): TWO = 2
def gen(*v): yield from v
def file(text, newline=""):
    path = tempfile.mktemp()
    with open(path, "w", encoding="utf-8", newline=newline) as f: f.write(text)
    f = open(path, encoding="utf-8", newline=newline); os.unlink(path)
    return f
def after(f, parser):
    a = parseNext(f, parser)
    return a, f.tell()
'''

NAMES = ["a", "b", "c", "A", "Cpus", "cpus", "n", "l", "x y", "true", "é", "my", "TARGET", "requirements", "Requirements", "rank", "zz", "parent", "error"]
KEYS = [repr(name) for name in NAMES] + ["''", "5", "None", "b'a'", "'a\\0'", "'\\ud800'", "SubStr('b')", "1.5", "('a',)", "'x' * 300"]
TEXTS = ["1", "a", "a + 1", "a + b", "MY.a", "TARGET.a", "TARGET.b > 0", "x.y", "n.b", "l[0]", "l[5]", "{1, a}", "{}", "[q = a]", "[]", "true", "false", "undefined", "error", "-5",
         "-(5)", "(1)", "1.5", "1e400", '"x"', '"\\303\\251"', '"\\377"', '"a" "b"', "a ? b : c", "a ?: 7", "a is undefined", "a =?= b", "!a", "!true", "true && a", "a || true", "strcat(a, b)",
         "absTime(0)", 'absTime("2020-01-02T03:04:05+01:00")', "relTime(90)", 'relTime("1:30")', "absTime(253402300800)", "size(l)", "size(MY)", "member(1, l)", "split(\"a b\")", "time() > 0", "int(\"12\")",
         "isUndefined(a)", "isError(1/0)", "1/0", "1 % 0", "9223372036854775807 + 1", "1 +", "", "a; b = 2", "1] junk", "a // c", "/* c */ a", "5 = 6", "'x y' + 1", ".a", "parent.a", "requirements", "circle",
         "stringListMember(\"a\", \"a,b\")", "evalInEachContext(b, {n, [b = 3]})", "eval(\"a\")", "substr(\"abc\", 1)", "regexp(\"^a\", \"abc\")", "ifThenElse(a, b, c)", "nosuch(1)", "a.b.c", "[a = 1].a",
         "[a = [b = c]; c = 5].a.b", "quantize(5, 4)", "7 == \"7\"", "\"a\" < 1", "string(1.5)", "unparse(a)", "toplevel.a", "self", "MY", "CurrentTime > 0", "anyCompare(\">\", l, 0)", "1 <=> 2", "a b", "{1,,2}",
         "f(", "\"unclosed", "0x10", "010", "1.", ".5", "1e", "a\\0b", "user", "other.a", "debug(a)", "interval(90)", "join(\",\", l)", "max({1, 2.5})", "sum({})", "real(\"NaN\")", "real(\"-INF\")"]
ADS = ["[a = 1; b = a + 1]", "[]", "[a = 1; A = 2]", "[n = [b = 5; c = parent.a]; a = 7]", "[l = {1, a, \"x\"}; a = 2]", "[requirements = TARGET.a > 0; a = 1]", "[requirements = true; a = 1; rank = 5]",
       "[requirements = TARGET.b is undefined; b = 2]", "[circle = circle + 1; a = circle]", "['x y' = 1; 'true' = 2; true1 = TRUE]", "[a = \"é\"; b = \"\\377\"]", "[requirements = 1.5]", "[requirements = \"x\"]",
       "[requirements = relTime(1)]", "[requirements = absTime(5)]", "[requirements = a; a = TARGET.c]", "[t = absTime(\"2020-01-02T03:04:05Z\"); r = relTime(\"1:30\"); u = undefined; e = error]",
       "[a = 1", "a = 1", "[a = ]", "[a = 1;; b = 2;]", " // c\n[a = 1]", "[a = 1] trailing", "{[a = 1]}", "[a = 1, b = 2]", "", "[zz = 1; b = 2; aaa = 3; B2 = 4]", "[x = 1.0; y = 0.1; z = -0.0; w = 1e300]",
       "[f = strcat(\"a\", 'x y'); g = { [h = 1], { } }]"]
STREAMS = ["a = 1\nb = \"x\"\n\nc = 2\n", "a = 1", "a = 1\n", "", "\n", "\n\n", "[a = 1]", "[a = 1]\n[b = 2]\n", "[a = 1][b = 2]", "[a = 1], [b = 2]", "{[a = 1], [b = 2]}", "[\n a = 1;\n]\n[\n b = 2\n]\n", "# c\na = 1\n",
           "// c\n[a = 1]\n", "bad line\nb = 1\n\nc = 2\n", "a = 1\nbad\nb = 2\n\nc = 3\n", "a = 1; b = 2\n", "[a = 1", "[a = ] [b = 1]", "[]", "[][b = 1]", "[]\n\n[b = 1]\n", "x", "x y", "{\"a\": 1}", "{\"a\": 1}\n{\"b\": 2}\n",
           "[{\"a\": 1},{\"b\": 2}]", "[\n{\"a\": 1}\n,\n{\"b\": 2}\n]\n", "{\"a\": [1, null, true, {\"b\": \"\\/Expr(x + 1)\\/\"}]}", "{\"a\": }", "{}", "<c><a n=\"a\"><i>1</i></a></c>\n<c><a n=\"b\"><s>x</s></a></c>\n",
           "<classads>\n<c><a n=\"a\"><e>x + 1</e></a></c>\n</classads>\n", "<c></c>", "<c><a n=\"a\"><i>1</a></c>", "a = 1\n \nb = 2\n", "a = \"é\"\n\nb = 日\n", "a = \"x\\\"y\"\nb = \"c:\\\"\n", "a = 1\r\nb = 2\r\n\r\nc = 3\r\n",
           "A = 1\na = 2\n\nA = 3\n", "[a = 1]\n// c\n\n[b = 2]", "---\na = 1\n", "*** x\n", "a = 1 +\nb = 2\n", "[a = 1]junk\n[b = 2]", "a\0b = 1\n", "a = [b = 1]\nl = {1, 2}\n", "'a b' = 1\n", "a = 1\n\n\n\nb = 2", "{\n\"a\": 1\n}\n"]
PARSERS = ["Parser.Auto", "Parser.Old", "Parser.New", "Parser.JSON", "Parser.XML", "Parser.FileAuto"]
ODD_PARSERS = ["0", "'0'", "0.0", "True", "'Old'", "None", "99", "-5", "3"]
VALUES = ["None", "True", "False", "0", "1", "-1", "2**31", "2**63 - 1", "-2**63", "2**63", "-2**63 - 1", "10**30", "0.0", "-0.0", "1.5", "0.1", "1e300", "float('nan')", "float('inf')", "-float('inf')", "''", "'a'", "'é'",
          "'日本'", "'a\\0b'", "'\\ud800'", "'x' * 500", "'\"'", "'\\\\'", "'a\\nb'", "b'abc'", "b'\\xff'", "bytearray(b'ab')", "memoryview(b'ab')", "[]", "[1, 'a', None]", "[[1], [[2]]]", "(1, 2)", "{1}", "range(3)", "gen(1, 'x')",
          "{}", "{'a': 1}", "{'a': {'b': [1, {'c': 2}]}}", "{'': 1}", "{5: 1}", "{'a': object()}", "{'b': 1, 'B': 2}", "[object()]", "object()", "1j", "decimal.Decimal('1.5')", "datetime.date(2020, 1, 1)",
          "datetime.timedelta(1)", "datetime.datetime(2020, 1, 2, 3, 4, 5)", "datetime.datetime(2020, 1, 2, 3, 4, 5, 999999, tzinfo=datetime.timezone.utc)",
          "datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))", "datetime.datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=datetime.timezone.utc)", "Raises()", "Old()", "Items()", "BadItems()", "RaisingItems()",
          "SubStr('s')", "SubInt(7)", "SubFloat(1.5)", "SubDict(a=1)", "SubAd('[a = 1]')", "Color.RED", "Num.TWO", "Color", "Value.Error", "Value.Undefined", "Value", "Parser.JSON", "collections.UserDict(p=1)", "collections.OrderedDict(b=1, a=2)",
          "types.MappingProxyType({'a': 1})", "{'k': 1}.keys()", "map(int, '12')", "lambda: 0", "...", "io.StringIO('a\\nb')", "[1, [object()]]", "[2**63]", "['\\ud800']", "[float('nan')]", "iter([])"]


class Programs:
    def __init__(self, seed):
        self.random = Random(seed)
        self.pick = self.random.choice

    def text(self):
        text = self.pick(TEXTS)
        while self.random.random() < 0.25:
            text = self.pick(["(%s)", "%s + 1", "!(%s)", "{%s, 2}", "%s == a", "[q = %s].q", "f(%s)", "isUndefined(%s)", "%s ?: b", "- %s", "%s && true"]) % text if "%" not in text else text
        return text

    def expr(self):
        return self.pick(["ExprTree(%r)" % self.text(), "e", "f", "ExprTree(%r)" % self.text(), "ExprTree(%s)" % self.pick(VALUES) if self.random.random() < 0.3 else "e"])

    def ad(self):
        roll = self.random.random()
        if roll < 0.5: return self.pick("ab")
        if roll < 0.8: return "ClassAd(%r)" % self.pick(ADS)
        if roll < 0.9: return "SubAd(%r)" % self.pick(ADS)
        return "ClassAd({'a': %s})" % self.pick(VALUES)

    def any(self):
        roll = self.random.random()
        if roll < 0.6: return self.pick(VALUES)
        return self.expr() if roll < 0.8 else self.ad()

    def parser(self):
        return self.pick(PARSERS) if self.random.random() < 0.9 else self.pick(ODD_PARSERS)

    def stream(self):
        return repr(self.pick(STREAMS) + (self.pick(STREAMS) if self.random.random() < 0.3 else ""))

    def statement(self):
        key, pick = self.pick(KEYS) if self.random.random() < 0.3 else repr(self.pick(NAMES)), self.pick
        return pick([
            lambda: "a = ClassAd(%s)" % (repr(pick(ADS)) if self.random.random() < 0.6 else self.any()),
            lambda: "b = ClassAd(%r)" % pick(ADS),
            lambda: "e = %s" % self.expr(),
            lambda: "f = ExprTree(%r)" % self.text(),
            lambda: "a[%s] = %s" % (key, self.any()),
            lambda: "a[%s] = %s" % (key, self.any()),
            lambda: "a[%s]" % key,
            lambda: "(%s)[%s]" % (self.ad(), key),
            lambda: "del a[%s]" % key,
            lambda: "%s in a" % key,
            lambda: "a.get(%s, %s)" % (key, pick(["None", "5", "a"])),
            lambda: "a.get(%s)" % key,
            lambda: "a.pop(%s, 7)" % key,
            lambda: "a.setdefault(%s, %s)" % (key, self.any()),
            lambda: "a.update(%s)" % pick([self.any(), "{%s: %s}" % (repr(pick(NAMES)), self.any()), "q=%s" % self.any(), self.ad()]),
            lambda: "a.popitem()",
            lambda: "a.clear()" if self.random.random() < 0.2 else "len(a)",
            lambda: "list(a), list(a.values()), list(a.items()), a.keys(), len(a)",
            lambda: "repr(a), str(a)",
            lambda: "a.printOld(), a.printJson()",
            lambda: "a == %s, a != %s" % (self.ad(), self.any()),
            lambda: "a.eval(%s)" % key,
            lambda: "a.lookup(%s)" % key,
            lambda: "a.flatten(%s)" % (self.expr() if self.random.random() < 0.9 else self.any()),
            lambda: "a.externalRefs(%s)" % self.expr(),
            lambda: "a.internalRefs(%s)" % self.expr(),
            lambda: "a.matches(%s)" % (self.ad() if self.random.random() < 0.9 else self.any()),
            lambda: "a.symmetricMatch(%s)" % (self.ad() if self.random.random() < 0.9 else self.any()),
            lambda: "%s.eval()" % self.expr(),
            lambda: "%s.eval(%s)" % (self.expr(), self.ad()),
            lambda: "%s.eval(%s, %s)" % (self.expr(), self.ad(), self.ad()),
            lambda: "e.eval(%s, target=%s)" % (self.any(), self.any()),
            lambda: "%s.simplify(%s)" % (self.expr(), pick(["", self.ad(), self.ad() + ", " + self.ad()])),
            lambda: "e == %s, e != %s, bool(e)" % (self.expr(), self.any()),
            lambda: "str(e), repr(e), [e]",
            lambda: "pickle.loads(pickle.dumps(a)) == a, repr(pickle.loads(pickle.dumps(a)))",
            lambda: "repr(copy.copy(a)), copy.deepcopy([a, {'k': b}])",
            lambda: "list(parseAds(%s, %s))" % (self.stream(), self.parser()),
            lambda: "parseOne(%s, %s)" % (self.stream(), self.parser()),
            lambda: "parseNext(%s, %s)" % (self.stream(), self.parser()),
            lambda: "after(file(%s), %s)" % (self.stream(), self.parser()),
            lambda: "g = file(%s); p = %s; [after(g, p) for i in range(3)]" % (self.stream(), self.parser()),
            lambda: "g = %s(%s); [(x, g.tell()) for x in parseAds(g, %s)], g.tell()" % (pick(["file", "io.StringIO"]), self.stream(), self.parser()),
            lambda: "parseOne(%s(%s), %s)" % (pick(["file", "io.StringIO"]), self.stream(), self.parser()),
            lambda: "list(parseAds(%s))" % self.any(),
            lambda: "quote(%s)" % pick(VALUES[20:32]),
            lambda: "unquote(%s)" % pick([repr('"%s"' % t) for t in ("a", "é", "\\n", "\\101", "")] + [repr(self.text()), "quote('x\\ty')"]),
            lambda: "[ClassAd(x.printOld()) if 0 else parseOne(x.printOld(), Parser.Old) for x in [a]], parseOne(a.printJson(), Parser.JSON), ClassAd(str(a))",
            lambda: "a.__init__(%s)" % (repr(pick(ADS)) if self.random.random() < 0.7 else self.any()),
            lambda: "e.__init__(%r)" % self.text(),
            lambda: "sorted(k for k in a if a[k] is not Value.Undefined)",
            lambda: "{k: a.eval(k) for k in a}",
        ])()

    def program(self):
        return ["a = ClassAd(%r)" % self.pick(ADS), "b = ClassAd(%r)" % self.pick(ADS), "e = ExprTree(%r)" % self.text(), "f = ExprTree(%r)" % self.text()] + [self.statement() for _ in range(6)]


def clock(number):
    """The text for a number, which may be what the clock showed."""
    return "now" if abs(int(number[0]) - time.time()) < 60 else number[0]


def outcome(statement, space):
    """Runs a statement; the value of its last part that is an expression is the result."""
    try:
        tree = ast.parse(statement)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<program>", "exec"), space)
        value = eval(compile(ast.Expression(last.value), "<program>", "eval"), space) if last else None
        return {"type": type(value).__name__, "repr": NUMBER.sub(clock, ADDRESS.sub("0x", repr(value)))}
    except BaseException as error:
        try: message = ADDRESS.sub("0x", str(error))
        except Exception as bad: message = "<%s>" % type(bad).__name__
        return {"exception": type(error).__name__, "message": message}


def worker(module):
    """Runs the batches of programs that standard input gives, each in a fork; a program that kills it gets no answer."""
    import importlib
    if module == "classad2":
        # From here on the reference has all functions, as Classmate always does.
        with contextlib.redirect_stderr(io.StringIO()): import htcondor2
    loaded = importlib.import_module(module)
    sys.modules["classad2"] = loaded
    os.environ["TZ"] = "UTC"; time.tzset()
    sys.setrecursionlimit(3000)
    for line in sys.stdin:
        programs, done = json.loads(line), []
        while len(done) < len(programs):
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                null = os.open(os.devnull, os.O_RDWR); os.dup2(null, 2)
                out = os.fdopen(write, "w", encoding="ascii")
                for program in programs[len(done):]:
                    signal.alarm(20)
                    space = {"__name__": "program"}
                    exec(PRELUDE, space)
                    answers = [outcome(statement, space) for statement in program]
                    out.write(json.dumps(answers) + "\n"); out.flush()
                os._exit(0)
            os.close(write)
            with os.fdopen(read, encoding="ascii", errors="replace") as answers:
                for answer in answers:
                    try: done.append(json.loads(answer))
                    except ValueError: break
            _, status = os.waitpid(child, 0)
            if len(done) < len(programs): done.append("signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit %d" % os.WEXITSTATUS(status))
        sys.stdout.write(json.dumps(done) + "\n"); sys.stdout.flush()


def meant(statement, want, have, before=()):
    """Tells whether a difference is one that is meant: the reference crashes, loses data or words it by accident."""
    if have.get("exception") in ("SystemError", "PanicException"): return False
    if want.get("exception") == "SystemError": return True
    # Strings end at NUL in the reference, and lines of files go on behind it in the next line.
    if "\\x00" in json.dumps(want) + json.dumps(have) or "\\0" in statement or "\\x00" in statement: return True
    # What the reference cut when it printed is whole here, and its readers refuse a NUL.
    if have.get("message") == "Unable to parse input stream into a ClassAd." and ".print" in statement and any("\\0" in one for one in before): return True
    # The first argument of such functions is evaluated elsewhere (Q48).
    if all(re.search("(evalInEachContext|countMatches)\\(", outcome.get("repr", "")) for outcome in (want, have)) and "flatten" in statement: return True
    # Computed lists and ads in what remains (Q7).
    if want.get("message") == "Unable to flatten expression." and have.get("type") == "ExprTree" and re.search(r"\{|\[ ", have["repr"]): return True
    if want.get("message") == "Unable to flatten expression." and any("split(" in one for one in [*before, statement]): return True
    # A summand or a factor that the reference loses (Q4).
    if "flatten" in statement and want.get("type") == have.get("type") == "ExprTree" and re.fullmatch(r"\S+ [+*] " + re.escape(want["repr"]), have["repr"]): return True
    if "lastError" in statement: return True
    if "exception" in want and "exception" in have:
        # The reference goes on after a value that it cannot convert, and then has no name.
        if want["message"] == "Insert(key, v) failed": return True
        return want["exception"] == have["exception"] and want["message"] not in WORDED
    return False


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--count", type=int, default=20000); p.add_argument("--seed", type=int, default=1); p.add_argument("--seconds", type=float)
    p.add_argument("--module", default="classmate.classad2"); p.add_argument("--show", type=int, default=20); p.add_argument("--worker")
    a = p.parse_args()
    if a.worker: return worker(a.worker)
    start = lambda module: subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    both = [start("classad2"), start(a.module)]
    source, began = Programs(a.seed), time.monotonic()
    programs = statements = differ = crashes = ours = 0
    while programs < a.count and (a.seconds is None or time.monotonic() - began < a.seconds):
        batch = [source.program() for _ in range(min(200, a.count - programs))]
        for process in both: process.stdin.write(json.dumps(batch) + "\n"); process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for process in both]
        programs += len(batch)
        for program, want, have in zip(batch, *answers):
            if isinstance(have, str):
                ours += 1; print("CRASH", have, json.dumps(program)); continue
            if isinstance(want, str): crashes += 1; continue
            for at, (statement, x, y) in enumerate(zip(program, want, have)):
                statements += 1
                if x == y:
                    if "exception" in x and "__init__" in statement: break      # the reference loses what there was
                    continue
                if meant(statement, x, y, program[:at]):
                    if x.get("exception") == y.get("exception") != "SystemError" and "__init__" not in statement: continue
                    break
                differ += 1
                if differ <= a.show:
                    print("\n".join(program[:at + 1])); print("   reference", json.dumps(x)[:600]); print("   classmate", json.dumps(y)[:600]); print()
                break
    print("%d programs, %d statements, %d differ, %d crashes of the reference, %d of Classmate" % (programs, statements, differ, crashes, ours))
    sys.exit(1 if differ or ours else 0)


if __name__ == "__main__": main()
