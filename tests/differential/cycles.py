#!/usr/bin/env python3
"""Compares negotiation cycles of Classmate and of HTCondor 25.14.1, on random pools."""
import argparse
import collections
import functools
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import comparison
import negotiator
import pools
import reduction

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "25.14.1"


def known(folder, pool, differences, binary, first):
    """The known reason why a cycle may differ, or None; `first`: the negotiator has just started."""
    if not first and {"limit", "pie"} & {what for what, _ in differences}:
        with open(f"{folder}/NegotiatorLog", errors="replace") as log:
            played = [part for part in log.read().split("Started Negotiation Cycle") if "Phase 4" in part]
        *_, before, cycle = ["", *played]
        if "round-robin (2)" in cycle:
            return "Q65: remainders of quotas go first to groups that lacked them before"
        if " Preempting " in before:
            return "Q65: users who lost slots in the cycle before are charged once more"
    if "RemoteGroup" in pool["config"].get("PREEMPTION_REQUIREMENTS", "") and first:
        return "Q37: slots do not show groups in the first cycle"
    if share_bucket(folder, re.findall(r"\('([^']+)'", differences[0][1])):
        return "Q64: submitters in the order in which the collector heard of them"
    if differences[0][0] != "failure":
        exact, outcome = comparison.compare(binary, folder, exact_ties=True)
        tied = outcome.get("statistics", {}).get("largest_tie", 1) > 1
        if tied and not exact:
            return "Q14: equal candidates in a list of more than 16, exactly as sorted there"
        if tied and differences[0][0] == "match" and pool["config"].get("NEGOTIATOR_IGNORE_JOB_RANKS") == "True":
            return "Q14: equal slots that are sorted by their addresses in memory"
    return None


def share_bucket(folder, differing):
    """The two differing submitters share a bucket of the collector's table, and the exported ads do not show their order."""
    with open(f"{folder}/submitters.ads") as ads:
        names = re.findall(r'^Name = "(.*)"$', ads.read(), re.M)
    with open(f"{folder}/submitters.ads") as ads:
        access_points = re.findall(r'^ScheddName = "(.*)"$', ads.read(), re.M)
    size = 7
    while len(names) / size >= 0.8:
        size = size * 2 + 1
    buckets = [functools.reduce(lambda hash, byte: (hash * 33 + byte) % 2**64, (name + schedd).encode(), 0) % size for name, schedd in zip(names, access_points)]
    ordered = names == sorted(names) and buckets == sorted(buckets)
    # The negotiator may map a name to one that begins with a group.
    of = lambda differs: next((bucket for name, bucket in zip(names, buckets) if f".{differs}".endswith(f".{name}")), differs)
    return ordered and len(set(differing)) == 2 and len({of(name) for name in differing}) == 1


class Player:
    """Plays pools on a real pool and through Classmate."""

    def __init__(self, options, port):
        """A player with a pool of its own."""
        self.options, self.real = options, negotiator.Pool(options.root, port)

    def differences(self, pool, folder, seed=None):
        """The differences that a pool shows, with the known reason for them; with a seed, further cycles of the pool are made from it."""
        evolve = seed if seed is None else lambda number, pool, decided: pools.later(seed, number, pool, decided)
        self.real.play(pool, folder, evolve)
        with open(f"{folder}/pool.json") as file:
            pool = json.load(file)
        place = folder
        for number in range(1 + len(pool.get("then", []))):
            before, place = place, f"{folder}/then{number}" if number else folder
            if not os.path.exists(f"{place}/Accountantnew.log"):
                # The log of a negotiator that runs lacks what it did last: Classmate continues with its own.
                if failure := self.charge(before, place):
                    return [("failure", f"{failure} (after cycle {number})")], None
            found, _ = comparison.compare(self.options.binary, place)
            if found:
                first = not number or pool["then"][number - 1].get("restart", False)
                reason = known(place, pool, found, self.options.binary, first)
                return [(what, f"{text} (cycle {number + 1})" if number else text) for what, text in found], reason
        return [], None

    def charge(self, before, after):
        """Writes the log that a cycle leaves into the folder of the next one; returns the message if that fails."""
        with open(f"{before}/expected.json") as file:
            now = str(json.load(file)["now"])
        with tempfile.TemporaryDirectory() as copy:
            for name in ("config", "slots.ads", "jobs.ads", "submitters.ads", "Accountantnew.log"):
                shutil.copy(f"{before}/{name}", copy)
            ran = subprocess.run([self.options.binary, "negotiate", copy, "--now", now, "--commit", "--matches", "none"], capture_output=True, text=True)
            shutil.copy(f"{copy}/Accountantnew.log", after)
            return ran.stderr.strip()[-300:] if ran.returncode else None

    def holds(self, pool, what, folder):
        """True if a pool still shows a difference of the same kind that is not known."""
        try:
            found, reason = self.differences(pool, folder)
        except (negotiator.Unplayable, OSError):
            return False
        return reason is None and bool(found) and found[0][0] == what

    def reduced(self, pool, what, folder):
        """A smaller pool with a difference of the same kind, played once more into `folder`."""
        smaller = reduction.Reducer(lambda pool: self.holds(pool, what, folder)).reduce(pool)
        return smaller, self.differences(smaller, folder)[0]


