"""Runs a program that imports `classad2` with Classmate's module in its place: `python -m classmate.run SCRIPT [ARGS]`.

With `-m MODULE` in place of the script it runs a module.
"""

import os
import runpy
import sys

from . import install_as_classad2


def main() -> None:
    """Runs the program that the arguments name."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        sys.exit("usage: python -m classmate.run (SCRIPT | -m MODULE) [ARGS ...]")
    install_as_classad2()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
