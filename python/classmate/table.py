"""Tables of results: columns in memory in the layout of Arrow, which polars, pandas, pyarrow and duckdb take as they are."""

from __future__ import annotations

import ctypes
import errno
import html
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from . import _classmate

# The structures of the Arrow C data interface.


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GET_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GET_SCHEMA),
    ("get_next", _GET_NEXT),
    ("get_last_error", _GET_LAST_ERROR),
    ("release", _RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]

_NULLABLE = 2

# What consumers hold: everything that a structure points to, by the number in its `private_data`.
_held: dict[int, object] = {}
_numbers = iter(range(1, 1 << 62))


def _hold(thing: object) -> int:
    number = next(_numbers)
    _held[number] = thing
    return number


def _released(pointer: Any) -> None:
    structure = pointer.contents
    for at in range(getattr(structure, "n_children", 0)):
        child = structure.children[at]
        # A child that was moved elsewhere is not released here.
        if child.contents.release:
            child.contents.release(child)
    _held.pop(structure.private_data or 0, None)
    # A structure is released when this is null; nothing else in it is read afterwards.
    place = ctypes.addressof(structure) + type(structure).release.offset
    ctypes.memset(place, 0, ctypes.sizeof(ctypes.c_void_p))


_release_schema = _RELEASE_SCHEMA(_released)
_release_array = _RELEASE_ARRAY(_released)


def _fill_schema(schema: Any, format: bytes, name: bytes, columns: Sequence[Column]) -> None:
    children = [_Schema() for _ in columns]
    for child, column in zip(children, columns):
        _fill_schema(child, column.format.encode(), column.name.encode(), ())
    pointers = (ctypes.POINTER(_Schema) * len(children))(*map(ctypes.pointer, children))
    schema.format, schema.name, schema.metadata = format, name, None
    schema.flags, schema.n_children = _NULLABLE if not columns else 0, len(children)
    schema.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Schema))) if children else None
    schema.dictionary = None
    schema.release = _release_schema
    schema.private_data = _hold((format, name, children, pointers))


def _fill_array(array: Any, length: int, nulls: int, buffers: Sequence[bytes | None], columns: Sequence[Column]) -> None:
    children = [_Array() for _ in columns]
    for child, column in zip(children, columns):
        used = [column.buffers[0] if column.nulls else None, *column.buffers[1:]]
        _fill_array(child, column.length, column.nulls, used, ())
    pointers = (ctypes.POINTER(_Array) * len(children))(*map(ctypes.pointer, children))
    places = [None if data is None else ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value for data in buffers]
    held = (ctypes.c_void_p * len(places))(*places)
    array.length, array.null_count, array.offset = length, nulls, 0
    array.n_buffers, array.n_children = len(places), len(children)
    array.buffers = ctypes.cast(held, ctypes.POINTER(ctypes.c_void_p))
    array.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Array))) if children else None
    array.dictionary = None
    array.release = _release_array
    array.private_data = _hold((buffers, children, pointers, held))


_PyCapsule_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _PyCapsule_Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_STREAM_NAME = b"arrow_array_stream"


@_PyCapsule_Destructor
def _capsule_gone(capsule: int) -> None:
    """Releases a stream that no consumer has taken."""
    if not _is_capsule(capsule, _STREAM_NAME):
        return
    place = _pointer_of(capsule, _STREAM_NAME)
    stream = ctypes.cast(place, ctypes.POINTER(_Stream))
    if stream.contents.release:
        stream.contents.release(stream)
    _streams.pop(place, None)


# The streams in capsules, by their addresses: the memory of a stream stays until its capsule is gone.
_streams: dict[int, Any] = {}


class _Export:
    """A table on its way to a consumer."""

    def __init__(self, table: Table) -> None:
        self.table, self.sent = table, False


@_GET_SCHEMA
def _get_schema(stream: Any, schema: Any) -> int:
    export = _held.get(stream.contents.private_data)
    if not isinstance(export, _Export):
        return errno.EINVAL
    _fill_schema(schema.contents, b"+s", b"", export.table._columns)
    return 0


