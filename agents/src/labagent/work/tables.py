"""Reads a TOML table strictly: each complaint names file and key, and says what to write."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labagent.errors import SettingsError
from labagent.job import UnsafeJobError, check_word


def read_toml(path: Path) -> Table:
    """The file's table; `SettingsError` with the line where it is no TOML."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"cannot read {path}: {reason}", "correct the file") from error
    return Table(content, path)


class Table:
    """A table whose keys are asked for one by one; `finish` refuses those nobody asked for."""

    def __init__(self, content: Mapping[str, Any], path: Path, where: str = "") -> None:
        self.path = path
        self._content = content
        self._where = where
        self._asked: set[str] = set()

    def key(self, name: str) -> str:
        """The whole name of a key, as messages show it."""
        return f"{self._where}.{name}" if self._where else name

    def error(self, name: str, problem: str, remedy: str) -> SettingsError:
        """An error about a key, with the file and the remedy."""
        return SettingsError(f"{self.path}: {self.key(name)} {problem}", remedy)

    def get(self, name: str) -> Any:
        """The value as it is, None: it is not given."""
        self._asked.add(name)
        return self._content.get(name)

    def text(self, name: str, default: str = "") -> str:
        """One line of text. Raises SettingsError for anything else."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self.error(name, f"is {value!r}", 'write one line of text: "…"')
        return value

    def need_text(self, name: str, remedy: str) -> str:
        """One line of text that has to be there. Raises SettingsError."""
        value = self.text(name)
        if not value:
            raise self.error(name, "is missing", remedy)
        return value

    def need_word(self, name: str, remedy: str) -> str:
        """A text that may stand in a command."""
        value = self.need_text(name, remedy)
        try:
            return check_word(value, self.key(name))
        except UnsafeJobError as error:
            raise SettingsError(f"{self.path}: {error.message}", error.remedy) from error

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, None: it is not given. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(name, f"is {value!r}", 'write a list of texts: ["…", "…"]')
        return tuple(value)

    def number(self, name: str, default: float, low: float = 0.0, high: float = 1e12) -> float:
        """A number from ``low`` to ``high``. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return default
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise self.error(name, f"is {value!r}", f"write a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """True or false. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(name, f"is {value!r}", "write true or false")
        return value

    def table(self, name: str) -> Table | None:
        """A table inside, None: it is not given. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(name, f"is {value!r}", f"write a table: [{self.key(name)}]")
        return Table(value, self.path, self.key(name))

    def tables(self, name: str) -> list[Table]:
        """A list of tables inside. Raises SettingsError."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(name, "is no list of tables", f"write [[{self.key(name)}]]")
        keys = [f"{self.key(name)}[{number}]" for number in range(1, len(value) + 1)]
        return [Table(one, self.path, at) for one, at in zip(value, keys, strict=True)]

    def mapping(self, name: str) -> dict[str, Any]:
        """A table of which any key may be used."""
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(name, f"is {value!r}", f"write a table: [{self.key(name)}]")
        return value

    def finish(self) -> None:
        """Raises SettingsError for a key that nobody asked for."""
        for name in self._content.keys() - self._asked:
            near = difflib.get_close_matches(name, self._asked, 1)
            known = ", ".join(sorted(self._asked))
            remedy = f"do you mean {near[0]}?" if near else f"it may hold {known}"
            raise self.error(name, "is not known", remedy)
