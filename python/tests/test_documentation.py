"""The examples of the documentation: `python` blocks run, and `pycon` blocks give what they show."""

import doctest
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
LOG = """\
000 (7.000.000) 2026-11-25 10:00:00 Job submitted from host: <127.0.0.1:9618>
...
"""


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A directory with the files that examples name."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "slots.ads").symlink_to(ROOT / "examples" / "pool" / "slots.ads")
    (tmp_path / "job.log").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["README.md", "docs/python.md", "python/README.md"])
def test_examples(name, directory):
    blocks = re.findall(r"^```(python|pycon)\n(.*?)^```$", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    shared = {}
    for language, block in blocks:
        if language == "pycon":
            test = doctest.DocTestParser().get_doctest(block, shared, name, name, 0)
            result = doctest.DocTestRunner(verbose=False).run(test, out=sys.stderr.write, clear_globs=False)
            assert result.failed == 0
            shared = test.globs
        else:
            if "polars" in block:
                pytest.importorskip("polars")
            # A log that is followed for a minute has ended.
            exec(block.replace("stop_after=60", "stop_after=0"), {"__name__": "example"})