def options():
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pools", nargs="*", help="files of pools (pool.json) to play instead of random ones")
    parser.add_argument("--seed", type=int, help="seed of the first pool [default: the time]")
    parser.add_argument("--count", type=int, default=100, help="number of pools [default: %(default)s]")
    parser.add_argument("--binary", default=f"{HERE}/../../target/release/classmate", help="the command to compare [default: target/release/classmate]")
    parser.add_argument("--pool", help="folder in which HTCondor is unpacked, or will be [default: ~/.cache/classmate-pool]")
    parser.add_argument("--keep", metavar="DIR", help="keep the recordings of pools that differ in DIR")
    parser.add_argument("--keep-all", action="store_true", help="with --keep: keep all recordings")
    parser.add_argument("--shrink", action="store_true", help="make each pool that differs small, and keep it as NAME-small")
    parser.add_argument("--workers", type=int, default=2, help="pools at the same time [default: %(default)s]")
    parser.add_argument("--port", type=int, default=31000, help="first port of the pools, below those that daemons choose [default: %(default)s]")
    return parser.parse_args()


def skip(reason):
    """Ends the program well."""
    print(f"skipped: {reason}")
    sys.exit(0)


def prepare(chosen):
    """Finds or unpacks HTCondor."""
    made = subprocess.run([f"{HERE}/pool.sh", *([chosen.pool] if chosen.pool else [])], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        skip("HTCondor's daemons cannot be set up here")
    chosen.root = made.stdout.strip()
    with open(f"{chosen.root}/.made") as version:
        text = version.read().strip()
    if VERSION not in text:
        skip(f"Debian has another HTCondor than {VERSION}: {text}")
    if os.geteuid() or subprocess.run(["chroot", chosen.root, "/bin/true"], capture_output=True).returncode:
        skip("a pool needs root, and chroot")


def main():
    """Plays all pools, and prints where they differ."""
    chosen = options()
    prepare(chosen)
    seed = int(time.time()) if chosen.seed is None else chosen.seed
    if not chosen.pools:
        print(f"seeds {seed} to {seed + chosen.count - 1}", flush=True)
    keep = chosen.keep or tempfile.mkdtemp()
    todo, tally = queue.Queue(), collections.Counter()
    for one in chosen.pools or range(seed, seed + chosen.count):
        todo.put(one)

    players = [Player(chosen, chosen.port + 4 * number) for number in range(chosen.workers)]

    def end(*_):
        """Ends all daemons, and the program."""
        for player in players:
            player.real.over = True
        time.sleep(0.2)
        for player in players:
            player.real.stop()
        os._exit(1)

    def work(player):
        """Plays pools until there are none."""
        while True:
            try:
                one = todo.get_nowait()
            except queue.Empty:
                return
            name = str(one)
            if isinstance(one, int):
                pool = pools.generate(one)
            else:
                with open(one) as file:
                    pool = json.load(file)
                name = os.path.basename(os.path.dirname(os.path.abspath(one))) if os.path.basename(one) == "pool.json" else os.path.splitext(os.path.basename(one))[0]
            folder = f"{keep}/{name}"
            tally["cycles"] += 1
            try:
                found, reason = player.differences(pool, folder, one if isinstance(one, int) else None)
                if found and reason:
                    tally["explained"] += 1
                    print(f"{name}: differs, as expected ({reason})", flush=True)
                elif found:
                    tally["differ"] += 1
                    print(f"{name}: " + "; ".join(f"{what} {text}" for what, text in found), flush=True)
                    if chosen.shrink:
                        _, found = player.reduced(pool, found[0][0], f"{folder}-small")
                        print(f"{name}-small: " + "; ".join(f"{what} {text}" for what, text in found), flush=True)
                if not found and not chosen.keep_all:
                    shutil.rmtree(folder, ignore_errors=True)
            except (negotiator.Unplayable, OSError) as error:
                tally["not played"] += 1
                print(f"{name}: not played: {error}", flush=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    workers = [threading.Thread(target=work, args=(player,)) for player in players]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if not chosen.keep:
        shutil.rmtree(keep, ignore_errors=True)
    print(", ".join(f"{count} {what}" for what, count in tally.items()))
    sys.exit(1 if tally["differ"] else 0)


if __name__ == "__main__":
    main()
