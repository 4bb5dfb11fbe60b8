#!/usr/bin/env python3
"""Run recorded cases of the classad2 API against an importable module and print what differs.

    records.py CASES.jsonl[.gz] ... [--module classmate.classad2] [--only AREA,AREA] [--id ID,ID]
           [--show N] [--isolate fork|process|none] [--timeout S] [--strict] [--list-areas]

The module is put into sys.modules under the name `classad2` before a snippet runs, so that snippets say
`import classad2` whatever is tested. The last line printed is `N passed, M failed`; exit status 1 when M > 0.

A case holds when the outcome is the recorded one (`result`, or `exception`, and `stdout`). A case with `ours` is one where the
reference crashes, hangs, raises SystemError or loses data; there `ours` is the result that is required. `--strict` asks
for the reference's own outcome even there; it is how the reference is checked against its own record.
"""
import argparse, ast, contextlib, gzip, importlib, io, json, os, re, signal, subprocess, sys, time

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def execute(snippet):
    """Run one snippet in a fresh namespace; the value of a last line that is an expression is the result."""
    out, space = io.StringIO(), {"__name__": "case", "__builtins__": __builtins__}
    if os.environ.get("TZ") != "UTC":           # an earlier case moved the clock's zone
        os.environ["TZ"] = "UTC"
        if hasattr(time, "tzset"): time.tzset()
    answer = {}
    try:
        with contextlib.redirect_stdout(out):
            tree = ast.parse(snippet)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "<case>", "exec"), space)
            value = eval(compile(ast.Expression(last.value), "<case>", "eval"), space) if last else None
            answer["result"] = {"type": type(value).__name__, "repr": ADDRESS.sub("0x", repr(value))}
    except BaseException as e:          # SystemExit too: a snippet may do anything
        try: text = str(e)
        except Exception as f: text = "<%s>" % type(f).__name__
        answer = {"exception": {"type": type(e).__name__, "message": ADDRESS.sub("0x", text)}}
    if out.getvalue(): answer["stdout"] = ADDRESS.sub("0x", out.getvalue())
    return answer


def clean(o):
    return json.loads(json.dumps(o, ensure_ascii=True, default=repr))


def prepare(module):
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"): time.tzset()
    sys.setrecursionlimit(3000)
    m = importlib.import_module(module)
    sys.modules["classad2"] = m
    return m


def forked(snippet, timeout):
    r, w = os.pipe()
    sys.stdout.flush(); sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        null = os.open(os.devnull, os.O_RDWR); os.dup2(null, 2); os.dup2(null, 0)
        try:
            import resource
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        except Exception: pass
        signal.alarm(timeout)
        answer = json.dumps(execute(snippet), ensure_ascii=True).encode()
        while answer: answer = answer[os.write(w, answer):]
        os._exit(0)
    os.close(w)
    data = b""
    while True:
        block = os.read(r, 65536)
        if not block: break
        data += block
    os.close(r)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        s = os.WTERMSIG(status)
        return {"timeout": True} if s == signal.SIGALRM else {"crash": signal.Signals(s).name}
    try: return json.loads(data)
    except ValueError: return {"crash": "exit %d" % os.WEXITSTATUS(status)}


class Worker:
    """A process that runs cases one after another; replaced when it dies. For systems without fork."""
    def __init__(self, module): self.module, self.p = module, None
    def stop(self):
        if self.p: self.p.stdin.close(); self.p.wait(); self.p = None
    def run(self, snippet, timeout):
        import threading
        if self.p is None:
            self.p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", "--module", self.module], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="ascii")
        late = []
        timer = threading.Timer(timeout, lambda: (late.append(1), self.p.kill())); timer.start()
        try:
            self.p.stdin.write(json.dumps(snippet) + "\n"); self.p.stdin.flush()
            line = self.p.stdout.readline()
        except OSError: line = ""
        timer.cancel()
        if line: return json.loads(line)
        self.p.kill(); code = self.p.wait(); self.p = None
        return {"timeout": True} if late else {"crash": "exit %d" % code}


