"""Names that were looked up lately.

The trees, hardware, modes and metrics of an upload are nearly always those of the last one. They
are remembered in the process for a short while. What another process changed meanwhile is seen
late, but never stored wrongly: a row that is gone fails its foreign key, and the upload is tried
again after ``forget_names``.
"""

import time
from collections.abc import Callable, Collection
from functools import partial
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import transaction

SECONDS = 30.0
MOST_NAMES = 10_000
Row = TypeVar("Row")
_ALL: list["Remembered[Any]"] = []


class Remembered(Generic[Row]):
    """Name → row, each for ``SECONDS``. Threads may share it."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[float, Row]] = {}
        self._lock = Lock()
        _ALL.append(self)

    def get(
        self, names: Collection[str], look_up: Callable[[set[str]], dict[str, Row]]
    ) -> dict[str, Row]:
        """The rows of ``names``; those not remembered come from ``look_up``, which may lack some.

        Rows are remembered when the present transaction is committed: it may have made them.
        """
        oldest = time.monotonic() - SECONDS
        with self._lock:
            remembered = {
                name: kept[1]
                for name in names
                if (kept := self._rows.get(name)) is not None and kept[0] > oldest
            }
        missing = set(names) - remembered.keys()
        if not missing:
            return remembered
        found = look_up(missing)
        transaction.on_commit(partial(self._remember, found))
        return remembered | found

    def forget(self) -> None:
        """Drop all of it: a row that is remembered may be gone."""
        with self._lock:
            self._rows.clear()

    def _remember(self, rows: dict[str, Row]) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._rows) + len(rows) > MOST_NAMES:
                self._rows.clear()
            self._rows |= {name: (now, row) for name, row in rows.items()}


def forget_names() -> None:
    """Look everything up anew from now on."""
    for remembered in _ALL:
        remembered.forget()
