#!/usr/bin/env python3
"""Measure matching against HTCondor's library, and filtering against plain reading, alternating in one run.

    pip install htcondor==25.14.1
    python3 benches/ratios.py SLOTS JOBS

SLOTS and JOBS are files in the long format, compressed with gzip or not. Prints medians of processor time.
"""
import gzip
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import classad2

HERE = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
TURNS = 3
LARGE = 200_000_000
CONSTRAINT = 'Memory > 4096 && State == "Unclaimed"'


def text(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        return file.read()


def rate(work, amount, least=3.0):
    """Run `work` for some seconds and return the amount done per second."""
    done, start = 0, time.process_time()
    while time.process_time() - start < least:
        work()
        done += amount
    return done / (time.process_time() - start)


def cargo(*arguments, **environment):
    subprocess.run(["cargo", *arguments], cwd=HERE, env={**os.environ, **environment}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ours(slots, jobs, pairs):
    """Pairs per second of `benches/match.rs`."""
    cargo("bench", "--profile", "dist", "-p", "classmate", "--bench", "match", "--", "symmetric", "--measurement-time", "3", "--warm-up-time", "1",
          CLASSMATE_SLOTS=os.path.abspath(slots), CLASSMATE_JOBS=os.path.abspath(jobs))
    estimates = json.loads((TARGET / "criterion/match/symmetric/new/estimates.json").read_text())
    return pairs * 1e9 / estimates["median"]["point_estimate"]


def seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def matching(slots_file, jobs_file):
    read = lambda source: list(classad2.parseAds(source, classad2.ParserType.Old))
    slots_text = text(slots_file)
    slots = [ad for ad in read(slots_text) if ad.get("MyType") == "Machine"]
    jobs = read(text(jobs_file))
    every = lambda: [job.symmetricMatch(slot) for job in jobs for slot in slots]
    pairs = len(jobs) * len(slots)
    reference, classmate = [], []
    for _ in range(TURNS):
        reference.append(rate(every, pairs))
        classmate.append(ours(slots_file, jobs_file, pairs))
    there, here = statistics.median(reference), statistics.median(classmate)
    print(f"symmetric match of {len(jobs)} jobs and {len(slots)} slots, pairs per second:")
    print(f"  reference {there:12,.0f}\n  classmate {here:12,.0f}\n  ratio     {here / there:12.1f}")
    print(f"the reference reads the long format at {rate(lambda: read(slots_text), len(slots_text)) / 1e6:.1f} MB/s")


def filtering(slots_file):
    program = TARGET / "dist/classmate"
    cargo("build", "--profile", "dist")
    with tempfile.NamedTemporaryFile(suffix=".ads") as file:
        source = text(slots_file).rstrip("\n").encode() + b"\n\n"
        for _ in range(LARGE // len(source) + 1):
            file.write(source)
        file.flush()
        size = os.path.getsize(file.name) / 1e6
        plain, constrained = [], []
        for _ in range(TURNS):
            plain.append(seconds(program, "ads", file.name, "--count"))
            constrained.append(seconds(program, "ads", file.name, "--count", "--constraint", CONSTRAINT))
    plain, constrained = size / statistics.median(plain), size / statistics.median(constrained)
    print(f"classmate ads on {size:.0f} MB, MB per second:")
    print(f"  --count              {plain:6.0f}\n  --count --constraint {constrained:6.0f}\n  share     {constrained / plain:15.0%}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    matching(*sys.argv[1:])
    filtering(sys.argv[1])


if __name__ == "__main__":
    main()
