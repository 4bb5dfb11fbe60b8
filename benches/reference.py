#!/usr/bin/env python3
"""The reference library's speed on the same ads: reading the long format, and symmetric match.

    pip install htcondor==25.14.1
    python3 benches/reference.py SLOTS JOBS

SLOTS and JOBS are files of the long format, `.gz` or not. Prints megabytes and pairs per second of one core.
"""
import gzip
import sys
import time

import classad2


def text(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        return file.read()


def rate(work, amount, least=3.0):
    """Runs `work` for some seconds and returns the amount done per second."""
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < least:
        work()
        done += amount
    return done / (time.perf_counter() - start)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    slots_text, jobs_text = text(sys.argv[1]), text(sys.argv[2])
    read = lambda source: list(classad2.parseAds(source, classad2.ParserType.Old))
    slots = [ad for ad in read(slots_text) if ad.get("MyType") == "Machine"]
    jobs = read(jobs_text)
    print(f"slots {len(slots)}, jobs {len(jobs)}")
    print(f"read long format: {rate(lambda: read(slots_text), len(slots_text)) / 1e6:.1f} MB/s")
    pairs = lambda: [job.symmetricMatch(slot) for job in jobs for slot in slots]
    print(f"symmetric match:  {rate(pairs, len(jobs) * len(slots)):.0f} pairs/s")


if __name__ == "__main__":
    main()
