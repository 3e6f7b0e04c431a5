"""The newest revisions of a series, which levels are looked for in, and what is settled before."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from webapp.stats.changes import At
from webapp.stats.changes.points import Value
from webapp.stats.detector.rows import Rows
from webapp.stats.levels import Findings, Stretch, find_in

KEPT = 256
"""Revisions that are read at once at least: a loss of 5 % over 200 of them is told as slow."""

BLOCK = 128
"""Revisions that are settled at once. The window is read anew with each revision, so that it must
not be much longer than what it needs to hold."""

GUARD = 64
"""Revisions at the beginning of a window in which it finds nothing: what lies there, or before, was
found by the window before it, which saw more of the level before."""

NOTHING = Findings()


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
    are asked for. `is_stirred` says whether the next revision has them looked for anew (`rest`).
    Where those that are seen move by and by, `newest` is what is found in all revisions; it is not
    stored, so that what is found never depends on when somebody asked. `settled_text` is how
    `settled` was stored last (`stored`).
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
        self.rows.append(value)
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
        return replace(
            found,
            excursions=(*settled.excursions, *fresh.excursions),
            noise_changes=(*settled.noise_changes, *fresh.noise_changes),
            modes=(*settled.modes, *fresh.modes),
            steps=(*settled.steps, *fresh.steps),
            stretches=(*settled.stretches, *self._reaching(found, self.since)),
        )

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

    def _reaching(self, found: Findings, since: int) -> Sequence[Stretch]:
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
        # A slow move is told of the end of a series only.
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
        steps=(*steps, replace(step, finding=finding, revisions=(before, after + count))),
        stretches=stretches,
    )


def _part(found: Findings, since: int | None, until: int | None) -> Findings:
    """What begins at position `since` or later, and before `until`; levels that end there."""

    def inside(at: At) -> bool:
        return (since is None or at.position >= since) and (until is None or at.position < until)

    steps = tuple(one for one in found.steps if inside(one.finding.first))
    return Findings(
        excursions=tuple(one for one in found.excursions if inside(one.first)),
        noise_changes=tuple(one for one in found.noise_changes if inside(one.first)),
        modes=tuple(one for one in found.modes if inside(one.first)),
        steps=steps,
        stretches=tuple(found.stretches[: len(steps)]),
        has_modes=found.has_modes,
    )
