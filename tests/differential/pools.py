"""Random pools: slots, jobs, users, groups and settings of the negotiator, made from a seed."""
import copy
import random

from negotiator import NOW

USERS = ["alice", "bob", "carol", "dave", "eve", "frank", "Zed"]
ABSENT = ["ghost", "gina"]  # users without jobs, of slots in use
TREES = [["group_a", "group_b"], ["group_a", "group_b", "group_c"], ["group_a", "group_a.x", "group_a.y", "group_b"],
         ["group_a", "group_a.x", "group_a.x.deep", "group_b", "group_b.z", "group_c"], ["Group_a", "Group_b"]]
STRAY = ["group_zz", "group_a.nosuch", "GROUP_A"]  # groups that are not configured, or written differently
STATES = [("Claimed", "Busy"), ("Claimed", "Busy"), ("Claimed", "Busy"), ("Claimed", "Idle"), ("Claimed", "Retiring"), ("Claimed", "Suspended"),
          ("Preempting", "Vacating"), ("Preempting", "Vacating")]
OTHER_STATES = ["Owner", "Matched", "Backfill", "Drained", "Unavailable"]
LIMITS = ["xsw", "XSW:2", "lic", "lic:0.5", "xsw, lic", "lic:1.5 xsw", "large.foo", "large.bar:3", "small.z:0", "db:2.25", "unknownlimit", "a.b"]
LIMIT_EXPRESSIONS = ['ifThenElse(TARGET.Site =?= "a", "xsw", "lic:2")', 'strcat("xsw:", RequestCpus)', 'ifThenElse(RequestCpus > 1, "large.foo:2", "lic")',
                     'TARGET.Site', 'ifThenElse(TARGET.Cpus > 1, "lic", undefined)', 'strcat("lic:", TARGET.Cpus / 2.0)']
WEIGHTS = ["1", "Cpus", "Cpus", "2.5", "0", "1.5", "-1", '"2"', "NoSuch", "Cpus + Memory / 4096.0", 'ifThenElse(Site =?= "a", 3, Cpus)', "max({ Cpus, Memory / 2048 })",
           "0.3413333", "Cpus / 3.0", "true", "1e-3"]
POOL_WEIGHTS = ["Cpus", "NoSuch", "Cpus + 1", "Cpus * 1.25", 'ifThenElse(Site == "a", 2, 1)', "Memory / 2048.0", "2", "0.5"]
STARTS = ["TARGET.SubmitterUserResourcesInUse < 4", "TARGET.SubmitterUserPrio < 60", "TARGET.RequestMemory < Memory", 'TARGET.Dept =?= "x"', '"true"', "TARGET.JobPrio > 0",
          "TARGET.Rank > 0", 'stringListMember(TARGET.Dept, "x,y")', "TARGET.RequestCpus > 1 || TARGET.Foo > 1", "undefined", "1", "false", 'TARGET.User != "alice@pool.test"',
          'TARGET.AcctGroupUser =!= "bob"', "TARGET.Foo % 2 == 0", "isUndefined(TARGET.ConcurrencyLimits)"]
RANKS = ["TARGET.RequestCpus", '(TARGET.Dept =?= "x") * 10', "0 - TARGET.SubmitterUserPrio", '"high"', 'ifThenElse(TARGET.Dept =?= "y", 5, 0)', "NoSuch", "10", "TARGET.JobPrio",
         "TARGET.Foo", "TARGET.RequestMemory / 500"]
REQUIREMENTS = ["TARGET.Cpus >= MY.RequestCpus * 2", 'Cpus > 1 && Site != "c"', 'stringListIMember("x", Tags)', "GPUs >= 1", "TARGET.RemoteUser =?= undefined", "TARGET.SlotWeight > 1",
                "LoadAvg < 0.5 || undefined", "KFlops > 1995000", 'MY.Dept == "x"', "TARGET.PartitionableSlot =!= true", 'TARGET.State == "Unclaimed"', "TARGET.Site == MY.WantSite",
                'Site == "nowhere"', "Memory > 2000 ? HasX : true", "TARGET.SlotID == 1 && true", "SubmitterUserPrio < 100", "RemoteUserPrio > 2 || true"]
JOB_RANKS = ["KFlops", "0 - KFlops", "Memory", "Memory > 4000 ? KFlops : 0", "RequestMemory", "GPUs * 100", 'Site == "a"', '"fast"', "10 / 0", "0 - LoadAvg", "HasX", "1E+300 * Memory",
             '(Site == "a") * 10 + Memory / 1024.0', "TARGET.SlotWeight", "0.1 * SlotID", "undefined"]
