"""The revisions of a window, which stay as they were stored until somebody asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any

from webapp.stats.changes.points import Value
from webapp.stats.packed import extend, pack, unpack

Columns = dict[str, Any]

PLAIN, PACKED = ("position", "label"), ("location", "variance", "freedom", "share")
"""What levels need to know of a revision, beside the logarithms of its samples. Whole numbers are
packed as well, where nothing asks for them before all are read."""


@dataclass(slots=True)
class Rows:
    """Revisions in order: those of `stored` columns, and those `fresh` after them.

    Most often a state is read, one revision comes to it and it is stored again: then the stored
    ones are not looked at.
    """

    fresh: list[Value] = field(default_factory=list)
    stored: Columns | None = None
    decoded: list[Value] | None = None

    def __len__(self) -> int:
        return len(self.fresh) + (len(self.stored["position"]) if self.stored else 0)

    def append(self, value: Value) -> None:
        """Add a revision at the end."""
        self.fresh.append(value)

    def values(self) -> list[Value]:
        """All of them."""
        if self.decoded is None:
            self.decoded = _read(self.stored) if self.stored else []
        return [*self.decoded, *self.fresh]

    def positions(self) -> list[int]:
        """Where they are."""
        before = self.stored["position"] if self.stored else []
        return [*before, *[value.position for value in self.fresh]]

    def newest(self) -> tuple[int, str]:
        """Position and label of the last one."""
        if self.fresh:
            return self.fresh[-1].position, self.fresh[-1].label
        assert self.stored is not None
        return self.stored["position"][-1], self.stored["label"][-1]

    def drop(self, count: int) -> None:
        """Drop the first ones."""
        self.fresh, self.stored, self.decoded = self.values()[count:], None, None

    def copy(self) -> "Rows":
        """Rows of their own; what is stored is never changed, and shared."""
        return Rows(self.fresh.copy(), self.stored, self.decoded)

    def to_data(self) -> Columns:
        """Return them column by column; logarithms all after each other, and how many each has."""
        fresh = self.fresh
        more: dict[str, list[Any]] = {name: _column(fresh, name) for name in PACKED}
        more["sizes"] = [len(one.logs) for one in fresh]
        more["logs"] = list(chain.from_iterable(one.logs for one in fresh))
        plain = {name: _column(fresh, name) for name in PLAIN}
        if not self.stored:
            return plain | {name: pack(column) for name, column in more.items()}
        if not fresh:
            return self.stored
        return {
            **{name: [*self.stored[name], *column] for name, column in plain.items()},
            **{name: extend(self.stored[name], column) for name, column in more.items()},
        }


def _column(values: Sequence[Value], name: str) -> list[Any]:
    return [getattr(value, name) for value in values]


def _read(data: Columns) -> list[Value]:
    logs = unpack(data["logs"])
    ends = pairwise(accumulate(map(int, unpack(data["sizes"])), initial=0))
    columns = [data[name] for name in PLAIN] + [unpack(data[name]) for name in PACKED]
    return [
        Value(position, label, location, variance, int(freedom), share, tuple(logs[first:stop]))
        for position, label, location, variance, freedom, share, (first, stop) in zip(
            *columns, ends, strict=True
        )
    ]
