"""What `classmate.classad2` promises beyond the recorded cases."""

import collections.abc
import concurrent.futures
import copy
import ctypes
import datetime
import gc
import os
import pathlib
import pickle
import random
import subprocess
import sys
import threading

import pytest

import classmate
from classmate import classad2
from classmate.classad2 import ClassAd, ClassAdException, ExprTree, Parser, Value, parseAds, parseNext, parseOne

UTC = datetime.timezone.utc


def test_a_failed_assignment_changes_nothing():
    ad = ClassAd("[a = 1]")
    for value in (object(), [object()], {"b": [1j]}, 2**63, ["\ud800"], {5: 1}):
        with pytest.raises((ClassAdException, OverflowError, UnicodeEncodeError, TypeError)):
            ad["a"] = value
    assert repr(ad) == "[ a = 1 ]"


def test_structures_that_contain_themselves_are_refused():
    endless = []
    endless.append(endless)
    turning = {}
    turning["x"] = [turning]
    for value in (endless, turning):
        with pytest.raises(RecursionError):
            ClassAd()["x"] = value


def test_deep_lists_come_back():
    value = 1
    for _ in range(900):
        value = [value]
    ad = ClassAd()
    ad["x"] = value
    assert ad["x"] == value


def test_conversion_may_change_the_ad_that_is_set():
    ad = ClassAd("[a = 1]")

    class Changing:
        def __iter__(self):
            ad.clear()
            ad["b"] = 2
            yield 1

    ad["c"] = Changing()
    assert repr(ad) == "[ b = 2; c = { 1 } ]"


def test_finalizers_may_use_the_ad_they_leave():
    ad = ClassAd()

    class Held(ClassAd):
        def __del__(self):
            ad["seen"] = len(ad)

    for _ in range(10):
        held = Held("[a = 1]")
        names = iter(held)
        del held
        next(names)
        del names
    gc.collect()
    assert ad["seen"] >= 0


def test_a_subclass_with_its_own_lookup_is_asked():
    class Shouting(ClassAd):
        def __getitem__(self, name):
            return str(super().__getitem__(name)).upper()

    ad = Shouting('[a = "x"]')
    assert ad.get("a") == "X" and list(ad.values()) == ["X"] and "a" in ad and "b" not in ad


def generated(draw):
    """An ad of random attributes, as a text."""
    values = ["1", "2.5", "true", '"x"', '"é"', "undefined", "error", "{ 1,a,{ b } }", "[ x = 1 ]", "a + 1", 'absTime("2020-01-02T03:04:05Z")']
    names = draw.sample([f"{letter}{number}" for letter in "abCD" for number in range(8)], draw.randrange(0, 20))
    return "[" + "; ".join(f"{name} = {draw.choice(values)}" for name in names) + "]"


@pytest.mark.parametrize("view", ["keys", "items", "values"])
def test_views_are_those_of_any_mapping(view):
    # The ad may change while it is iterated over: both see the same.
    of_any = {"keys": collections.abc.KeysView, "items": collections.abc.ItemsView, "values": collections.abc.ValuesView}[view]
    draw, ends, changed = random.Random(view), 0, 0
    for turn in range(2000):
        text = generated(draw)
        ads = ClassAd(text), ClassAd(text)
        views = getattr(ads[0], view)(), of_any(ads[1])
        assert type(views[0]).__name__ == type(views[1]).__name__ and isinstance(views[0], of_any)
        assert repr(views[0]) == repr(views[1]) and len(views[0]) == len(views[1])
        iterators = [iter(view) for view in views]
        while True:
            if draw.random() < 0.2 and turn % 2:
                name, value = draw.choice([*ads[0], "new"]), draw.choice([None, 1, "y", [1, 2]])
                for ad in ads:
                    if value is None:
                        ad.pop(name, None)
                    else:
                        ad[name] = value
                changed += 1
            steps = []
            for iterator in iterators:
                try:
                    steps.append(repr(next(iterator, "the end")))
                except KeyError as error:
                    steps.append(repr(error))
            assert steps[0] == steps[1], text
            ends += "KeyError" in steps[0]
            if steps[0] == repr("the end"):
                break
    assert changed > 500 and (ends > 100 or view == "keys")