ORDER = ["Memory", "0", '"text"', "HasX", "GPUs", "TARGET.RequestMemory - Memory", "(RemoteOwner =?= UNDEFINED) * 100 - SubmitterUserResourcesInUse", "RemoteUser =?= UNDEFINED",
         'ifThenElse(TARGET.Dept =?= "x", Memory, 0 - Memory)', 'ifThenElse(Site == "b", 10, 0)', "16777216 + SlotID + LoadAvg", "LoadAvg > 0.5", "KFlops", "0 - Cpus",
         "SubmitterUserPrio * SlotID", "TARGET.Foo", "1E+39 * Cpus"]
PREEMPTION = ["RemoteUserPrio > SubmitterUserPrio * 1.2", "RemoteUserPrio > 10", "RemoteUserResourcesInUse > 2", "RemoteUserFloor == 0", 'TARGET.Dept =!= "z"', 'State == "Claimed"', "1",
              "true", "MY.TotalJobRunTime > 500 && RemoteUserPrio > TARGET.SubmitterUserPrio", "TARGET.SubmitterUserResourcesInUse < 3", "undefined", '"true"',
              "MY.CurrentRank < 3 && RemoteUserPrio >= SubmitterUserPrio", "RemoteUserCeiling =?= undefined || RemoteUserCeiling < 3", "SubmitterGroup =!= RemoteGroup", "RemoteGroupResourcesInUse > 2",
              "SubmitterUserResourcesInUse < RemoteUserResourcesInUse"]
PREEMPTION_RANKS = ["RemoteUserPrio", "TotalJobRunTime", "NoSuch", "0 - TotalJobRunTime", "RemoteUserResourcesInUse * 10 + KFlops / 1000000.0", "0 - RemoteUserResourcesInUse", "MY.Rank"]
# Settings: the chance, then the values.
KNOBS = {
    "NEGOTIATOR_CONSIDER_PREEMPTION": (8, ["False", "False", "True"]),
    "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION": (2, ["True"]),
    "NEGOTIATOR_PRE_JOB_RANK": (5, ORDER), "NEGOTIATOR_POST_JOB_RANK": (5, ORDER),
    "PREEMPTION_REQUIREMENTS": (9, PREEMPTION), "PREEMPTION_RANK": (4, PREEMPTION_RANKS),
    "PREEMPTION_REQUIREMENTS_STABLE": (2, ["False"]), "PREEMPTION_RANK_STABLE": (1, ["False"]),
    "NEGOTIATOR_MATCHLIST_CACHING": (3, ["False"]), "NEGOTIATOR_USE_SLOT_WEIGHTS": (3, ["False"]), "NEGOTIATOR_USE_WEIGHTED_DEMAND": (2, ["False"]),
    "SLOT_WEIGHT": (3, POOL_WEIGHTS), "FORCE_NEGOTIATOR_SLOT_WEIGHT": (1, ["True"]), "NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES": (2, ["True"]),
    "NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE": (4, ["1", "2", "3", "7"]), "USE_RESOURCE_REQUEST_COUNTS": (3, ["False"]),
    "NEGOTIATE_ALL_JOBS_IN_CLUSTER": (2, ["True"]), "NEGOTIATOR_DEPTH_FIRST": (2, ["True"]), "NEGOTIATOR_IGNORE_JOB_RANKS": (2, ["True"]),
    "NEGOTIATOR_IGNORE_USER_PRIORITIES": (2, ["True"]), "USE_GLOBAL_JOB_PRIOS": (2, ["True"]), "NEGOTIATOR_CROSS_SLOT_PRIOS": (2, ["True"]),
    "NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD": (3, ["0", "10", "50"]), "NEGOTIATOR_NUM_THREADS": (1, ["2"]), "NEGOTIATOR_PREFETCH_REQUESTS": (1, ["False"]),
    "NEGOTIATOR_JOB_CONSTRAINT": (2, ["JobPrio >= 0", "RequestMemory < 900", "Foo > 1", "RequestCpus < 3", 'Dept =!= "y"']),
    "NEGOTIATOR_SLOT_CONSTRAINT": (2, ['Site =!= "a"', "SlotID == 1", "Cpus > 1", 'State == "Unclaimed"', "Memory >= 2048"]),
    "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT": (2, ["Memory > 2000", "Cpus > 1", "NoSuch", 'State =!= "Owner"', "RemoteUser =?= undefined", 'Site =?= "a"']),
    "NEGOTIATOR_SUBMITTER_CONSTRAINT": (2, ['Name =!= "alice@pool.test"', "IdleJobs > 2", "RunningJobs == 0"]),
    "ALLOW_PSLOT_PREEMPTION": (3, ["True"]), "MATCH_WORKING_CM_SLOTS": (1, ["True"]), "STARTD_JOB_ATTRS": (2, ["Dept", "Dept, Foo"]),
    "ADD_SIGNIFICANT_ATTRIBUTES": (2, ["Foo, Cmd"]), "SIGNIFICANT_ATTRIBUTES": (1, ["Requirements, Rank, RequestMemory", "Requirements, Rank, RequestMemory, RequestCpus"]),
    "REMOVE_SIGNIFICANT_ATTRIBUTES": (1, ["Foo", "RequestCpus"]),
    "DEFAULT_PRIO_FACTOR": (2, ["1", "10", "500.5"]), "REMOTE_PRIO_FACTOR": (1, ["50"]), "ACCOUNTANT_LOCAL_DOMAIN": (1, ["pool.test", "elsewhere"]), "NICE_USER_PRIO_FACTOR": (1, ["20"]),
}
GROUP_KNOBS = {
    "GROUP_ACCEPT_SURPLUS": (5, ["True", "False"]), "GROUP_AUTOREGROUP": (3, ["True"]), "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS": (3, ["1", "2", "5"]),
    "GROUP_QUOTA_ROUND_ROBIN_RATE": (3, ["1", "1.5", "2", "3"]), "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION": (3, ["True", "False"]), "NEGOTIATOR_STRICT_ENFORCE_QUOTA": (2, ["False"]),
    "GROUP_SORT_EXPR": (3, ['ifThenElse(AccountingGroup =?= "<none>", 3.4e+38, 0 - GroupQuota)', 'ifThenElse(AccountingGroup =?= "group_b", -1, GroupQuota)', "GroupResourcesAllocated",
                            "NoSuch", "GroupResourcesInUse", 'AccountingGroup == "group_b"']),
}


