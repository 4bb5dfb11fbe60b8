"""Pools, cycles, tables: the API of `classmate` itself, on the example pools."""

import gc
import json
import pathlib
import pickle
import threading
import time

import pytest

import classmate as cm
from classmate import _classmate, table
from classmate.classad2 import ClassAd, ClassAdException, ExprTree
from classmate.htcondor2 import Param
from libraries import check_taken

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def pool():
    return cm.Pool.read(EXAMPLES / "pool")


def test_a_cycle(pool):
    cycle = pool.negotiate()
    # As in the README: priorities 1 : 2 : 4 share 14 slots as 8 : 4 : 2.
    counts = {}
    for match in cycle.matches.rows():
        counts[match["submitter"]] = counts.get(match["submitter"], 0) + 1
    assert counts == {"alice@pool.test": 8, "bob@pool.test": 4, "carol@pool.test": 2}
    assert len(cycle.rejections) == 3 and repr(cycle) == "<Cycle: 14 matches, 3 rejections>"
    assert cycle.to_dict()["statistics"] == cycle.statistics
    assert "<table>" in cycle._repr_html_()
    with pytest.raises(AttributeError):
        cycle.nothing


def test_tables_of_ads(pool):
    assert len(pool.slots) == 14 and sum(pool.slots.column("Cpus")) == 14
    assert pool.columns("jobs", ["Owner", "ClusterId"]).column_names == ["Owner", "ClusterId"]
    assert len(pool.submitters) >= 0 and repr(pool).startswith("<Pool: 14 slots, ")
    with pytest.raises(ValueError):
        pool.columns("machines")


def test_explanations_and_changes():
    stuck = cm.Pool.read(EXAMPLES / "stuck")
    explanation = stuck.explain("2.0")
    assert explanation.matching == 0 and "HasSingularty" in json.dumps(explanation.to_dict())
    with pytest.raises(KeyError):
        stuck.explain("99.0")
    with pytest.raises(ValueError):
        stuck.explain("job")
    groups = cm.Pool.read(EXAMPLES / "groups")
    for change in ({"GROUP_QUOTA_chemistry": 5}, "GROUP_QUOTA_chemistry = 5", ["GROUP_QUOTA_chemistry = 5"]):
        users = {row["name"]: (row["before"], row["after"]) for row in groups.whatif(set=change).weights.rows()}
        assert users["dave@example.org"] == (0.0, 5.0)
    assert len(groups.quotas()) > 0 and groups.autoclusters().to_dict()


def test_matching_in_one_call(pool):
    column = pool.match("1.0")
    assert column.to_pylist() == [True] * 14
    assert sum(pool.match({"RequestCpus": 1, "Requirements": False}).to_pylist()) == 0
    with pytest.raises(KeyError):
        pool.match("99.0")


def test_pools_of_ads():
    slots = [{"Name": f"s{n}", "State": "Unclaimed", "Memory": 1024 * n, "Requirements": True} for n in range(1, 4)]
    job = ClassAd(
        '[ClusterId = 1; ProcId = 0; JobStatus = 1; User = "alice@pool"; Owner = "alice"; Requirements = TARGET.Memory >= 2048]'
    )
    pool = cm.Pool.from_ads(slots=slots, jobs=[job], now=1_700_000_000)
    assert pool.now == 1_700_000_000
    assert [match["slot"] for match in pool.negotiate().matches.rows()] in (["s2"], ["s3"])
    with pytest.raises(cm.ConfigurationError):
        cm.Pool.from_ads(slots=slots, config="A = $(").negotiate(config="NEGOTIATOR_INTERVAL = x y\nGROUP_NAMES = <\n@=x")


def test_errors_name_the_place_and_help(tmp_path):
    (tmp_path / "bad.toml").write_text("[[test]\n")
    with pytest.raises(cm.ConfigurationError) as error:
        cm.test(tmp_path / "bad.toml")
    found = error.value
    assert (found.file, found.line, found.column) == (str(tmp_path / "bad.toml"), 1, 8) and found.help is None
    assert str(found) == f"{found.file}:1:8: {found.message}"
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is cm.ConfigurationError and str(again) == str(found)
    with pytest.raises(cm.Error) as error:
        cm.Pool.from_ads(slots=[], config="GROUP_NAMES = a\n@=x").negotiate()
    assert error.value.line == 2 and error.value.file
    # The errors of Python's `open`.
    for call in (cm.read_ads, cm.scan_ads, cm.lint):
        with pytest.raises(FileNotFoundError) as missing:
            call(tmp_path / "missing")
        assert missing.value.filename == str(tmp_path / "missing") and missing.value.strerror == "No such file or directory"
    # Numbers are no files, though the system counts open files so.
    for wrong in (5, b"\x05", [5]):
        with pytest.raises(TypeError):
            cm.lint(wrong)
    with pytest.raises(FileNotFoundError, match="missing"):
        Param(tmp_path / "missing")
    with pytest.raises(ValueError, match="embedded null character"):
        cm.fmt("a\0b")
    (tmp_path / "bad.ads").write_text("Name = \"x\"\nCpus = (1 +\n")
    with pytest.warns(UserWarning, match=r"bad.ads:2:12\n"):
        cm.read_ads(tmp_path / "bad.ads")
    slots = cm.read_ads(EXAMPLES / "pool" / "slots.ads", attributes="Name")
    assert slots.column_names == ["Name"] and repr(cm.Pool.read(EXAMPLES / "pool").match("1.0")).endswith("values>")
    assert repr(cm.lint(text="")) == "<Table: 0 rows>" and repr(cm.Pool.from_ads(slots=[{}])) == "<Pool: 1 slot, 0 jobs>"


