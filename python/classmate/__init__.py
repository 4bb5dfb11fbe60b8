"""Evaluate ClassAds, replay HTCondor negotiation cycles, and explain the results."""

import sys
from importlib import import_module
from types import ModuleType

from ._classmate import ConfigurationError, Error, SnapshotError
from .pool import Audit, Cycle, Difference, Explanation, Pool, fmt, lint, read_ads, semantics
from .table import Column, Table

__all__ = [
    "Audit",
    "Column",
    "ConfigurationError",
    "Cycle",
    "Difference",
    "Error",
    "Explanation",
    "Pool",
    "SnapshotError",
    "Table",
    "fmt",
    "install_as_classad2",
    "lint",
    "read_ads",
    "semantics",
]


def install_as_classad2() -> ModuleType:
    """Makes `import classad2` import `classmate.classad2`, in this process, and returns it.

    Raises an ImportError if HTCondor's own module was imported before: its ads are of other classes.
    """
    own = import_module("classmate.classad2")
    present = sys.modules.setdefault("classad2", own)
    if present is not own:
        raise ImportError("HTCondor's classad2 is imported already; call install_as_classad2() before")
    return own
