"""The recorded cases of HTCondor's module, and the samples of its documentation."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
RECORDS = HERE.parents[1] / "tests" / "data" / "conformance" / "python-classad2.jsonl.gz"


def test_all_records_hold():
    command = [sys.executable, HERE / "records.py", RECORDS, "--module", "classmate.classad2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert done.stdout.splitlines()[-1].endswith("passed, 0 failed")
