"""Findings as they are stored: those that are no change of level, the events that an analysis adds
to findings, and which finding took the place of which.

No commit is to blame for findings that are no change of level, and they never suspect any: what
they are is recorded, and where.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import erfc, sqrt
from types import MappingProxyType
from typing import Any, NamedTuple

from webapp.analysis.models import Finding, FindingEvent, Verdict
from webapp.analysis.services.detecting import Detected, SlowPart
from webapp.results.services import insert_rows, update_rows
from webapp.stats import changes
from webapp.stats.metrics import Better, is_gain

EventKind = FindingEvent.Kind
State = Finding.State

ENTERED = {
    (State.CANDIDATE, State.CONFIRMED): EventKind.CONFIRMED,
    (State.CANDIDATE, State.RECOVERED): EventKind.RECOVERED,
    (State.CANDIDATE, State.ONE_BUILD): EventKind.DETECTED,
    (State.ONE_BUILD, State.CONFIRMED): EventKind.CONFIRMED,
    (State.ONE_BUILD, State.RECOVERED): EventKind.RECOVERED,
    (State.CONFIRMED, State.RECOVERED): EventKind.RECOVERED,
    (State.RECOVERED, State.CONFIRMED): EventKind.RETURNED,
}
"""What a change of state is called; any other way but out leads back to a candidate."""


GONE = {State.RETRACTED: EventKind.RETRACTED, State.SUPERSEDED: EventKind.SUPERSEDED}


class FindingSnapshot(NamedTuple):
    """Where a finding stands: what its events keep of it."""

    state: str
    revision_id: int
    after_id: int
    last_id: int
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    probability: float


def snapshot_of(row: Finding | FindingEvent) -> FindingSnapshot:
    """What an event keeps of the finding, or what this event kept."""
    return FindingSnapshot(*(getattr(row, name) for name in FindingSnapshot._fields))


def note_changes(
    findings: Sequence[Finding], *, before: Mapping[int, FindingSnapshot], now: datetime
) -> None:
    """Add an event for each of ``findings`` that stands elsewhere than last reported.

    ``before`` holds, by id, where the stored ones stood until now. A size is compared with the one
    last reported, not with the last analysis, so a slow creep is noted as well as a jump.
    """
    known = [row.pk for row in findings if row.pk in before]
    logged = {row.finding_id: snapshot_of(row) for row in FindingEvent.objects.newest_of(known)}
    rows = []
    for finding in findings:
        old = logged.get(finding.pk) or before.get(finding.pk)
        kind = _kind(old, snapshot_of(finding), moves=finding.kind != Finding.Kind.SLOW)
        if kind is not None:
            rows.append(
                {
                    "finding_id": finding.pk,
                    "at": now,
                    "kind": kind,
                    **snapshot_of(finding)._asdict(),
                }
            )
    insert_rows(FindingEvent, rows)


def _kind(old: FindingSnapshot | None, new: FindingSnapshot, *, moves: bool) -> EventKind | None:
    """The one word for what changed, the weightiest first; None when nothing worth a row did. What
    reaches to the newest revision goes on with each, and never ``moves``.
    """
    if old is None:
        return EventKind.DETECTED
    if old.state != new.state:
        return _entered(State(old.state), State(new.state))
    if moves and old.revision_id != new.revision_id:
        return EventKind.MOVED
    if moves and (old.after_id, old.last_id) != (new.after_id, new.last_id):
        return EventKind.REFINED
    return EventKind.RESIZED if _is_resized(old, new) else None


def _entered(old: State, new: State) -> EventKind:
    if new in GONE:
        return GONE[new]
    return ENTERED.get((old, new), EventKind.DOUBTED)


def _is_resized(old: FindingSnapshot, new: FindingSnapshot) -> bool:
    if old.low_pct is None or old.high_pct is None or new.change_pct is None:
        return old.change_pct != new.change_pct
    return not old.low_pct <= new.change_pct <= old.high_pct


@dataclass(frozen=True, slots=True)
class Present:
    """A change that the points show, with its finding; ``is_new``: nothing stored was matched."""

    change: changes.Change
    finding: Finding
    is_new: bool


def successor_of(gone: Finding, present: Sequence[Present]) -> Finding | None:
    """The confirmed finding of the same series and direction that ``gone`` is replaced by.

    Either they share a suspect, as when two findings became one; or it is new with this analysis,
    the 95 % intervals of the sizes overlap and no other change lies between: it moved so far that
    no suspect is left. None: its claim no longer stands.
    """
    fitting = [
        one
        for one in present
        if one.change.verdict == gone.verdict
        and one.change.state == "confirmed"
        and (_shares_suspect(gone, one.change) or _moved_far(gone, one, present))
    ]
    nearest = min(fitting, key=lambda one: abs(_at(one) - gone.position), default=None)
    return nearest.finding if nearest else None


def supersede(replaced: Sequence[tuple[Finding, Finding]], now: datetime) -> None:
    """Store what was replaced by what; the latter is stored already."""
    for gone, by in replaced:
        gone.state, gone.superseded_by = Finding.State.SUPERSEDED, by
        gone.recovered_by_id, gone.updated_at = None, now
    written = ("state", "superseded_by_id", "recovered_by_id", "updated_at")
    update_rows(
        Finding,
        [{"id": gone.pk} | {name: getattr(gone, name) for name in written} for gone, _ in replaced],
    )


def _shares_suspect(gone: Finding, change: changes.Change) -> bool:
    after = max(gone.after.position, change.after.position)
    return after < min(gone.last.position, change.last.position)


def _moved_far(gone: Finding, one: Present, present: Sequence[Present]) -> bool:
    ends = sorted((gone.position, _at(one)))
    between = any(ends[0] < _at(other) < ends[1] for other in present)
    return one.is_new and not between and _agree(gone, one.change)


def _agree(gone: Finding, change: changes.Change) -> bool:
    if gone.low_pct is None or gone.high_pct is None:
        return False
    return gone.low_pct <= change.high_pct and change.low_pct <= gone.high_pct


def _at(one: Present) -> int:
    return one.change.revision.position


Kind = Finding.Kind

REAL = {Kind.EXCURSION: 0.99, Kind.SLOW: 0.95, Kind.NOISE: 0.9, Kind.MODES: 0.85}
"""Probability that a finding of each kind is real: the share in series of which one in ten has it
(`python -m benchmarks.calibration kinds`). A real excursion means that the build was off,
not that its commit was."""

LIMITS = {Kind.EXCURSION: 8.0, Kind.SLOW: 5.0, Kind.NOISE: sqrt(20.0), Kind.MODES: sqrt(14.0)}
"""Evidence that each had to pass, in standard deviations (of likelihoods, the root of twice the
logarithm): the limits of ``webapp.stats.changes``."""


@dataclass(frozen=True, slots=True)
class Other:
    """A finding to be stored: between two measured revisions, and by which one it is over."""

    kind: Kind
    previous: changes.At
    revision: changes.At
    verdict: Verdict
    why: str
    score: float
    sizes: tuple[float, float, float] | None = None
    levels: tuple[float, float] = (0.0, 0.0)
    recovered_by: changes.At | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def positions(self) -> Iterator[int]:
        """Of every revision that it names."""
        named = (self.previous, self.revision, self.recovered_by)
        yield from (at.position for at in named if at is not None)

    def fields(self, ids: Mapping[int, int]) -> dict[str, Any]:
        """The columns; ``ids`` are those of revisions by their positions."""
        at, previous = ids[self.revision.position], ids[self.previous.position]
        change_pct, low_pct, high_pct = self.sizes or (None, None, None)
        before, level = self.levels
        return {
            "kind": self.kind,
            "state": Finding.State.RECOVERED if self.recovered_by else Finding.State.CONFIRMED,
            "verdict": self.verdict,
            "revision_id": at,
            "previous_id": previous,
            "after_id": previous,
            "first_id": at,
            "last_id": at,
            "confirmed_by_id": None,
            "recovered_by_id": self.recovered_by and ids[self.recovered_by.position],
            "position": self.revision.position,
            "here": 1.0,
            "change_pct": change_pct,
            "low_pct": low_pct,
            "high_pct": high_pct,
            "level_before": before,
            "level": level,
            "revisions_before": 0,
            "revisions_after": 0,
            "score": self.score,
            "needed": LIMITS[self.kind],
            "p_value": erfc(self.score / sqrt(2.0)),
            "probability": REAL[self.kind],
            "why": self.why,
            "locations": [],
            "details": dict(self.details),
            "one_build": None,
            "detector": changes.VERSION,
        }

    def is_same(self, row: Finding) -> bool:
        """Whether a stored finding may be this one, seen with fewer or more revisions."""
        if row.kind != self.kind or row.verdict != self.verdict:
            return False
        if self.kind == Kind.EXCURSION:
            return row.position == self.revision.position
        is_slow = self.kind == Kind.SLOW
        return not is_slow or (
            row.after.position < self.revision.position and self.previous.position < row.position
        )


def others_of(one: Detected) -> list[Other]:
    """What was found in a series beside changes of level. What begins at its first revision has
    none before it to be distinguished from.
    """
    known = {each.first for each in one.others.excursions}
    faint = [each for each in one.faint if each.first not in known]
    return as_rows(one.others, one.series.better, faint, one.parts)


def as_rows(
    found: changes.Findings,
    better: Better,
    faint: Sequence[changes.Finding] = (),
    parts: Mapping[int, Sequence[SlowPart]] = MappingProxyType({}),
) -> list[Other]:
    """The findings as they are stored and drawn; ``faint`` excursions as well, ``parts`` are those
    of slow changes by their first position.
    """
    rows = [
        *(_excursion(each, better) for each in (*found.excursions, *faint)),
        *(_noise(each, found.stretches) for each in found.noise_changes),
        *(_modes(each, found.stretches, better) for each in found.modes),
        *(_slow(each, better, parts.get(each.first.position, ())) for each in found.slow),
    ]
    return [row for row in rows if row.previous != row.revision]


def match_others(rows: Sequence[Other], left: list[Finding]) -> list[Finding | None]:
    """The stored finding of each, the nearest first; what stays in ``left`` is no level's."""
    matched: list[Finding | None] = []
    for row in rows:
        same = [one for one in left if row.is_same(one)]
        found = min(same, key=lambda one: abs(one.position - row.revision.position), default=None)
        if found is not None:
            left.remove(found)
        matched.append(found)
    return matched


