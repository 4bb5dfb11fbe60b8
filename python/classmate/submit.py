"""Submit descriptions: what `condor_submit` reads, as a mapping of commands with the arguments of `queue`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping

from . import _classmate


class Submit(MutableMapping[str, str]):
    """A submit description: a mapping of commands, without regard to case, to their values as they are written.

    The text may end with a `queue` statement; what follows it is ignored.
    """

    def __init__(self, input: Mapping[str, object] | str | None = None, queue: str | None = None, **kwargs: str) -> None:
        if isinstance(input, dict):
            input = "".join(f"{self._key(key)} = {self._plain(value)}\n" for key, value in input.items())
        elif input is None:
            input = ""
        elif not isinstance(input, str):
            raise TypeError("input must be a dictionary mapping string to strings, a string, or None")
        self._base = _classmate._Submit(input)
        self.update(kwargs)
        if queue is not None:
            if not isinstance(queue, str):
                raise TypeError("queue must be a string")
            self.setQArgs(queue)

    @staticmethod
    def _key(key: object) -> str:
        if not isinstance(key, str):
            raise TypeError("key must be a string")
        if key.casefold() == "queue":
            raise ValueError("the queue statement can not be specified in a dictionary")
        return key

    @staticmethod
    def _plain(value: object) -> str:
        if isinstance(value, str | int | float):
            return str(value)
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, _classmate._ClassAd):
            return repr(value)
        raise TypeError("value must be a string")

    def __getitem__(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError("key must be a string")
        value = self._base.value(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: str) -> None:
        if not isinstance(key, str):
            raise TypeError("key must be a string")
        if not isinstance(value, str):
            raise TypeError("value must be a string")
        self._base.set(key, value)

    def __delitem__(self, key: str) -> None:
        raise NotImplementedError(
            "Submit object keys can not be removed, but the empty string is defined to have no effect."
        )

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._base.commands()])

    def __len__(self) -> int:
        return len(self._base.commands())

    def __str__(self) -> str:
        lines = [f"{name} = {value}\n" for name, value in self._base.commands()]
        return "".join(lines) + f"queue {self._base.queue() or ''}".rstrip() + "\n"

    def __repr__(self) -> str:
        return f"Submit({self})"

    def expand(self, attr: str) -> str:
        """Returns the value of a command with all macros expanded, for the first job."""
        if not isinstance(attr, str):
            raise TypeError("attr must be a string")
        value = self._base.expand(attr)
        if not value:
            raise KeyError(attr)
        return value

    def getQArgs(self) -> str:
        """Returns the arguments of `queue`."""
        return self._base.queue() or ""

    def setQArgs(self, args: str) -> None:
        """Replaces the arguments of `queue`. They may begin with that word."""
        if not isinstance(args, str):
            raise TypeError("args must be a string")
        self._base.set_queue(self._arguments(args))

    @staticmethod
    def _arguments(args: str) -> str:
        return args[6:] if args.casefold().startswith("queue ") else args

    def itemdata(self, qargs: str | None = None) -> Iterator[dict[str, str]] | None:
        """Returns the items of `queue`, or of other arguments of it, each with the values of the variables; None without items.

        Files are read, and patterns are matched, relative to the current directory. Programs are not run.
        """
        items = self._base.items(None if qargs is None else self._arguments(qargs))
        if not items:
            return None
        if [] in items:
            raise ValueError("invalid qargs: a blank item")
        return iter([dict(values) for values in items])
