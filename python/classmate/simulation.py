"""Simulations, experiments and policy tests: objects over the results of the compiled part."""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from . import _classmate
from .errors import Error
from .pool import Configuration, Result, _lines, _version
from .table import Table


class ProgressBar(Protocol):
    """A progress bar, such as one of tqdm."""

    total: Any
    n: Any

    def update(self, n: Any = 1) -> Any:
        """Adds steps that are done."""


Progress = Callable[[int, int], object] | ProgressBar | None
"""A function of the steps that are done and of all steps, or a progress bar."""


def _shown(progress: Progress) -> Callable[[int, int], object] | None:
    update = getattr(progress, "update", None)
    if update is None:
        return progress  # type: ignore[return-value]
    bar: Any = progress

    def show(done: int, total: int) -> None:
        bar.total = total
        update(done - bar.n)

    return show


def _option(value: object) -> object:
    """Returns a value of an option as it is in an experiment's file."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, datetime):
        return int(value.timestamp())
    if isinstance(value, list | tuple):
        return [_option(part) for part in value]
    return value


class Page(Result):
    """A result that also is a page with tables and charts."""

    def to_html(self) -> str:
        """Returns the page."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = html.escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Simulation(Page):
    """A run of a workload under a policy.

    Tables: `submitters`, `groups`, `usage` (shares over time), `waits` (a histogram), `job_times`, `never_started_jobs` and
    `too_large_jobs`. `jobs` has their numbers by result, `all` the results of all submitters together, and `problems` warnings.
    """

    def __init__(self, _run: _classmate._Run) -> None:
        super().__init__(_run.shown())
        self._run = _run
        self.problems = _run.problems

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Simulation:
        """Reads a run that was written with the option `report`: a directory, or its `run.json`."""
        return cls(_classmate._Run.read(os.fspath(path)))

    @cached_property
    def usage(self) -> Table:
        """The shares over time: for each step a row for all, and one for each group and submitter."""
        rows = []
        for step in self._parts["over_time"]:
            start, both = step["start"], (("group", "group_shares", "group_due"), ("submitter", "shares", "due"))
            whole = {"start": start, "kind": "all", "name": "all"}
            rows.append({**whole, "utilisation": step["utilisation"], "waiting": step["waiting"], "share": None, "due": None})
            for kind, shares, due in both:
                for name in sorted({*step[shares], *step[due]}):
                    share = {"share": step[shares].get(name), "due": step[due].get(name)}
                    rows.append({"start": start, "kind": kind, "name": name, "utilisation": None, "waiting": None, **share})
        return Table._of_rows(json.dumps(rows))

    @cached_property
    def job_times(self) -> Table:
        """The times of each job. A run that was read from a file does not have them."""
        columns = self._run.job_times()
        if columns is None:
            raise AttributeError("a run that was read from a file does not have the times of its jobs")
        return Table._of(columns)

    def to_html(self) -> str:
        """Returns the page of `classmate simulate --report`."""
        return self._run.page()

    def __repr__(self) -> str:
        jobs, wait = self._parts["jobs"]["completed"], self._parts["all"]["wait"]["mean"]
        return (
            f"<Simulation: {self._parts['policy']}, {jobs} {'job' if jobs == 1 else 'jobs'} completed, "
            f"utilization {self._parts['utilisation']:.1%}, mean wait {wait:.0f} s>"
        )


