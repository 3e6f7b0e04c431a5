"""Store a bisect, and take its first step."""

from django.db import IntegrityError, transaction

from webapp.accounts.models import User
from webapp.alerts.models import AlertHold
from webapp.alerts.services import begin_hold
from webapp.bisects.draft import Draft
from webapp.bisects.errors import BisectError, BisectRunning
from webapp.bisects.forecasting import forecast_of
from webapp.bisects.models import Bisect, BisectSubject
from webapp.bisects.services.advancing import take_step
from webapp.bisects.services.collecting import append
from webapp.results.services import begin_writing, lock_trees


def start_bisect(*, draft: Draft, created_by: User | None) -> Bisect:
    """Store the bisect with its history and decide what is measured first.

    ``created_by`` None is Driftline itself, which starts one for an alert and series at most.
    Raises BisectError.
    """
    # It takes seconds: nobody who writes waits for it.
    draft.bisect.forecast = dict(forecast_of(draft).document)
    try:
        with transaction.atomic():
            return _start(draft, created_by)
    except IntegrityError as error:
        if "bisect_started_itself_once" not in str(error):
            raise
        raise BisectError("A bisect of this alert and series was started already.") from error


def _start(draft: Draft, created_by: User | None) -> Bisect:
    begin_writing()
    bisect = draft.bisect
    # A button pressed twice sends two requests at once: the second one is to find the first.
    lock_trees([bisect.series.tree_id])
    if created_by is not None and (running := _same(bisect)):
        raise BisectRunning(running)
    bisect.created_by = created_by
    bisect.hold = _hold_of(bisect)
    further = [scope for scope in bisect.scopes if isinstance(scope, BisectSubject)]
    bisect.save()
    for scope in further:
        scope.bisect = bisect
        scope.save()
    append(bisect, draft.boots, bisect.created_at)
    take_step(bisect, bisect.created_at)
    return bisect


def _hold_of(bisect: Bisect) -> AlertHold | None:
    if bisect.alert_id is None:
        return None
    return begin_hold(
        alert=bisect.alert_id,
        series=bisect.series,
        after=bisect.good,
        last=bisect.bad,
        is_loss=bisect.effect_pct < 0,
        now=bisect.created_at,
    )


def _same(bisect: Bisect) -> Bisect | None:
    same = Bisect.objects.running().filter(series=bisect.series, good=bisect.good, bad=bisect.bad)
    return same.first()
