#!/usr/bin/env python3
"""Compare `--semantics SERIES` with the library of that series on random expressions. See README.md beside this file.

    series.py SERIES FOLDER [--count N] [--seed N]

FOLDER has HTCondor's Python package of the series: `pip install --no-deps --target FOLDER htcondor==23.0.28`.
The package reads and evaluates in strict mode, since 25.0 as HTCondor. Parsing, printing and values are compared; of lists and
ads, that the value is one.
"""
import argparse
import ast
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from random import Random

from expressions import Generator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The attributes of the corpus that was used for the recorded cases, without those that need a match.
MY = ('[i = 5; s = "Hello"; u = undefined; e = error; r = 2.5; x = 7; l = {1,2,"three",4.5}; t = true; f = false; '
      'ad = [x = 1; y = x + 1]; loop = loop2 + 1; loop2 = loop; cyc = cyc ?: 3]')
# Evaluates lines of hexadecimal texts in the library; a new process after a crash.
REFERENCE = r"""
import sys, signal
try:
    import classad
except ImportError:
    import classad2 as classad  # since 25.0
    # In 25.0 and 25.10, a process is strict until an ad is a value.
    str(classad.ExprTree("[a = 1]").eval())
text_of_my = bytes.fromhex(sys.argv[1]).decode()
for line in sys.stdin:
    text = bytes.fromhex(line.strip()).decode()
    try:
        # `classad2` puts the text into an ad: a comment at its end would hide the bracket.
        expr = classad.ExprTree(text + "\n")
    except Exception:
        print('[false]', flush=True)
        continue
    print('[true, %s' % __import__('json').dumps(str(expr)), end='', flush=True)
    signal.alarm(5)
    try:
        # A new ad: in 10.0, an evaluation can leave a parent in it.
        my = classad.ClassAd(text_of_my)
        value = expr.eval(my)
        shown = 'undefined' if value is classad.Value.Undefined else 'error' if value is classad.Value.Error else None
        if shown is None:
            shown = repr(value) if isinstance(value, (bool, int, float, str)) else type(value).__name__
    except Exception as problem:
        shown = 'error'
    signal.alarm(0)
    print(', %s]' % __import__('json').dumps(shown), flush=True)
"""
SUFFIXES = ["10K", "1.5M", "7B", "2g", '"10K"', '"1.5M"', "9223372036854775808", "-1T"]


def mutated(random, text):
    """Adds what differs between versions: suffixes, `?:` beside operators, spellings, times, cycles."""
    pick = random.choice
    other = pick(SUFFIXES + ["x", "u", "s", "loop", "cyc", "t", "3", 'relTime("1:30")', 'versiongt("2", "1")',
                             "formatTime(4294967297)", 'absTime("bad")', "splitTime(u)", 'int("10K")'])
    operator = pick(["?:", "? :", "+", "!=", "&&", "||", "==", "*", "=?="])
    return pick([f"{text} {operator} {other}", f"{other} {operator} {text}", f"{other} {operator} ({text})", text])


def described(value):
    """A value of the conformance interface as the reference script shows it; `None` if it cannot be compared."""
    kind, text = value["type"], value["text"]
    if value.get("failed") or kind == "error":
        return "error"
    if kind == "boolean":
        return "True" if text == "true" else "False"
    if kind == "string":
        return None if "\\" in text or not text.isascii() else text[1:-1]
    return text if kind in ("undefined", "integer", "real") else None


def values_differ(value, theirs):
    """Compares a value with what the reference script shows."""
    mine = described(value)
    if mine is None:
        # Strings of other bytes are not strings of Python.
        has_bytes = value["type"] == "string" or re.search(r"\\[23]\d\d", value["text"])
        return theirs in ("undefined", "True", "False") or theirs == "error" and not has_bytes
    if value["type"] == "string" and not value.get("failed"):
        # The package copies ads, which changes the order of their attributes before 23.7.
        return printed(ast.literal_eval(theirs)) != printed(mine) if theirs[:1] in "'\"" else True
    try:
        # Python prints more digits of a real, and names of its own for infinities.
        number = re.sub(r'real\("(.*)"\)', r"\1", mine)
        one, other = float(theirs), float(number)
        return not (math.isclose(one, other, rel_tol=1e-14) or math.isinf(other) or math.isnan(other))
    except ValueError:
        return theirs != mine


def printed(text):
    """A text without white space; attributes of ads may be in any order."""
    return sorted(text.replace("'", "")) if "[" in text else text


def answers(folder, texts):
    """The answers of the package to each text, `None` where it crashed or hung, and how often it did."""
    found, crashes = [], 0
    while len(found) < len(texts):
        lines = "".join(text.encode().hex() + "\n" for text in texts[len(found):])
        environment = {"PYTHONPATH": folder, "TZ": "UTC", "PATH": os.environ["PATH"], "CONDOR_CONFIG": "/dev/null"}
        answered = subprocess.run([sys.executable, "-c", REFERENCE, MY.encode().hex()], input=lines, text=True,
                                  capture_output=True, env=environment)
        lines = answered.stdout.splitlines()
        found += [json.loads(line) for line in lines if line.endswith("]")]
        if len(found) < len(texts):
            if not lines:
                sys.exit(answered.stderr)
            found.append(None)  # it crashed or hung
            crashes += 1
    return found, crashes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("series")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    random = Random(options.seed)
    # Only strict mode reads a number with a leading zero.
    [answered], _ = answers(options.folder, ["00"])
    mode = "strict" if answered[0] else "htcondor"
    generator = Generator(random, mode, [])
    texts = [mutated(random, generator.expression()) for _ in range(options.count)]
    cases = "".join(json.dumps({"id": at, "expr": text, "my": MY, "mode": mode}) + "\n" for at, text in enumerate(texts))
    binary = os.environ.get("CLASSMATE", os.path.join(ROOT, "target", "debug", "classmate"))
    run = subprocess.run([binary, "conform", "eval", "--semantics", options.series], input=cases, text=True,
                         capture_output=True, env={"TZ": "UTC", "PATH": os.environ["PATH"]}, check=True)
    mine = [json.loads(line) for line in run.stdout.splitlines()]
    theirs, crashes = answers(options.folder, texts)
    differences, shown = Counter(), 0
    for text, one, other in zip(texts, mine, theirs):
        if other is None:
            continue
        value = one.get("value", {})
        if one.get("full_parse"):
            continue  # the package ignores what follows a conditional
        if mode == "htcondor" and other[0] and not one["parse"] and ("]" in text or ";" in text):
            continue  # the package puts the text into an ad, and ignores what follows the end of the ad
        if one["parse"] != other[0]:
            kind = "parse"
        elif not one["parse"]:
            continue
        elif printed("".join(one["unparsed"].split())) != printed("".join(other[1].split())):
            kind = "print"
        elif values_differ(value, other[2]):
            kind = "value"
        else:
            continue
        differences[kind] += 1
        if shown < options.show:
            shown += 1
            print(f"{kind}: {text}\n   reference {other}\n   classmate {json.dumps(one)}")
    print(f"{options.series}: {len(texts)} expressions, {crashes} crashes or hangs of the reference, differences {dict(differences)}")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
