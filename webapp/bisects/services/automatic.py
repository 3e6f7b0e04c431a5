"""Start bisects of alerts by themselves, in the trees whose settings say so."""

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from webapp.alerts.models import Alert
from webapp.alerts.queries import findings_of
from webapp.analysis.models import Finding
from webapp.bisects.errors import BisectError
from webapp.bisects.models import Bisect, BisectSettings
from webapp.bisects.services.drafting import draft_bisect
from webapp.bisects.services.starting import start_bisect
from webapp.results.models import Revision
from webapp.results.services import begin_writing, lock_trees

AT_ONCE = 20
log = structlog.get_logger()


def start_automatic_bisects(*, now: datetime | None = None) -> list[int]:
    """One for each open alert that has several suspects and no bisect yet; their numbers.

    Safe to run twice and at once.
    """
    at = now or timezone.now()
    started = [_start(alert, tree, at) for alert, tree in _waiting()]
    return [number for number in started if number is not None]


def _waiting() -> list[tuple[int, int]]:
    """Alerts without a bisect, with their trees, the newest first: those of which none can begin
    (the noise is not known) wait on, and must not hold up the others.
    """
    trees = BisectSettings.objects.filter(automatic=True).values("tree")
    waiting = (
        Alert.objects.open()
        .of_levels()
        .filter(
            tree__in=trees, is_active=True, history=False, one_build=False, bisects__isnull=True
        )
    )
    several = Revision.objects.filter(
        tree=OuterRef("tree"),
        position__gt=OuterRef("after__position"),
        position__lt=OuterRef("revision__position"),
    )
    waiting = waiting.exclude(state=Alert.State.RECOVERED).filter(Exists(several))
    return list(waiting.order_by("-pk").values_list("pk", "tree_id")[:AT_ONCE])


@transaction.atomic
def _start(alert: int, tree: int, now: datetime) -> int | None:
    begin_writing()
    lock_trees([tree])
    row = Alert.objects.with_revisions().filter(pk=alert, bisects__isnull=True).first()
    worst = findings_of([alert]).with_subjects().first()
    if (
        row is None
        or row.one_build
        or not row.suspects_commits
        or worst is None
        or worst.series.is_cost
        or not worst.change_pct
        or not _has_several(row)
    ):
        return None
    try:
        with transaction.atomic():
            bisect = _begin(row, worst, now)
    except BisectError as error:
        # Not for ever: more uploads may tell the noise, and the next sweep tries again.
        log.info("no bisect started", alert=alert, reason=str(error))
        return None
    log.info("bisect started", alert=alert, bisect=bisect.pk)
    return int(bisect.pk)


def _begin(alert: Alert, worst: Finding, now: datetime) -> Bisect:
    draft = draft_bisect(
        series=worst.series,
        good=alert.after,
        bad=alert.revision,
        effect_pct=worst.change_pct or 0.0,
        alert=alert,
        now=now,
    )
    return start_bisect(draft=draft, created_by=None)


def _has_several(alert: Alert) -> bool:
    return Revision.objects.between(alert.after, alert.revision).exists()