@_GET_NEXT
def _get_next(stream: Any, array: Any) -> int:
    export = _held.get(stream.contents.private_data)
    if not isinstance(export, _Export):
        return errno.EINVAL
    if export.sent:
        # The end is an array that is released already.
        ctypes.memset(array, 0, ctypes.sizeof(_Array))
    else:
        export.sent = True
        _fill_array(array.contents, len(export.table), 0, [None], export.table._columns)
    return 0


@_GET_LAST_ERROR
def _get_last_error(_: Any) -> None:
    return None


_release_stream = _RELEASE_STREAM(_released)


def _capsule(table: Table) -> Any:
    stream = _Stream(_get_schema, _get_next, _get_last_error, _release_stream, _hold(_Export(table)))
    place = ctypes.addressof(stream)
    _streams[place] = stream
    return _new_capsule(place, _STREAM_NAME, _capsule_gone)


class Column:
    """A column: a name and values of one type, some of which may be missing."""

    __slots__ = ("name", "format", "length", "nulls", "buffers")

    def __init__(self, name: str, format: str, length: int, nulls: int, buffers: list[bytes]) -> None:
        self.name, self.format, self.length, self.nulls, self.buffers = name, format, length, nulls, buffers

    def to_pylist(self) -> list[Any]:
        """Returns the values; None where one is missing."""
        validity, *data = self.buffers
        values: list[Any]
        if self.format == "b":
            values = [bool(data[0][at >> 3] >> (at & 7) & 1) for at in range(self.length)]
        elif self.format in "lg":
            values = list(struct.unpack("=%d%s" % (self.length, "q" if self.format == "l" else "d"), data[0]))
        else:
            ends = struct.unpack("=%dq" % (self.length + 1), data[0])
            values = [data[1][start:end].decode() for start, end in zip(ends, ends[1:])]
        if self.nulls:
            values = [value if validity[at >> 3] >> (at & 7) & 1 else None for at, value in enumerate(values)]
        return values

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"<Column: {self.name}, {self.length} {'value' if self.length == 1 else 'values'}>"


class Table(Sequence[dict[str, Any]]):
    """Rows with the same columns.

    `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)` and duckdb take the columns without
    copying them.
    """

    def __init__(self, columns: Sequence[Column], length: int | None = None) -> None:
        self._columns = list(columns)
        self._length = len(self._columns[0]) if self._columns else length or 0

    @classmethod
    def _of(cls, columns: list[tuple[str, str, int, int, list[bytes]]]) -> Table:
        return cls([Column(*column) for column in columns])

    @classmethod
    def _of_rows(cls, rows: str) -> Table:
        """Makes a table of rows in JSON."""
        return cls._of(_classmate._columns(rows))

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self._columns]

    def column(self, name: str) -> list[Any]:
        """Returns the values of a column."""
        for column in self._columns:
            if column.name == name:
                return column.to_pylist()
        raise KeyError(name)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields the rows as dictionaries."""
        names = self.column_names
        if not names:
            return iter([{} for _ in range(self._length)])
        return (dict(zip(names, row)) for row in zip(*(column.to_pylist() for column in self._columns)))

    def to_pylist(self) -> list[dict[str, Any]]:
        """Returns the rows as dictionaries."""
        return list(self.rows())

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the columns by their names."""
        return {column.name: column.to_pylist() for column in self._columns}

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def __getitem__(self, at: Any) -> Any:
        return self.to_pylist()[at]

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Exports the table as a stream of Arrow arrays."""
        return _capsule(self)

    def __repr__(self) -> str:
        names = "".join(f", {name}" for name in self.column_names[:8]).replace(",", ";", 1)
        more = ", …" if len(self._columns) > 8 else ""
        return f"<Table: {self._length} {'row' if self._length == 1 else 'rows'}{names}{more}>"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        few = 20
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.column_names)
        body = []
        for number, row in enumerate(self.rows()):
            if number == few:
                break
            cells = ("" if value is None else html.escape(str(value)) for value in row.values())
            body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        more = f"<p>{self._length - few} more rows</p>" if self._length > few else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"
