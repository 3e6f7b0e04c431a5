"""Join what turned out to be one: hardware, modes, revisions that go by two names.

An operator's merge concerns every room that keeps something about the two. It is one transaction,
which calls each room by name, and a refusal of any of them leaves everything as it was. What merely
points at the one that goes is found from the models, and points at the other one afterwards. Locks
are taken in the order of every other transaction: reshaping, series, trees, findings, alerts.
"""

from typing import Any

from django.db import transaction
from django.db.models import ForeignKey

from webapp.alerts import services as alerts
from webapp.alerts.models import Agreement
from webapp.analysis.models import Checkpoint, Comparison, Finding, SeriesAnalysis
from webapp.bisects import services as bisects
from webapp.events.services import end_twins
from webapp.results.models import Hardware, Mode, PlaceProposal, Point, Revision, Series
from webapp.results.services import begin_merge, end_subject, hand_over, move_runs, move_series


def _fields(model: type[Any], *names: str) -> list[ForeignKey[Any, Any]]:
    return [model._meta.get_field(name) for name in names]  # noqa: SLF001 (documented)


GOES_WITH_SERIES = (
    *_fields(Point, "series"),
    *_fields(SeriesAnalysis, "series"),
    *_fields(Checkpoint, "series"),
    *_fields(Comparison, "series"),
    *_fields(Finding, "series"),
)
"""Computed anew from the measurements, which are of the other series now."""

GOES_WITH_REVISION = (
    *_fields(Point, "revision"),
    *_fields(Comparison, "revision", "previous"),
    *_fields(PlaceProposal, "revision"),
    *_fields(Agreement, "after", "likeliest", "last"),
)
"""Computed anew, or settled: the one that stays keeps its place."""


@transaction.atomic
def merge_hardware(*, source: Hardware, into: Hardware) -> None:
    """Everything measured on ``source`` counts as measured on ``into``; ``source`` goes.

    Raises:
        Unprocessable: the two are one, or belong to two labs.
    """
    _merge_subjects(source, into)


@transaction.atomic
def merge_modes(*, source: Mode, into: Mode) -> None:
    """Everything measured in ``source`` counts as measured in ``into``; ``source`` goes.

    Raises:
        Unprocessable: the two are one.
    """
    _merge_subjects(source, into)


@transaction.atomic
def merge_revisions(*, source: Revision, into: Revision) -> None:
    """``source`` was the commit ``into`` under another id: its runs and names go over, and what
    was concluded about it.

    ``into`` keeps its position.

    Raises:
        Unprocessable: the two are one, or on two trees, or the two ends of a bisect.
    """
    begin_merge(source, into)
    bisects.refuse_merge(source, into)
    end_twins(source, into)
    move_runs(source, into)
    if pair := alerts.alerts_that_join(source, into):
        bisects.move_to_alert(*pair)
    alerts.move_conclusions(source, into)
    hand_over(source, into, goes=GOES_WITH_REVISION)
    bisects.rename_along(source, into)
    source.delete()


def _merge_subjects(source: Hardware | Mode, into: Hardware | Mode) -> None:
    begin_merge(source, into)
    end_twins(source, into)
    for series, target in move_series(source, into):
        _end_series(series, target)
    hand_over(source, into)
    end_subject(source, into)


def _end_series(series: Series, target: Series) -> None:
    hand_over(series, target, goes=GOES_WITH_SERIES)
    series.delete()
