"""Job event logs: recorded events of HTCondor, files that grow, and the enumerations."""

import gzip
import json
import os
import pathlib
import pickle
import threading
import time

import pytest

from classmate import htcondor2
from classmate.htcondor2 import HTCondorException, JobEventLog, JobEventType

RECORDS = pathlib.Path(__file__).parents[2] / "tests" / "data" / "conformance" / "python-joblog.jsonl.gz"
ENTRY = "009 (010.00{0}.000) 2024-01-02 03:30:05 Job was aborted.\n\twhy {0}\n...\n"


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):
        time.tzset()


def test_recorded_events(tmp_path):
    path = tmp_path / "log"
    with gzip.open(RECORDS, "rt") as records:
        for line in records:
            record = json.loads(line)
            path.write_text(record["log"])
            events = [
                {
                    "type": event.type.name,
                    "cluster": event.cluster,
                    "proc": event.proc,
                    "timestamp": event.timestamp,
                    "attributes": {name: repr(event[name]) for name in event},
                }
                for event in JobEventLog(str(path)).events(stop_after=0)
            ]
            assert events == record["events"], record["log"]


def test_a_growing_file_is_followed(tmp_path):
    path = tmp_path / "log"
    path.write_text("")

    def grow():
        for number in range(3):
            time.sleep(0.05)
            with path.open("a") as file:
                # An entry that is not there to its end is no event yet.
                file.write(ENTRY.format(number)[:30])
                file.flush()
                time.sleep(0.05)
                file.write(ENTRY.format(number)[30:])

    writer = threading.Thread(target=grow)
    writer.start()
    with JobEventLog(str(path)) as log:
        events = [next(log) for _ in range(3)]
        assert [event["Reason"] for event in events] == ["why 0", "why 1", "why 2"]
        assert [event.proc for event in events] == [0, 1, 2]
        before = time.monotonic()
        assert list(log.events(stop_after=1)) == [] and time.monotonic() - before < 5
    writer.join()
    assert list(log) == []


def test_a_pickled_log_goes_on(tmp_path):
    path = tmp_path / "log"
    path.write_text("".join(ENTRY.format(number) for number in range(3)))
    log = JobEventLog(str(path)).events(stop_after=0)
    assert next(log).proc == 0
    again = pickle.loads(pickle.dumps(log))
    assert [event.proc for event in again] == [1, 2] and [event.proc for event in log] == [1, 2]
    log.close()
    again.close()


def test_an_event_is_a_mapping(tmp_path):
    path = tmp_path / "log"
    path.write_text(ENTRY.format(0))
    event = next(JobEventLog(str(path)))
    assert event.type is JobEventType.JOB_ABORTED and dict(event)["Reason"] == "why 0" and "why 0" in str(event)
    assert repr(event) == f"JobEvent(type={event.type}, cluster=10, proc=0, timestamp=1704166205)"


def test_errors(tmp_path):
    for bad, error in ((5, TypeError), ("", ValueError), (str(tmp_path / "no file"), HTCondorException)):
        with pytest.raises(error):
            JobEventLog(bad)
    path = tmp_path / "log"
    path.write_text("not an event\n...\n")
    with pytest.raises(HTCondorException):
        next(JobEventLog(str(path)).events(stop_after=0))
    with pytest.raises(TypeError):
        JobEventLog(str(path)).events("soon")


def test_enumerations_are_those_of_htcondor():
    reference = pytest.importorskip("htcondor2") if os.environ.get("CLASSMATE_REFERENCE") else None
    assert htcondor2.JobStatus(5) is htcondor2.JobStatus.HELD and htcondor2.AdTypes is htcondor2.AdType
    if reference:
        for name in ("AdType", "JobAction", "JobEventType", "JobStatus", "LogLevel", "QueryOpt", "SubsystemType"):
            own, other = getattr(htcondor2, name).__members__, getattr(reference, name).__members__
            assert {name: int(value) for name, value in own.items()} == {name: int(value) for name, value in other.items()}


def test_param(tmp_path):
    path = tmp_path / "condor_config"
    path.write_text("BASE = 20\nNEGOTIATOR_INTERVAL = $(BASE)\n")
    param = htcondor2.Param(path)
    assert param["negotiator_interval"] == "20" and list(param) == ["BASE", "NEGOTIATOR_INTERVAL"]
    # A default that no file sets.
    assert param["PRIORITY_HALFLIFE"] == "86400" and "NO_SUCH_VARIABLE" not in param
    param["BASE"] = 30
    assert param["NEGOTIATOR_INTERVAL"] == "30"
    assert len(htcondor2.param) == 0