def test_errors(tmp_path):
    with pytest.raises(cm.SnapshotError):
        cm.Pool.read(tmp_path)
    assert issubclass(cm.SnapshotError, cm.Error)
    with pytest.raises(cm.SnapshotError, match="cannot connect to `127.0.0.1:1`: connection refused"):
        cm.Pool.connect("127.0.0.1:1")
    with pytest.raises(cm.SnapshotError, match="token"):
        cm.Pool.connect(["127.0.0.1:1"], token=tmp_path / "token")
    (tmp_path / "ca.pem").write_text("")
    with pytest.raises(cm.SnapshotError, match="ca.pem`: it does not have a certificate in PEM format"):
        cm.Pool.connect("127.0.0.1:1", ca=tmp_path / "ca.pem")
    with pytest.raises(ValueError, match="`certificate` needs `ca`"):
        cm.Pool.connect("127.0.0.1:1", certificate=tmp_path / "own.pem")


def test_a_live_pool(pool):
    daemon = pytest.importorskip("daemon", reason="the package cryptography is missing", exc_type=ImportError)
    files = {daemon.SLOTS: "slots.ads", daemon.JOBS: "jobs.ads", daemon.SUBMITTERS: "submitters.ads"}
    ads = {command: daemon.ads_of((EXAMPLES / "pool" / name).read_text()) for command, name in files.items()}
    # Priorities 1 : 2 : 4, as in the accountant's log of this pool.
    ads[daemon.ACCOUNTING] = [
        [f'Name = "{name}@pool.test"', f"Priority = {priority}.0", "PriorityFactor = 1.0", "LastUpdate = 1795212415"]
        for name, priority in [("alice", 1), ("bob", 2), ("carol", 4)]
    ]
    # With another half-life the shares are no whole numbers.
    live = daemon.PoolDaemon(ads, {"UID_DOMAIN": "pool.test", "PRIORITY_HALFLIFE": "1.0e30"})
    read = cm.Pool.connect(live.address, now=pool.now)
    assert (len(read.slots), len(read.jobs)) == (len(pool.slots), len(pool.jobs))
    counts = {}
    for match in read.negotiate().matches.rows():
        counts[match["submitter"]] = counts.get(match["submitter"], 0) + 1
    assert counts == {"alice@pool.test": 8, "bob@pool.test": 4, "carol@pool.test": 2}
    assert read.problems == []


def test_the_pool_of_this_host(tmp_path, monkeypatch):
    config = tmp_path / "condor_config"
    config.write_text("COLLECTOR_HOST = 127.0.0.1:2\n")
    monkeypatch.setenv("CONDOR_CONFIG", str(config))
    with pytest.raises(cm.SnapshotError, match="cannot connect to `127.0.0.1:2`: connection refused"):
        cm.Pool.connect()
    config.write_text("")
    with pytest.raises(cm.SnapshotError, match="condor_config` does not set COLLECTOR_HOST$"):
        cm.Pool.connect()


def test_lint_and_layout():
    found = cm.lint(text="GROUP_NAMES = physics\nGROUP_QUOTA_phyics = 5\n")
    assert any("GROUP_QUOTA_phyics" in row["message"] and row["line"] == 2 for row in found.rows())
    assert cm.fmt("a  &&b").strip() == "a && b"
    with pytest.raises(ValueError):
        cm.fmt("a &&")


def test_reading_ads():
    slots = cm.read_ads(EXAMPLES / "pool" / "slots.ads", attributes=["Name", "KFlops"], constraint="KFlops > 1990000")
    # As `classmate ads --count` in the README.
    assert len(slots) == 9 and min(slots.column("KFlops")) > 1_990_000
    with pytest.raises(OSError):
        cm.read_ads("/nonexistent")


