"""Bisects of what an operator merges: they go on, about what is left."""

from django.db.models import F, Func, Q, Value
from django.utils import timezone

from webapp.alerts.models import Alert, AlertHold
from webapp.alerts.services import end_holds
from webapp.bisects.models import Bisect, BisectAct
from webapp.bisects.services.settling import is_paused, rule_out, write_act
from webapp.results.models import Revision
from webapp.results.services import Problem, Unprocessable


def refuse_merge(source: Revision, into: Revision) -> None:
    """A bisect between a commit and itself would say nothing. Raises Unprocessable."""
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
