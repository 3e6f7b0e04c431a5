"""Join what turned out to be one: hardware, modes, revisions that go by two names.

An operator's merge concerns every room that keeps something about the two. It is one transaction,
which calls each room by name, and a refusal of any of them leaves everything as it was. What merely
points at the one that goes is found from the models, and points at the other one afterwards. Locks
are taken in the order of every other transaction: reshaping, series, trees, findings, alerts.
"""

from typing import Any

import structlog
from django.db import transaction
from django.db.models import ForeignKey, Q

from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.analysis.models import Checkpoint, Finding, NotedPoint, SeriesAnalysis
from webapp.bisects import services as bisects
from webapp.events.services import end_twins
from webapp.results import models, services

log = structlog.get_logger()


def _fields(model: type[Any], *names: str) -> list[ForeignKey[Any, Any]]:
    return [model._meta.get_field(name) for name in names]  # noqa: SLF001 (documented)


GOES_WITH_SERIES = (
    *_fields(models.Point, "series"),
    *_fields(models.CostSamples, "series"),
    *_fields(SeriesAnalysis, "series"),
    *_fields(Checkpoint, "series"),
    *_fields(NotedPoint, "series"),
    *_fields(Finding, "series"),
)
"""Computed anew from the measurements, which are of the other series now."""

GOES_WITH_HARDWARE = (
    *_fields(models.HardwareFact, "hardware"),
    *_fields(models.HourlyRuns, "hardware"),
)
"""Found anew from the runs of both; the count of runs follows them by itself."""

GOES_WITH_REVISION = (
    *_fields(models.Point, "revision"),
    *_fields(models.CostSamples, "revision"),
    *_fields(NotedPoint, "revision"),
    *_fields(models.PlaceProposal, "revision"),
)
"""Computed anew, or settled: the one that stays keeps its place."""


@transaction.atomic
def merge_hardware(*, source: models.Hardware, into: models.Hardware) -> None:
    """Everything measured on ``source`` counts as measured on ``into``; ``source`` goes. Raises
    Unprocessable: the two are one, or belong to two labs.
    """
    _merge_subjects(source, into)
    services.rebuild_facts(into.pk)


@transaction.atomic
def merge_modes(*, source: models.Mode, into: models.Mode) -> None:
    """Everything measured in ``source`` counts as measured in ``into``; ``source`` goes. Raises
    Unprocessable: the two are one.
    """
    runs = source.runs.order_by().values_list("pk", "hardware")
    machines = services.machines_restated({pk: (hardware, into.pk) for pk, hardware in runs})
    _merge_subjects(source, into)
    for machine in sorted(machines):
        services.rebuild_facts(machine)


@transaction.atomic
def merge_revisions(*, source: models.Revision, into: models.Revision) -> None:
    """``source`` was the commit ``into`` under another id: its runs and names go over, and what
    was concluded about it.

    ``into`` keeps its position. Raises Unprocessable: the two are one, or on two trees, or the two
    ends of a bisect.
    """
    services.begin_merge(source, into)
    bisects.refuse_merge(source, into)
    end_twins(source, into)
    services.move_runs(source, into)
    if pair := alerts.alerts_that_join(source, into):
        bisects.move_to_alert(*pair)
    alerts.move_conclusions(source, into)
    services.hand_over(source, into, goes=GOES_WITH_REVISION)
    bisects.rename_along(source, into)
    source.delete()
    services.file_by_names(into.runs.values_list("pk", flat=True))


def settle_counts() -> int:
    """Merge counts of all commits into the commits that evidence found them to be, and place the
    others by estimate. How many revisions changed; uploads wait only where any does.
    """
    found = services.unsettled_counts()
    if not services.count_moves(found) and not any(one.is_merged for one in found):
        return 0
    with transaction.atomic():
        services.begin_reshaping()
        found = services.unsettled_counts()
        merged = sum(_merge_count(one) for one in found if one.is_merged)
        return merged + services.place_counts([one for one in found if not one.is_merged])


def _merge_count(count: services.Unsettled) -> bool:
    """Whether it could be done: not while a bisect has both as its ends."""
    rows = models.Revision.objects.select_related("tree").in_bulk([count.pk, count.holder])
    try:
        merge_revisions(source=rows[count.pk], into=rows[count.holder or 0])
    except services.Unprocessable as error:
        log.warning("count not merged", revision=count.name, error=str(error))
        return False
    return True


@transaction.atomic
def make_name_alias(*, names: services.AliasNames, by: User) -> models.NameAlias:
    """Let a name of a lab stand for another one, and file the stored runs that this is about there.

    A series that goes as a whole keeps its conclusions and decisions, as in a merge. Raises
    Unprocessable: a name is not known, or the alias repeats, continues or contradicts another.
    """
    alias, moves = services.add_alias(names=names, by=by)
    for series, target in services.move_whole_series(moves):
        _end_series(series, target)
    return alias


@transaction.atomic
def undo_name_alias(*, number: int, by: User) -> models.NameAlias:
    """Take an alias back: its runs are filed as they were sent, or as other aliases have them.
    Idempotent. What was decided of a series that went as a whole into another one stays with that
    one. Raises Unprocessable: there is none of this number.
    """
    alias, moves = services.end_alias(number=number, by=by)
    for series, target in services.move_whole_series(moves):
        _end_series(series, target)
    return alias


@transaction.atomic
def refile_by_label_rules() -> int:
    """File every stored run by the present rules about parts of labels; how many moved.

    The conclusions and decisions of a series stays with it; of one that becomes a part of another
    it goes over to that.
    """
    services.begin_reshaping()
    refiled = services.refile_by_rules()
    for series, target in refiled.joined:
        _end_series(series, target)
    services.drop_unused(refiled)
    return refiled.runs


@transaction.atomic
def adopt_builtin_rules() -> int:
    """Store the rules that this version brings, and file stored runs by them; how many moved."""
    return refile_by_label_rules() if services.make_missing_rules() else 0


def _merge_subjects(
    source: models.Hardware | models.Mode, into: models.Hardware | models.Mode
) -> None:
    services.begin_merge(source, into)
    end_twins(source, into)
    for series, target in services.move_series(source, into):
        _end_series(series, target)
    if isinstance(source, models.Hardware) and isinstance(into, models.Hardware):
        alerts.join_slow_losses(source, into)
        alerts.join_excursions(source, into)
    services.hand_over(source, into, goes=GOES_WITH_HARDWARE)
    services.end_subject(source, into)
    field = "hardware" if isinstance(into, models.Hardware) else "mode"
    about = Q(**{field: into}) | Q(**{f"aliased__{field}": into})
    services.file_by_names(models.Run.objects.filter(about).values_list("pk", flat=True))


def _end_series(series: models.Series, target: models.Series) -> None:
    services.hand_over(series, target, goes=GOES_WITH_SERIES)
    series.delete()
