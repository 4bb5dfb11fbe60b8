"""Makes a pool small: leaves out slots, jobs, users, settings and attributes as long as a condition holds."""
import copy

SLOT = {"Start": "true", "Rank": "0.0", "CurrentRank": "0.0", "SlotWeight": "1", "Cpus": "1", "Memory": "4096", "State": '"Unclaimed"', "Activity": '"Idle"',
        "Requirements": "Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory", "SlotType": '"Static"'}
KEPT = {"MyType", "TargetType", "Name", "Machine", "SlotID", "Arch", "OpSys", "CondorVersion", "FileSystemDomain", "HasFileTransfer", "Disk", "KFlops",
        "EnteredCurrentState", "EnteredCurrentActivity", "MyAddress", "StartdIpAddr", *SLOT}
JOB = {"request_cpus": "1", "request_memory": "500", "request_disk": "1000", "accounting_group_user": None}


class Reducer:
    """Reduces a pool; `holds` says of a smaller one whether it still shows what is looked for."""

    def __init__(self, holds, tries=250):
        """A reducer that asks at most so many times."""
        self.holds, self.tries = holds, tries

    def keep(self, pool, change):
        """The pool with a change, if that is one and the condition still holds; otherwise None."""
        smaller = copy.deepcopy(pool)
        change(smaller)
        if smaller == pool or self.tries <= 0:
            return None
        self.tries -= 1
        return smaller if self.holds(smaller) else None

    def thin(self, pool, items, without):
        """Leaves out runs of items, shorter and shorter; `items` lists them and `without` takes some from a pool."""
        length = len(items(pool))
        while length:
            at = 0
            while at < len(items(pool)):
                some = items(pool)[at:at + length]
                smaller = self.keep(pool, lambda new: without(new, some))
                pool, at = (smaller, at) if smaller else (pool, at + length)
            length //= 2
        return pool

    def reduce(self, pool):
        """A smaller pool."""
        while True:
            before = copy.deepcopy(pool)
            for name in ("jobs", "slots", "submitters"):
                def without(new, some, name=name):
                    """Leaves out slots, jobs or submitters."""
                    new[name] = [one for one in new[name] if one not in some]
                pool = self.thin(pool, lambda pool, name=name: pool[name], without)
            pool = self.thin(pool, lambda pool: list(pool["config"]), lambda new, some: [new["config"].pop(name) for name in some])
            records = lambda pool: [line.split(" ")[1] for line in pool["log"] if line.startswith("101 ") and line != "101 Accountant. * *"]

            def forget(new, some):
                """Leaves out records of the log."""
                new["log"] = [line for line in new["log"] if line.split(" ")[1] not in some]
            pool = self.thin(pool, records, forget)

            def unset(new, some):
                """Leaves out attributes of records."""
                new["log"] = [line for line in new["log"] if line not in some]
            pool = self.thin(pool, lambda pool: [line for line in pool["log"] if line.startswith("103 ") and "LastUpdateTime" not in line], unset)
            pool = self.plain(pool)
            if pool == before or self.tries <= 0:
                return pool

    def plain(self, pool):
        """Makes slots and jobs plain, each as a whole and then by attributes."""
        for number in range(len(pool["slots"])):
            def reset(new, names):
                """Leaves out attributes of a slot, or gives them plain values."""
                ad = new["slots"][number]["public"]
                for name in names:
                    if name in SLOT:
                        ad[name] = SLOT[name]
                    else:
                        del ad[name]
            odd = lambda pool: [name for name, text in pool["slots"][number]["public"].items() if name not in KEPT or SLOT.get(name, text) != text]
            pool = self.thin(pool, odd, reset)
        for number in range(len(pool["jobs"])):
            def reset_job(new, names):
                """Leaves out lines of a submit description, or gives them plain values."""
                submit = new["jobs"][number]["submit"]
                for name in names:
                    submit.pop(name)
                    if JOB.get(name):
                        submit[name] = JOB[name]
            special = lambda pool: [name for name, text in pool["jobs"][number]["submit"].items() if JOB.get(name, "") not in (text, None)]
            pool = self.thin(pool, special, reset_job)
            while (n := pool["jobs"][number]["n"]) > 1:
                smaller = self.keep(pool, lambda new: new["jobs"][number].update(n=n // 2)) or self.keep(pool, lambda new: new["jobs"][number].update(n=n - 1))
                if not smaller:
                    break
                pool = smaller
        return pool
