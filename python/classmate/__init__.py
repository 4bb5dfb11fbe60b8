"""Evaluate ClassAds, replay HTCondor negotiation cycles, and explain the results."""

from __future__ import annotations

import sys
from importlib import import_module

# True for type checkers. Parts are imported when they are used: programs that need the language alone start fast.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .errors import ConfigurationError, Error, SnapshotError
    from .pool import AdScan, Advice, Audit, Cycle, Difference, Explanation, Pool, fmt, lint, read_ads, scan_ads, semantics
    from .simulation import (
        Comparison,
        Experiment,
        Simulation,
        TestResults,
        compare,
        experiment,
        experiment_submit,
        simulate,
        test,
    )
    from .table import Column, Table

__all__ = [
    "AdScan",
    "Advice",
    "Audit",
    "Column",
    "Comparison",
    "ConfigurationError",
    "Cycle",
    "Difference",
    "Error",
    "Experiment",
    "Explanation",
    "Pool",
    "Simulation",
    "SnapshotError",
    "Table",
    "TestResults",
    "compare",
    "experiment",
    "experiment_submit",
    "fmt",
    "install_as_classad2",
    "lint",
    "read_ads",
    "scan_ads",
    "semantics",
    "simulate",
    "test",
]

_PARTS = {
    "errors": "ConfigurationError Error SnapshotError",
    "pool": "AdScan Advice Audit Cycle Difference Explanation Pool fmt lint read_ads scan_ads semantics",
    "simulation": "Comparison Experiment Simulation TestResults compare experiment experiment_submit simulate test",
    "table": "Column Table",
}
_MODULES = {name: module for module, names in _PARTS.items() for name in names.split()}
_SUBMODULES = {"classad2", "errors", "htcondor2", "pool", "simulation", "table"}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    part = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return part


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def install_as_classad2() -> ModuleType:
    """Makes `import classad2` import `classmate.classad2`, in this process, and returns it.

    Raises an ImportError if HTCondor's own module was imported before: its ads are of other classes.
    """
    own = import_module("classmate.classad2")
    present = sys.modules.setdefault("classad2", own)
    if present is not own:
        raise ImportError("HTCondor's classad2 is imported already; call install_as_classad2() before")
    return own