def simulate(
    workload: str | os.PathLike[str],
    *,
    policy: str = "condor",
    pool: str | os.PathLike[str] | None = None,
    slots: int | None = None,
    until: int | str | datetime | None = None,
    set: Configuration = None,
    seed: int = 0,
    progress: Progress = None,
    **options: object,
) -> Simulation:
    """Simulates a workload, a trace in the Standard Workload Format or a file of job ads, under a scheduling policy.

    The options are those of `classmate simulate` with `_` for `-`: `policy` is condor, dirac or slurm, `pool` the directory of a
    pool, `slots` a number of cores, `until` the end time, `set` lines of configuration; also `config`, `interval`, `step`,
    `shake`, `run_time`, `report`, `job_times` and those of the policies, such as `slurm_conf` or `lottery`. `progress` is a
    function of the jobs that came and of all jobs, or a bar such as `tqdm.tqdm()`. Ctrl-C stops the simulation. `semantics` is a
    version of HTCondor, such as "24.0".
    """
    named = {"policy": policy, "pool": pool, "slots": slots, "until": until, "seed": seed, **options}
    lines = (_lines(set) or "").splitlines()
    given = {"workload": workload, **named, **({"set": lines} if lines else {})}
    words = {name.replace("_", "-"): _option(value) for name, value in given.items() if value is not None}
    return Simulation(_classmate._Run(json.dumps(words), _shown(progress)))


class Comparison(Page):
    """Runs side by side. Tables: `measures` with a column for each run, `groups` and `submitters` with a row for each run."""

    def __init__(self, shown: tuple[str, str], page: str) -> None:
        super().__init__(shown)
        self._page = page

    @cached_property
    def measures(self) -> Table:
        """A row for each measure, with a column for each run."""
        runs = self._parts["runs"]
        rows = [
            {"name": row["name"], "unit": row["unit"], **dict(zip(runs, row["values"]))} for row in self._parts["measures"]
        ]
        return Table._of_rows(json.dumps(rows))

    def _of_each(self, part: str) -> Table:
        rows = []
        for entity in self._parts[part]:
            for at, run in enumerate(self._parts["runs"]):
                values = {name: values[at] for name, values in entity.items() if name not in ("name", "contended")}
                contended = entity["contended"][at] or {}
                under = {f"contended_{name}": contended.get(name) for name in ("seconds", "share", "due")}
                rows.append({"name": entity["name"], "run": run, **values, **under})
        return Table._of_rows(json.dumps(rows))

    @cached_property
    def groups(self) -> Table:
        """Shares and waits of each group in each run."""
        return self._of_each("groups")

    @cached_property
    def submitters(self) -> Table:
        """Shares and waits of each submitter in each run."""
        return self._of_each("submitters")

    def to_html(self) -> str:
        """Returns the page of `classmate compare`."""
        return self._page

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self._parts['runs'])}>"


_Run = Simulation | str | os.PathLike[str]


def compare(runs: Mapping[str, _Run] | Iterable[_Run]) -> Comparison:
    """Compares runs, each a `Simulation` or the directory of one. Without names they are called after their policies, or
    directories."""
    named: list[tuple[str, _Run]]
    if isinstance(runs, Mapping):
        named = list(runs.items())
    else:
        own = [(run.policy if isinstance(run, Simulation) else os.path.splitext(os.path.basename(os.path.abspath(run)))[0], run) for run in runs]
        names = [name for name, _ in own]
        named = [
            (name if names.count(name) == 1 else f"{name} {names[:at].count(name) + 1}", run)
            for at, (name, run) in enumerate(own)
        ]
    if len(named) < 2:
        raise ValueError("expected two or more runs")
    read = [(name, run if isinstance(run, Simulation) else Simulation.read(run)) for name, run in named]
    return Comparison(*_classmate._compare([(name, run._run) for name, run in read]))


