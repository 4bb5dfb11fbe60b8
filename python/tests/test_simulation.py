"""Simulations, experiments, policy tests and lazy reading."""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import classmate as cm
from classmate.htcondor2 import Submit
from libraries import check_taken

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES, DATA = ROOT / "examples", ROOT / "tests" / "data"
SMALL = DATA / "workloads" / "small.swf"
START = 1795046400

# Two cores and a cycle each minute. Job 1 takes both cores from 0 to 100. Job 2 comes at 5 and waits for the cycle at 120; it
# ends at 140. Job 3 comes at 130, starts at 180 and ends at 220. In use are 200 + 20 + 40 of 2 * 220 core-seconds.
WAITS, ENDS, USE = [0, 115, 50], [100, 140, 220], 260 / 440


def test_a_simulation():
    run = cm.simulate(SMALL)
    assert (run.policy, run.cores, run.utilisation) == ("condor", 2, USE)
    assert run.jobs["completed"] == 3 and run.end - run.start == 220 and run.problems == []
    times = run.job_times
    assert times.column("job") == ["1.0", "2.0", "3.0"] and times.column("state") == ["completed"] * 3
    assert times.column("wait") == WAITS and [end - START for end in times.column("end")] == ENDS
    assert times.column("submitter") == ["group1.user1@trace", "group2.user2@trace", "group1.user1@trace"]
    # Job 2 stayed 135 s and ran 20.
    assert times.column("slowdown") == [1.0, 6.75, 2.25]
    waits = {row["name"]: row["wait"] for row in run.to_dict()["submitters"]}
    assert waits["group1.user1@trace"]["mean"] == 25 and waits["group2.user2@trace"]["max"] == 115
    shares = [row["share"] for row in run.usage.rows() if row["name"] == "group2"]
    # 20 of 260 core-seconds, in one step.
    assert shares == [20 / 260]
    assert repr(run) == "<Simulation: condor, 3 jobs completed, utilization 59.1%, mean wait 55 s>"
    assert "<svg" in run.to_html() and run._repr_html_().startswith("<iframe ")


def test_options_of_a_simulation(tmp_path):
    # One that stops after 140 s does not have job 3.
    run = cm.simulate(SMALL, until=START + 140, seed=7, report=tmp_path / "run", job_times=[tmp_path / "waits.swf"])
    assert run.jobs["completed"] == 2 and run.seed == 7 and run.job_times.column("wait") == [0, 115, None]
    assert (tmp_path / "waits.swf").is_file()
    read = cm.Simulation.read(tmp_path / "run")
    assert read.to_dict() == run.to_dict()
    with pytest.raises(AttributeError):
        read.job_times
    # A cycle each 10 s: jobs 2 and 3 wait 95 s, until 100, and not at all.
    assert cm.simulate(SMALL, interval=10).job_times.column("wait") == [0, 95, 0]
    assert cm.simulate(SMALL, set={"NEGOTIATOR_INTERVAL": 10}).job_times.column("wait") == [0, 95, 0]
    assert cm.simulate(SMALL, slots=3).job_times.column("wait") == [0, 55, 50]
    assert cm.simulate(SMALL, policy="slurm", first_look=True).policy == "slurm"


def test_mistakes(tmp_path):
    with pytest.raises(cm.Error, match="does not have the option `--slot`"):
        cm.simulate(SMALL, slot=3)
    with pytest.raises(cm.Error, match="invalid value 'pbs'"):
        cm.simulate(SMALL, policy="pbs")
    with pytest.raises(cm.Error, match="cannot read .* no such file"):
        cm.simulate(tmp_path / "nothing.swf")
    with pytest.raises(cm.ConfigurationError) as error:
        cm.simulate(SMALL, set="NEGOTIATOR_INTERVAL = soon")
    assert error.value.args[1] == "--set" and error.value.args[2] == 1
    with pytest.raises(cm.Error, match="is not a run"):
        cm.Simulation.read(SMALL)
    (tmp_path / "some.swf").write_text(SMALL.read_text() + "not a job\n")
    assert "some.swf:8" in cm.simulate(tmp_path / "some.swf").problems[0]


