"""Bring the alerts of a tree in line with its findings.

Which commits are suspected by which findings is a function of the data; which alert stands for a
commit is history: an alert keeps its number, its state and its log when its commit moves.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp.alerts.held import Held
from webapp.alerts.models import Alert, AlertEvent, AlertFinding
from webapp.alerts.queries.holds import held_in
from webapp.alerts.services.adding import add_assigned, take_held
from webapp.alerts.services.evidence import Conclusion, alerts_of, conclude, covers, findings_in
from webapp.alerts.services.log import Change, write
from webapp.alerts.services.naming import is_named_among
from webapp.alerts.services.settling import retire, settle, take_up
from webapp.analysis.models import Finding
from webapp.results.models import Revision
from webapp.results.services import begin_writing
from webapp.results.services.tree_locks import lock_trees

Kind = AlertEvent.Kind
NAMED_IN_AN_EVENT = 6
NOTHING_BACK: Mapping[int, int] = {}
Paired = list[tuple[Conclusion, Change]]
Holders = Mapping[int, int]
"""Alerts by finding, both as ids."""


@transaction.atomic
def reconcile_trees(trees: Iterable[int]) -> None:
    """Do it now, for a setting that changed."""
    begin_writing()
    for tree in lock_trees(trees):
        reconcile_alerts(tree)


def reconcile_alerts(tree: int, *, back: Mapping[int, int] = NOTHING_BACK) -> None:
    """Open, move, merge and retract the alerts of a tree. The caller holds ``lock_trees``.

    When nothing changed, nothing is written. ``back`` says to which alert (id) findings (ids) were
    taken back, which may have moved since.
    """
    now = timezone.now()
    findings = findings_in(tree)
    before = alerts_of(findings)
    held = held_in([tree])
    conclusions = conclude(tree, findings, held=held)
    ids = _revision_ids(tree, conclusions)
    changes = _stored(tree, conclusions, ids, now, back)
    held_by = _held_by(findings, held, changes)
    own = [one for one in conclusions if one.group.alert is None]
    said = [one for one in conclusions if one.group.alert is not None]
    holders = {**_holders(findings, before, held_by), **back}
    pairs, taken = take_held(_pair(own, ids, changes, holders, back.values()), held_by)
    paired = [
        (one, _place(change, one, ids, tree, now))
        for one, change in add_assigned(pairs, [*said, *taken], ids, changes)
    ]
    after = _assign(findings, before, paired, changes)
    backed = {change.alert.pk for _, change in paired}
    kept = backed | {one.alert for one in held} - _given_away(before, said)
    leaving = [
        (change, _heir(pk, findings, (before, after), paired))
        for pk, change in changes.items()
        if change.alert.standing and pk not in kept
    ]
    for change, heir in leaving:
        if heir is not None:
            take_up(heir, change.alert)
    for conclusion, change in paired:
        settle(change, conclusion)
    for change, heir in leaving:
        retire(change, heir.alert if heir else None)
    write([*changes.values(), *(one for _, one in paired if one.alert.pk not in changes)])


def _stored(
    tree: int,
    conclusions: Sequence[Conclusion],
    ids: dict[int, int],
    now: datetime,
    back: Mapping[int, int],
) -> dict[int, Change]:
    """The alerts that stand, those of commits that are suspected now, and those people named."""
    suspects = {ids[one.group.suspect] for one in conclusions}
    named = {one.group.alert for one in conclusions if one.group.alert is not None}
    named |= set(back.values())
    wanted = Q(standing=True) | Q(revision__in=suspects) | Q(pk__in=named)
    stored = Alert.objects.filter(wanted, tree=tree).select_related("named").order_by("pk")
    return {alert.pk: Change(alert, now) for alert in stored}


def _pair(
    conclusions: Sequence[Conclusion],
    ids: dict[int, int],
    changes: dict[int, Change],
    holders: Holders,
    back: Collection[int],
) -> list[tuple[Conclusion, Change | None]]:
    """Each group with its alert: the one of its commit; else the oldest standing one that holds
    most of its findings and whose commit is no longer suspected; else none yet. Those that get
    something ``back`` (ids) need not stand.
    """
    at_commit = {change.alert.revision_id: change for change in changes.values()}
    suspects = {ids[one.group.suspect] for one in conclusions}
    free = {
        pk: change
        for pk, change in changes.items()
        if (change.alert.standing or pk in back) and change.alert.revision_id not in suspects
    }
    return [
        (one, at_commit.get(ids[one.group.suspect]) or _moved(one, free, holders))
        for one in conclusions
    ]


def _held_by(
    findings: Sequence[Finding], held: Sequence[Held], changes: dict[int, Change]
) -> dict[int, int]:
    """By finding, the standing alert whose bisect measures there."""
    standing = [one for one in held if one.alert in changes and changes[one.alert].alert.standing]
    return {
        row.pk: one.alert
        for row in findings
        if row.state in Finding.PROVEN
        for one in reversed(standing)  # the first one stays
        if covers(one, row)
    }


def _given_away(before: Holders, said: Sequence[Conclusion]) -> set[int]:
    """The alerts whose findings people gave to others just now: no bisect holds these."""
    members = {row.finding for one in said for row in one.group.members}
    return {alert for finding, alert in before.items() if finding in members}


def _holders(
    findings: Sequence[Finding], before: Holders, held_by: dict[int, int]
) -> dict[int, int]:
    """The alert that holds each finding; a new one is held by that of the finding it replaces, or
    by the one whose bisect measures there.
    """
    holders = dict(before)
    for row in findings:
        if row.superseded_by_id is not None and row.pk in holders:
            holders.setdefault(row.superseded_by_id, holders[row.pk])
    for pk, alert in held_by.items():
        holders.setdefault(pk, alert)
    return holders


def _moved(one: Conclusion, free: dict[int, Change], holders: Holders) -> Change | None:
    before = Counter(
        pk for row in one.group.openers if (pk := holders.get(row.finding)) in free and pk
    )
    if not before:
        return None
    return free.pop(min(before, key=lambda pk: (-before[pk], pk)))


def _place(
    change: Change | None, one: Conclusion, ids: dict[int, int], tree: int, now: datetime
) -> Change:
    """Let an alert point where its group does; a new one is stored."""
    group = one.group
    fields = {
        "revision_id": ids[group.suspect],
        "after_id": ids[group.after],
        "likeliest_id": ids[group.likeliest],
    }
    if change is None:
        return open_alert(tree, fields, group.verdict, is_history=one.is_history, now=now)
    alert = change.alert
    if alert.named_id and is_named_among(alert, group.after, group.suspect):
        fields["likeliest_id"] = alert.named_id
    if any(getattr(alert, name) != value for name, value in fields.items()):
        names = Revision.objects.in_bulk({alert.likeliest_id, fields["likeliest_id"]})
        was, now_at = names[alert.likeliest_id], names[fields["likeliest_id"]]
        if was == now_at:
            change.note(Kind.REFINED)
        else:
            change.note(Kind.MOVED, f"from {was} to {now_at}")
        for name, value in fields.items():
            setattr(alert, name, value)
    if alert.verdict != group.verdict:
        change.note(Kind.TURNED, f"from {alert.verdict} to {group.verdict}")
        alert.verdict = group.verdict
    return change


def open_alert(
    tree: int,
    fields: dict[str, int],
    verdict: str,
    *,
    is_history: bool,
    now: datetime,
    reason: str = "",
) -> Change:
    """Store a new alert; its first event is written with the change that is given back."""
    alert = Alert.objects.create(
        tree_id=tree,
        **fields,
        verdict=verdict,
        state=Alert.State.SNOOZED if is_history else Alert.State.NEW,
        history=is_history,
        opened_at=now,
        updated_at=now,
        version=0,
    )
    change = Change(alert, now)
    history = "from runs uploaded as history" if is_history else ""
    change.note(Kind.OPENED, ", ".join(filter(None, [reason, history])))
    return change


def _revision_ids(tree: int, conclusions: Sequence[Conclusion]) -> dict[int, int]:
    groups = [one.group for one in conclusions]
    wanted = {at for one in groups for at in (one.suspect, one.after, one.likeliest)}
    rows = Revision.objects.filter(tree=tree, position__in=wanted)
    return dict(rows.values_list("position", "pk"))


def _assign(
    findings: Sequence[Finding], before: Holders, paired: Paired, changes: dict[int, Change]
) -> Holders:
    """Give each finding to its alert, say on both what moved, and give back who holds what now."""
    after = {row.finding: change.alert.pk for one, change in paired for row in one.group.members}
    noted: dict[tuple[int, Kind], list[Finding]] = defaultdict(list)
    everyone = changes | {change.alert.pk: change for _, change in paired}
    moved = [row for row in findings if before.get(row.pk) != after.get(row.pk)]
    for row in moved:
        if row.pk in before:
            noted[before[row.pk], Kind.LEFT].append(row)
        if row.pk in after:
            noted[after[row.pk], Kind.JOINED].append(row)
    for (pk, kind), rows in noted.items():
        everyone[pk].note(kind, _names(rows), rows)
    _store_members({row.pk: after.get(row.pk) for row in moved})
    return after


def _store_members(moved: Mapping[int, int | None]) -> None:
    """Let each finding (id) be held by its alert (id), or by none."""
    if not moved:
        return
    AlertFinding.objects.filter(finding__in=moved).delete()
    AlertFinding.objects.bulk_create(
        AlertFinding(finding_id=finding, alert_id=alert)
        for finding, alert in moved.items()
        if alert is not None
    )


def _names(rows: Sequence[Finding]) -> str:
    named = [f"{row.series.mode} on {row.series.hardware}" for row in rows[:NAMED_IN_AN_EVENT]]
    more = len(rows) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _heir(
    pk: int, findings: Sequence[Finding], held: tuple[Holders, Holders], paired: Paired
) -> Change | None:
    """The alert that took over most findings of one that is left without: ``held`` says who held
    what before and who does now.
    """
    before, after = held
    went = Counter(
        heir
        for row in findings
        if before.get(row.pk) == pk
        and (heir := after.get(row.pk) or after.get(row.superseded_by_id or 0)) is not None
    )
    if not went:
        return None
    heir = min(went, key=lambda heir: (-went[heir], heir))
    return next(change for _, change in paired if change.alert.pk == heir)
