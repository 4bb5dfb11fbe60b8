"""Pools, negotiation cycles, explanations and what-if: objects over the results of the compiled part."""

from __future__ import annotations

import html
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from . import _classmate
from .classad2 import ClassAd
from .table import Column, Table

Configuration = str | Mapping[str, object] | Iterable[str] | None


def _lines(config: Configuration) -> str | None:
    """Returns the text of a configuration: of a text itself, of lines, or of names with their values."""
    if config is None or isinstance(config, str):
        return config
    if isinstance(config, Mapping):
        config = [f"{name} = {value}" for name, value in config.items()]
    return "\n".join(config) + "\n"


@contextmanager
def semantics(series: str | None) -> Iterator[None]:
    """Parses, prints and evaluates as another version of HTCondor in this block, on this thread: a series such as "24.0", or
    "latest". None changes nothing."""
    if series is None:
        yield
        return
    before = _classmate._set_semantics(series)
    try:
        yield
    finally:
        _classmate._set_semantics(before)


# Parameters have the name of the function.
_version = semantics


class Result:
    """A result: its parts are attributes, lists of objects are tables, and `str()` is the text that the command prints."""

    def __init__(self, shown: tuple[str, str]) -> None:
        parts, text = shown
        self._parts: dict[str, Any] = json.loads(parts)
        self._text = text.rstrip("\n")

    def to_dict(self) -> dict[str, Any]:
        """Returns all parts, named as in the JSON output of the command `classmate`."""
        return self._parts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        part = self._parts[name]
        if isinstance(part, list) and (not part or isinstance(part[0], dict)):
            part = Table._of_rows(json.dumps(part))
            # Made once.
            self.__dict__[name] = part
        return part

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parts]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        def shown(part: Any) -> str:
            return f"[{len(part)}]" if isinstance(part, list | dict) else repr(part)

        return f"<{type(self).__name__}: {', '.join(f'{name} {shown(part)}' for name, part in self._parts.items())}>"

    def _repr_html_(self) -> str:
        """The parts, tables as tables, for notebooks."""
        shown = []
        for name, part in self._parts.items():
            if isinstance(part, list) and part and isinstance(part[0], dict):
                shown.append(f"<h4>{html.escape(name)}</h4>{getattr(self, name)._repr_html_()}")
            elif part not in (None, [], {}):
                shown.append(f"<p><b>{html.escape(name)}</b> {html.escape(json.dumps(part))}</p>")
        return "".join(shown)


class Cycle(Result):
    """The decisions of a negotiation cycle.

    Tables: `submitters`, `matches`, `rejections`, `negotiations`, `pies`, `groups`. Also `statistics` and `quirks`.
    """

    def __init__(self, shown: tuple[str, str], pool: Pool) -> None:
        super().__init__(shown)
        self._pool = pool

    def explain(self, job: str) -> Explanation:
        """Explains why a job is idle."""
        return self._pool.explain(job)

    def __repr__(self) -> str:
        matches, rejections = len(self._parts["matches"]), len(self._parts["rejections"])
        return (
            f"<Cycle: {matches} {'match' if matches == 1 else 'matches'}, "
            f"{rejections} {'rejection' if rejections == 1 else 'rejections'}>"
        )


class Explanation(Result):
    """The reasons that a job is idle, with changes that were tested."""


class Difference(Result):
    """The difference that a change to a pool makes to a cycle."""


class Advice(Result):
    """The changes of settings that reach goals: `remedies`, the best first. `met` is true if none is needed."""


class Audit(Result):
    """The attributes that split the queue into autoclusters, and their cost."""