class Experiment(Page):
    """Policies under settings, with means and 95 % confidence intervals over the seeds.

    Tables: `summary` with a row for each policy, setting and measure, `results` with a row for each run.
    """

    def __init__(self, shown: tuple[str, str], page: str, problems: list[str]) -> None:
        super().__init__(shown)
        self._page = page
        self.problems = problems

    @cached_property
    def summary(self) -> Table:
        """Mean and interval of each measure, and its difference from the baseline; as `summary.csv`."""
        rows = []
        for variant in self._parts["variants"]:
            for measure in variant["measures"]:
                row = {"policy": variant["policy"], "setting": variant["setting"], "measure": measure["name"]}
                row |= {name: measure[name] for name in ("unit", "count", "mean", "half_width")}
                difference = measure["difference"] or {}
                row["difference"] = difference.get("mean")
                row["difference_half_width"] = difference.get("half_width")
                rows.append(row)
        return Table._of_rows(json.dumps(rows))

    @cached_property
    def results(self) -> Table:
        """The measures of each run; as `results.csv`."""
        own = [({**point}, point["measures"]) for point in self._parts["points"]]
        rows = []
        for point, measures in own:
            first = {name: point[name] for name in ("policy", "setting", "seed")}
            last = {name: point[name] for name in ("version", "workload_sha256", "command")}
            rows.append({**first, **measures, **last})
        return Table._of_rows(json.dumps(rows))

    def to_html(self) -> str:
        """Returns the page of `classmate experiment`."""
        return self._page

    def __repr__(self) -> str:
        variants, runs = len(self._parts["variants"]), len(self._parts["points"])
        return f"<Experiment: {variants} {'variant' if variants == 1 else 'variants'}, {runs} {'run' if runs == 1 else 'runs'}>"


def experiment(
    plan: str | os.PathLike[str] | Mapping[str, Any],
    *,
    output: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    baseline: str | None = None,
    semantics: str | None = None,
    progress: Progress = None,
) -> Experiment:
    """Simulates a workload under policies × settings × seeds.

    `plan` is a file in TOML as of `classmate experiment`, or its content, whose paths are relative to the current directory.
    With an `output` directory, runs and results are written there, and an experiment that was stopped continues where it was.
    `jobs` is the number of runs at a time, and `progress` a function of the runs that are complete and of all runs, or a bar.
    `semantics` is a version of HTCondor, for runs whose options do not name one.
    """
    if isinstance(plan, Mapping):
        file, description = None, json.dumps(plan, default=_option)
    else:
        file, description = os.fspath(plan), None
    where = None if output is None else os.fspath(output)
    with _version(semantics):
        return Experiment(*_classmate._experiment(file, description, where, baseline, jobs, _shown(progress)))


def experiment_submit(
    file: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str],
    program: str | os.PathLike[str] | None = None,
) -> str:
    """Writes the submit description of the runs of an experiment that are not complete, and returns its path.

    Jobs of an HTCondor pool run the `program`, by default the `classmate` on `PATH`, which must be of the version of this
    package. When they have ended, `experiment(file, output=output)` collects their results, and makes the runs that are missing.
    Paths are relative, and below the current directory.
    """
    found = os.fspath(program) if program is not None else shutil.which("classmate")
    if found is None:
        raise FileNotFoundError("the program `classmate` is not on PATH: expected `program`")
    words = [found, "experiment", os.fspath(file), "--output", os.fspath(output), "--submit"]
    made = subprocess.run(words, capture_output=True, text=True)
    if made.returncode:
        raise Error(made.stderr.strip().removeprefix("error: "))
    return made.stdout.strip()


class TestResults(Result):
    """The results of policy tests: `passed` and `failed` are numbers, `files` has the results by file."""

    @cached_property
    def tests(self) -> Table:
        """A row for each test, with its failures as text."""
        rows = [
            {"file": file["file"], "name": test["name"], "failures": "\n".join(map(_text, test["failures"])) or None}
            for file in self._parts["files"]
            for test in file["tests"]
        ]
        return Table._of_rows(json.dumps(rows))

    @property
    def ok(self) -> bool:
        """True if all tests passed."""
        return self._parts["failed"] == 0

    def __repr__(self) -> str:
        return f"<TestResults: {self._parts['passed']} passed, {self._parts['failed']} failed>"


def _text(failure: object) -> str:
    return failure if isinstance(failure, str) else json.dumps(failure)


def test(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    only: str | None = None,
    coverage: bool = False,
    semantics: str | None = None,
) -> TestResults:
    """Runs the policy tests in files, as `classmate test` does: those whose names contain `only`. With `coverage`, the files
    in the result have the clauses that were never true or never false. `semantics` is a version of HTCondor."""
    if isinstance(files, str | os.PathLike):
        files = [files]
    with _version(semantics):
        return TestResults(_classmate._test([os.fspath(path) for path in files], only, coverage))
