"""Bring the stored findings in line with the detector's present result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isfinite
from typing import Any

from django.utils import timezone

from webapp.analysis.models import Finding
from webapp.analysis.services import stored_findings
from webapp.analysis.services.detecting import Detected
from webapp.analysis.services.shown import REASONS, JudgedPair, Shown, say_why_withdrawn, shown_by
from webapp.analysis.services.stored_findings import Other, match_others, others_of
from webapp.results.models import Revision
from webapp.results.services import update_rows
from webapp.stats import changes

FEWEST_REVISIONS = 5
"""A confirmed change rests on two revisions a side, and the noise on one more."""

Ids = Mapping[int, Mapping[int, int]]
"""By tree (id) and position, the id of a revision."""

COMPARED = (
    "kind",
    "state",
    "verdict",
    "revision_id",
    "previous_id",
    "after_id",
    "first_id",
    "last_id",
    "confirmed_by_id",
    "recovered_by_id",
    "position",
    "here",
    "change_pct",
    "low_pct",
    "high_pct",
    "level_before",
    "level",
    "revisions_before",
    "revisions_after",
    "score",
    "needed",
    "p_value",
    "probability",
    "why",
    "locations",
    "details",
    "one_build",
    "detector",
)

NOTHING_JUDGED: Mapping[int, Sequence[JudgedPair]] = {}


@dataclass(frozen=True, slots=True)
class Pairing:
    """A change and the stored finding that it is now, or None when it is new."""

    change: changes.Change
    fields: dict[str, Any]
    finding: Finding | None


def reconcile_findings(
    detected: Sequence[Detected], judged: Mapping[int, Sequence[JudgedPair]] = NOTHING_JUDGED
) -> None:
    """Make, move and retract findings so that the live ones are exactly the present ones: the
    detector's, of all kinds, and by series (id) the losses that first pairs show.

    A finding that was confirmed or rested on one build a side and is gone is kept, as superseded
    by the one that took its place or else as retracted; a candidate that is gone was never more
    than a suspicion and is deleted.
    When nothing changed, nothing is written. What changed is added to the findings' events.
    """
    now = timezone.now()
    shown = {one.series.pk: shown_by(one, judged.get(one.series.pk, ())) for one in detected}
    others = {one.series.pk: others_of(one) for one in detected}
    ids = _revision_ids(detected, shown, others)
    stored: dict[int, list[Finding]] = {}
    live = Finding.all_kinds.live().of_all([one.series for one in detected])
    for row in live.select_related("after", "last"):
        stored.setdefault(row.series_id, []).append(row)
    before = {row.pk: stored_findings.snapshot_of(row) for rows in stored.values() for row in rows}
    draft = _Draft(now)
    for one in detected:
        rows = stored.get(one.series.pk, [])
        left = [row for row in rows if row.kind == Finding.Kind.LEVEL]
        pairings = _pair(one, shown[one.series.pk], ids, left)
        _reconcile_levels(draft, one, pairings, left, judged.get(one.series.pk, ()))
        _reconcile_others(draft, one, others[one.series.pk], ids, rows)
    draft.write(before)


@dataclass(slots=True)
class _Draft:
    """What is to become of findings, before it is written."""

    now: datetime
    new: list[Finding] = field(default_factory=list)
    moved: list[Finding] = field(default_factory=list)
    gone: list[Finding] = field(default_factory=list)
    replaced: list[tuple[Finding, Finding]] = field(default_factory=list)

    def put(self, one: Detected, fields: dict[str, Any], stored: Finding | None) -> Finding:
        """Set ``fields`` of a finding of a series: the stored one, or a new one."""
        if stored is None:
            stored = _new(one, fields, self.now)
            self.new.append(stored)
        elif _update(stored, fields, self.now):
            self.moved.append(stored)
        return stored

    def write(self, before: Mapping[int, stored_findings.FindingSnapshot]) -> None:
        """Store all of it, with its events; ``before`` is where findings (ids) stood."""
        retracted = _take_away(self.gone, self.now)
        update_rows(Finding, [_columns(row, (*COMPARED, "updated_at")) for row in self.moved])
        Finding.all_kinds.bulk_create(self.new)
        stored_findings.supersede(self.replaced, self.now)
        superseded = [row for row, _ in self.replaced]
        changed = [*self.new, *self.moved, *retracted, *superseded]
        stored_findings.note_changes(changed, before=before, now=self.now)


def _reconcile_levels(
    draft: _Draft,
    one: Detected,
    pairings: Sequence[Pairing],
    left: Sequence[Finding],
    judged: Sequence[JudgedPair],
) -> None:
    """Changes of level; what is ``left`` of the stored ones is gone."""
    present = []
    for pairing in pairings:
        finding = draft.put(one, pairing.fields, pairing.finding)
        present.append(
            stored_findings.Present(pairing.change, finding, is_new=pairing.finding is None)
        )
    for row in left:
        by = stored_findings.successor_of(row, present) if row.state in Finding.ALERTED else None
        if by is None:
            say_why_withdrawn(row, judged, one)
            draft.gone.append(row)
        else:
            draft.replaced.append((row, by))


def _reconcile_others(
    draft: _Draft, one: Detected, others: Sequence[Other], ids: Ids, rows: Sequence[Finding]
) -> None:
    """Findings of the other kinds."""
    left = [row for row in rows if row.kind != Finding.Kind.LEVEL]
    for each, stored in zip(others, match_others(others, left), strict=True):
        draft.put(one, each.fields(ids[one.series.tree_id]), stored)
    draft.gone += left


def _revision_ids(
    detected: Sequence[Detected],
    shown: Mapping[int, Sequence[Shown]],
    others: Mapping[int, Sequence[Other]],
) -> Ids:
    """The ids of every revision that a finding names, in one query."""
    wanted: dict[int, set[int]] = {}
    for one in detected:
        positions = wanted.setdefault(one.series.tree_id, set())
        for each in shown[one.series.pk]:
            positions.update(_positions(each))
        for other in others[one.series.pk]:
            positions.update(other.positions())
    positions = set().union(*wanted.values())
    rows = Revision.objects.filter(tree__in=wanted, position__in=positions)
    ids: dict[int, dict[int, int]] = {tree: {} for tree in wanted}
    for tree, position, pk in rows.values_list("tree_id", "position", "pk"):
        ids[tree][position] = pk
    return ids


def _positions(shown: Shown) -> Iterable[int]:
    change = shown.change
    named = (change.revision, change.previous, change.after, change.first, change.last)
    yield from (at.position for at in named)
    yield from (at.position for at in (change.confirmed_by, shown.recovered_by) if at is not None)


def _pair(one: Detected, shown: Sequence[Shown], ids: Ids, left: list[Finding]) -> list[Pairing]:
    """Each present change with its finding; what stays in ``left`` is gone.

    The same likeliest revision first; then, for a place that was refined, the nearest finding of
    the same direction that shares a suspect with it.
    """
    pairings = {
        i: Pairing(each.change, _fields(each, one, ids), None) for i, each in enumerate(shown)
    }
    for exact in (True, False):
        for i, each in enumerate(shown):
            if pairings[i].finding is None:
                finding = _match(each.change, left, exact=exact)
                if finding is not None:
                    left.remove(finding)
                    pairings[i] = replace(pairings[i], finding=finding)
    return list(pairings.values())


def _match(change: changes.Change, left: Sequence[Finding], *, exact: bool) -> Finding | None:
    at = change.revision.position
    if exact:
        near = [row for row in left if row.position == at]
    else:
        near = [
            row
            for row in left
            if row.verdict == change.verdict
            and max(change.after.position, row.after.position)
            < min(change.last.position, row.last.position)
        ]
    return min(near, key=lambda row: abs(row.position - at), default=None)


def _fields(shown: Shown, one: Detected, ids: Ids) -> dict[str, Any]:
    its, change, recovered_by = ids[one.series.tree_id], shown.change, shown.recovered_by
    confirmed_by = change.confirmed_by
    return {
        "kind": Finding.Kind.LEVEL,
        "state": Finding.State.RECOVERED if recovered_by else change.state,
        "verdict": change.verdict,
        "revision_id": its[change.revision.position],
        "previous_id": its[change.previous.position],
        "after_id": its[change.after.position],
        "first_id": its[change.first.position],
        "last_id": its[change.last.position],
        "confirmed_by_id": its[confirmed_by.position] if confirmed_by else None,
        "recovered_by_id": its[recovered_by.position] if recovered_by else None,
        "position": change.revision.position,
        "here": change.here,
        "change_pct": _finite(change.change_pct),
        "low_pct": _finite(change.low_pct),
        "high_pct": _finite(change.high_pct),
        "level_before": change.before,
        "level": change.level,
        "revisions_before": change.revisions_before,
        "revisions_after": change.revisions_after,
        "score": change.score,
        "needed": change.needed,
        "p_value": change.p_value,
        "probability": change.probability,
        "why": shown.why,
        "locations": [list(one) for one in change.locations],
        "details": {},
        "one_build": shown.one_build,
        "detector": changes.VERSION,
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _new(one: Detected, fields: dict[str, Any], now: datetime) -> Finding:
    return Finding(series=one.series, **fields, first_detected_at=now, updated_at=now)


def _update(finding: Finding, fields: dict[str, Any], now: datetime) -> bool:
    """Move a finding to where its change is now. False when it is there already."""
    if all(getattr(finding, name) == fields[name] for name in COMPARED):
        return False
    for name in COMPARED:
        setattr(finding, name, fields[name])
    finding.updated_at = now
    return True


def _take_away(gone: Sequence[Finding], now: datetime) -> list[Finding]:
    """Delete what was only a candidate; retract the others and give them back.

    What a candidate had replaced, when it was more than that, is retracted as well.
    """
    candidates = [row.pk for row in gone if row.state == Finding.State.CANDIDATE]
    proven = [row for row in gone if row.state in Finding.ALERTED]
    if candidates:
        Finding.objects.filter(superseded_by__in=candidates).update(
            state=Finding.State.RETRACTED, superseded_by=None
        )
        Finding.objects.filter(pk__in=candidates).delete()
    for row in proven:
        row.state, row.recovered_by_id, row.updated_at = Finding.State.RETRACTED, None, now
    written = ("state", "recovered_by_id", "updated_at", *REASONS)
    update_rows(Finding, [_columns(row, written) for row in proven])
    return proven


def _columns(row: Finding, names: Iterable[str]) -> dict[str, Any]:
    return {"id": row.pk} | {name: getattr(row, name) for name in names}