def _verdict(pct: float, better: Better) -> Verdict:
    return Verdict.BETTER if is_gain(pct, better) else Verdict.WORSE


def _excursion(one: changes.Finding, better: Better) -> Other:
    return Other(
        Kind.EXCURSION,
        one.previous,
        one.first,
        _verdict(one.pct, better),
        changes.why_excursion(one),
        one.score,
        (one.pct, one.low_pct, one.high_pct),
        (one.before, one.level),
        recovered_by=one.last,
    )


def _slow(one: changes.Finding, better: Better, parts: Sequence[SlowPart]) -> Other:
    return Other(
        Kind.SLOW,
        one.first,
        one.last,
        _verdict(one.pct, better),
        changes.why_slow(one),
        one.score,
        (one.pct, one.low_pct, one.high_pct),
        (one.before, one.level),
        details={"parts": [asdict(part) for part in parts]},
    )


def _noise(one: changes.NoiseChange, stretches: Sequence[changes.Segment]) -> Other:
    level = _level_at(one.first, stretches)
    verdict = Verdict.WORSE if one.ratio > 1 else Verdict.BETTER
    return Other(
        Kind.NOISE,
        one.previous,
        one.first,
        verdict,
        changes.why_noise(one),
        LIMITS[Kind.NOISE],
        levels=(level, level),
        details={"ratio": one.ratio},
    )


def _modes(one: changes.ModeChange, stretches: Sequence[changes.Segment], better: Better) -> Other:
    level = _level_at(one.first, stretches)
    verdict = _verdict(changes.mean_change_pct(one), better)
    shares = {
        "share_before": one.share_before,
        "share_after": one.share_after,
        "gap_pct": one.gap_pct,
    }
    return Other(
        Kind.MODES,
        one.previous,
        one.first,
        verdict,
        changes.why_modes(one),
        LIMITS[Kind.MODES],
        levels=(level, level),
        details=shares,
    )


def _level_at(at: changes.At, stretches: Sequence[changes.Segment]) -> float:
    begun = [one.level for one in stretches if one.first.position <= at.position]
    return begun[-1] if begun else 0.0
