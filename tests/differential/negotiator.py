"""Plays a pool on a real negotiator, once: what it saw and what it decided becomes a folder like those of `tests/data/cycles.tar.gz`.

A pool is a dictionary: `slots` (each with its public ad, the number of its `claims` and of its `children`), `submitters` (further ads),
`jobs` (`n` jobs of one submit description at a `schedd`), `log` (the lines of the accountant's log) and `config`. Later cycles of the same
negotiator are in `then`: pools without log and config, with `restart` if the negotiator is started anew before the cycle."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import wire

SETTINGS = """LOCAL_DIR = {0}
RELEASE_DIR = /usr
LIB = /usr/lib/condor
LIBEXEC = /usr/libexec/condor
SBIN = /usr/sbin
BIN = /usr/bin
LOG = {0}/log
SPOOL = {0}/spool
LOCK = {0}/lock
RUN = {0}/run
EXECUTE = {0}/execute
CONDOR_HOST = 127.0.0.1
COLLECTOR_HOST = 127.0.0.1:{port}
NETWORK_INTERFACE = 127.0.0.1
BIND_ALL_INTERFACES = False
ENABLE_IPV6 = False
NO_DNS = True
DEFAULT_DOMAIN_NAME = pool.test
UID_DOMAIN = pool.test
FILESYSTEM_DOMAIN = pool.test
FULL_HOSTNAME = cm.pool.test
SCHEDD_NAME = {schedd}
NEGOTIATOR_NAME = cm.pool.test
USE_SHARED_PORT = False
USE_PROCD = False
DAEMON_LIST = COLLECTOR, SCHEDD, NEGOTIATOR
CONDOR_IDS = 0.0
SEC_DEFAULT_AUTHENTICATION_METHODS = FS, CLAIMTOBE
SEC_CLIENT_AUTHENTICATION_METHODS = FS, CLAIMTOBE
SEC_USE_FAMILY_SESSION = False
SEC_DEFAULT_AUTHENTICATION = OPTIONAL
SEC_DEFAULT_ENCRYPTION = OPTIONAL
SEC_DEFAULT_INTEGRITY = OPTIONAL
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
ALLOW_NEGOTIATOR = *
ALLOW_ADMINISTRATOR = *
ALLOW_ADVERTISE_STARTD = *
ALLOW_ADVERTISE_SCHEDD = *
ALLOW_ADVERTISE_MASTER = *
ALLOW_CLIENT = *
COLLECTOR_UPDATE_INTERVAL = 900
CLASSAD_LIFETIME = 1000000
SCHEDD_INTERVAL = 1
SCHEDD_MIN_INTERVAL = 0
SCHEDD_SEND_RESCHEDULE = False
SUBMIT_SEND_RESCHEDULE = False
MAX_JOBS_RUNNING = 200000
SCHEDD_ENABLE_PER_USER_MATCH_LIMITS = False
CURB_MATCHMAKING = False
START_LOCAL_UNIVERSE = False
START_SCHEDULER_UNIVERSE = False
NEGOTIATOR_INTERVAL = 1000000
NEGOTIATOR_MIN_INTERVAL = 0
NEGOTIATOR_CYCLE_DELAY = 0
NEGOTIATOR_MAX_TIME_PER_CYCLE = 100000
NEGOTIATOR_MAX_TIME_PER_SUBMITTER = 100000
NEGOTIATOR_MAX_TIME_PER_SCHEDD = 100000
NEGOTIATOR_MAX_TIME_PER_PIESPIN = 100000
NEGOTIATOR_UPDATE_AFTER_CYCLE = True
NEGOTIATOR_DEBUG = D_FULLDEBUG D_MATCH D_ACCOUNTANT
MAX_NEGOTIATOR_LOG = 500000000
MAX_NEGOTIATOR_MATCH_LOG = 500000000
MAIL = /bin/true
"""
JOB = {"universe": "vanilla", "executable": "/bin/sleep", "arguments": "10", "transfer_executable": "false", "should_transfer_files": "NO"}

NOW = 1795350000  # the time of the pools; it becomes the time at which they are played
STAMP = re.compile(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?\s?(?:\(\S+\)\s)?")
LINES = {
    "spin": re.compile(r"Phase 4\.(\d+)"),
    "group": re.compile(r"Group (\S+) - BEGIN NEGOTIATION"),
    "negotiating": re.compile(r"\s*Negotiating with (\S+) at "),
    "limit": re.compile(r"\s+submitterLimit\s+= (\S+)"),
    "pie": re.compile(r"\s+pieLeft = (\S+)"),
    "matched": re.compile(r"\s*Matched (\d+\.\d+) (\S+) <.*?> preempting (.*) <127\.0\.0\.1:\d+\?[^>]*> (\S+)"),
    "rejected": re.compile(r"\s*Rejected (\d+\.\d+) (\S+) <.*?>: ([^|]*)"),
}


class Unplayable(Exception):
    """The pool could not be played: a daemon did not do what was expected in time."""


class Late(Unplayable):
    """Something happened too late for the recording to tell it."""


FINISHED = "Finished Negotiation Cycle"
GOT_ADS = "Public ads include"
ACCOUNTING = "Phase 2:  Performing accounting"


def decisions(log, number=0):
    """What the negotiator decided in one of the cycles of its log, by number."""
    found = {"matches": [], "rejected": [], "negotiations": [], "pies": []}
    spin, group = 0, None
    for line in log.split(FINISHED)[number].splitlines():
        line = STAMP.sub("", line)
        kind, match = next(((kind, match) for kind, rule in LINES.items() if (match := rule.match(line))), (None, None))
        place = {"spin": spin, "group": group}
        if kind == "spin":
            spin = int(match[1])
        elif kind == "group":
            group = match[1]
        elif kind == "negotiating":
            found["negotiations"].append({**place, "submitter": match[1]})
        elif kind == "limit" and found["negotiations"]:
            found["negotiations"][-1]["submitterLimit"] = float(match[1])
        elif kind == "pie":
            found["pies"].append({**place, "pieLeft": float(match[1])})
        elif kind == "matched":
            found["matches"].append({**place, "job": match[1], "submitter": match[2], "preempting": match[3], "slot": match[4]})
        elif kind == "rejected":
            found["rejected"].append({**place, "job": match[1], "submitter": match[2], "reason": match[3].strip()})
    return found


def value(ad, name):
    """The text of an attribute of an ad that a collector sent."""
    return next((line.split(" = ", 1)[1] for line in ad if line.lower().startswith(name.lower() + " = ")), None)


def claims(slot, number):
    """The claims of a slot, one, several or none, and those of its dynamic slots."""
    address = slot["public"]["MyAddress"].strip('"')
    name = lambda at: f"{address}#1795000000#{at}#{at:08X}DEADBEEF01234567BEEFBAAD"
    private, count, children = {}, slot["claims"], slot["children"]
    if count == 1:
        private["ClaimId"] = f'"{name(number + 1)}"'
    else:
        private["ClaimIdList"] = '"%s"' % ",".join(name(1000 * (number + 1) + at) for at in range(count))
    if children:
        private["NumDynamicSlots"] = str(children)
        private["ChildClaimIds"] = "{ %s }" % ", ".join(f'"{name(100000 * (number + 1) + at)}"' for at in range(children))
    return private


class Pool:
    """The daemons of one pool, which live in a folder below `root` and listen on `port` and the one after it."""

    def __init__(self, root, port):
        """A pool in the chroot `root`."""
        self.root, self.port, self.daemons, self.over, self.found = root, port, {}, False, None
        self.inner = f"/srv/cycles-{port}"
        self.outer = root + self.inner

    def command(self, *arguments, user=None, config="condor_config"):
        """The words of a command inside the chroot."""
        home = f"/home/{user}" if user else "/root"
        return ["chroot", *([f"--userspec={user}"] if user else []), self.root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                f"HOME={home}", "LANG=C", "TZ=UTC", f"CONDOR_CONFIG={self.inner}/{config}", *arguments]

    def start(self, daemon, *options, config="condor_config"):
        """Starts a daemon, unless the program ends."""
        if self.over:
            raise Unplayable("the program ends")
        with open(f"{self.outer}/{daemon}.{config}.out", "w") as out:
            command = self.command(f"/usr/sbin/condor_{daemon}", "-f", *options, config=config)
            self.daemons[daemon + config] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def stop(self, names=None):
        """Ends all daemons, or some; a negotiator that is started anew writes its log to the end before."""
        for name in list(self.daemons) if names is None else names:
            process = self.daemons.pop(name)
            if names and name.startswith("negotiator"):
                process.send_signal(signal.SIGQUIT)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    pass
            process.kill()
            process.wait()

    def clear(self):
        """Removes the files of the access points, for the next cycle."""
        shutil.rmtree(f"{self.outer}/1", ignore_errors=True)
        for name in os.listdir(f"{self.outer}/spool"):
            path = f"{self.outer}/spool/{name}"
            if name.startswith("Accountant"):
                continue
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        for name in ("SchedLog", "CollectorLog"):
            if os.path.exists(f"{self.outer}/log/{name}"):
                os.remove(f"{self.outer}/log/{name}")

    def wait(self, what, condition, seconds=30):
        """Waits until a condition holds, and returns its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := condition():
                    return found
            except (OSError, EOFError):
                pass
            time.sleep(0.03)
        raise Unplayable(f"timeout: {what}")

    def play(self, pool, folder, evolve=None):
        """Plays a pool, and writes what was seen and decided into `folder`, and into `then1` and so on below it for later cycles;
        `evolve` makes the pool of the next cycle, if there is one, from the number of the cycle, its pool and what was decided.
        Plays it again if the machine was too busy for a recording that tells all."""
        for _ in range(2):
            try:
                return self.play_once(pool, folder, evolve)
            except Late:
                pass
        return self.play_once(pool, folder, evolve)

    def play_once(self, pool, folder, evolve):
        """Plays a pool; raises `Late` if what the negotiator saw or did is not in the recording."""
        self.stop()
        shutil.rmtree(self.outer, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        original, passed = pool, int(time.time()) - NOW
        stages = [pool, *pool.get("then", [])]
        try:
            # A claim stays pending: the machines accept connections, and never answer.
            with socket.create_server(("127.0.0.1", self.port + 1), backlog=4096):
                number = 0
                while number < len(stages):
                    place = f"{folder}/then{number}" if number else folder
                    self.stage(stages[number], place, number, passed, pool["config"])
                    if evolve and (pool := evolve(number, stages[number], self.found)):
                        stages.append(pool)
                    pool = stages[0]
                    number += 1
                # The last matches are in the log once the negotiator has ended.
                self.stop([name for name in self.daemons if name.startswith("negotiator")])
                shutil.copy(f"{self.outer}/spool/Accountantnew.log", f"{place}/after/Accountantnew.log")
                os.chmod(f"{place}/after/Accountantnew.log", 0o644)
            with open(f"{folder}/pool.json", "w") as out:
                json.dump({**original, "then": stages[1:]} if len(stages) > 1 else original, out, indent=1)
        finally:
            self.stop()
            shutil.rmtree(self.outer, ignore_errors=True)

    def stage(self, pool, folder, number, passed, config):
        """Plays one cycle."""
        text = re.sub(r"\b179[45]\d{6}\b", lambda moment: str(int(moment[0]) + passed), json.dumps(pool))
        pool = {"config": config, **json.loads(text.replace("PORT7", str(self.port + 1)))}
        os.makedirs(f"{folder}/after")
        if number:
            if self.lasted and not pool.get("restart"):
                raise Late("the cycle before lasted into the next second: matches are charged from when they were made")
            self.stop([name for name in self.daemons if not name.startswith("negotiator") or pool.get("restart")])
            self.clear()
        self.fill(pool)
        heard = self.heard()
        self.export(pool, folder)
        self.negotiate(folder, number, heard)

    def fill(self, pool):
        """Starts collector and access points, and gives them slots, submitters and jobs."""
        knobs = "".join(f"{name} = {text}\n" for name, text in pool["config"].items())
        self.access_points = {}
        for number, schedd in enumerate(dict.fromkeys(["schedd@pool.test", *(job["schedd"] for job in pool["jobs"])])):
            folder = f"{self.inner}/{number}" if number else self.inner
            for name in ("log", "spool", "lock", "run", "execute"):
                os.makedirs(f"{self.root}{folder}/{name}", exist_ok=True)
            self.access_points[schedd] = config = f"condor_config.{number}" if number else "condor_config"
            with open(f"{self.outer}/{config}", "w") as out:
                out.write(SETTINGS.format(folder, port=self.port, schedd=schedd) + knobs)
        self.start("collector", "-p", str(self.port))
        for config in self.access_points.values():
            self.start("schedd", config=config)
        self.wait("collector", lambda: wire.query(self.port, "Collector") is not None)
        machines = []
        for number, slot in enumerate(pool["slots"]):
            public = slot["public"]
            private = {"MyType": '"Machine"', "Name": public["Name"], "StartdIpAddr": public["MyAddress"], "MyAddress": public["MyAddress"]}
            machines.append([public, {**private, **claims(slot, number)}])
        wire.update(self.port, wire.UPDATE_STARTD_AD, machines)
        if pool["submitters"]:
            wire.update(self.port, wire.UPDATE_SUBMITTOR_AD, [[ad] for ad in pool["submitters"]])
        self.wait("schedds", lambda: len(wire.query(self.port, "Scheduler")) >= len(self.access_points))
        for schedd, config in self.access_points.items():
            script = []
            for number, job in enumerate(pool["jobs"]):
                if job["schedd"] == schedd:
                    lines = [f"{name} = {text}\n" for name, text in {**JOB, **job["submit"]}.items()]
                    with open(f"{self.outer}/{number}.sub", "w") as out:
                        out.write("".join(lines) + f"queue {job['n']}\n")
                    script.append(f"condor_submit -terse {self.inner}/{number}.sub")
            done = subprocess.run(self.command("sh", "-ec", "; ".join(script) or ":", user="alice", config=config), capture_output=True, text=True)
            if done.returncode:
                raise Unplayable(f"condor_submit: {(done.stdout + done.stderr)[-300:]}")
        waiting = lambda job: min(job["n"], int(job["submit"].get("max_materialize", job["n"])), int(job["submit"].get("max_idle", job["n"])))
        idle = sum(waiting(job) for job in pool["jobs"] if job["submit"].get("hold") != "true")
        others = sum(int(ad.get("IdleJobs", 0)) for ad in pool["submitters"])
        self.wait("submitters", lambda: sum(int(value(ad, "IdleJobs") or 0) for ad in wire.query(self.port, "Submitter")) == idle + others)
        self.settle()

    def settle(self):
        """Lets the access points send no more submitter ads: equal submitters are served in the order in which they were heard of."""
        for config in self.access_points.values():
            with open(f"{self.outer}/{config}", "a") as out:
                out.write("SCHEDD_INTERVAL = 1000\n")
            self.daemons["schedd" + config].send_signal(signal.SIGHUP)
        log = lambda config: f"{self.outer}{config[len('condor_config'):].replace('.', '/')}/log/SchedLog"
        reread = lambda config: "Re-reading config" in open(log(config), errors="replace").read()
        self.wait("reconfiguration", lambda: all(reread(config) for config in self.access_points.values()))
        before = None
        while (now := self.heard()) != before:
            before = now
            time.sleep(1.1)

    def heard(self):
        """The submitters in the collector's order, with the times at which it heard of them."""
        return [line for ad in wire.query(self.port, "Submitter") for line in ad if line.startswith(("Name", "LastHeardFrom"))]

    def export(self, pool, folder):
        """Writes what the negotiator is going to see; with claims, where a slot is not simply matched once."""
        several = {slot["public"]["Name"]: claims(slot, number) for number, slot in enumerate(pool["slots"])
                   if slot["claims"] != 1 or slot["children"] or {"WantAdRevaluate", "ConsumptionCpus"} & set(slot["public"])}
        slots = [[*ad, *(f"{name} = {text}" for name, text in several.get(value(ad, "Name"), {}).items() if name != "NumDynamicSlots")]
                 for ad in wire.query(self.port, "Machine")]
        for name, ads in (("slots", slots), ("submitters", wire.query(self.port, "Submitter"))):
            with open(f"{folder}/{name}.ads", "w") as out:
                out.writelines("\n".join(ad) + "\n\n" for ad in ads)
        with open(f"{folder}/jobs.ads", "w") as out:
            for config in self.access_points.values():
                subprocess.run(self.command("condor_q", "-allusers", "-long", config=config), stdout=out, check=True)
        with open(f"{folder}/config", "w") as out:
            out.write("UID_DOMAIN = pool.test\n" + "".join(f"{name} = {text}\n" for name, text in pool["config"].items()))
        spooled = f"{self.outer}/spool/Accountantnew.log"
        if "log" in pool:
            with open(f"{folder}/Accountantnew.log", "w") as out:
                out.write("\n".join(pool["log"]) + "\n")
            shutil.copy(f"{folder}/Accountantnew.log", spooled)
            os.chmod(spooled, 0o600)
        elif pool.get("restart"):
            shutil.copy(spooled, f"{folder}/Accountantnew.log")
            os.chmod(f"{folder}/Accountantnew.log", 0o644)

    def reschedule(self, read):
        """Asks a negotiator that runs for a cycle. The first is aborted, as the new collector does not know its session."""
        address = re.findall(r"^\S+ \S+ DaemonCore: command socket at <127\.0\.0\.1:(\d+)", read(), re.M)[-1]
        begun = lambda: read().count(GOT_ADS)
        ended = lambda: begun() + read().count("Aborting negotiation cycle")
        for _ in range(3):
            before, earlier = ended(), begun()
            with wire.Connection(int(address)) as connection:
                connection.number(wire.RESCHEDULE)
                connection.flush()
            self.wait("cycle", lambda: ended() > before, 60)
            if begun() > earlier:
                return
        raise Unplayable("the negotiator aborts its cycles")

    def negotiate(self, folder, number, heard):
        """Lets the negotiator run a cycle, and writes what it decided; `heard`: the submitters that the recording has."""
        log = f"{self.outer}/log/NegotiatorLog"
        read = lambda: open(log, errors="replace").read() if os.path.exists(log) else ""
        if "negotiatorcondor_config" not in self.daemons:
            self.start("negotiator")
        elif number:
            self.reschedule(read)
        process = self.daemons["negotiatorcondor_config"]
        self.wait("ads", lambda: read().count(GOT_ADS) > number or process.poll() is not None, 60)
        late = self.heard() != heard
        self.wait("cycle", lambda: read().count(FINISHED) > number or process.poll() is not None, 60)
        if process.poll() is not None:
            shutil.copy(log, folder)
            raise Unplayable(f"the negotiator ended: {read()[-200:]}")
        if late:
            raise Late("an access point sent its submitters once more")
        published = lambda: [ad for ad in wire.query(self.port, "Negotiator") if value(ad, "LastNegotiationCycleEnd0")]
        ads = self.wait("negotiator ad", published)
        text, accounts = read(), f"{folder}/after/Accountantnew.log"
        shutil.copy(f"{self.outer}/spool/Accountantnew.log", accounts)
        os.chmod(accounts, 0o644)
        with open(accounts) as file:
            updates = re.findall(r"^103 Accountant\. LastUpdateTime (\d+)", file.read(), re.M)
        with open(f"{folder}/after/negotiator.ads", "w") as out:
            out.writelines(line + "\n" for line in ads[0])
        with open(f"{folder}/NegotiatorLog", "w") as out:
            out.write(text)
        self.found = {**decisions(text, number), "now": int(updates[-1]), "cycles": text.count(FINISHED) - number}
        with open(f"{folder}/expected.json", "w") as out:
            json.dump(self.found, out, indent=1)
        begun, ended = (re.findall(rf"^(\S+ \S+) .*{what}", text, re.M)[-1] for what in (ACCOUNTING, FINISHED))
        self.lasted = begun != ended
