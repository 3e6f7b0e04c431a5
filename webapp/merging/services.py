"""What concerns every room at once: joining what turned out to be one (hardware, modes, revisions
that go by two names), and removing a lab.

An operator's merge concerns every room that keeps something about the two. It is one transaction,
which calls each room by name, and a refusal of any of them leaves everything as it was. What merely
points at the one that goes is found from the models, and points at the other one afterwards. Locks
are taken in the order of every other transaction: reshaping, series, trees, findings, alerts.

With a lab go its machines, its agents, all that was measured on these and concluded from that.
Commits, modes, metrics and what other labs measured stay. Constraints of the database are checked
before the end, so nothing can be left that points at what is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.apps import apps
from django.db import connection, transaction
from django.db.models import ForeignKey, Model, Q

from webapp.accounts.models import User
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertFinding
from webapp.analysis.models import Checkpoint, Finding, NotedPoint, SeriesAnalysis
from webapp.bisects import services as bisects
from webapp.bisects.models import Bisect
from webapp.events.services import end_twins
from webapp.experiments.models import Cell, Experiment
from webapp.jobs.models import Worker
from webapp.labs.models import Lab
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


OWN = {"bisects": "bisect", "experiments": "experiment", "alerts": "alert"}
"""By room: how the parts of a bisect, a report or an alert name the whole."""

GOES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("experiments.ExperimentEvent", ("experiment__in",)),
    ("experiments.Cell", ("hardware__lab", "experiment__in")),
    ("experiments.Side", ("experiment__in",)),
    ("experiments.Experiment", ("pk__in",)),
    ("notifications.Subscription", ("hardware__lab",)),
    ("bisects.BisectJob", ("bisect__in",)),
    ("bisects.BisectBoot", ("bisect__in",)),
    ("bisects.BisectAct", ("bisect__in",)),
    ("bisects.BisectDecision", ("bisect__in",)),
    ("bisects.BisectSubject", ("bisect__in",)),
    ("bisects.Bisect", ("pk__in",)),
    ("alerts.AlertHold", ("series__hardware__lab", "alert__in")),
    ("alerts.Assignment", ("series__hardware__lab", "alert__in", "event__alert__in")),
    ("alerts.AlertFinding", ("finding__series__hardware__lab", "alert__in")),
    ("alerts.AlertEvent", ("alert__in",)),
    ("alerts.FormerAlert", ("alert__in",)),
    ("alerts.Alert", ("pk__in",)),
    ("alerts.MinEffectChange", ("hardware__lab", "series__hardware__lab")),
    ("alerts.MinEffect", ("hardware__lab",)),
    ("analysis.FindingEvent", ("finding__series__hardware__lab",)),
    ("analysis.Finding", ("series__hardware__lab",)),
    ("analysis.NotedPoint", ("series__hardware__lab",)),
    ("analysis.Checkpoint", ("series__hardware__lab",)),
    ("analysis.SeriesAnalysis", ("series__hardware__lab",)),
    ("analysis.SeriesSettings", ("series__hardware__lab",)),
    ("events.CanaryJob", ("canary__hardware__lab", "job__hardware__lab")),
    ("events.Canary", ("hardware__lab",)),
    ("events.LabEvent", ("lab", "hardware__lab", "agent__lab")),
    ("jobs.Job_runs", ("job__hardware__lab", "run__hardware__lab")),
    ("jobs.JobEvent", ("job__hardware__lab",)),
    ("jobs.Job", ("hardware__lab",)),
    ("jobs.Worker", ("agent__lab",)),
    ("results.SampleDecision", ("measurement__run__hardware__lab",)),
    ("results.WaitingRun", ("run__hardware__lab",)),
    ("results.AliasedRun", ("run__hardware__lab", "hardware__lab")),
    ("results.RefusedReplacement", ("run__hardware__lab", "agent__lab")),
    ("results.RunHistograms", ("run__hardware__lab",)),
    ("results.CostSamples", ("run__hardware__lab",)),
    ("results.Profile", ("run__hardware__lab", "agent__lab")),
    ("results.Measurement", ("run__hardware__lab",)),
    ("results.Point", ("series__hardware__lab",)),
    ("results.Run", ("hardware__lab",)),
    ("results.HourlyRuns", ("hardware__lab",)),
    ("results.Series", ("hardware__lab",)),
    ("results.HardwareFact", ("hardware__lab",)),
    ("results.HardwareAlias", ("hardware__lab",)),
    ("results.Hardware", ("lab",)),
    ("results.NameAlias", ("lab",)),
    ("results.LabelRule", ("lab",)),
    ("results.IdentityRule", ("lab",)),
    ("results.PlaceProposal", ("agent__lab",)),
    ("labs.Token", ("agent__lab",)),
    ("labs.Agent", ("lab",)),
    ("labs.LabQuota", ("lab",)),
    ("labs.Lab_contacts", ("lab",)),
    ("labs.Lab", ("pk",)),
)
"""Tables, those that point at others first, with the ways from a row to its lab, or to a whole of
`OWN` that goes."""

FORGETS: tuple[tuple[str, str, str], ...] = (
    ("results.Revision", "proposed_by", "agents"),
    ("alerts.Alert", "duplicate_of", "alerts"),
    ("bisects.Bisect", "alert", "alerts"),
    ("bisects.Bisect", "hold", "holds"),
    ("jobs.Job", "worker", "workers"),
    ("jobs.JobEvent", "worker", "workers"),
)
"""Columns of rows that stay, emptied where they point at what goes."""


class LabError(Exception):
    """The lab cannot be removed; the message has why, and what to do."""


@dataclass
class Removed:
    """What went with a lab: rows by table (``gone`` of how many), and those that were changed."""

    gone: dict[type[Model], tuple[int, int]] = field(default_factory=dict)
    changed: dict[tuple[type[Model], str], int] = field(default_factory=dict)
    regrouped: int = 0


@transaction.atomic
def remove_lab(*, name: str) -> Removed:
    """Remove the lab ``name``, in one transaction; what went. Raises LabError: there is none, or
    its agents measured on hardware of other labs.
    """
    services.begin_reshaping()
    lab = _find(name)
    _refuse_foreign_runs(lab)
    series = models.Series.objects.filter(hardware__lab=lab)
    trees = services.lock_trees(series.values_list("tree", flat=True))
    # A poll locks its worker, then a job.
    list(Worker.objects.filter(agent__lab=lab).order_by("pk").select_for_update())
    wholes = _wholes(lab)
    removed = Removed(regrouped=_shared(lab, wholes["alert"]))
    going = dict(_going(lab, wholes))
    for (model, column), rows in _forgetting(lab, wholes["alert"]):
        stays = model._base_manager.filter(rows, ~going.get(model, Q(pk=None)))  # noqa: SLF001
        if count := stays.update(**{column: None}):
            removed.changed[model, column] = count
    for model, rows in going.items():
        of = model._base_manager.count()  # noqa: SLF001
        # No row is loaded and no signal sent: nobody listens, and a lab has millions of points.
        if gone := model._base_manager.filter(rows)._raw_delete(connection.alias):  # noqa: SLF001
            removed.gone[model] = (gone, of)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with alerts.quietly():
        alerts.reconcile_trees(trees)
    transaction.on_commit(services.forget_names)
    return removed


def _find(name: str) -> Lab:
    lab = Lab.objects.filter(name=name).select_for_update().first()
    if lab is None:
        names = ", ".join(Lab.objects.values_list("name", flat=True)[:20])
        raise LabError(f"There is no lab {name!r}; there are: {names or 'none'}.")
    return lab


def _refuse_foreign_runs(lab: Lab) -> None:
    """Uploads cannot do that; moving hardware or an agent to another lab in the admin can."""
    runs = models.Run.objects.filter(agent__lab=lab).exclude(hardware__lab=lab)
    if run := runs.select_related("hardware__lab").order_by("pk").first():
        raise LabError(
            f"Agents of {lab} uploaded {runs.count():,} runs of hardware that now belongs to other "
            f"labs, such as {run.hardware.name} of {run.hardware.lab}. Give that hardware back to "
            f"{lab} in the admin, or its agents to the other lab, and remove {lab} then."
        )


def _wholes(lab: Lab) -> dict[str, list[int]]:
    """The bisects, reports and alerts that go (ids): those that are not without the lab."""
    return {
        "bisect": _ids(
            Bisect, Q(series__hardware__lab=lab) | Q(subjects__series__hardware__lab=lab)
        ),
        "experiment": _ids(
            Experiment,
            Q(lab=lab)
            | Q(sides__hardware__lab=lab)
            | _all_of(lab, Cell, "experiment", "hardware__lab"),
        ),
        "alert": _ids(
            Alert,
            Q(hardware__lab=lab)
            | _all_of(lab, AlertFinding, "alert", "finding__series__hardware__lab"),
        ),
    }


def _ids(model: type[Model], rows: Q) -> list[int]:
    return sorted(set(model._base_manager.filter(rows).values_list("pk", flat=True)))  # noqa: SLF001


def _all_of(lab: Lab, part: type[Model], whole: str, way: str) -> Q:
    """Wholes that have parts, all of the lab."""
    parts = part._base_manager.order_by()  # noqa: SLF001
    own, others = parts.filter(**{way: lab}), parts.exclude(**{way: lab})
    return Q(pk__in=own.values(whole)) & ~Q(pk__in=others.values(whole))


def _shared(lab: Lab, gone: list[int]) -> int:
    """How many alerts stay, with fewer findings."""
    found = AlertFinding.objects.filter(finding__series__hardware__lab=lab)
    return found.exclude(alert__in=gone).values("alert").distinct().count()


def _going(lab: Lab, wholes: dict[str, list[int]]) -> Iterator[tuple[type[Model], Q]]:
    for label, ways in GOES:
        model = apps.get_model(label)
        rows = Q()
        for way in ways:
            whole = OWN.get(model._meta.app_label, "")  # noqa: SLF001 (documented)
            ids = wholes[whole] if way.endswith("__in") else lab.pk
            rows |= Q(**{way: ids})
        yield model, rows
    yield models.Kernel, Q(runs=None)  # when the runs are gone


def _forgetting(lab: Lab, gone_alerts: list[int]) -> Iterator[tuple[tuple[type[Model], str], Q]]:
    for label, column, what in FORGETS:
        ways = {
            "agents": Q(**{f"{column}__lab": lab}),
            "alerts": Q(**{f"{column}__in": gone_alerts}),
            "holds": Q(**{f"{column}__series__hardware__lab": lab})
            | Q(**{f"{column}__alert__in": gone_alerts}),
            "workers": Q(**{f"{column}__agent__lab": lab}),
        }
        yield (apps.get_model(label), column), ways[what]
