"""Submit descriptions. Where nothing else is said, the values are those of HTCondor's `htcondor2.Submit`, version 25.14.1."""

import pytest

from classmate.htcondor2 import Submit

TEXT = """\
executable = /bin/sleep
Arguments = $(time) $(Process) $(missing) $(other:dflt)
# how long
time = 3600
+IsShort = true
MY.Foo = "a"
long = a \\
  b
queue 3
after = 1
"""


def items(arguments, text="time = 4\nfile = plain.txt"):
    description = Submit(text)
    description.setQArgs(arguments)
    found = description.itemdata()
    return None if found is None else list(found)


def test_a_mapping():
    description = Submit(TEXT)
    assert list(description) == ["executable", "Arguments", "time", "MY.IsShort", "MY.Foo", "long"]
    assert description["ARGUMENTS"] == "$(time) $(Process) $(missing) $(other:dflt)" and description["long"] == "a b"
    assert description["MY.isshort"] == "true" and "IsShort" not in description and "+IsShort" not in description
    assert description.expand("arguments") == "3600 0  dflt" and description.expand("Cluster") == "1"
    for name in ("missing", "Cluster", "universe"):
        with pytest.raises(KeyError):
            description[name]
    with pytest.raises(KeyError):
        description.expand("missing")
    description["Time"] = "5"
    assert description["time"] == "5" and "time" in list(description) and description.expand("arguments").startswith("5 ")
    assert str(description).splitlines()[1:] == [
        "Arguments = $(time) $(Process) $(missing) $(other:dflt)",
        "time = 5",
        "MY.IsShort = true",
        'MY.Foo = "a"',
        "long = a b",
        "queue 3",
    ]
    with pytest.raises(NotImplementedError):
        del description["time"]
    for wrong in (lambda: description[5], lambda: description.update(x=5), lambda: description.expand(5)):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    "text",
    [
        "executable : /bin/sleep",
        "my attr = 3",
        "+ Tag = 1",
        "arguments ||= 5",
        "a-b = 1",
        "queue=5",
        "use feature : gpus",
        "use strict : bad",
        "if true",
        "if false\nqueue",
        "this is not a command",
        "a = 1\0",
    ],
)
def test_what_is_no_submit_description(text):
    with pytest.raises(ValueError):
        Submit(text)


def test_conditions_around_queue():
    assert str(Submit("if true\na = 1\nqueue 2\nendif")) == "a = 1\nqueue 2\n"
    assert str(Submit("if false\nqueue 2\nmy attr = 3\nendif\nqueue 5")) == "queue 5\n"
    assert str(Submit("x @=end\nqueue\n+a\n@end\nqueue 5")) == "x = queue\n+a\nqueue 5\n"
    assert Submit("queue x in \\\n(a b)").getQArgs() == "x in (a b)"
    assert Submit("queue = 5").getQArgs() == "= 5"


def test_strict():
    assert dict(Submit("use strict : false harsh\nqueue")) == {
        "SubmitWarnEmptyMatches": "true",
        "SubmitFailEmptyMatches": "true",
        "SubmitWarnDuplicateMatches": "true",
        "SubmitFailEmptyFields": "true",
        "SubmitWarnEmptyFields": "true",
    }


def test_what_is_set_is_kept_as_it_is():
    description = Submit("+Tag = 1\n-Other = 2")
    description["+X"] = "5"
    description["a b"] = "  c  "
    assert dict(description) == {"MY.Tag": "1", "MY.Other": "", "+X": "5", "a b": "  c  "}
    with pytest.raises(ValueError):
        description["x"] = "\0"


