"""What an instance stores and concluded, in a few lines that two instances can be compared by.

A part is a table. Its rows are written with names and UUIDs where the table has ids, so that two
databases that came to the same content by other ways agree; then each row is hashed, and the sorted
hashes are hashed. Left out are ids, versions, times of arrival, secrets, and the tables of
``LEFT_OUT``. Everything else counts, a column that is added tomorrow included.

Floats count to their last bit. They may: samples are pooled in one order (``in_pooling_order``),
and the detector reads the revisions in theirs, whatever the order of arrival.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection, models, transaction
from django.db.models import Case, Expression, F, Func, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.db.models.options import Options

from webapp.results.models import WAITING_FROM, Series

CHUNK = 2000
Column: TypeAlias = "models.Field[Any, Any]"

NAMES: Mapping[str, tuple[str, ...]] = {
    "accounts.User": ("username",),
    "labs.Lab": ("name",),
    "labs.Agent": ("lab", "name"),
    "results.Tree": ("name",),
    "results.Revision": ("tree", "name"),
    "results.Hardware": ("name",),
    "results.Mode": ("name",),
    "results.Metric": ("name",),
    "results.Variant": ("name",),
    "results.Series": ("tree", "hardware", "mode", "metric", "variant"),
    "results.Kernel": ("build_id", "ident"),
    "results.Run": ("uuid",),
    "results.Measurement": ("run", "series"),
    "results.CostSamples": ("run", "series"),
    "analysis.Finding": ("series", "revision"),
    "alerts.Alert": ("tree", "revision"),
    "bisects.Bisect": ("series", "good", "bad"),
    "experiments.Experiment": ("lab", "source", "question"),
    "jobs.Job": ("purpose", "revision", "hardware", "mode", "boots", "iterations", "rebuild"),
}
"""The fields by which rows of other tables name a row of this one."""

INPUT_TIMES = {"happened_at", "measured_at", "committed_at", "snoozed_until", "deadline"}
"""The times that came with the data or from a person. All others are of when something arrived."""

LEFT_OUT: Mapping[str, str] = {
    "accounts.AuditEntry": "who changed what, and when",
    "accounts.Readers": "who may read, which each instance decides",
    "readiness.Heartbeat": "what works at present",
    "readiness.Backup": "which backups the instance made of itself",
    "notifications.Problem": "what is wrong with the instance at present",
    "labs.LabQuota": "how much a lab may store, and how much of it arrived today",
    "labs.Token": "secrets, which no two instances share",
    "results.Kernel": "counted with the runs that name them",
    "results.ProfiledFunction": "counted with the profiles that name them",
    "results.PlaceProposal": "who proposed another place, and when",
    "results.RefusedReplacement": "who tried to replace another lab's run, and when",
    "results.HardwareFact": "follows from the facts of runs, and from when they arrived",
    "results.HourlyRuns": "counts runs, in rows that follow what was stored at once",
    "outbox.Mail": "what was reported depends on the order of arrival",
    "outbox.HookDelivery": "as mails",
    "outbox.MailServer": "how the mail server does at present",
    "jobs.Worker": "who asked for work lately",
    "jobs.JobEvent": "the log of a job: its tries, and when",
    "alerts.FormerAlert": "numbers of alerts, which follow the order of arrival",
    "alerts.AlertHold": "follows from the bisects and the states of their alerts",
    "alerts.AlertEvent": "the log of an alert: the order in which findings came",
    "analysis.FindingEvent": "the log of a finding: the order in which points came",
    "analysis.Checkpoint": "where the detector resumes; follows from the points",
    "events.CanaryJob": "which canary asked for which job",
    "bisects.BisectDecision": "the log of a bisect: its steps, their times and machine hours",
    "bisects.BisectJob": "which step asked for which job",
    "experiments.ExperimentEvent": "the log of an experiment, and when",
}
"""Tables of how an instance came to its content, not what the content is."""


@dataclass(frozen=True)
class Part:
    """A table of the digest: which rows and which columns of it count."""

    name: str
    model: str
    leave_out: tuple[str, ...] = ()
    only: Q = field(default_factory=Q)
    written_as: Mapping[str, Expression] = field(default_factory=dict)
    """What is written instead of a column that has it by ids, or holds more than counts."""
    written_under: Mapping[str, str] = field(default_factory=dict)
    """The name under which a column is hashed, where that is not its own: digests outlive names."""


class RevisionNames(Func):
    """The names of the revisions that an array of ids holds, in its order."""

    template = (
        "ARRAY(SELECT revision.name FROM unnest(%(expressions)s) WITH ORDINALITY AS one (id, place)"
        " JOIN results_revision AS revision ON revision.id = one.id ORDER BY place)"
    )
    output_field = ArrayField(models.TextField())


class FunctionNames(Func):
    """The names of the functions that an array of ids holds, in its order."""

    template = (
        "ARRAY(SELECT one_function.module || ' ' || one_function.name"
        " FROM unnest(%(expressions)s) WITH ORDINALITY AS one (id, place)"
        " JOIN results_profiledfunction AS one_function ON one_function.id = one.id ORDER BY place)"
    )
    output_field = ArrayField(models.TextField())


LIVE = ("candidate", "one build", "confirmed", "recovered")
"""States of the findings that the present points show."""

CLOSED_BY_THE_CLOCK = When(triaged=False, state="resolved", then=Value("recovered"))
"""A recovered alert closes itself after quiet days. Until then it is the same alert."""

PLACED = When(position__lt=WAITING_FROM, then=F("position"))
"""What waits for its place has a number made from its id."""

PARTS = (
    Part("people", "accounts.User", ("password",)),
    Part("saved-views", "accounts.SavedView"),
    Part("labs", "labs.Lab"),
    Part("agents", "labs.Agent"),
    Part("trees", "results.Tree"),
    Part(
        "revisions",
        "results.Revision",
        ("proposed_by",),
        written_as={"position": Case(PLACED, default=None)},
    ),
    Part("revision-names", "results.RevisionAlias"),
    Part("hardware", "results.Hardware", ("agreed_cpu", "agreed_nic")),
    Part("hardware-names", "results.HardwareAlias"),
    Part("modes", "results.Mode"),
    Part("mode-names", "results.ModeAlias"),
    Part("name-aliases", "results.NameAlias", ("moved",), only=Q(undone_at=None)),
    Part("aliased-runs", "results.AliasedRun", only=Q(run__superseded_by=None)),
    Part("metrics", "results.Metric"),
    Part(
        "runs",
        "results.Run",
        only=Q(superseded_by=None),
        written_under={"kernel__build_id": "build_id", "kernel__ident": "kernel_ident"},
    ),
    Part("samples", "results.Measurement", only=Q(run__superseded_by=None)),
    Part("histograms", "results.RunHistograms", only=Q(run__superseded_by=None)),
    Part("cost-samples", "results.CostSamples"),
    Part(
        "profiles",
        "results.Profile",
        ("agent",),
        only=Q(run__superseded_by=None),
        written_as={"functions": FunctionNames(F("functions"))},
    ),
    Part("series", "results.Series", ("version", "dirty_from")),
    Part("series-settings", "analysis.SeriesSettings"),
    Part(
        "points",
        "results.Point",
        written_as={"sessions": Coalesce("sessions", Value([], ArrayField(models.TextField())))},
        written_under={"_sessions": "sessions"},
    ),
    Part("pooling-decisions", "results.PoolingDecision"),
    Part("sample-decisions", "results.SampleDecision"),
    Part("waiting-runs", "results.WaitingRun", ("former",), only=Q(run__superseded_by=None)),
    Part("identity-rules", "results.IdentityRule"),
    Part("variants", "results.Variant"),
    Part("label-rules", "results.LabelRule"),
    Part("dismissed-twins", "results.DismissedTwins"),
    Part("noted-points", "analysis.NotedPoint"),
    Part("analyses", "analysis.SeriesAnalysis", ("version",)),
    Part("findings", "analysis.Finding", ("superseded_by",), only=Q(state__in=LIVE)),
    Part(
        "alerts",
        "alerts.Alert",
        ("mailed", "is_quiet", "version", "resolution", "resolution_revision"),
        only=Q(is_active=True),
        written_as={"state": Case(CLOSED_BY_THE_CLOCK, default=F("state"))},
        written_under={"is_active": "standing"},
    ),
    Part(
        "triage",
        "alerts.Alert",
        (
            *("mailed", "is_quiet", "version", "is_active", "after", "likeliest", "verdict"),
            "named_probability",
        ),
        only=Q(triaged=True),
    ),
    Part("alert-findings", "alerts.AlertFinding", only=Q(finding__state__in=LIVE)),
    Part("assignments", "alerts.Assignment", ("event",)),
    Part("subscriptions", "notifications.Subscription", ("feed_token",)),
    Part("thresholds", "alerts.MinEffect"),
    Part("threshold-changes", "alerts.MinEffectChange"),
    Part("endpoints", "outbox.Endpoint", ("secret", "url", "failures", "disabled_reason")),
    Part(
        "jobs",
        "jobs.Job",
        (
            *("reason", "build_key", "estimate_seconds", "attempts", "worker", "lease", "stage"),
            *("progress", "log", "failure_stage", "failure_reason"),
        ),
    ),
    Part("job-runs", "jobs.Job_runs"),
    # What a changed fact recorded depends on the order of arrival.
    Part("lab-events", "events.LabEvent", only=Q(withdrawn_at=None) & ~Q(source="fact")),
    Part("releases", "events.Release"),
    Part("canaries", "events.Canary"),
    Part("experiments", "experiments.Experiment"),
    Part("experiment-sides", "experiments.Side"),
    Part("experiment-cells", "experiments.Cell"),
    Part("bisect-settings", "bisects.BisectSettings"),
    Part(
        "bisects",
        "bisects.Bisect",
        ("forecast", "version", "hold", "companions"),
        written_as={name: RevisionNames(name) for name in ("along", "suspects")},
    ),
    Part("bisect-subjects", "bisects.BisectSubject", ("companions",)),
    Part("bisect-acts", "bisects.BisectAct", only=Q(actor__isnull=False)),
    Part("bisect-boots", "bisects.BisectBoot", ("build", "beside")),
)


@dataclass(frozen=True)
class Line:
    """One part's digest, and how many rows it is of."""

    name: str
    digest: str
    count: int

    def __str__(self) -> str:
        return f"{self.name} {self.digest} {self.count}"