def worker(module):
    real = os.fdopen(os.dup(1), "w", encoding="ascii")
    prepare(module)
    for line in sys.stdin:
        real.write(json.dumps(execute(json.loads(line)), ensure_ascii=True) + "\n"); real.flush()


def same(want, have, loose):
    for key in ("result", "exception", "crash", "timeout"):
        if key not in want: continue
        if key not in have: return False
        if key == "exception":
            types = want[key]["type"] if isinstance(want[key]["type"], list) else [want[key]["type"]]
            if have[key]["type"] not in types: return False
            if not loose and "message" in want[key] and want[key]["message"] != have[key]["message"]: return False
        elif key == "result":
            for part in ("type", "repr"):
                if part in want[key] and want[key][part] != have[key][part]: return False
        elif key == "crash": pass            # any crash is a crash
    return want.get("stdout", "") == have.get("stdout", "") if not want.get("any_stdout") else True


def verdict(case, have, strict=False):
    want = {k: case[k] for k in ("result", "exception", "crash", "timeout", "stdout") if k in case}
    loose = case.get("message") == "any"
    if strict or "ours" not in case: return same(want, have, loose)
    ours = case["ours"]
    return any(same(o, have, False) for o in (ours if isinstance(ours, list) else [ours]))


def applies(case):
    if case.get("posix") and os.name != "posix": return False
    low = tuple(map(int, case.get("min_python", "0").split(".")))
    below = tuple(map(int, case.get("below_python", "9").split(".")))
    return low <= sys.version_info[:len(low)] and sys.version_info[:len(below)] < below


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("cases", nargs="*"); p.add_argument("--module", default="classad2"); p.add_argument("--only"); p.add_argument("--id")
    p.add_argument("--show", type=int, default=20); p.add_argument("--timeout", type=int, default=20); p.add_argument("--strict", action="store_true")
    p.add_argument("--isolate", choices=["fork", "process", "none"], default="fork" if hasattr(os, "fork") else "process")
    p.add_argument("--list-areas", action="store_true"); p.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.worker: return worker(a.module)
    opened = lambda f: gzip.open(f, "rt", encoding="ascii") if f.endswith(".gz") else open(f, encoding="ascii")
    cases = [json.loads(l) for f in a.cases for l in opened(f) if l.strip()]
    if a.list_areas:
        by = {}
        for c in cases: by[c["area"]] = by.get(c["area"], 0) + 1
        for k, v in sorted(by.items()): print(v, k)
        return
    if a.only: cases = [c for c in cases if c["area"] in a.only.split(",")]
    if a.id: cases = [c for c in cases if c["id"] in a.id.split(",")]
    skipped = [c for c in cases if not applies(c)]
    cases = [c for c in cases if applies(c) and not (a.isolate == "none" and c.get("fresh"))]
    if a.isolate != "process": prepare(a.module)
    w = Worker(a.module)
    passed, failed, by = 0, 0, {}
    for c in cases:
        if a.isolate == "fork": have = forked(c["snippet"], a.timeout)
        elif a.isolate == "process":
            if c.get("fresh"): w.stop()          # the case looks at state that earlier cases leave behind
            have = w.run(c["snippet"], a.timeout)
        else: have = clean(execute(c["snippet"]))
        if verdict(c, have, a.strict): passed += 1; continue
        failed += 1; by[c["area"]] = by.get(c["area"], 0) + 1
        if failed <= a.show:
            want = {k: c[k] for k in ("result", "exception", "crash", "timeout", "stdout") if k in c}
            if "ours" in c and not a.strict: want = {"ours": c["ours"]}
            print(c["id"]); print("    " + c["snippet"].replace("\n", "\n    ")); print("  want", json.dumps(want)); print("  have", json.dumps(have))
    w.stop()
    if by: print("by area:", ", ".join("%s %d" % x for x in sorted(by.items(), key=lambda x: -x[1])))
    if skipped: print("%d skipped on this system" % len(skipped))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__": main()
