#!/usr/bin/env python3
"""Writes the history of HTCondor's table of defaults, by the tags of a clone of its repository.

    python3 tests/differential/defaults.py CLONE > new && mv new crates/config/src/config/data/defaults-history.txt

Each series has the table of its newest release; the newest series, which may have no tag, has `defaults.conf`. Comments, texts and
fields other than versions are those of the present file, as well as records with `@code`, which are written by hand.
"""

import re
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parents[2] / "crates/config/src/config/data"
TABLE = "src/condor_utils/param_info.in"
# Where a variable without an entry in the table is read or documented.
SOURCES = ["src", "docs/admin-manual", f":!{TABLE}"]
MAJORS = (10, 23, 24, 25)
# Their defaults depend on how HTCondor was built, or on the daemon.
BUILT = set(
    "BIN HAVE_EXT_KRB5 ISNEGOTIATOR LOCAL_DIR MAX_NEGOTIATOR_LOG MAX_NEGOTIATOR_MATCH_LOG MAX_SCHEDD_LOG RUN SBIN"
    " SEC_DEFAULT_AUTHENTICATION_METHODS".split()
)
ABSENT, UNLISTED, PRESENT = "absent", "unlisted", "now"


def git(clone, *arguments):
    found = subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, errors="replace")
    return found.stdout


def tables(clone):
    """The tags of all releases, and their tables."""
    tags = {}
    for tag in git(clone, "tag").split():
        found = re.fullmatch(r"[vV](\d+)[._](\d+)[._](\d+)", tag)
        if found and int(found[1]) in MAJORS:
            tags[tuple(map(int, found.groups()))] = tag
    return {release: (tag, entries(git(clone, "show", f"{tag}:{TABLE}"))) for release, tag in sorted(tags.items())}


def entries(text):
    """Names in upper case with their spelling and default; those of templates and of single daemons are left out."""
    found, name, lines = {}, None, iter(text.split("\n"))
    for line in lines:
        if head := re.match(r"\[([^\]]+)\]\s*$", line):
            name = head[1]
        elif name is None or name[0] == "$" or "." in name:
            continue
        elif value := re.match(r"default\s*=(.*)", line):
            found[name.upper()] = name, value[1].strip()
        elif end := re.match(r"default\s*:\s*@(\w+)", line):
            value = []
            for line in lines:
                if line.strip() == "@" + end[1]:
                    break
                value.append(line.strip())
            found[name.upper()] = name, " ".join(value).strip()
    return found


def mentioned(clone, tag, names):
    """The names that occur in the sources of a release."""
    patterns = "\n".join(names)
    command = ["git", "-C", clone, "grep", "-ohwiF", "-f", "-", tag, "--", *SOURCES]
    found = subprocess.run(command, input=patterns, capture_output=True, text=True, errors="replace")
    return {name.upper() for name in found.stdout.split()}


def present():
    lines = (DATA / "defaults.conf").read_text().splitlines()
    split = (line.partition(" =") for line in lines if not line.startswith("#"))
    return {name.upper(): (name, text.strip()) for name, _, text in split}


def old_records():
    """The head of the present file, and its records: name, and lines other than versions."""
    head, *records = (DATA / "defaults-history.txt").read_text().rstrip("\n").split("\n\n")
    kept = {}
    for record in records:
        name, *lines = record.split("\n")
        if name.startswith("#"):
            continue
        by_hand = "@code" in lines
        kept[name] = lines if by_hand else [line for line in lines if not re.match(r"@\d|#", line)]
    return head, kept


def history(clone):
    found, now = tables(clone), present()
    newest = {release[:2]: release for release in found}
    series = sorted(newest)
    last = found[newest[series[-1]]][1]
    # What the newest table has and `defaults.conf` does not depends on the machine.
    left_out = BUILT | {name for name in last if name not in now}
    names = {name: spelt for _, table in found.values() for name, (spelt, _) in table.items()}
    names |= {name: spelt for name, (spelt, _) in now.items()}
    names = {name: spelt for name, spelt in names.items() if name not in left_out}
    rows = {name: [] for name in names}
    for one in series:
        tag, table = found[newest[one]]
        read = mentioned(clone, tag, [name for name in names if name not in table])
        for name, row in rows.items():
            text = table[name][1] if name in table else None
            row.append("= " + text if text is not None else UNLISTED if name in read else ABSENT)
    releases = sorted(found)
    for name, row in rows.items():
        changes = []
        for at, state in enumerate(row):
            if at > 0 and state == row[at - 1]:
                continue
            # The first release of the series from which on it is so.
            since = newest[series[at]]
            for release in reversed([one for one in releases if one[:2] == series[at]]):
                text = found[release][1].get(name)
                if state != ("= " + text[1] if text else state if state in (ABSENT, UNLISTED) else None):
                    break
                since = release
            changes.append((".".join(map(str, since if at > 0 else series[0])), state))
        today = "= " + now[name][1] if name in now else None
        if today and row[-1] != today and not (row[-1] == UNLISTED and today == "= "):
            changes.append(("25.14.1", today))
        if len(changes) > 1:
            if today and changes[-1][1] == today:
                changes[-1] = changes[-1][0], PRESENT
            yield names[name], changes


def versions(changes, lines):
    """Lines of a record; what has no effect although the sources name it is absent."""
    since, state = changes[-1]
    changes = [*changes[:-1], (since, ABSENT if "@gone" in lines else state)]
    return [f"@{since} {state}" for since, state in changes]


def main():
    head, kept = old_records()
    found = dict(history(sys.argv[1]))
    spelt = {name.upper(): name for name in kept}
    print(head)
    written = {spelt.get(name.upper(), name): changes for name, changes in found.items()}
    for name in [*kept, *sorted(name for name in written if name not in kept)]:
        lines = kept.get(name, [])
        own = [] if "@code" in lines else versions(written[name], lines)
        print("\n" + "\n".join([name, *own, *lines]))


if __name__ == "__main__":
    main()