def digest() -> list[Line]:
    """A line for each part, all of one moment, and one for the whole."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        lines = [_line(part) for part in PARTS]
    whole = hashlib.sha256("\n".join(map(str, lines)).encode()).hexdigest()
    return [*lines, Line("all", whole, sum(line.count for line in lines))]


def _line(part: Part) -> Line:
    rows = sorted(hashlib.sha256(text.encode()).digest() for text in rows_of(part))
    return Line(part.name, hashlib.sha256(b"".join(rows)).hexdigest(), len(rows))


def rows_of(part: Part) -> Iterator[str]:
    """The rows of a part as they are hashed, in no order: what to look at where two digests differ.

    A row is a JSON object, so that a column is distinct from its neighbour.
    """
    model = apps.get_model(part.model)
    columns = [column for each in _counted(part, model) for column in _columns(each)]
    instead = {f"_{name}": expression for name, expression in part.written_as.items()}
    found: QuerySet[Any] = QuerySet(model).filter(part.only).order_by()
    for row in found.annotate(**instead).values(*columns, *instead).iterator(CHUNK):
        named = {part.written_under.get(name, name): value for name, value in row.items()}
        yield json.dumps(named, sort_keys=True, default=_plain)


def _counted(part: Part, model: type[models.Model]) -> list[Column]:
    """The columns of a table that count."""
    return [
        each
        for each in _description(model).concrete_fields
        if each.name not in part.leave_out and each.name not in part.written_as
        if each.is_relation or not each.primary_key
        if not isinstance(each, models.DateTimeField) or each.name in INPUT_TIMES
    ]


def _columns(each: Column) -> Sequence[str]:
    """A column as it is, or the names of the row that it points to."""
    target = each.related_model
    if target is None:
        return [each.name]
    description = _description(target)
    fields = {inner.name: inner for inner in description.concrete_fields}
    inner = [path for name in NAMES[description.label] for path in _columns(fields[name])]
    return [f"{each.name}__{path}" for path in inner]


def _description(model: type[models.Model]) -> "Options[Any]":
    """What Django knows of a model, by the name that its documentation gives."""
    return model._meta  # noqa: SLF001


def _plain(value: Any) -> str:
    """Times and UUIDs as ISO 8601 and RFC 9562 write them."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class Command(BaseCommand):
    help = (
        "Print a digest of everything stored and concluded, one line a part: name, SHA-256, number "
        "of rows. Two instances that took the same runs, in any order, print the same."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--rows",
            choices=[part.name for part in PARTS],
            metavar="PART",
            help="print the rows of one part instead, sorted: for diff, where two digests differ",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        waiting = Series.objects.dirty().count()
        if waiting:
            self.stderr.write(f"{waiting} series wait for their analysis: what follows will change")
        if options["rows"]:
            part = next(part for part in PARTS if part.name == options["rows"])
            lines = sorted(rows_of(part))
        else:
            lines = [str(line) for line in digest()]
        for line in lines:
            self.stdout.write(line)
