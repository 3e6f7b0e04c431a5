"""Removing a lab: its machines, its agents, all that was measured on these and concluded from that.

Commits, modes, metrics and what other labs measured stay. Constraints of the database are checked
before the end, so nothing can be left that points at what is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model, Q

from webapp.alerts import services as alerts
from webapp.alerts.models import Alert, AlertFinding
from webapp.bisects.models import Bisect
from webapp.experiments.models import Cell, Experiment
from webapp.jobs.models import Worker
from webapp.labs.models import Lab
from webapp.results.models import Kernel, Run, Series
from webapp.results.services import begin_reshaping, forget_names, lock_trees

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
    begin_reshaping()
    lab = _find(name)
    _refuse_foreign_runs(lab)
    trees = lock_trees(Series.objects.filter(hardware__lab=lab).values_list("tree", flat=True))
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
    transaction.on_commit(forget_names)
    return removed


def _find(name: str) -> Lab:
    lab = Lab.objects.filter(name=name).select_for_update().first()
    if lab is None:
        names = ", ".join(Lab.objects.values_list("name", flat=True)[:20])
        raise LabError(f"There is no lab {name!r}; there are: {names or 'none'}.")
    return lab


def _refuse_foreign_runs(lab: Lab) -> None:
    """Uploads cannot do that; moving hardware or an agent to another lab in the admin can."""
    runs = Run.objects.filter(agent__lab=lab).exclude(hardware__lab=lab)
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
    yield Kernel, Q(runs=None)  # when the runs are gone


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
