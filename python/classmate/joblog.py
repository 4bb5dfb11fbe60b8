"""Job event logs: the files that `log = …` in a submit file names.

In: the text of a log, which may grow while it is read. Out: an event for each entry, as an ad with the attributes that HTCondor
gives it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from .classad2 import ClassAd, Parser, parseOne

_HEAD = re.compile(
    r"(\d{3}) \((-?\d+)\.(-?\d+)\.(-?\d+)\) (?:(\d\d/\d\d)|(\d{4}-\d\d-\d\d))[ T](\d\d:\d\d:\d\d)(\.\d+)?(Z)? ?(.*)", re.DOTALL
)
_NAMES = {
    0: "SubmitEvent", 1: "ExecuteEvent", 2: "ExecutableErrorEvent", 3: "CheckpointedEvent", 4: "JobEvictedEvent",
    5: "JobTerminatedEvent", 6: "JobImageSizeEvent", 7: "ShadowExceptionEvent", 8: "GenericEvent", 9: "JobAbortedEvent",
    10: "JobSuspendedEvent", 11: "JobUnsuspendedEvent", 12: "JobHeldEvent", 13: "JobReleaseEvent", 14: "NodeExecuteEvent",
    15: "NodeTerminatedEvent", 16: "PostScriptTerminatedEvent", 21: "RemoteErrorEvent", 22: "JobDisconnectedEvent",
    23: "JobReconnectedEvent", 24: "JobReconnectFailedEvent", 25: "GridResourceUpEvent", 26: "GridResourceDownEvent",
    27: "GridSubmitEvent", 28: "JobAdInformationEvent", 33: "AttributeUpdateEvent", 35: "ClusterSubmitEvent",
    36: "ClusterRemoveEvent", 37: "FactoryPausedEvent", 38: "FactoryResumedEvent", 40: "FileTransferEvent",
    41: "ReserveSpaceEvent", 42: "ReleaseSpaceEvent", 43: "FileCompleteEvent", 44: "FileUsedEvent", 45: "FileRemovedEvent",
    46: "DataflowJobSkippedEvent", 47: "CommonFilesEvent",
}  # fmt: skip

# Reads the lines of an entry, the first one without its head, into attributes.
_Read = Callable[[list[str]], dict[str, Any]]
_READERS: dict[int, _Read] = {}


def _of(*numbers: int) -> Callable[[_Read], _Read]:
    def register(read: _Read) -> _Read:
        for number in numbers:
            _READERS[number] = read
        return read

    return register


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _after(line: str, mark: str) -> str:
    return line.partition(mark)[2].strip()


_USAGE = re.compile(r"\s*(Usr \d+ [\d:]+, Sys \d+ [\d:]+)  -  (Run|Total) (Remote|Local) Usage")
_BYTES = re.compile(r"\s*([-\d.]+)  -  (Run|Total) Bytes (Sent|Received) By ")


def _usage(lines: list[str]) -> dict[str, Any]:
    """Processor times and bytes."""
    found: dict[str, Any] = {}
    for line in lines:
        if match := _USAGE.match(line):
            found[f"{match[2]}{match[3]}Usage"] = match[1]
        elif match := _BYTES.match(line):
            found[f"{'Total' if match[2] == 'Total' else ''}{match[3]}Bytes"] = float(match[1])
    return found


def _resources(lines: list[str]) -> dict[str, Any]:
    """The table of resources: usage, request and allocation, in columns under their heads."""
    found: dict[str, Any] = {}
    heads: list[tuple[str, int]] = []
    for line in lines:
        if "Partitionable Resources :" in line:
            heads = [(match[0], match.end()) for match in re.finditer(r"Usage|Request|Allocated|Assigned", line)]
        elif heads and (match := re.match(r"\s+(\w+)(?: \(\w+\))?\s*:(.*)", line)):
            name, start = match[1], match.start(2)
            for head, end in heads:
                # Numbers end under the ends of their heads; what is assigned is the rest of the line.
                text = line[start:] if head == "Assigned" else line[start:end]
                start = end
                if text.strip():
                    key = {"Usage": f"{name}Usage", "Request": f"Request{name}", "Allocated": name}.get(head, f"Assigned{name}")
                    found[key] = text.strip().strip('"') if head == "Assigned" else _number(text.strip())
        elif heads and not line.strip():
            heads = []
    return found


def _ending(lines: list[str]) -> dict[str, Any]:
    """How a program ended."""
    found: dict[str, Any] = {}
    for line in lines:
        if match := re.match(r"\s*\((\d)\) Normal termination \(return value (-?\d+)\)", line):
            found.update(TerminatedNormally=True, ReturnValue=int(match[2]))
        elif match := re.match(r"\s*\(\d\) Abnormal termination \(signal (-?\d+)\)", line):
            found.update(TerminatedNormally=False, TerminatedBySignal=int(match[1]))
        elif match := re.match(r"\s*\(1\) Corefile in: (.*)", line):
            found["CoreFile"] = match[1]
    return found


def _texts(lines: list[str], *names: str) -> dict[str, Any]:
    """Lines behind the first one, each under a name; empty ones are left out."""
    return {name: line.strip() for name, line in zip(names, lines[1:]) if line.strip()}


@_of(0, 35)
def _submit(lines: list[str]) -> dict[str, Any]:
    found = {"SubmitHost": _after(lines[0], "host: "), **_texts(lines, "LogNotes", "UserNotes")}
    if match := re.match(r"DAG Node: (.*)", found.get("LogNotes", "")):
        found["StructuredNotes"] = {"DAGNodeName": match[1]}
    return found


@_of(1)
def _execute(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"ExecuteHost": _after(lines[0], "host: ")}
    properties = []
    for line in lines[1:]:
        if line.strip().startswith("SlotName: "):
            found["SlotName"] = _after(line, "SlotName: ")
        elif "=" in line:
            properties.append(line.strip())
    if properties:
        found["ExecuteProps"] = parseOne("\n".join(properties), Parser.Old)
    return found


@_of(2)
def _executable_error(lines: list[str]) -> dict[str, Any]:
    match = re.match(r"\((\d+)\)", lines[0])
    return {"ExecuteErrorType": int(match[1])} if match else {}


@_of(3)
def _checkpointed(lines: list[str]) -> dict[str, Any]:
    return _usage(lines)


@_of(4)
def _evicted(lines: list[str]) -> dict[str, Any]:
    mark = lines[1].strip() if len(lines) > 1 else ""
    found = {
        "Checkpointed": mark.startswith("(1)"),
        "TerminatedAndRequeued": mark == "(0) Job terminated and was requeued",
        "TerminatedNormally": False,
        **_usage(lines),
    }
    if found["TerminatedAndRequeued"]:
        found.update(_ending(lines[2:]))
        last = lines[-1].strip()
        if last and not last.startswith("(") and "  -  " not in last:
            found["Reason"] = last
    return found


@_of(5)
def _terminated(lines: list[str]) -> dict[str, Any]:
    return {**_ending(lines), **_usage(lines), **_resources(lines)}


@_of(15)
def _node_terminated(lines: list[str]) -> dict[str, Any]:
    match = re.match(r"Node (\d+) ", lines[0])
    ending = _ending(lines)
    ending.setdefault("TerminatedBySignal", -1)
    return {"Node": int(match[1]) if match else -1, **ending, **_usage(lines), **_resources(lines)}


@_of(6)
def _image_size(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"Size": int(_after(lines[0], "updated: ") or 0), "ResidentSetSize": 0}
    for line in lines[1:]:
        if match := re.match(r"\s*(\d+)  -  (\w+) of job", line):
            found[match[2]] = int(match[1])
    return found


@_of(7)
def _shadow_exception(lines: list[str]) -> dict[str, Any]:
    return {**_texts(lines, "Message"), **_usage(lines)}


@_of(8)
def _generic(lines: list[str]) -> dict[str, Any]:
    return {"Info": lines[0].strip()}


@_of(9, 13, 38, 46)
def _reason(lines: list[str]) -> dict[str, Any]:
    return _texts(lines, "Reason")


@_of(10)
def _suspended(lines: list[str]) -> dict[str, Any]:
    count = _after(lines[1], "suspended: ") if len(lines) > 1 else ""
    return {"NumberOfPIDs": int(count or 0)}


@_of(11)
def _unsuspended(_: list[str]) -> dict[str, Any]:
    return {}


def _codes(lines: list[str]) -> tuple[int, int] | None:
    for line in lines:
        if match := re.match(r"\s*Code (-?\d+) Subcode (-?\d+)", line):
            return int(match[1]), int(match[2])
    return None


@_of(12)
def _held(lines: list[str]) -> dict[str, Any]:
    code, subcode = _codes(lines) or (0, 0)
    found: dict[str, Any] = {"HoldReasonCode": code, "HoldReasonSubCode": subcode}
    reason = lines[1].strip() if len(lines) > 1 else ""
    if reason and reason != "Reason unspecified" and not reason.startswith("Code "):
        found["HoldReason"] = reason
    return found


@_of(14)
def _node_execute(lines: list[str]) -> dict[str, Any]:
    match = re.match(r"Node (\d+) ", lines[0])
    return {"Node": int(match[1]) if match else -1, "ExecuteHost": _after(lines[0], "host: ")}


@_of(16)
def _post_script(lines: list[str]) -> dict[str, Any]:
    found = _ending(lines)
    for line in lines:
        if line.strip().startswith("DAG Node: "):
            found["DAGNodeName"] = _after(line, "DAG Node: ")
    return found


@_of(21)
def _remote_error(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if match := re.match(r"(Error|Warning|Message) from (\S+) on (.*):", lines[0]):
        found.update(Daemon=match[2], ExecuteHost=match[3].strip())
        if match[1] != "Error":
            found["CriticalError"] = 0
    codes = _codes(lines)
    if codes:
        found.update(HoldReasonCode=codes[0], HoldReasonSubCode=codes[1])
    texts = [line.strip() for line in lines[1:] if line.strip() and not re.match(r"\s*Code -?\d+ Subcode", line)]
    if texts:
        found["ErrorMsg"] = "\n".join(texts)
    return found


@_of(22)
def _disconnected(lines: list[str]) -> dict[str, Any]:
    found = {"EventDescription": "Job disconnected, attempting to reconnect", **_texts(lines, "DisconnectReason")}
    if len(lines) > 2 and (match := re.match(r"\s*Trying to reconnect to (\S+) (.*)", lines[2])):
        found.update(StartdName=match[1], StartdAddr=match[2].strip())
    return found


@_of(23)
def _reconnected(lines: list[str]) -> dict[str, Any]:
    found = {"EventDescription": "Job reconnected", "StartdName": _after(lines[0], "reconnected to ")}
    for line in lines[1:]:
        for mark, name in (("startd address: ", "StartdAddr"), ("starter address: ", "StarterAddr")):
            if mark in line:
                found[name] = _after(line, mark)
    return found


@_of(24)
def _reconnect_failed(lines: list[str]) -> dict[str, Any]:
    found = {"EventDescription": "Job reconnect impossible: rescheduling job", **_texts(lines, "Reason")}
    if len(lines) > 2 and (match := re.match(r"\s*Can not reconnect to (.*), rescheduling job", lines[2])):
        found["StartdName"] = match[1]
    return found


@_of(25, 26, 27)
def _grid(lines: list[str]) -> dict[str, Any]:
    found = {}
    for line in lines[1:]:
        name, _, value = line.strip().partition(": ")
        if name in ("GridResource", "GridJobId") and value:
            found[name] = value
    return found


@_of(28)
def _ad_information(lines: list[str]) -> dict[str, Any]:
    return dict(parseOne("\n".join(lines[1:]), Parser.Old))


@_of(33)
def _attribute_update(lines: list[str]) -> dict[str, Any]:
    if match := re.match(r"Changing job attribute (\S+) from (.*) to (.*)", lines[0]):
        return {"Attribute": match[1], "Value": match[3].strip()}
    return {"Attribute": "", "Value": ""}


@_of(36)
def _cluster_remove(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"Completion": 0}
    if len(lines) > 1 and (match := re.match(r"\s*Materialized (\d+) jobs from (\d+) items\.\s*(\w*) ?(-?\d*)", lines[1])):
        states = {"Complete": 1, "Paused": 2, "Incomplete": 0}
        completion = int(match[4] or -1) if match[3] == "Error" else states.get(match[3], 0)
        found = {"NextProcId": int(match[1]), "NextRow": int(match[2]), "Completion": completion}
    return {**found, **_texts(lines[1:], "Notes")}


@_of(37)
def _factory_paused(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"PauseCode": 0, "HoldCode": 0}
    for line in lines[1:]:
        if match := re.match(r"\s*(PauseCode|HoldCode) (-?\d+)", line):
            found[match[1]] = int(match[2])
        elif line.strip():
            found["Reason"] = line.strip()
    return found


_TRANSFERS = [
    "Entered queue to transfer input files", "Started transferring input files", "Finished transferring input files",
    "Entered queue to transfer output files", "Started transferring output files", "Finished transferring output files",
]  # fmt: skip


@_of(40)
def _file_transfer(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if lines[0].strip() in _TRANSFERS:
        found["Type"] = _TRANSFERS.index(lines[0].strip()) + 1
    for line in lines[1:]:
        if "Transferring to host: " in line:
            found["Host"] = _after(line, "Transferring to host: ")
        elif match := re.match(r"\s*Seconds spent in queue: (\d+)", line):
            found["QueueingDelay"] = int(match[1])
    return found


_SPACE = {
    "Bytes reserved": "ReservedSpace", "Reservation Expiration": "ExpirationTime", "Reservation UUID": "UUID", "Tag": "Tag",
    "Bytes": "Size", "Checksum Value": "Checksum", "Checksum Type": "ChecksumType", "UUID": "UUID",
}  # fmt: skip


@_of(47)
def _common_files(lines: list[str]) -> dict[str, Any]:
    return {"Type": _after(lines[0], "Common files event: ")}


@_of(41, 42, 43, 44, 45)
def _space(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.strip().partition(": ")
        if name in _SPACE and value:
            digits = re.match(r"\d+", value)
            is_number = digits and _SPACE[name] in ("ReservedSpace", "ExpirationTime", "Size")
            found[_SPACE[name]] = int(digits[0]) if digits and is_number else value
    return found


def _future(number: int, lines: list[str]) -> dict[str, Any]:
    if number == 34:
        return _texts(lines, "SkipEventLogNotes")
    return {} if number in (29, 30) else {"EventHead": lines[0].strip()}


class JobEvent(Mapping[str, Any]):
    """An event of a job event log: a mapping of its attributes."""

    def __init__(self, data: ClassAd, event_text: str) -> None:
        self._data, self._text = data, event_text

    @property
    def type(self) -> Any:
        """The kind of event."""
        from .htcondor2 import JobEventType

        return JobEventType(self._data["EventTypeNumber"])

    @property
    def cluster(self) -> int:
        """The cluster of the job."""
        return self._data.get("Cluster", -1)

    @property
    def proc(self) -> int:
        """The number of the job in its cluster; -1 for an event of a whole cluster."""
        return self._data.get("Proc", -1)

    @property
    def timestamp(self) -> int:
        """The time of the event, in seconds since 1970."""
        return int(datetime.fromisoformat(self._data["EventTime"].rstrip("Z")).timestamp())

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"JobEvent(type={self.type}, cluster={self.cluster}, proc={self.proc}, timestamp={self.timestamp})"

    def __str__(self) -> str:
        return self._text


def _event(text: str) -> JobEvent | None:
    """Reads an entry; None if it is not one."""
    match = _HEAD.match(text)
    if match is None:
        return None
    number = int(match[1])
    date = match[6] or f"{datetime.now().year}-{match[5].replace('/', '-')}"
    lines = match[10].rstrip("\n").split("\n")
    read = _READERS.get(number)
    attributes = read(lines) if read else _future(number, lines)
    ids = {name: int(match[at]) for name, at in (("Cluster", 2), ("Proc", 3), ("Subproc", 4)) if int(match[at]) >= 0}
    own = {"MyType": _NAMES.get(number, "FutureEvent"), "EventTypeNumber": number, "EventTime": f"{date}T{match[7]}{match[8] or ''}"}
    return JobEvent(ClassAd({**attributes, **ids, **own}), text)


class JobEventLog:
    """The events of a log file, in order; waits for further ones while the file grows.

    A pickled log goes on where it was.
    """

    def __init__(self, filename: str) -> None:
        if not isinstance(filename, str):
            raise TypeError("filename must be a string")
        if not filename:
            raise ValueError("filename must not be empty")
        self._filename = filename
        self._deadline: float | None = None
        self._offset = 0
        self._open()

    def _open(self) -> None:
        from .htcondor2 import HTCondorException

        try:
            self._file: BinaryIO | None = open(self._filename, "rb")
        except OSError as error:
            raise HTCondorException(f"cannot read `{self._filename}`: {error.strerror}") from error

    def events(self, stop_after: int | None = None) -> JobEventLog:
        """Returns the log itself, to iterate over: it waits for ever, or stops when no event came for some seconds."""
        if stop_after is not None and not isinstance(stop_after, int):
            raise TypeError("deadline must be an integer")
        self._deadline = None if stop_after is None else time.time() + stop_after
        return self

    def close(self) -> None:
        """Closes the file: there are no further events."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def __iter__(self) -> JobEventLog:
        return self

    def __next__(self) -> JobEvent:
        from .htcondor2 import HTCondorException

        while True:
            if self._file is None:
                raise StopIteration
            entry = self._entry(self._file)
            if entry is not None:
                event = _event(entry)
                if event is None:
                    raise HTCondorException("ULOG_RD_ERROR")
                return event
            if self._deadline is not None and time.time() >= self._deadline:
                raise StopIteration
            time.sleep(0.1)

    def _entry(self, file: BinaryIO) -> str | None:
        """The text of the next entry, if it is there to its end."""
        file.seek(self._offset)
        lines: list[bytes] = []
        while True:
            line = file.readline()
            if not line.endswith(b"\n"):
                return None
            if line.rstrip() == b"...":
                self._offset = file.tell()
                return b"".join(lines).decode(errors="surrogateescape")
            lines.append(line.replace(b"\r\n", b"\n"))

    def __enter__(self) -> JobEventLog:
        self._deadline = None
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"filename": self._filename, "offset": self._offset, "deadline": self._deadline}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._filename, self._offset, self._deadline = state["filename"], state["offset"], state["deadline"]
        self._open()