@pytest.mark.parametrize("call", ["columns", "read_ads", "fmt", "table"])
def test_other_threads_run_during_long_calls(call, tmp_path):
    ad = ClassAd({f"Attribute{n}": ExprTree(f'size(strcat("abc", {n}, "def"))') for n in range(200)})
    copies = (ad.printOld() + "\n") * 500
    (tmp_path / "many.ads").write_text(copies * 8)
    large = cm.Pool.from_ads(slots=[ad] * 4000, jobs=[])
    rows = json.dumps([{"text": "abc" * 100}] * 150000)
    calls = {
        "columns": lambda: large.columns("slots"),
        "read_ads": lambda: cm.read_ads(tmp_path / "many.ads"),
        "fmt": lambda: cm.fmt(copies, kind="ads"),
        "table": lambda: _classmate._columns(rows),
    }
    turns, is_done = [], threading.Event()

    def take_turns():
        while not is_done.wait(0.0005):
            turns.append(time.perf_counter())

    other = threading.Thread(target=take_turns)
    other.start()
    began = time.perf_counter()
    calls[call]()
    ended = time.perf_counter()
    is_done.set()
    other.join()
    # Half of the time passes between two turns at most.
    inside = [began, *(turn for turn in turns if began < turn < ended), ended]
    assert max(b - a for a, b in zip(inside, inside[1:])) < (ended - began) / 2


def test_mixed_columns_are_text():
    mixed = table.Table._of_rows(json.dumps([{"a": 1, "b": 1, "c": True}, {"a": "x", "b": 1.5}, {"b": None, "c": False}]))
    assert mixed.to_pylist() == [
        {"a": "1", "b": 1.0, "c": True},
        {"a": "x", "b": 1.5, "c": None},
        {"a": None, "b": None, "c": False},
    ]


@pytest.mark.parametrize("library", ["pyarrow", "polars", "duckdb"])
def test_libraries_take_tables(pool, library):
    module = pytest.importorskip(library)
    for result in (pool.slots, pool.jobs, pool.negotiate().matches, table.Table([])):
        check_taken(library, module, result)


def test_nothing_is_held_after_export(pool):
    pyarrow = pytest.importorskip("pyarrow")
    for _ in range(100):
        pyarrow.table(pool.slots)
        pool.slots.__arrow_c_stream__()
    gc.collect()
    assert not table._held and not table._streams


def test_other_versions_of_htcondor(tmp_path):
    # The values are those of HTCondor 23.0.28 and 25.14.1.
    with cm.semantics("23.0"):
        assert ExprTree('"x" ?: "" != "Copy"').eval() == "x"
        assert ExprTree("2K").eval() == 2048.0
        with cm.semantics("latest"):
            assert ExprTree('"x" ?: "" != "Copy"').eval() is True
        assert ClassAd("[ a = 2K ]")["a"] == 2048.0
    assert ExprTree('"x" ?: "" != "Copy"').eval() is True
    with pytest.raises(ClassAdException):
        ClassAd("[ a = 2K ]")
    with pytest.raises(ValueError):
        cm.fmt("a", semantics="9.0")
    with pytest.warns(UserWarning, match="HTCondor 26.0 is newer than 25.14, whose semantics are used"):
        assert cm.fmt("a>2", semantics="26.0") == "a > 2\n"
    assert cm.fmt("a>2K", semantics="23.0") == "a > 2K\n"
    found = cm.lint(text="START = Memory > 2K", semantics="23.0")
    assert "version-dependent" in found.column("rule")
    slot = 'MyType = "Machine"\nName = "a"\nCpus = 1\nMemory = 3000\nStart = Memory > 2K\nRequirements = Start\n'
    job = 'MyType = "Job"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nUser = "u@x"\nRequirements = true\n'
    (tmp_path / "slots.ads").write_text(slot)
    (tmp_path / "jobs.ads").write_text(job)
    limits = cm.read_ads(tmp_path / "slots.ads", attributes=["Start"], semantics="23.0")
    assert limits.column("Start") == [True]
    # 2048.0 before 23.9; since then the letter and the rest of the line are ignored.
    assert cm.Pool.read(tmp_path, semantics="23.0").match("1.0").to_pylist() == [True]
    (tmp_path / "slots.ads").write_text(slot.replace("Memory = 3000", "Memory = 1000"))
    old, new = (cm.Pool.read(tmp_path, semantics=series) for series in ("23.0", None))
    assert [pool.match("1.0").to_pylist() for pool in (old, new)] == [[False], [True]]
    assert [len(pool.negotiate().matches) for pool in (old, new)] == [0, 1]
    # Each ad in its version.
    versions = (f'CondorVersion = "$CondorVersion: {version} $"\n' for version in ("23.0.28", "25.14.1"))
    ads = "\n".join(slot.replace("Memory = 3000", "Memory = 1000") + version for version in versions)
    (tmp_path / "slots.ads").write_text(ads)
    pool = cm.Pool.read(tmp_path, semantics="advertised")
    assert pool.match("1.0").to_pylist() == [False, True]