# Features that are frequent together in some pools.
FOCUS = [
    ["partitionable", "consumption", "used", "ALLOW_PSLOT_PREEMPTION", "NEGOTIATOR_DEPTH_FIRST", "MATCH_WORKING_CM_SLOTS", "NEGOTIATOR_MATCHLIST_CACHING"],
    ["partitionable", "consumption", "NEGOTIATOR_CONSIDER_PREEMPTION", "SLOT_WEIGHT", "limits"],
    ["used", "ranks", "PREEMPTION_REQUIREMENTS", "PREEMPTION_RANK", "PREEMPTION_REQUIREMENTS_STABLE", "PREEMPTION_RANK_STABLE", "NEGOTIATOR_CROSS_SLOT_PRIOS",
     "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", "STARTD_JOB_ATTRS"],
    ["NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", "USE_RESOURCE_REQUEST_COUNTS", "NEGOTIATE_ALL_JOBS_IN_CLUSTER", "NEGOTIATOR_DEPTH_FIRST", "NEGOTIATOR_PREFETCH_REQUESTS",
     "NEGOTIATOR_JOB_CONSTRAINT", "ADD_SIGNIFICANT_ATTRIBUTES", "SIGNIFICANT_ATTRIBUTES", "REMOVE_SIGNIFICANT_ATTRIBUTES", "odd"],
    [*GROUP_KNOBS, "floors", "ceilings", "USE_GLOBAL_JOB_PRIOS", "NEGOTIATOR_USE_SLOT_WEIGHTS", "NEGOTIATOR_USE_WEIGHTED_DEMAND", "NEGOTIATOR_IGNORE_USER_PRIORITIES"],
    ["limits", "odd", "starts", "states", "NEGOTIATOR_SLOT_CONSTRAINT", "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT", "NEGOTIATOR_SUBMITTER_CONSTRAINT"],
]


