#!/usr/bin/env python3
"""Time modules with the API of HTCondor's classad2 beside each other, on the slots of a pool.

    pip install htcondor==25.14.1 classmate
    python3 benches/python_module.py SLOTS [--job JOB] [--set NAME=VALUE] [--module MODULE] [--only WORD] [--rounds 60]

SLOTS is a file in the long format, compressed with gzip or not; JOB is a file with one job ad that some of the slots match. --set gives all
slots an attribute, for slots whose time is over. The slices of work of the modules take turns, each timed in processor time of this thread;
printed are the best rate of each module, and the median ratio of neighboring slices.

With --memory COUNT, SLOTS is read until COUNT ads are kept, and printed is how much the process has grown (Linux): run it for each --module.
"""
import argparse
import gc
import gzip
import importlib
import pickle
import statistics
import time

JOB = '[MyType = "Job"; Owner = "a"; ProjectName = "p"; RequestCpus = 1; RequestMemory = 128; RequestDisk = 128; RequestGPUs = 0; ' \
      'JobUniverse = 5; Requirements = TARGET.Arch == "X86_64" && TARGET.OpSys == "LINUX" && TARGET.Disk >= RequestDisk && ' \
      'TARGET.Memory >= RequestMemory]'


def text(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return file.read()


def works(module, slots_text, job_text, settings):
    """Yield the name of each work, the function that does it, the amount that it does, and the unit of the amount."""
    slots = [ad for ad in module.parseAds(slots_text, module.Parser.Old) if ad.get("MyType") == "Machine"]
    for slot in slots:
        for name, value in settings:
            slot[name] = module.ExprTree(value)
    job, small = module.ClassAd(job_text), module.ClassAd("[Requirements = false]")
    matching = [slot for slot in slots if job.symmetricMatch(slot)][:8]
    refusing = [slot for slot in slots if slot not in matching][:8] or matching
    expr = module.ExprTree('(Memory > 1 || Cpus > 1) && Arch == "X86_64" && OpSys == "LINUX"')
    slot, packed = slots[0], pickle.dumps(slots[:4])
    new, refers = repr(slot), module.ExprTree("Memory * 1024 + Missing")
    twin = module.ClassAd(new)
    yield "parseAds", lambda: sum(map(len, module.parseAds(slots_text, module.Parser.Old))), len(slots_text) / 1e6, "MB"
    yield "ClassAd(text)", lambda: len(module.ClassAd(new)), len(new) / 1e6, "MB"
    yield "ad[name]", lambda: [slot["Cpus"] for _ in range(4000)][0], 4000, ""
    yield "ad.lookup(name)", lambda: [slot.lookup("Cpus") for _ in range(1000)][0], 1000, ""
    yield "list(ad)", lambda: [len(list(slot)) for _ in range(20)], 20 * len(slot), ""
    yield "list(ad.items())", lambda: [len(list(slot.items())) for _ in range(4)], 4 * len(slot), ""
    yield "list(ad.values())", lambda: [len(list(slot.values())) for _ in range(4)], 4 * len(slot), ""
    yield "dict(ad)", lambda: [len(dict(slot)) for _ in range(4)], 4 * len(slot), ""
    yield "ad == other", lambda: [slot == twin for _ in range(20)][0], 20, ""
    yield "externalRefs", lambda: [slot.externalRefs(refers) for _ in range(500)][0], 500, ""
    yield "ad.eval(name)", lambda: [slot.eval("Start") for _ in range(300)][0], 300, ""
    yield "expr.eval(ad)", lambda: [expr.eval(ad) for ad in slots[:8] for _ in range(100)][0], 100 * len(slots[:8]), ""
    if matching:
        yield "symmetricMatch, both accept", lambda: [job.symmetricMatch(ad) for ad in matching for _ in range(10)][0], 10 * len(matching), ""
    yield "symmetricMatch, job refuses", lambda: [small.symmetricMatch(ad) for ad in refusing for _ in range(10)][0], 10 * len(refusing), ""
    yield "printOld", lambda: len(slot.printOld()), len(slot.printOld()) / 1e6, "MB"
    yield "printJson", lambda: len(slot.printJson()), len(slot.printJson()) / 1e6, "MB"
    yield "pickle.dumps", lambda: len(pickle.dumps(slots[:4])), 4, "ads"
    yield "pickle.loads", lambda: len(pickle.loads(packed)), 4, "ads"


def memory(name, path, count):
    """Print the growth of the process by this number of ads, behind those that are read first."""
    module, ads = importlib.import_module(name), []
    content = text(path)

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    first = list(module.parseAds(content, module.Parser.Old))
    before = resident()
    while len(ads) < count:
        ads.extend(module.parseAds(content, module.Parser.Old))
    grown = resident() - before
    print(f"{name}: {len(ads):,} ads beside {len(first)}, {grown / 2**20:,.0f} MiB, {grown / len(ads) / 1024:.1f} KiB each")


def seconds(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slots")
    parser.add_argument("--job")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--module", action="append", help="[default: classad2 and classmate.classad2]")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--memory", type=int, metavar="COUNT")
    options = parser.parse_args()
    gc.disable()
    names = options.module or ["classad2", "classmate.classad2"]
    if options.memory:
        return memory(names[-1], options.slots, options.memory)
    settings = [setting.split("=", 1) for setting in options.set]
    job = text(options.job) if options.job else JOB
    rows = zip(*(works(importlib.import_module(name), text(options.slots), job, settings) for name in names))
    print(f"{'':28}" + "".join(f"{name:>24}" for name in names) + f"{'ratio':>8}")
    for row in rows:
        name, _, amount, unit = row[0]
        if options.only not in name:
            continue
        times = [[max(seconds(work), 1e-9) for _, work, _, _ in row] for _ in range(options.rounds)]
        rates = "".join(f"{f'{amount / min(column):,.3g}' if amount / min(column) < 1000 else f'{amount / min(column):,.0f}'} {unit}/s".rjust(24) for column in zip(*times))
        ratio = statistics.median(of_reference[0] / of_reference[-1] for of_reference in times)
        print(f"{name:28}{rates}{ratio:8.1f}")


if __name__ == "__main__":
    main()