def test_comparisons():
    runs = [cm.simulate(SMALL), cm.simulate(SMALL, slots=3)]
    found = cm.compare(runs)
    assert found.runs == ["condor 1", "condor 2"]
    waits = next(row for row in found.measures.rows() if row["name"] == "wait, mean")
    assert waits == {"name": "wait, mean", "unit": "seconds", "condor 1": 55.0, "condor 2": 35.0}
    rows = {(row["name"], row["run"]): row["wait_mean"] for row in found.submitters.rows()}
    assert rows["group2.user2@trace", "condor 1"] == 115 and rows["group2.user2@trace", "condor 2"] == 55
    written = cm.compare([DATA / "runs" / "condor", DATA / "runs" / "slurm"])
    assert repr(written) == "<Comparison: condor, slurm>" and "<svg" in written.to_html()
    assert cm.compare({"two": runs[0], "three": runs[1]}).runs == ["two", "three"]
    with pytest.raises(ValueError):
        cm.compare(runs[:1])


PLAN = {
    "seeds": 2,
    "baseline": "two",
    "simulate": {"workload": SMALL, "policy": "condor"},
    "settings": {"two": {"slots": 2}, "three": {"slots": 3}},
}


def test_an_experiment(tmp_path):
    seen = []
    found = cm.experiment(PLAN, output=tmp_path / "out", jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4, 4) and repr(found) == "<Experiment: 2 variants, 4 runs>"
    rows = {row["setting"]: row for row in found.summary.rows() if row["measure"] == "wait, mean"}
    # All seeds give the same, so the intervals are points.
    assert (rows["two"]["mean"], rows["two"]["difference"]) == (55, None)
    assert (rows["three"]["mean"], rows["three"]["difference"], rows["three"]["difference_half_width"]) == (35, -20, 0)
    runs = {(row["setting"], row["seed"]): row["wait_mean"] for row in found.results.rows()}
    assert runs == {("three", 1): 35, ("three", 2): 35, ("two", 1): 55, ("two", 2): 55}
    assert (tmp_path / "out" / "summary.csv").is_file() and "<svg" in found.to_html()
    # Runs that are there are read.
    point = tmp_path / "out" / "points" / "condor~two~1.json"
    before = point.stat().st_mtime_ns
    again = cm.experiment(PLAN, output=tmp_path / "out")
    assert point.stat().st_mtime_ns == before and again.to_dict() == found.to_dict()
    assert cm.experiment(EXAMPLES / "simulate" / "experiment.toml", baseline="slurm").baseline == "slurm"
    with pytest.raises(cm.Error, match="`settings.two.seed` cannot be set"):
        cm.experiment({**PLAN, "settings": {"two": {"seed": 1}}})
    with pytest.raises(cm.Error, match="the baseline `four` is not"):
        cm.experiment(PLAN, baseline="four")


def test_an_experiment_is_submitted_by_the_program(tmp_path, monkeypatch):
    # In place of the program: what it is asked for, as the path that it prints.
    program = tmp_path / "classmate"
    program.write_text('#!/bin/sh\n[ "$2" != wrong.toml ] || { echo "error: \\`x\\` is unknown" >&2; exit 2; }\necho "$*"\n')
    program.chmod(0o755)
    expected = "experiment e.toml --output swept --submit"
    assert cm.experiment_submit("e.toml", output=pathlib.Path("swept"), program=program) == expected
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert cm.experiment_submit("e.toml", output="swept") == expected
    with pytest.raises(cm.Error, match="^`x` is unknown$"):
        cm.experiment_submit("wrong.toml", output="swept")
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(FileNotFoundError, match="is not on PATH"):
        cm.experiment_submit("e.toml", output="swept")