class Maker:
    """Makes one pool; each feature of it is more or less frequent."""

    def __init__(self, seed):
        """A maker whose choices follow from the seed."""
        self.random = random.Random(f"cycle {seed}")
        self.much = self.random.choice([0.3, 0.8, 0.8, 1.5])
        self.pick = self.random.choice
        # Drawn from a source of their own, as what `rare` decides: the other draws of a seed stay what they were.
        self.more = random.Random(f"cycle {seed} more")
        self.cycles = self.more.choice([1, 1, 1, 2, 2, 3])
        self.focus = self.more.choice([[], [], [], *FOCUS])

    def some(self, chance, feature=None):
        """True in `chance` of 30 cases, or less in a pool with few features, or more if it is in focus."""
        return self.random.random() < self.much * chance * (4 if feature in self.focus else 1) / 30

    def rare(self, chance):
        """As `some`, for features that came later."""
        return self.more.random() < self.much * chance / 30

    def quoted(self, text):
        """A string literal."""
        return f'"{text}"'

    def pool(self):
        """A pool."""
        config = {}
        self.groups = self.pick(TREES) if self.random.random() < 0.45 else []
        knobs = {**KNOBS, **(GROUP_KNOBS if self.groups else {})}
        for name, (chance, values) in knobs.items():
            if self.some(chance, name):
                config[name] = self.pick(values)
        if config.get("USE_RESOURCE_REQUEST_COUNTS") == "False" or config.get("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE") == "1":
            # Access points would offer a rejected job again and again: the cycle would not end (Q61).
            config.pop("NEGOTIATE_ALL_JOBS_IN_CLUSTER", None)
        self.quotas(config)
        self.limits = self.some(12, "limits")
        if self.limits:
            for name, values in (("XSW_LIMIT", [1, 2, 3]), ("LIC_LIMIT", [1, 2, 3.5]), ("CONCURRENCY_LIMIT_DEFAULT", [2, 3.5, 4]), ("CONCURRENCY_LIMIT_DEFAULT_LARGE", [3, 6]),
                                 ("CONCURRENCY_LIMIT_DEFAULT_SMALL", [2]), ("LARGE.BAR_LIMIT", [2, 9])):
                if self.random.random() < 0.6:
                    config[name] = str(self.pick(values))
        if self.some(3):
            config.update({"NEGOTIATOR_MATCH_EXPRS": "Extra, NegotiatorMatchExprTwo", "Extra": self.pick(['"text"', 'Site =?= "a"', "Memory * 2"]), "NegotiatorMatchExprTwo": "3"})
        # A claim that took a while has been charged already, where priorities decay.
        decays = self.some(5)
        config["PRIORITY_HALFLIFE"] = self.pick(["100", "3600", "86400"]) if decays else "1.0e30"
        if self.rare(2):
            # The group of all submitters, whatever their names.
            config.update({"NEGOTIATOR_CLASSAD_USER_MAP_NAMES": "GROUP_PREFIX", "CLASSAD_USER_MAPDATA_GROUP_PREFIX": f"* pool.test {self.more.choice([*self.groups, 'team'])}"})
        self.users = self.random.sample(USERS, self.random.randint(1, 6))
        self.weight = self.pick(WEIGHTS) if self.some(15) else self.pick(["1", "Cpus"])
        slots = self.slots()
        jobs = [self.job() for _ in range(self.pick([1, 2, 3, 4, 5, 6, 8, 11]))]
        return {"slots": slots, "submitters": self.submitters(), "jobs": jobs, "log": self.log(slots, decays), "config": config}

    def quotas(self, config):
        """Quotas and properties of the groups."""
        if not self.groups:
            return
        config["GROUP_NAMES"] = ", ".join(self.groups)
        dynamic = self.random.random() < 0.5
        for group in self.groups:
            if self.random.random() < 0.08:
                continue
            if dynamic != (self.random.random() < 0.1):
                config[f"GROUP_QUOTA_DYNAMIC_{group}"] = str(self.pick([1.0, 0.5, 0.333333, 0.3, 0.25, 0.1, 0.7]))
            else:
                config[f"GROUP_QUOTA_{group}"] = str(self.pick([0, 1, 2, 3, 4, 5, 8, 2.5, 30]))
            for name, chance, values in (("GROUP_ACCEPT_SURPLUS", 8, ["True", "False"]), ("GROUP_AUTOREGROUP", 4, ["True", "False"]), ("GROUP_PRIO_FACTOR", 4, [0.5, 2, 10, 100.5])):
                if self.some(chance):
                    config[f"{name}_{group}"] = str(self.pick(values))

    def account(self, name):
        """An accounting name of the user, perhaps within a group."""
        if self.groups and self.random.random() < 0.75:
            return f"{self.pick(self.groups)}.{name}"
        if self.some(2):
            return f"{self.pick(STRAY)}.{name}"
        return f"nice-user.{name}" if self.some(2) else name

    def slots(self):
        """Slots of all kinds; more than 16 only sometimes, as the order of equal candidates of longer lists is not defined."""
        count = self.pick([1, 2, 3, 4, 6, 8, 10, 12, 14, 14, 20, 30])
        kinds = {kind: self.some(chance, kind) for kind, chance in (("used", 24), ("states", 5), ("partitionable", 9), ("consumption", 6), ("ranks", 9), ("starts", 9), ("odd", 9))}
        varied, share = self.random.random() < 0.7, self.pick([0.2, 0.5, 0.8])
        slots = []
        for number in range(1, count + 1):
            slots.extend(self.slot(number, kinds, varied, share))
        return slots

    def slot(self, number, kinds, varied, share):
        """A slot, with its dynamic slots."""
        host, pick, chance = f"m{number:02d}.pool.test", self.pick, self.random.random
        address = f'"<127.0.0.1:PORT7?addrs=127.0.0.1-PORT7&alias={host}>"'
        ad = {"MyType": '"Machine"', "TargetType": '"Job"', "Name": f'"slot1@{host}"', "Machine": f'"{host}"', "SlotID": "1", "SlotType": '"Static"', "Arch": '"X86_64"',
              "OpSys": '"LINUX"', "CondorVersion": '"$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"', "FileSystemDomain": '"pool.test"',
              "HasFileTransfer": "true", "State": '"Unclaimed"', "Activity": '"Idle"', "Cpus": str(pick([1, 1, 2, 4, 8]) if varied else 1),
              "Memory": str(pick([1024, 2048, 4096, 8192]) if varied else 4096), "Disk": "10000000", "KFlops": str(pick([2000000 - number * 1000, 1990000])),
              "SlotWeight": self.weight if chance() < 0.8 else pick(WEIGHTS), "Start": "true", "Rank": "0.0", "CurrentRank": "0.0",
              "Requirements": "Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory", "EnteredCurrentState": "1795000000",
              "EnteredCurrentActivity": "1795000000", "MyAddress": address, "StartdIpAddr": address}
        if varied:
            ad.update({"Site": pick(['"a"', '"b"', '"c"']), "LoadAvg": pick(["0.1", "0.5", "0.9"])})
            if chance() < 0.4:
                ad.update({"HasX": pick(["true", "false"]), "Tags": pick(['"x,y"', '"z"', '""']), "GPUs": pick(["0", "1", "2"])})
        if kinds["ranks"]:
            ad["Rank"] = pick(RANKS)
        if kinds["starts"] and chance() < share:
            ad["Start"] = pick(STARTS)
        slot = {"public": ad, "claims": 1, "children": 0}
        found = [slot]
        if kinds["partitionable"] and chance() < share:
            ad.update({"SlotType": '"Partitionable"', "PartitionableSlot": "true", "Cpus": pick(["4", "8", "16"]), "Memory": pick(["8192", "16384"])})
            ad.update({"TotalSlotCpus": ad["Cpus"], "TotalSlotMemory": ad["Memory"]})
            if kinds["consumption"]:
                ad.update({"MachineResources": '"Cpus Memory Disk"', "ConsumptionCpus": pick(["TARGET.RequestCpus", "quantize(target.RequestCpus, { 1 })", "TARGET.RequestCpus * 1.5", "1", "0"]),
                           "ConsumptionMemory": pick(["TARGET.RequestMemory", "quantize(target.RequestMemory, { 1024 })", "512"]), "ConsumptionDisk": "quantize(target.RequestDisk, { 1024 })"})
                slot["claims"] = pick([1, 2, 5, 50, 50])
            elif kinds["used"] and chance() < 0.7:
                found.extend(self.dynamic(ad, host))
                slot["children"] = int(ad.get("NumDynamicSlots", 0))
        elif kinds["used"] and chance() < share:
            self.use(ad, *pick(STATES))
        elif kinds["states"] and chance() < 0.3:
            ad["State"] = self.quoted(pick(OTHER_STATES))
        if kinds["odd"] and chance() < 0.4:
            self.odd(slot)
        return found

    def use(self, ad, state, activity, user=None):
        """Makes the slot one in use."""
        pick, some = self.pick, self.some
        user = self.quoted((user or self.account(pick(self.users + ABSENT))) + "@pool.test")
        ad.update({"State": self.quoted(state), "Activity": self.quoted(activity), "RemoteOwner": user, "RemoteUser": user, "AccountingGroup": user,
                   "TotalJobRunTime": str(self.random.randint(1, 5000)), "JobId": '"901.0"', "RemoteScheddName": '"other@pool.test"', "CurrentRank": pick(["0.0", "0.0", "5.0", "-2.5"])})
        if some(6):
            ad["RetirementTimeRemaining"] = pick(["0", "100"])
        if some(3):
            del ad["RemoteOwner"]
        if some(3):
            del ad["AccountingGroup"]
        if some(3):
            ad["RemoteScheddName"] = '"schedd@pool.test"'
        if self.limits and self.random.random() < 0.5:
            ad["ConcurrencyLimits"] = self.quoted(pick(LIMITS).lower())
        if state == "Preempting" and self.random.random() < 0.7:
            other = self.quoted(self.account(pick(self.users)) + "@pool.test")
            ad.update({"PreemptingUser": other, "PreemptingOwner": other, "PreemptingRank": "10.0"})
            if some(12):
                ad["PreemptingAccountingGroup"] = other
            if self.limits:
                ad["PreemptingConcurrencyLimits"] = self.quoted(pick(LIMITS).lower())

    def dynamic(self, parent, host):
        """Dynamic slots in use of a partitionable slot, which tells of them if it is to be preempted."""
        children = []
        for number in range(1, self.random.randint(1, 3) + 1):
            child = {name: text for name, text in parent.items() if not name.startswith(("Total", "Partitionable"))}
            child.update({"Name": f'"slot1_{number}@{host}"', "DSlotID": str(number), "SlotType": '"Dynamic"', "DynamicSlot": "true", "Cpus": self.pick(["1", "2", "3"]), "Memory": "1024"})
            self.use(child, *self.pick(STATES))
            children.append(child)
        left = int(parent["Cpus"]) - sum(int(child["Cpus"]) for child in children)
        parent.update({"Cpus": str(max(left, 0)), "Memory": str(int(parent["Memory"]) - 1024 * len(children))})
        self.tell(parent, children)
        if self.some(4):
            parent.update({"State": '"Claimed"', "RemoteScheddName": '"schedd@pool.test"'})
        rolled = self.random.random() < 0.7
        for child in children:
            child["PslotRollupInformation"] = str(rolled).lower()
        return [{"public": child, "claims": 1, "children": 0} for child in children]

    def tell(self, parent, children):
        """Lists the dynamic slots in the ad of their partitionable slot."""
        parent["NumDynamicSlots"] = str(len(children))
        for name in ("AccountingGroup", "Activity", "Cpus", "CurrentRank", "Memory", "Name", "RemoteUser", "State"):
            parent[f"Child{name}"] = "{ %s }" % ", ".join(child.get(name, "undefined") for child in children)
        parent["ChildDisk"] = "{ %s }" % ", ".join("1000" for _ in children)
        parent["ChildRetirementTimeRemaining"] = "{ %s }" % ", ".join(child.get("RetirementTimeRemaining", "0") for child in children)

    def odd(self, slot):
        """Gives a slot a rare attribute, or takes one away."""
        ad = slot["public"]
        kind = self.pick(["revaluate", "offline", "skip", "shutdown", "ghost", "wantclaiming", "negotiator", "cm", "none", "without", "zero"])
        if kind == "revaluate" and not slot["children"]:
            ad.update({"WantAdRevaluate": "true", "UpdateSequenceNumber": "3"})
        elif kind == "offline":
            ad["Offline"] = "true"
        elif kind == "skip":
            ad["SkipMatchmaking"] = self.pick(["true", "1", "0"])
        elif kind == "shutdown":
            ad.update({"DaemonShutdown": self.pick(["false", "true", "time() - DaemonStartTime > 100", "CurrentTime - DaemonStartTime > 40"]),
                       "DaemonStartTime": "1795000000", "MyCurrentTime": "1795000010"})
        elif kind == "ghost":
            ad["GhostMultiplier"] = "2"
        elif kind == "wantclaiming":
            ad["WantClaiming"] = "false"
        elif kind == "negotiator":
            ad["NegotiatorRequirements"] = self.pick(["true", "false", 'TARGET.Dept =?= "x"', "undefined"])
        elif kind == "cm":
            ad.update({"WantMatching": "false", "WorkingCM": '"elsewhere"'})
        elif kind == "none" and slot["claims"] == 1:
            slot["claims"] = 0
        elif kind == "zero":
            ad["SlotWeight"] = "0"
        elif kind == "without":
            ad.pop(self.pick(["CurrentRank", "Requirements", "Rank", "Start", "SlotWeight", "Cpus"]), None)

    def job(self):
        """Jobs of one submit description, of one or several autoclusters."""
        pick, some, chance = self.pick, self.some, self.random.random
        account = self.account(pick(self.users))
        group, _, user = account.rpartition(".")
        submit = {"request_cpus": pick(["1", "1", "1", "2", "4"]), "request_memory": pick(["500", "500", "100", "900", "1500", "3000"]), "request_disk": "1000",
                  "accounting_group_user": user}
        if group == "nice-user":
            submit["nice_user"] = "true"
        elif group:
            submit["accounting_group"] = group
        if some(6):
            submit["request_memory"] = pick(["$(Process) * 7 + 300", "100 + 20 * $(Process)", "500 * (1 + $(Process) % 2)"])
        if some(10):
            submit["rank"] = pick(JOB_RANKS)
        if some(10):
            submit["requirements"] = pick(REQUIREMENTS)
        if some(10):
            submit["priority"] = pick(["-3", "1", "5", "10", "$(Process)"])
        for name in ("PreJobPrio1", "PreJobPrio2", "PostJobPrio1", "PostJobPrio2"):
            if some(3):
                submit["+" + name] = pick(["-1", "1", "7"])
        if some(15):
            submit["+Dept"] = pick(['"x"', '"y"', '"z"'])
        if some(8):
            submit["+Foo"] = pick(["$(Process) % 2", "0", "1", "2"])
        if some(8):
            submit["+WantSite"] = pick(['"a"', '"b"'])
        if self.limits and chance() < 0.7:
            if chance() < 0.3:
                submit["concurrency_limits_expr"] = pick(LIMIT_EXPRESSIONS)
            else:
                submit["concurrency_limits"] = pick(LIMITS)
        if some(2):
            submit["hold"] = "true"
        if some(2):
            submit["+MaxJobRetirementTime"] = "3600"
        if self.rare(2) and "hold" not in submit:
            # Materialized late: the others of the cluster are not in the queue.
            submit[self.more.choice(["max_materialize", "max_idle"])] = self.more.choice(["1", "2", "5"])
        return {"schedd": "schedd2@pool.test" if self.much > 1 and chance() < 0.1 else "schedd@pool.test", "n": pick([1, 1, 2, 3, 4, 5, 8, 12]), "submit": submit}

    def submitters(self):
        """Submitters of an access point elsewhere, all of whose jobs run."""
        return [{"MyType": '"Submitter"', "Name": self.quoted(f"{user}@pool.test"), "ScheddName": '"other@pool.test"', "Machine": '"other.pool.test"',
                 "ScheddIpAddr": '"<127.0.0.1:PORT7?addrs=127.0.0.1-PORT7&alias=other.pool.test>"', "MyAddress": '"<127.0.0.1:PORT7?addrs=127.0.0.1-PORT7&alias=other.pool.test>"',
                 "IdleJobs": "0", "RunningJobs": self.pick(["0", "2"]), "HeldJobs": "0", "UpdateSequenceNumber": "1"} for user in self.users + ABSENT if self.some(1)]

    def log(self, slots, decays):
        """The accountant's log: users with priorities, factors, floors, ceilings and usage, and slots that were in use already."""
        lines = [f"107 1 CreationTimestamp {NOW - 100000}", "101 Accountant. * *", f"103 Accountant. LastUpdateTime {NOW - 30}"]
        used = {}
        if self.some(12):
            for slot in slots:
                ad = slot["public"]
                if "RemoteUser" in ad and self.random.random() < 0.6:
                    name = "Resource.%s@%s" % (ad["Name"].strip('"'), ad["MyAddress"].strip('"'))
                    weight = self.pick([1, 1, 2, 0.5])
                    user = ad["RemoteUser"].strip('"')
                    used.setdefault(user, []).append(weight)
                    lines += [f"101 {name} * *", f'103 {name} RemoteUser "{user}"', f"103 {name} SlotWeight {weight:.6f}", f"103 {name} StartTime {NOW - 500}"]
        known = {f"{self.account(user)}@pool.test" for user in self.users + ABSENT for _ in range(2) if self.random.random() < 0.7} | set(used)
        for user in sorted(known | {f"{group}" for group in self.groups if self.some(4)}):
            values = {}
            if self.random.random() < 0.8:
                values["Priority"] = f"{self.pick([0.5, 0.5, 0.5, 1, 2, 3.7, 10, 50, 0.1, self.random.uniform(0.5, 40)]):.6f}"
            if self.random.random() < 0.8:
                values["PriorityFactor"] = f"{self.pick([1, 1, 1, 10, 1000, 2.5]):.6f}"
            if self.some(6, "ceilings"):
                values["Ceiling"] = str(self.pick([0, 1, 2, 3, 5]))
            if self.some(6, "floors"):
                values["Floor"] = str(self.pick([0, 1, 2, 4, 9]))
            if user in used or not decays and self.some(5):
                values.update({"WeightedAccumulatedUsage": f"{self.random.uniform(0, 1e6):.6f}", "AccumulatedUsage": f"{self.random.uniform(0, 1e6):.6f}",
                               "LastUsageTime": str(NOW - 70000), "BeginUsageTime": str(NOW - 500000)})
            for kind, before in (("Ceiling", "2"), ("Floor", "1"), ("PriorityFactor", "10.000000")):
                if kind in values and self.rare(8):
                    # A lease that runs out long before the cycle, or long after it.
                    values.update({f"{kind}LeaseExpiration": str(NOW + self.more.choice([-300, 3000])), f"{kind}PreLeaseValue": before})
            if user in used:
                values.update({"ResourcesUsed": str(len(used[user])), "WeightedResourcesUsed": f"{sum(used[user]):.6f}"})
            lines += [f"101 Customer.{user} * *", *(f"103 Customer.{user} {name} {text}" for name, text in values.items())]
        return lines


    def later(self, pool, decided):
        """The pool of the next cycle: matched slots are in use, or not; others have become free; jobs are gone, and there are new ones."""
        pool = copy.deepcopy(pool)
        chance = self.random.random
        slots, matched = {slot["public"]["Name"].strip('"'): slot for slot in pool["slots"]}, {}
        for match in decided["matches"]:
            matched.setdefault(match["slot"], []).append(match)
        for slot in pool["slots"]:
            ad = slot["public"]
            if "UpdateSequenceNumber" in ad:
                ad["UpdateSequenceNumber"] = str(int(ad["UpdateSequenceNumber"]) + 1)
            if ad["State"] in ('"Claimed"', '"Preempting"') and ad["SlotType"] == '"Static"' and chance() < 0.3:
                self.free(ad)
        for name, matches in matched.items():
            ad = slots[name]["public"]
            if chance() < 0.2 or "Offline" in ad or "WantClaiming" in ad or ad["SlotType"] == '"Dynamic"':
                continue
            if ad["SlotType"] == '"Static"':
                self.free(ad)
                self.use(ad, "Claimed", "Busy", matches[-1]["submitter"].removesuffix("@pool.test"))
            elif not slots[name]["children"]:
                pool["slots"].extend(self.carved(ad, matches))
                slots[name]["children"] = int(ad.get("NumDynamicSlots", 0))
        for place, job in reversed(list(enumerate(pool["jobs"]))):
            cluster = 1 + sum(other["schedd"] == job["schedd"] for other in pool["jobs"][:place])
            job["n"] -= sum(match["job"].split(".")[0] == str(cluster) for match in decided["matches"])
        pool["jobs"] = [job for job in pool["jobs"] if job["n"] > 0] + [self.job() for _ in range(self.pick([0, 1, 2]))]
        if not pool["jobs"]:
            pool["jobs"] = [self.job()]
        return {"slots": pool["slots"], "submitters": pool["submitters"], "jobs": pool["jobs"], "restart": self.some(8)}

    def free(self, ad):
        """Makes a slot one that is not in use."""
        for name in list(ad):
            if name.startswith(("Remote", "Preempting")) or name in ("AccountingGroup", "TotalJobRunTime", "JobId", "RetirementTimeRemaining", "ConcurrencyLimits"):
                del ad[name]
        ad.update({"State": '"Unclaimed"', "Activity": '"Idle"'})
        if "CurrentRank" in ad:
            ad["CurrentRank"] = "0.0"

    def carved(self, parent, matches):
        """The dynamic slots of the matches of a partitionable slot that has none yet."""
        host = parent["Machine"].strip('"')
        children = []
        for number, match in enumerate(matches, 1):
            if int(parent["Cpus"]) < 1 or int(parent["Memory"]) < 512:
                break
            left_out = ("Total", "Partitionable", "Consumption", "MachineResources", "NumDynamicSlots", "Child")
            child = {name: text for name, text in parent.items() if not name.startswith(left_out)}
            child.update({"Name": f'"slot1_{number}@{host}"', "DSlotID": str(number), "SlotType": '"Dynamic"', "DynamicSlot": "true", "Cpus": "1", "Memory": "512"})
            self.use(child, "Claimed", "Busy", match["submitter"].removesuffix("@pool.test"))
            child["PslotRollupInformation"] = "true"
            parent.update({"Cpus": str(int(parent["Cpus"]) - 1), "Memory": str(int(parent["Memory"]) - 512)})
            children.append(child)
        self.tell(parent, children)
        return [{"public": child, "claims": 1, "children": 0} for child in children]


def generate(seed):
    """The pool of a seed."""
    return Maker(seed).pool()


def later(seed, number, pool, decided):
    """The pool of the cycle after a cycle of a seed, or none."""
    maker = Maker(seed)
    maker.pool()
    maker.random.seed(f"cycle {seed} {number}")
    return maker.later(pool, decided) if number < maker.cycles - 1 else None