def test_references_are_names_between_commas():
    ad = ClassAd("[a = 1]")
    for text in ["a", "b", "b + c", "'x,y' + z", "a + 'é'", "TARGET.q && b"]:
        found = ad.externalRefs(ExprTree(text))
        assert found == ",".join(found).split(","), text
    assert ad.externalRefs(ExprTree("a")) == [""] and ad.externalRefs(ExprTree("'x,y' + z")) == ["x", "y", "z"]


def test_names_are_found_in_any_spelling():
    # Wherever their texts are, again and again.
    for number in range(3000):
        ad = ClassAd({f"Spelled{number}": number})
        for name in (f"Spelled{number}", f"SPELLED{number}", f"spelled{number}"):
            assert ad[name] == ad[name] == number and name in ad and ad.get(name + "x") is None
        ad[f"spelled{number}"] = -1
        other = ClassAd({f"sPelled{number}": 0})
        assert list(ad) == [f"Spelled{number}"] and list(other) == [f"sPelled{number}"]
    with pytest.raises(ValueError, match="embedded null character"):
        ClassAd("[a = 1]")["a\0"]


def test_a_string_with_nul_is_never_lost_in_silence(tmp_path):
    for name in ("a", "error", "zz"):
        for string in ("x\0y", "\0", "\0x"):
            ad = ClassAd({name: string, "m": 1})
            path = tmp_path / "ads"
            # The forms have no way to write it that the reference reads.
            for text, parser in [(ad.printJson(), Parser.JSON), (ad.printOld(), Parser.Old), (ad.printOld(), Parser.Auto), (repr(ad), Parser.New)]:
                path.write_text(text)
                for read in (parseOne, parseNext, lambda text, parser: list(parseAds(text, parser))):
                    with pytest.raises(ValueError, match="Unable to parse"):
                        read(text, parser)
                with open(path) as file, pytest.raises(ValueError, match="Unable to parse"):
                    list(parseAds(file, parser))
    # What precedes the NUL is read if it is whole.
    assert [repr(ad) for ad in parseAds("a = 1\0\n\nb = 2")] == ["[ a = 1 ]"]
    assert repr(parseOne('a = "x"\n\0b = "y"')) == '[ a = "x" ]'


def test_texts_are_read_in_the_version_of_their_reader():
    # Parsers are used again, but not for another version.
    def ads(read):
        try:
            return [repr(ad) for ad in read()]
        except (ClassAdException, ValueError):
            return "an error"

    text = "[a = 10K] [b = 1]"
    for _ in range(3):
        readers = []
        for series in ("23.0", "25.0"):
            with classmate.semantics(series):
                readers.append((classad2._classmate.AdReader(text, 3), ads(lambda: parseAds(text, Parser.New))))
        assert len(readers[0][1]) == 2 and readers[1][1] == "an error"
        for reader, expected in readers:
            assert ads(lambda: reader) == expected


def test_what_cannot_be_read_is_not_just_there():
    ad = ClassAd('[a = "\\377"; b = {"\\377"}; c = "x"; d = {1}]')
    assert "c" in ad and "d" in ad and "e" not in ad
    for name in ("a", "b"):
        with pytest.raises(UnicodeDecodeError):
            name in ad


def test_exceptions_and_expressions_can_be_pickled():
    with pytest.raises(ClassAdException) as caught:
        ClassAd("[")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is ClassAdException and again.args == caught.value.args
    expr = ExprTree('a + "x\\n"')
    assert pickle.loads(pickle.dumps(expr)) == expr and copy.deepcopy(expr) == expr


def test_times():
    ad = ClassAd({"t": datetime.datetime(2020, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC)})
    assert ad["t"] == datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
