"""The newest revisions of a series, which levels are looked for in, and what is settled before."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

from webapp.stats.changes.findings import (
    At,
    Finding,
    Findings,
    ModeChange,
    NoiseChange,
    Segment,
    Step,
)
from webapp.stats.changes.level_findings import find_in
from webapp.stats.changes.online_state import pack, pack_data, unpack, unpack_data
from webapp.stats.changes.points import Value

Columns = dict[str, Any]

PLAIN, PACKED = ("position", "label"), ("location", "variance", "freedom", "share")
WRITTEN = (*PLAIN, *PACKED, "sizes", "logs")
"""What levels need to know of a revision, beside the logarithms of its samples. Whole numbers are
packed as well, where nothing asks for them before all are read."""

KEPT = 256
"""Revisions that are read at once at least: a loss of 5 % over 200 of them is found as slow."""

BLOCK = 256
"""Revisions that are settled at once. With half of it a whole series takes a quarter longer and one
revision more a tenth less; waves of 150 revisions then make more false changes."""

GUARD = 64
"""Revisions at the beginning of a window in which it finds nothing: what lies there, or before, was
found by the window before it, which saw more of the level before."""

NOTHING = Findings()

OF_A_PLACE = ("excursions", "noise_changes", "modes", "steps")
"""Kinds of findings that begin at one revision each."""


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
        if self.stored and not fresh:
            return self.stored
        before: Columns = self.stored or dict.fromkeys(WRITTEN, "")
        more: dict[str, list[Any]] = {
            name: [getattr(one, name) for one in fresh] for name in PACKED
        }
        more["sizes"] = [len(one.logs) for one in fresh]
        more["logs"] = list(chain.from_iterable(one.logs for one in fresh))
        return {
            **{name: [*before[name], *(getattr(one, name) for one in fresh)] for name in PLAIN},
            **{name: pack(column, before[name]) for name, column in more.items()},
        }


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


@dataclass(frozen=True, slots=True)
class Settled:
    """What was found before the window, and never changes.

    `open_from` is the first revision of the level that reaches into the window, `open_count` how
    many of its revisions have left it.
    """

    findings: Findings = NOTHING
    open_from: At | None = None
    open_count: int = 0


@dataclass(slots=True)
class Window:
    """The newest revisions, reduced; what begins before `since` (a position) is settled.

    Levels are looked for in the first `looked` of them, where they are `seen` already or when they
    are asked for; `is_stirred`: the next revision has them looked for anew (`detector.advance`).
    Where those that are seen move by and by, `newest` is what is found in all revisions; it is not
    stored, so that what is found never depends on when somebody asked. `settled_text` is how
    `settled` was stored last.
    """

    rows: Rows = field(default_factory=Rows)
    since: int | None = None
    settled: Settled = Settled()
    looked: int = 0
    is_stirred: bool = True
    seen: Findings | None = None
    newest: Findings | None = None
    settled_text: str = field(default="", compare=False, repr=False)

    def add(self, value: Value) -> None:
        """Take in the next revision."""
        self.rows.fresh.append(value)
        self.newest = None
        if len(self.rows) == KEPT + BLOCK:
            self._settle()

    def look_anew(self) -> None:
        """Have levels looked for in all revisions that there are by now."""
        if self.looked != len(self.rows):
            self.looked, self.seen = len(self.rows), None

    def found(self) -> Findings:
        """Return what is found in the window and settled before it."""
        return self._with_settled(self._found())

    def _with_settled(self, found: Findings) -> Findings:
        """What is found in the window, and settled before it."""
        if self.since is None:
            return found
        settled, fresh = self.settled.findings, _part(found, self.since, None)
        kinds: dict[str, Any] = {
            kind: (*getattr(settled, kind), *getattr(fresh, kind)) for kind in OF_A_PLACE
        }
        stretches = (*settled.stretches, *self._reaching(found, self.since))
        return replace(found, **kinds, stretches=stretches)

    def _found(self) -> Findings:
        """What is found in the window alone."""
        if self.seen is None:
            self.seen = find_in(self.rows.values()[: self.looked])
        more = len(self.rows) - self.looked
        if not more:
            return self.seen
        if not moves(self.seen):
            return lengthened(self.seen, At(*self.rows.newest()), more)
        if self.newest is None:
            self.newest = find_in(self.rows.values())
        return self.newest

    def copy(self) -> "Window":
        """A window of its own."""
        return replace(self, rows=self.rows.copy())

    def to_data(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only: what JSON can hold."""
        settled = self.settled
        if not self.settled_text:
            self.settled_text = pack_data(_findings_to_data(settled.findings))
        return {
            "values": self.rows.to_data(),
            "since": self.since,
            "open_from": settled.open_from and _row(settled.open_from),
            "open_count": settled.open_count,
            "settled": self.settled_text,
            "looked": self.looked,
            "is_stirred": self.is_stirred,
            "seen": self.seen and _findings_to_data(self.seen),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Window":
        """Return the window that `to_data` wrote, also after a passage through JSON."""
        begun, seen, settled = data["open_from"], data["seen"], data["settled"]
        findings = _read_findings(unpack_data(settled))
        return cls(
            Rows(stored=data["values"]),
            data["since"],
            Settled(findings, At(*begun) if begun else None, data["open_count"]),
            data["looked"],
            data["is_stirred"],
            _read_findings(seen) if seen else None,
            settled_text=settled,
        )

    def _reaching(self, found: Findings, since: int) -> Sequence[Segment]:
        """The levels of the window, the first of which began before it."""
        its = found.stretches[sum(one.finding.first.position < since for one in found.steps) :]
        if not its or self.settled.open_from is None:
            return its
        begun = self.settled.open_from
        count = self.settled.open_count + self._count(begun.position, its[0].last.position)
        return [replace(its[0], first=begun, count=count), *its[1:]]

    def _count(self, first: int, last: int) -> int:
        positions = self.rows.positions()
        return max(bisect_right(positions, last) - bisect_left(positions, first), 0)

    def _settle(self) -> None:
        """Settle what was found in the oldest block, and drop it."""
        self.look_anew()
        values = self.rows.values()
        # A slow move is reported of the end of a series only.
        whole = self._with_settled(self.seen or find_in(values, with_slow=False))
        cut = values[BLOCK + GUARD].position
        kept = _part(whole, None, cut)
        open_from = whole.stretches[len(kept.steps)].first if whole.stretches else None
        count = 0
        if open_from is not None:
            count = self._count(open_from.position, values[BLOCK - 1].position)
            if open_from == self.settled.open_from:
                count += self.settled.open_count
        self.settled, self.since = Settled(kept, open_from, count), cut
        self.settled_text = ""
        self.rows.drop(BLOCK)
        self.look_anew()


def moves(found: Findings) -> bool:
    """Return whether a series moves by and by, so that it is never at rest."""
    return bool(found.slow) or any(one.level != one.end_level for one in found.stretches)


def lengthened(found: Findings, newest: At, count: int) -> Findings:
    """Return findings with `count` more revisions, up to the `newest`, at their last level.

    The series does not move by and by (`moves`). Sizes stay as they were measured.
    """
    if not found.stretches:
        return found
    *levels, last = found.stretches
    stretches = (*levels, replace(last, last=newest, count=last.count + count))
    if not found.steps:
        return replace(found, stretches=stretches)
    *steps, step = found.steps
    before, after = step.revisions
    finding = replace(step.finding, last=newest)
    return replace(
        found,
        steps=(
            *steps,
            replace(step, finding=finding, revisions=(before, after + count), unweighed=count),
        ),
        stretches=stretches,
    )


def _part(found: Findings, since: int | None, until: int | None) -> Findings:
    """What begins at position `since` or later, and before `until`; levels that end there."""

    def inside(at: At) -> bool:
        return (since is None or at.position >= since) and (until is None or at.position < until)

    kinds: dict[str, Any] = {
        kind: tuple(one for one in getattr(found, kind) if inside(one.first)) for kind in OF_A_PLACE
    }
    stretches = tuple(found.stretches[: len(kinds["steps"])])
    return Findings(**kinds, stretches=stretches, has_modes=found.has_modes)


KINDS: dict[str, type] = {
    "excursions": Finding,
    "slow": Finding,
    "noise_changes": NoiseChange,
    "modes": ModeChange,
    "steps": Step,
    "stretches": Segment,
}


def _findings_to_data(found: Findings) -> dict[str, Any]:
    """All of them, kind by kind."""
    return {
        "has_modes": found.has_modes,
        "noise_pct": found.noise_pct,
        "recurring": found.recurring,
        **{kind: [_row(one) for one in getattr(found, kind)] for kind in KINDS},
    }


def _read_findings(data: dict[str, Any]) -> Findings:
    kinds = {kind: tuple(_read_row(of, row) for row in data[kind]) for kind, of in KINDS.items()}
    return Findings(**data | kinds)


def _row(one: Any) -> list[Any]:
    """The fields of a finding in order, without their names; those of revisions likewise."""
    fields = (getattr(one, name) for name in one.__slots__)
    return [_row(field) if is_dataclass(field) else field for field in fields]


def _read_row(of: type, row: Sequence[Any]) -> Any:
    if of is Step:
        finding, locations, shown_by, revisions, unweighed = row
        places = tuple(map(tuple, locations))
        return Step(_read_row(Finding, finding), places, At(*shown_by), tuple(revisions), unweighed)
    return of(*[At(*field) if type(field) is list else field for field in row])