class Bar:
    total, n = None, 0

    def update(self, n=1):
        self.n += n


def test_progress_and_interruption(tmp_path):
    bar = Bar()
    cm.simulate(SMALL, progress=bar)
    assert (bar.n, bar.total) == (3, 3)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        cm.simulate(SMALL, progress=stop)


LONG = """
import sys, time, classmate as cm
lines = [f"{n} {n} -1 50000 -1 -1 -1 1 -1 -1 1 {n % 50} {n % 5} -1 -1 -1 -1 -1" for n in range(1, 200_000)]
open(sys.argv[1], "w").write("\\n".join(lines))
print("ready", flush=True)
try:
    cm.simulate(sys.argv[1], slots=64, interval=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of a process group")
def test_ctrl_c_ends_a_simulation(tmp_path):
    command = [sys.executable, "-c", LONG, str(tmp_path / "long.swf")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
        assert process.returncode == 0


def test_simulations_run_beside_other_threads():
    results = []
    threads = [threading.Thread(target=lambda: results.append(cm.simulate(SMALL).utilisation)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [USE] * 4


def test_policy_tests(tmp_path):
    results = cm.test([EXAMPLES / "policy" / "start.toml", EXAMPLES / "policy" / "owner.toml"])
    # As in docs/test.md.
    assert (results.passed, results.failed, results.ok) == (8, 0, True) and len(results.tests) == 8
    assert len(cm.test(EXAMPLES / "policy" / "start.toml", only="GPU", coverage=True).files[0]["coverage"]) > 0
    (tmp_path / "wrong.toml").write_text('[[test]]\nname = "sum"\nexpression = "1 + 1"\nvalue = "3"\n')
    wrong = cm.test(tmp_path / "wrong.toml")
    assert not wrong.ok and wrong.tests[0]["name"] == "sum" and "2" in wrong.tests[0]["failures"]
    assert repr(wrong) == "<TestResults: 0 passed, 1 failed>"
    (tmp_path / "bad.toml").write_text("[[test]\n")
    with pytest.raises(cm.ConfigurationError) as error:
        cm.test(tmp_path / "bad.toml")
    assert error.value.args[1:3] == (str(tmp_path / "bad.toml"), 1)


def test_what_has_no_effect_is_refused(tmp_path):
    empty = tmp_path / "empty.toml"
    empty.write_text("")
    for files in ([], empty):
        with pytest.raises(cm.Error, match="no tests found"):
            cm.test(files)
    with pytest.raises(cm.Error, match="`format` has no effect"):
        cm.simulate(SMALL, format="csv")
    pool = cm.Pool.read(EXAMPLES / "groups")
    with pytest.raises(cm.Error, match="no goals"):
        pool.advise([])
    for wrong in ({"cycles": 1}, {"interval": 0}):
        with pytest.raises(cm.Error, match="expected 2 to 100000 cycles"):
            pool.advise("chemistry >= 90% of quota", **wrong)


def test_submodules_are_attributes():
    code = "import classmate as cm; print(cm.classad2.ClassAd, cm.table.Table is cm.Table)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "<class 'classmate.classad2.ClassAd'> True\n"


def test_other_versions(tmp_path):
    # 2K is a number before 23.9.
    (tmp_path / "sizes.toml").write_text('[[test]]\nname = "size"\nexpression = "2K"\nvalue = "2048.0"\n')
    with cm.semantics("23.0"):
        assert cm.test(tmp_path / "sizes.toml").ok
    with pytest.raises(cm.Error):
        cm.test(tmp_path / "sizes.toml")
    assert cm.test(tmp_path / "sizes.toml", semantics="23.0").ok
    # `int("6K")` is 6144 before 23.9, and 6 since.
    jobs = tmp_path / "jobs.ads"
    jobs.write_text('ClusterId = 1\nProcId = 0\nUser = "a@x"\nJobStatus = 1\nQDate = 1000\nRequestCpus = 1\n')
    options = {"slots": 1, "run_time": 'int("6K")'}
    ends = [cm.simulate(jobs, semantics=series, **options).job_times.column("end")[0] for series in ("23.0", "25.14", None)]
    assert [end - ends[1] for end in ends] == [6138, 0, 0]
    with cm.semantics("23.0"):
        assert cm.simulate(jobs, **options).job_times.column("end") == [ends[0]]
    plan = {"simulate": {"workload": str(jobs), "slots": 1, "run-time": 'int("6K")', "until": 2000}}
    used = [cm.experiment(plan, semantics=series).results.column("jobs_completed") for series in ("23.0", None)]
    assert used == [[0], [1]]
    # A pool is asked in the version in which it was read.
    (tmp_path / "slots.ads").write_text('Name = "s"\nState = "Unclaimed"\nCpus = 1\nRequirements = true\n')
    (tmp_path / "config").write_text("NEGOTIATOR_INTERVAL = 60\n")
    jobs.write_text(jobs.read_text() + "Requirements = true\n")
    old, new = (cm.Pool.read(tmp_path, semantics=series) for series in ("23.0", None))
    with pytest.raises(cm.Error, match="found `2K`"):
        new.advise("a@x >= 50% of pool", run_time="2K")
    assert old.advise("a@x >= 50% of pool", run_time="2K").met
    text = "a = 2K\nb = $EVAL(a)\n"
    with cm.semantics("23.0"):
        assert Submit(text).expand("b") == "2.048000000000000E+03"
    with pytest.raises(KeyError):
        Submit(text).expand("b")


def test_reading_in_batches(tmp_path):
    whole = cm.read_ads(EXAMPLES / "pool" / "slots.ads", attributes=["Name", "KFlops"])
    scan = cm.scan_ads(EXAMPLES / "pool" / "slots.ads", attributes=["Name", "KFlops"], batch=5)
    tables = list(scan)
    assert [len(table) for table in tables] == [5, 5, 4]
    assert [row for table in tables for row in table.rows()] == whole.to_pylist() and scan.problems == []
    some = cm.scan_ads(EXAMPLES / "pool" / "slots.ads", constraint="KFlops > 1990000", batch=100)
    assert [len(table) for table in some] == [9]
    packed = tmp_path / "slots.ads.gz"
    packed.write_bytes(gzip.compress((EXAMPLES / "pool" / "slots.ads").read_bytes()))
    assert cm.read_ads(packed, attributes=["Name", "KFlops"]).to_pylist() == whole.to_pylist()
    (tmp_path / "some.ads").write_text("A = 1\n\nB = = 2\n\nA = 3\n")
    faulty = cm.scan_ads(tmp_path / "some.ads")
    assert [row["A"] for table in faulty for row in table.rows()] == [1, 3]
    assert any("some.ads:3" in problem for problem in faulty.problems)
    with pytest.raises(ValueError):
        cm.scan_ads(packed, constraint="a &&")
    with pytest.raises(ValueError):
        cm.scan_ads(packed, batch=0)
    with pytest.raises(OSError):
        cm.scan_ads(tmp_path / "nothing")


@pytest.mark.parametrize("library", ["pyarrow", "polars", "duckdb"])
def test_libraries_take_results(library):
    module = pytest.importorskip(library)
    run = cm.simulate(SMALL)
    plan = cm.experiment(PLAN)
    both = cm.compare([run, run])
    tests = cm.test(EXAMPLES / "policy" / "start.toml")
    for result in (run.job_times, run.usage, run.submitters, both.measures, both.groups, plan.summary, plan.results, tests.tests):
        assert len(result)
        check_taken(library, module, result)


def test_results_are_plain_data():
    for result in (cm.simulate(SMALL), cm.compare([cm.simulate(SMALL), cm.simulate(SMALL)]), cm.experiment(PLAN)):
        json.dumps(result.to_dict())
        assert os.fspath(SMALL) not in repr(result)