@pytest.mark.parametrize(
    "parser, text",
    [
        (Parser.Old, 'a = 1\nb = "x"\n\nc = 2\n\nrest'),
        (Parser.New, '[a = 1; b = "x]"][c = [d = 2]] rest'),
        (Parser.JSON, '{"a": 1, "b": {"c": "}"}}{"d": 2} rest'),
        (Parser.XML, '<c><a n="a"><i>1</i></a></c><c><a n="b"><s>x</s></a></c> rest'),
    ],
)
def test_nothing_behind_an_ad_is_read_from_a_pipe(parser, text):
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    with os.fdopen(read, "r") as pipe:
        ads = [parseNext(pipe, parser) for _ in range(2)]
        assert [repr(ad) for ad in ads] == [repr(ad) for ad in list(parseAds(text, parser))[:2]]
        assert pipe.read().lstrip() == "rest"
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read, "r") as pipe, pytest.raises(ClassAdException):
        parseNext(pipe)


def test_a_large_file_is_read_ad_by_ad(tmp_path):
    path = tmp_path / "ads"
    line = "".join(f'Attribute{number} = "{"x" * 40}"\n' for number in range(500))
    path.write_text("\n".join(f"Number = {number}\n{line}" for number in range(20)))
    with path.open() as file:
        ads = [parseNext(file, Parser.Old) for _ in range(21)]
    assert [ad["Number"] for ad in ads[:-1]] == list(range(20)) and ads[-1] is None


