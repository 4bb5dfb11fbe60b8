"""The errors of this package."""

from __future__ import annotations


class Error(Exception):
    """The base class of errors of this package. `file`, `line`, `column` and `help` are None where they are not known."""

    def __init__(
        self,
        message: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        help: str | None = None,
    ) -> None:
        parts = [message, file, line, column, help]
        while len(parts) > 1 and parts[-1] is None:
            del parts[-1]
        super().__init__(*parts)
        self.message, self.file, self.line, self.column, self.help = message, file, line, column, help

    def __str__(self) -> str:
        place = "".join(f"{part}:" for part in (self.file, self.line, self.column) if part is not None)
        text = f"{place} {self.message}" if place else self.message
        return f"{text} ({self.help})" if self.help else text


class ConfigurationError(Error):
    """Raised for an invalid configuration, or another invalid file that is read."""


class SnapshotError(Error):
    """Raised for a pool that cannot be read."""
