"""HTCondor's module `classad2`, as `classmate.classad2` implements it."""

import importlib.metadata
import sys

try:
    importlib.metadata.distribution("htcondor")
except importlib.metadata.PackageNotFoundError:
    from classmate import classad2 as _classad2

    sys.modules[__name__] = _classad2
else:
    raise ImportError("HTCondor's own classad2 is installed; uninstall either `htcondor` or `classmate-classad2`")