def test_many_threads():
    ads = [ClassAd(f"[a = {number}; b = a + 1; requirements = TARGET.a >= 0]") for number in range(20)]
    shared = ClassAd("[n = 0]")

    def work(number):
        for turn in range(200):
            ad = ads[(number + turn) % len(ads)]
            assert ad.eval("b") == ad["a"] + 1
            other = ads[turn % len(ads)]
            assert ad.symmetricMatch(other) == (ad is not other)
            shared[f"k{turn % 50}"] = [turn, {"x": ad}]
            repr(shared), list(shared), pickle.loads(pickle.dumps(shared))
            try:
                # Other threads delete names meanwhile.
                del shared[f"k{(turn + number) % 50}"]
                list(shared.items())
            except KeyError:
                pass
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_generators_are_shared_by_threads_without_harm():
    ads = parseAds("\n\n".join(f"a = {number}" for number in range(2000)))
    iterator = classad2._classmate.AdReader("\n\n".join(f"a = {number}" for number in range(2000)), 0)
    seen = []

    def work():
        for ad in iterator:
            seen.append(ad["a"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(2000)) and len(list(ads)) == 2000


def test_install_and_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, classad2\nprint(classad2.ClassAd(sys.argv[1]).eval('b'), classad2.__name__)\n")
    done = subprocess.run(
        [sys.executable, "-m", "classmate.run", script, "[a = 1; b = a + 1]"], capture_output=True, text=True
    )
    assert done.stdout == "2 classmate.classad2\n", done.stderr
    code = "import classmate; m = classmate.install_as_classad2(); import classad2; assert classad2 is m"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    code = (
        "import sys, types; sys.modules['classad2'] = types.ModuleType('classad2'); import classmate\n"
        "try: classmate.install_as_classad2()\nexcept ImportError: sys.exit(0)\nsys.exit(1)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_environment_is_left_alone():
    code = "import os; before = dict(os.environ); from classmate.classad2 import *; ClassAd('[a = [b = 1]]')['a']; assert dict(os.environ) == before"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


COUNTS_BYTES = os.name == "posix" and hasattr(ctypes.CDLL(None), "mallinfo2")


def allocated():
    """Bytes that the allocator has given out."""

    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Info
    info = mallinfo()
    return info.uordblks + info.hblkhd


AD = ClassAd('[a = 1; b = a + 1; l = {1, x}; n = [c = 1]; t = absTime("2020-01-02T03:04:05Z"); requirements = TARGET.a > 0]')
OTHER = ClassAd("[a = 2; requirements = true]")
EXPR = ExprTree("a + x")
LOOPS = {
    "ClassAd(text)": lambda: ClassAd("[a = 1; b = a + 1]"),
    "ClassAd(dict)": lambda: ClassAd({"a": 1, "b": [1, {"c": 2}], "t": datetime.datetime(2020, 1, 2, tzinfo=UTC)}),
    "ClassAd fails": lambda: pytest.raises(ClassAdException, ClassAd, "[a = "),
    "ExprTree(text)": lambda: ExprTree("a + 1 > b"),
    "ExprTree fails": lambda: pytest.raises(ClassAdException, ExprTree, "a +"),
    "read": lambda: [AD[name] for name in AD],
    "read missing": lambda: pytest.raises(KeyError, AD.lookup, "nowhere"),
    "get": lambda: (AD.get("a"), AD.get("never seen before"), "a" in AD),
    "set": lambda: AD.__setitem__("q", [1, "x", None]),
    "set fails": lambda: pytest.raises(ClassAdException, AD.__setitem__, "", 1),
    "set and delete": lambda: (AD.__setitem__("r", 1), AD.__delitem__("r")),
    "eval": lambda: (AD.eval("b"), EXPR.eval(), EXPR.eval(AD), EXPR.eval(AD, OTHER), EXPR.simplify(AD)),
    "flatten": lambda: (AD.flatten(EXPR), AD.externalRefs(EXPR), AD.internalRefs(EXPR)),
    "match": lambda: (AD.matches(OTHER), AD.symmetricMatch(OTHER)),
    "iterate": lambda: (list(AD), list(AD.items()), dict(AD)),
    "print": lambda: (repr(AD), str(AD), AD.printOld(), AD.printJson(), repr(EXPR), str(EXPR)),
    "equal": lambda: (AD == OTHER, AD == AD, EXPR == EXPR),
    "pickle": lambda: pickle.loads(pickle.dumps([AD, EXPR])),
    "parseAds": lambda: list(parseAds("a = 1\nb = x\n\nc = 2\n")),
    "parseAds fails": lambda: pytest.raises(ValueError, list, parseAds("[a = ] [b = 1]", Parser.New)),
    "parseOne": lambda: parseOne("[a = 1][b = 2]", Parser.New),
    "parseNext": lambda: (parseNext("a = 1\n"), parseNext('{"a": 1}', Parser.JSON), parseNext("<c></c>", Parser.XML)),
    "quote": lambda: classad2.unquote(classad2.quote("x\n" * 100)),
    "unquote fails": lambda: pytest.raises(ValueError, classad2.unquote, "5"),
}


@pytest.mark.skipif(not COUNTS_BYTES, reason="needs glibc")
@pytest.mark.parametrize("name", LOOPS)
def test_memory_stays_constant(name):
    loop = LOOPS[name]

    def window():
        for _ in range(2000):
            loop()
        gc.collect()
        return allocated()

    window()
    # Python's own caches grow at first: one of a few windows must leave nothing behind.
    sizes = [window() for _ in range(5)]
    growth = [after - before for before, after in zip(sizes, sizes[1:])]
    assert min(growth) < 2000, growth


def test_lookups_keep_no_names():
    ad = ClassAd("[a = 1]")
    for number in range(100):
        ad.get(f"warm up {number}")
    before = allocated() if COUNTS_BYTES else 0
    for number in range(20_000):
        assert ad.get(f"a name that no ad has {number}") is None and f"nor this {number}" not in ad
    if before:
        assert allocated() - before < 100_000


def test_what_cannot_be_flattened_is_a_value_error():
    # As in HTCondor's module.
    with pytest.raises(ValueError, match="Unable to flatten expression."):
        ClassAd("[circle = circle + 1; a = circle]").flatten(ExprTree("a"))


def test_ads_equal_themselves():
    # As in HTCondor's module, where neither infinities nor NaN equal another one.
    for number in (float("inf"), float("nan")):
        ad, other = ClassAd({"a": number}), ClassAd({"a": number})
        assert ad == ad and not ad != ad and ad != other
    expr = ExprTree("(1e400)")
    assert expr == expr and expr != ExprTree("(1e400)")
    number = ExprTree("1e400")
    assert number != number
