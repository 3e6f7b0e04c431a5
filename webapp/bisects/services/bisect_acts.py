"""What people do to a bisect: each act has its actor and a reason, and is kept. Bisects of what an
operator merges go on, about what is left.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Func, Q, Value
from django.utils import timezone

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.services import end_holds, reconcile_trees
from webapp.bisects.deciding import check_candidates
from webapp.bisects.draft import BisectChanged, BisectError
from webapp.bisects.models import Bisect, BisectAct, BisectBoot
from webapp.bisects.question import LEAST_VALUE, MOST_VALUE, least_in
from webapp.bisects.services.advancing import cancel_jobs, lock_bisect, take_step
from webapp.bisects.services.collecting import append, pasted_boots, revisions_along
from webapp.bisects.services.settling import is_paused, let_go, rule_out, write_act
from webapp.jobs.models import Job
from webapp.results.models import Revision
from webapp.results.services import Problem, Unprocessable, begin_writing

NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?")
MOST_BOOTS = 50
MOST_RUNS = 100
MOST_LENGTH = 20_000
SHOWN = 20
PRESSED_AGAIN = timedelta(minutes=1)
"""A boot takes longer."""

Kind = BisectAct.Kind
REASON_MAX = 2000
BY_PEOPLE = frozenset(Kind.values) - {Kind.SAME}
CANDIDATES_ONLY = (Kind.FORCE, Kind.EXCLUDE, Kind.ALLOW)


@transaction.atomic
def act_on_bisect(
    *,
    bisect: int,
    kind: str,
    actor: User,
    reason: str,
    version: int | None = None,
    revision: Revision | None = None,
) -> Bisect:
    """Do ``kind`` to a running bisect and take the step that follows from it.

    ``version`` is the one that was seen: needed for what cannot be taken back, which is to cancel.
    Raises BisectError.
    """
    at = timezone.now()
    if kind not in BY_PEOPLE:
        raise BisectError("Choose what to do.")
    stated = reason.strip()[:REASON_MAX]
    if not stated:
        raise BisectError("Reason: give one, for those who read the log.")
    row = _lock_running(bisect)
    act = Kind(kind)
    _check_state(row, act, version)
    index = _index(row, act, revision)
    write_act(row, act, stated, at, actor=actor, index=index)
    _check_candidates(row)
    _follow(row, act, at)
    return row


@transaction.atomic
def paste_boots(*, bisect: int, actor: User, revision: Revision | None, text: str) -> int:
    """Take the values of boots that a person measured, one boot a line; how many boots.

    Raises BisectError naming the line or the field.
    """
    at = timezone.now()
    row = _lock_running(bisect)
    boots = read_boots(text, least_in(row))
    index = _index(row, Kind.PIN, revision)
    if index is None:
        raise BisectError("Revision: give the one that was measured.")
    _refuse_again(row, index, boots, revision, at)
    append(row, pasted_boots(row, index=index, boots=boots, actor=actor), at)
    _step(row, at)
    return len(boots)


def _refuse_again(
    row: Bisect,
    index: int,
    boots: Sequence[Sequence[float]],
    revision: Revision | None,
    at: datetime,
) -> None:
    """A button pressed twice must not count boots twice; nobody measures the same digits again,
    except of what is counted, soon after.
    """
    pasted = row.boots.filter(index=index, source=BisectBoot.Source.PASTED).order_by("-number")
    if least_in(row):
        pasted = pasted.filter(at__gt=at - PRESSED_AGAIN)
    latest = [list(values) for values in pasted.values_list("values", flat=True)[: len(boots)]]
    if latest[::-1] == [list(values) for values in boots]:
        raise BisectError(
            f"Values: these of {revision} were taken in already; paste what was measured since."
        )


def _lock_running(number: int) -> Bisect:
    begin_writing()
    row = lock_bisect(number)
    if row is None:
        raise BisectError(f"There is no bisect {number}.")
    if row.has_ended:
        raise BisectError(f"Bisect {number} is {row.state}: start another one.")
    return row


def _check_state(row: Bisect, kind: Kind, version: int | None) -> None:
    if kind == Kind.CANCEL and version != row.version:
        raise BisectChanged(f"Bisect {row.pk} went on since you looked at it; look again.")
    if kind == Kind.PAUSE and is_paused(row):
        raise BisectError(f"Bisect {row.pk} is paused already.")
    if kind == Kind.RESUME and not is_paused(row):
        raise BisectError(f"Bisect {row.pk} is not paused.")


def _index(row: Bisect, kind: Kind, revision: Revision | None) -> int | None:
    if kind not in BisectAct.OF_A_REVISION:
        return None
    if revision is None or revision.pk not in row.along:
        raise BisectError(f"Revision: name one from {row.good} to {row.bad}.")
    index = row.along.index(revision.pk)
    if kind in CANDIDATES_ONLY and index == 0:
        raise BisectError(f"Revision: {revision} is the good one; it is no suspect.")
    return index


def _check_candidates(row: Bisect) -> None:
    """The act is rolled back with the transaction where it leaves nothing to search."""
    names = [revision.name for revision in revisions_along(row)]
    if wrong := check_candidates(row, names, list(row.acts.all())):
        raise BisectError(f"Revision: {wrong}.")


def _follow(row: Bisect, kind: Kind, at: datetime) -> None:
    waiting = row.asked.filter(settled=False).select_related("job")
    if kind == Kind.CANCEL:
        cancel_jobs(waiting, "cancelled", at)
        row.state, row.ended_at, row.updated_at = Bisect.State.CANCELLED, at, at
        row.version += 1
        row.save()
        let_go(row, AlertHold.Reason.CANCELLED, at)
        if row.alert_id is not None:
            reconcile_trees([row.series.tree_id])
        return
    if kind == Kind.PAUSE:
        cancel_jobs(waiting.filter(job__state=Job.State.QUEUED), "paused", at)
    _step(row, at)


def _step(row: Bisect, at: datetime) -> None:
    """The version grows even where nothing else follows from what was done."""
    version = row.version
    take_step(row, at)
    if row.version == version:
        row.version += 1
        row.updated_at = at
        row.save(update_fields=["version", "updated_at"])


def read_boots(text: str, least: float = 0.0) -> list[list[float]]:
    """The values of each boot; blank lines and what follows a ``#`` do not count.

    Values are relative to a level later on, so each must be above 0, unless one that is lower than
    ``least`` counts as that.
    Raises BisectError naming the line and what is wrong there.
    """
    if len(text) > MOST_LENGTH:
        raise BisectError(f"More than {MOST_LENGTH:,} characters; paste a boot a line.")
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    boots = [_boot(number, fields, least) for number, fields in enumerate(lines, 1) if fields]
    if not boots:
        raise BisectError("Nothing was pasted: write the values of each boot on a line.")
    if len(boots) > MOST_BOOTS:
        raise BisectError(f"{len(boots)} boots; paste at most {MOST_BOOTS} at once.")
    return boots


def _boot(line: int, fields: list[str], least: float) -> list[float]:
    if len(fields) > MOST_RUNS:
        raise BisectError(f"Line {line} has {len(fields)} values; a boot has at most {MOST_RUNS}.")
    return [_value(line, word, least) for word in fields]


def _value(line: int, word: str, least: float) -> float:
    value = float(word) if NUMBER.fullmatch(word) else float("nan")
    if LEAST_VALUE <= value <= MOST_VALUE or value == 0 < least:
        return value
    shown = word if len(word) <= SHOWN else f"{word[:SHOWN]}…"
    if value > 0:
        raise BisectError(f"Line {line}: “{shown}” is not in {LEAST_VALUE:g} … {MOST_VALUE:g}.")
    raise BisectError(
        f"Line {line}: “{shown}” is not a number above 0. Write values as 1148692.5, without "
        "units or thousands separators."
    )


def refuse_merge(source: Revision, into: Revision) -> None:
    """A bisect between a commit and itself would show nothing. Raises Unprocessable."""
    between = Q(good=source, bad=into) | Q(good=into, bad=source)
    if bisect := Bisect.objects.filter(between).first():
        sentence = f"bisect {bisect.pk} compared {source} with {into}: they stay two"
        raise Unprocessable([Problem("into", sentence)])


def move_to_alert(gone: Alert, kept: Alert) -> None:
    """Of two that started by themselves for one series, the other alert's stays its own, and the
    one that is left without an alert lets go.
    """
    started = Bisect.objects.filter(alert=kept, created_by=None).values("series")
    twins = Q(created_by=None, series__in=started)
    left = Bisect.objects.filter(twins, alert=gone, hold__isnull=False)
    holds = list(left.values_list("hold", flat=True))
    end_holds(holds, reason=AlertHold.Reason.JOINED, now=timezone.now())
    Bisect.objects.filter(alert=gone).exclude(twins).update(alert=kept)


def rename_along(source: Revision, into: Revision) -> None:
    """Revisions are also held by the ids along a bisect. Their indices stay, and so its words."""
    both = list(Bisect.objects.running().filter(along__contains=[source.pk, into.pk]))
    at = {row.pk: sorted(row.along.index(one.pk) for one in (source, into)) for row in both}
    for column in ("along", "suspects"):
        renamed = Bisect.objects.filter(**{f"{column}__contains": [source.pk]})
        ids = Func(F(column), Value(source.pk), Value(into.pk), function="array_replace")
        renamed.update(**{column: ids})
    for row in both:
        row.refresh_from_db()
        _join_indices(row, *at[row.pk], names=f"{source} and {into}")


def _join_indices(bisect: Bisect, first: int, last: int, *, names: str) -> None:
    """Two indices of a running bisect are one commit now: the later one cannot have made the step.

    Where others lie between them, their order was wrong, and so is what was concluded.
    """
    now = timezone.now()
    if last == first + 1:
        rule_out(bisect, {last: f"{names} turned out to be one commit"}, now)
    elif not is_paused(bisect):
        reason = (
            f"{names} turned out to be one commit, with others between them: the order that this "
            "bisect went by was wrong; cancel it and start another one"
        )
        write_act(bisect, BisectAct.Kind.PAUSE, reason, now)