def test_expansion(monkeypatch):
    monkeypatch.setenv("CLASSMATE_TEST", "x")
    for value, expanded in {
        "$(b) $(b:3) $(c:3)": "2 2 3",
        "$ENV(CLASSMATE_TEST)": "x",
        "$INT(b) $F(d)": "2 /x/y.z",
        "$$(Foo) $$([x])": "$$(Foo) $$([x])",
        "$RANDOM_INTEGER(1,1) $CHOICE(0,x,y)": "1 x",
        "$(ClusterId) $(Process) $(Step) $(Row) $(ItemIndex) $(ARCH) $(OPSYS)": "1 0 0 0 0 X86_64 LINUX",
    }.items():
        assert Submit(f"a = {value}\nb = 2\nd = /x/y.z").expand("a") == expanded
    # HTCondor does not return from this.
    with pytest.raises(ValueError, match="circle|circular|refer"):
        Submit("a = $(b)\nb = $(a)").expand("a")


def test_queue_forms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.txt").write_text("a b\nc d\n")
    (tmp_path / "blank.txt").write_text("a\n\nb\n")
    (tmp_path / "one.dat").touch()
    (tmp_path / "two.dat").touch()
    (tmp_path / "dir.dat").mkdir()
    one, two = {"x": "a"}, {"x": "b"}
    cases = {
        "": None, "3": None, "1+1": None, "$(time)": None, "0": None, "x in ()": None, "x matching *.nothing": None,
        "in (a b c)": [{"Item": "a"}, {"Item": "b"}, {"Item": "c"}],
        "2 x in (a, b)": [one, two], "x in a b": [one, two], "x in (\na\nb\n)": [one, two],
        # Slices are for making jobs.
        "x in [1:] (a b)": [one, two],
        "$(time) x IN (a)": [one],
        "x,y in (a b)": [{"x": "a", "y": ""}, {"x": "b", "y": ""}],
        "x,y from plain.txt": [{"x": "a", "y": "b"}, {"x": "c", "y": "d"}],
        "from $(file)": [{"Item": "a b"}, {"Item": "c d"}],
        "x y from (\na b\nc, d e\n)": [{"x": "a", "y": "b"}, {"x": "c", "y": "d e"}],
        "x, y , z from (\n 1 2 3 4\n 5, 6\n)": [{"x": "1", "y": "2", "z": "3 4"}, {"x": "5", "y": "6", "z": ""}],
        "x,y from (\na\x1fb\n)": [{"x": "a", "y": "b"}],
        "x matching *.dat": [{"x": "dir.dat/"}, {"x": "one.dat"}, {"x": "two.dat"}],
        "x matching files (*.dat)": [{"x": "one.dat"}, {"x": "two.dat"}],
        "x matching dirs *.dat": [{"x": "dir.dat/"}],
    }  # fmt: skip
    for arguments, expected in cases.items():
        assert items(arguments) == expected, arguments
        found = Submit("time = 4\nfile = plain.txt").itemdata(arguments)
        assert (None if found is None else list(found)) == expected, arguments
    for wrong in ("bogus", "3 bogus", "-1", "x in", "x from nothing.txt", "x from blank.txt"):
        with pytest.raises(ValueError):
            items(wrong)


def test_arguments_of_queue():
    assert Submit("a = 1\nqueue x in (p q)").getQArgs() == "x in (p q)"
    assert list(Submit("a = 1\nqueue x from (\n1\n2\n)\n").itemdata()) == [{"x": "1"}, {"x": "2"}]
    assert str(Submit("a = 1\nqueue x from (\n1\n2\n)\n")) == "a = 1\nqueue x from (\n"
    assert str(Submit("a=1", queue="queue 7", b="2")) == "a = 1\nb = 2\nqueue 7\n"
    assert repr(Submit({"a": 1, "b": 1.5, "c": True})) == "Submit(a = 1\nb = 1.5\nc = True\nqueue\n)"
    for wrong in (5, {1: "a"}, {"a": [1]}):
        with pytest.raises(TypeError):
            Submit(wrong)
    for wrong in ({"Queue": "3"}, "no equals", "= 3"):
        with pytest.raises(ValueError):
            Submit(wrong)