class Pool:
    """A snapshot of a pool. It never changes; every question is answered from it alone."""

    def __init__(self, _base: _classmate._Pool) -> None:
        self._base = _base

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, now: int | None = None, semantics: str | None = None
    ) -> Pool:
        """Reads a directory with `slots.ads`, `jobs.ads` and, if they exist, `submitters.ads`, `Accountantnew.log` and the
        configuration, as `classmate negotiate` does. `semantics` is a version of HTCondor: ads and conditions are
        parsed and evaluated as in that version."""
        with _version(semantics):
            return cls(_classmate._Pool.read(os.fspath(path), now))

    @classmethod
    def connect(
        cls,
        host: str | Iterable[str] | None = None,
        *,
        token: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        now: int | None = None,
        semantics: str | None = None,
    ) -> Pool:
        """Reads a live pool over HTCondor's own protocol: `host` is the address of its collector, or several addresses;
        by default those of the configuration of this host (`COLLECTOR_HOST`).
        READ permission is enough. `token` is a file with an IDTOKEN. `ca` authenticates by SSL: a PEM file with the
        authorities that sign the certificates of daemons; `certificate` and `key` are the client's own, if it has one.
        Sources that cannot be read are in `problems`."""
        if certificate is not None and ca is None:
            raise ValueError("`certificate` needs `ca`")
        if key is not None and certificate is None:
            raise ValueError("`key` needs `certificate`")
        hosts = host.split(",") if isinstance(host, str) else None if host is None else list(host)
        proofs = [None if path is None else os.fspath(path) for path in (token, ca, certificate, key)]
        with _version(semantics):
            return cls(_classmate._Pool.connect(hosts, proofs, now))

    @classmethod
    def from_ads(
        cls,
        *,
        slots: Iterable[ClassAd | Mapping[str, Any]],
        jobs: Iterable[ClassAd | Mapping[str, Any]] = (),
        submitters: Iterable[ClassAd | Mapping[str, Any]] | None = None,
        config: Configuration = None,
        now: int | None = None,
        semantics: str | None = None,
    ) -> Pool:
        """Makes a pool of ads, or of dictionaries."""

        def ads(given: Iterable[ClassAd | Mapping[str, Any]]) -> list[ClassAd]:
            return [ad if isinstance(ad, ClassAd) else ClassAd(dict(ad)) for ad in given]

        with _version(semantics):
            others = None if submitters is None else ads(submitters)
            return cls(_classmate._Pool.of(ads(slots), ads(jobs), others, _lines(config), now))

    @property
    def problems(self) -> list[str]:
        """What was skipped in the files, and warnings."""
        return self._base.problems

    @property
    def now(self) -> int:
        """The time of the pool, in seconds since 1970."""
        return self._base.now

    @cached_property
    def slots(self) -> Table:
        """The slots, with a column for each attribute."""
        return self.columns("slots")

    @cached_property
    def jobs(self) -> Table:
        """The jobs, with a column for each attribute."""
        return self.columns("jobs")

    @cached_property
    def submitters(self) -> Table:
        """The submitters of the file, with a column for each attribute."""
        return self.columns("submitters")

    def columns(self, of: str, attributes: Iterable[str] | None = None) -> Table:
        """Returns attributes of the slots, jobs or submitters, evaluated."""
        return Table._of(self._base.columns(of, None if attributes is None else list(attributes)))

    def negotiate(self, *, config: Configuration = None, seed: int | None = None) -> Cycle:
        """Runs a negotiation cycle, with further lines of configuration if there are any."""
        return Cycle(self._base.negotiate(_lines(config), seed), self)

    def explain(self, job: str) -> Explanation:
        """Explains why a job is idle. Raises a KeyError if there is no such job."""
        found = self._base.explain(job)
        if found is None:
            raise KeyError(job)
        return Explanation(found)

    def whatif(self, *, set: Configuration = None, drop: str | Iterable[str] = ()) -> Difference:
        """Compares cycles before and after a change: lines of configuration that are added, slots that are removed."""
        conditions = [drop] if isinstance(drop, str) else list(drop)
        return Difference(self._base.whatif(_lines(set), conditions))

    def match(self, job: str | ClassAd | Mapping[str, Any], *, target: str = "slots") -> Column:
        """Tests one job, by its ID or its ad, against all slots: a column of booleans in the order of the slots."""
        if target != "slots":
            raise ValueError(f"`{target}` is not slots")
        if isinstance(job, str):
            found = self._base.job(job)
            if found is None:
                raise KeyError(job)
            job = found
        ad = job if isinstance(job, ClassAd) else ClassAd(dict(job))
        return Column(*self._base.match(ad))

    def autoclusters(self) -> Audit:
        """Lists the significant attributes, and what each costs."""
        return Audit(self._base.autoclusters())

    def advise(
        self,
        goal: str | Iterable[str],
        *,
        cycles: int = 60,
        interval: int = 600,
        run_time: int | str = 3600,
    ) -> Advice:
        """Searches for quotas, surplus settings and priority factors that reach a goal such as `physics >= 90% of quota`, or several,
        in cycles with an interval in seconds, as `classmate advise` does."""
        goals = [goal] if isinstance(goal, str) else list(goal)
        return Advice(self._base.advise(goals, cycles, interval, str(run_time)))

    def report(self, name: str = "pool", *, config: Configuration = None, seed: int | None = None) -> str:
        """Returns the page of `classmate report` about a cycle, under the name of the pool."""
        return self._base.report(name, _lines(config), seed)

    def quotas(self) -> Table:
        """Returns the groups of a cycle with their quotas and what they were allocated."""
        return self.negotiate().groups

    def __repr__(self) -> str:
        slots, jobs = self._base.count("slots"), self._base.count("jobs")
        return f"<Pool: {slots} {'slot' if slots == 1 else 'slots'}, {jobs} {'job' if jobs == 1 else 'jobs'}>"


