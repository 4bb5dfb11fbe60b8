"""The ClassAd language: the API of HTCondor's module `classad2`, version 25.14.1.

Programs written for that module run unchanged. Differences: nothing crashes the interpreter, no data is lost
silently, all functions of HTCondor are always there, and reading takes time in proportion to the input.
"""

from __future__ import annotations

import io
import os
from collections import abc
from collections.abc import Iterator, Mapping, MutableMapping
from datetime import datetime, timedelta, timezone
from enum import IntEnum
from itertools import chain

from . import _classmate
from ._classmate import ClassAdException, lastError, quote, unquote

# True for type checkers; the module takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

__all__ = [
    "ClassAd",
    "ClassAdException",
    "ExprTree",
    "Parser",
    "ParserType",
    "Value",
    "lastError",
    "parseAds",
    "parseNext",
    "parseOne",
    "quote",
    "unquote",
    "version",
]


class Value(IntEnum):
    """The values of the ClassAd language that Python lacks."""

    Error = 1
    Undefined = 2


class ParserType(IntEnum):
    """The forms in which ads are written."""

    Auto = -1
    Old = 0
    XML = 1
    JSON = 2
    New = 3
    FileAuto = 4


Parser = ParserType


class KeysView(abc.KeysView[str]):
    """The names of an ad."""

    __slots__ = ()
    _mapping: ClassAd

    def __iter__(self) -> Iterator[str]:
        return iter(self._mapping)


class ItemsView(abc.ItemsView[str, "Any"]):
    """The names and values of an ad."""

    __slots__ = ()
    _mapping: ClassAd

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        ad = self._mapping
        return _classmate._Entries(ad, True) if type(ad) is ClassAd else super().__iter__()


class ValuesView(abc.ValuesView["Any"]):
    """The values of an ad."""

    __slots__ = ()
    _mapping: ClassAd

    def __iter__(self) -> Iterator[Any]:
        ad = self._mapping
        return _classmate._Entries(ad, False) if type(ad) is ClassAd else super().__iter__()


class ClassAd(_classmate._ClassAd, MutableMapping[str, "Any"]):
    """An ad: a mapping of names, without regard to case, to values and expressions.

    Booleans, integers, floats, strings, times (`datetime`) and lists are those of Python. Undefined and error are
    members of `Value`, nested ads are of this class, and anything else is an `ExprTree`, which is not evaluated when it
    is read or set.
    """

    def __init__(self, input: str | dict[str, Any] | None = None) -> None:
        """Makes an ad of nothing, of a text in new syntax, or of a dictionary."""
        self._set(input)

    def keys(self) -> abc.KeysView[str]:
        """Returns a view of the names."""
        return KeysView(self)

    def items(self) -> abc.ItemsView[str, Any]:
        """Returns a view of the names and values."""
        return ItemsView(self)

    def values(self) -> abc.ValuesView[Any]:
        """Returns a view of the values."""
        return ValuesView(self)

    # Two names of one method each.
    printJson = formatJson = _classmate._ClassAd.printJson
    printOld = formatOld = _classmate._ClassAd.printOld


class ExprTree(_classmate._ExprTree):
    """An expression of the ClassAd language."""

    def __init__(self, expr: object = None) -> None:
        """Makes the expression of a text, or undefined."""
        self._set(expr)


def _seconds(moment: datetime) -> int:
    """Returns the seconds since 1970 that a time becomes: a time with an offset as its clock shows it, others as local."""
    clock = moment.replace(tzinfo=None)
    seconds = (clock - datetime(1970, 1, 1)) // timedelta(seconds=1)
    if moment.utcoffset() is None:
        offset = clock.astimezone().utcoffset()
        seconds -= offset // timedelta(seconds=1) if offset is not None else 0
    return seconds


def _moment(seconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)


_classmate._set_classes(
    ad=ClassAd,
    expr=ExprTree,
    value=Value,
    datetime=datetime,
    seconds=_seconds,
    moment=_moment,
    mapping=Mapping,
    chain=chain,
)


def parseAds(input: str | TextIO, parser: ParserType | int | str = Parser.Auto) -> Iterator[ClassAd]:
    """Yields the ads of a text, or of a text file that can be read again from a place."""
    if isinstance(input, str):
        yield from _classmate.AdReader(input, int(parser))
        return
    place = input.tell()
    reader = _classmate.AdReader("".join(input), int(parser))
    while True:
        found = reader.read()
        if found is not None:
            place += found[1]
        input.seek(place, 0)
        if found is None:
            return
        yield found[0]


def parseOne(input: str | TextIO, parser: ParserType | int | str = Parser.Auto) -> ClassAd:
    """Returns one ad of all ads of a text or a text file. Of attributes with one name, the last one counts."""
    place = None if isinstance(input, str) else input.tell()
    result = ClassAd()
    reader = _classmate.AdReader("".join(input), int(parser))
    while True:
        found = reader.read()
        if found is None:
            return result
        result.update(found[0])
        if place is not None and not isinstance(input, str):
            place += found[1]
            input.seek(place, 0)


def parseNext(input: str | TextIO, parser: ParserType | int | str = Parser.Auto) -> ClassAd | None:
    """Returns the first ad of a text or a file, or None. In a file, nothing after the ad is read."""
    if isinstance(input, str):
        found = _classmate.AdReader(input, int(parser)).read()
        return found[0] if found else None
    if parser is Parser.Auto:
        try:
            parser = _parser_at(input)
        except io.UnsupportedOperation as error:
            raise ClassAdException("Can not look ahead in stream; you must explicitly specify a parser.") from error
    return _next_of(input.fileno(), int(parser))


def _parser_at(input: TextIO) -> ParserType:
    place = input.tell()
    character = " "
    while character.isspace():
        character = input.read(1)
    input.seek(place)
    return Parser.New if character in ("/", "[") else Parser.Old


# The ends of ads, by parser; a line end for the others.
_ENDS: dict[int, tuple[bytes, ...]] = {
    Parser.XML: (b"</c>",),
    Parser.JSON: (b"}", b"\n"),
    Parser.New: (b"]", b"\n"),
}


def _next_of(descriptor: int, parser: int) -> ClassAd | None:
    """Returns the next ad of a file, which then is at its end."""
    try:
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        start = None
    data = b""
    while True:
        # What cannot be put back is read byte by byte, and parsed where an ad may end.
        block = os.read(descriptor, 1 if start is None else max(len(data), 1 << 16))
        data += block
        if start is None and block and not data.endswith(_ENDS.get(parser, (b"\n",))):
            continue
        found = _classmate._read_file(data, parser, not block)
        if found is not None:
            break
    ad, used = found
    if start is not None:
        os.lseek(descriptor, start + used, os.SEEK_SET)
    if ad is False:
        raise ValueError("Unable to parse input stream into a ClassAd.")
    result: ClassAd | None = ad
    return result


def version() -> str:
    """Returns the version of HTCondor whose answers this module gives."""
    return "25.14.1"