def lint(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    text: str | None = None,
    semantics: str | None = None,
) -> Table:
    """Finds errors and likely mistakes in configuration files, read one after another, or in a text."""
    if isinstance(files, str | os.PathLike):
        files = [files]
    texts = []
    for path in files or ():
        name = os.fspath(path)
        with open(name, "rb") as file:
            texts.append((os.fsdecode(name), file.read()))
    if text is not None:
        texts.append(("text", text.encode()))
    with _version(semantics):
        return Table._of_rows(_classmate._lint(texts))


def fmt(text: str, *, kind: str = "expression", width: int = 100, semantics: str | None = None) -> str:
    """Lays out a text: an `expression`, a `config` or `ads` in the long format."""
    with _version(semantics):
        return _classmate._format(text, kind, width)


class AdScan(Iterator[Table]):
    """The ads of a file as tables, read one after another. `problems` has messages about ads that were skipped so far."""

    def __init__(self, _base: _classmate._AdScan, most: int) -> None:
        self._base, self._most = _base, most

    def __next__(self) -> Table:
        columns = self._base.batch(self._most)
        if columns is None:
            raise StopIteration
        return Table._of(columns)

    @property
    def problems(self) -> list[str]:
        """Messages about the ads that were skipped so far."""
        return self._base.problems


def scan_ads(
    source: str | os.PathLike[str],
    *,
    attributes: str | Iterable[str] | None = None,
    constraint: str | None = None,
    batch: int = 10_000,
    semantics: str | None = None,
) -> AdScan:
    """Reads a file of ads as `read_ads` does, but lazily: an iterator of tables of at most `batch` ads each, so that a file of any
    size can be read. The columns, and their types, are those of the ads in a batch."""
    if batch < 1:
        raise ValueError(f"`batch` is {batch}: expected 1 or more")
    with _version(semantics):
        return AdScan(_classmate._AdScan(os.fspath(source), _names(attributes), constraint), batch)


def _names(attributes: str | Iterable[str] | None) -> list[str] | None:
    """Returns the names of attributes, one of which may stand alone."""
    return [attributes] if isinstance(attributes, str) else None if attributes is None else list(attributes)


def read_ads(
    source: str | os.PathLike[str],
    *,
    attributes: str | Iterable[str] | None = None,
    constraint: str | None = None,
    semantics: str | None = None,
) -> Table:
    """Reads a file of ads, in any format, also compressed with gzip, into a table of the values of some attributes or of all.

    Undefined and error are null, times are seconds since 1970, lists and ads are text. A column of integers and reals is of
    reals; other mixtures are text. A warning names what was skipped, which `scan_ads` has as `problems`.
    """
    with _version(semantics):
        scan = _classmate._AdScan(os.fspath(source), _names(attributes), constraint)
        columns = scan.batch(sys.maxsize)
    if problems := scan.problems:
        warnings.warn("\n".join(problems), stacklevel=2)
    return Table._of(columns or [])
