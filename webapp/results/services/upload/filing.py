"""Third step of an upload: the rows that runs belong to (tree, revision, hardware, mode, variant,
metrics), and the stored runs that changed ones take the place of.

Each kind costs one query when everything is known, whatever the number of runs. What may be made
on the way is inserted with "on conflict do nothing" and read again, so that two uploads at once
make it once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from webapp.labs.models import Agent, Lab
from webapp.labs.services import Stored
from webapp.results import models
from webapp.results.documents import (
    Conflict,
    Forbidden,
    MetricDocument,
    Problem,
    RunDocument,
    Unprocessable,
)
from webapp.results.identity import Identity
from webapp.results.services import named_rows
from webapp.results.services.aliases import Alias, Filing, aliases_in_force, meant, names_as_sent
from webapp.results.services.identities import Doubt, Identities
from webapp.results.services.placing import Placed, Remarks, place_revisions
from webapp.results.services.upload.identifying import Identified, refuse_foreign_runs


@dataclass(frozen=True, slots=True)
class FiledRun:
    """A run with the rows (ids) that it belongs to: ``sent`` are its own hardware and mode,
    ``names`` those that they stand for by the aliases of its lab, with the ``options`` of that
    mode; ``variant`` None is the plain kernel. ``series`` are by the names of metrics. ``as_sent``
    is what is kept of the document's own mode and variant; None: it is filed under these.
    ``left_out`` is the rule that keeps it out, ``former`` the stored run whose place it takes.
    """

    document: RunDocument
    tree: int
    revision: Placed
    sent: named_rows.HardwareAndMode
    names: named_rows.HardwareAndMode
    options: Sequence[str]
    variant: int | None
    series: Mapping[str, named_rows.SeriesKey]
    as_sent: dict[str, Any] | None
    identity: Identity
    left_out: str
    former: models.Run | None = None

    @property
    def uuid(self) -> UUID:
        """Of the run."""
        return self.document.uuid

    @property
    def is_aliased(self) -> bool:
        """Whether it is filed under other names than it was sent with."""
        return self.names != self.sent

    def doubt(self, pk: int) -> Doubt:
        """Of the run, which waits and is stored under that id."""
        evidence = self.document.evidence
        return Doubt(pk, self.identity, evidence.label if evidence else "", self.left_out)


@dataclass(frozen=True, slots=True)
class Filed:
    """``runs`` are to be written: new ones, then those that replace a stored one. ``renamed`` and
    ``unproven`` are known runs, as in `Identified`. ``aliases`` are commits, by tree and revision
    (ids), with another name that evidence gives them. All are empty where no run changes what is
    stored of trees, series or positions.
    """

    identified: Identified
    runs: Sequence[FiledRun] = ()
    renamed: Sequence[FiledRun] = ()
    unproven: Sequence[FiledRun] = ()
    aliases: Sequence[tuple[int, int, str]] = ()
    warnings: Mapping[UUID, Sequence[str]] = field(default_factory=dict)
    made: Stored = field(default_factory=Stored)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that a batch of documents names. ``aliased`` are what the names of runs stand for,
    where aliases of the lab have them filed under other ones.
    """

    trees: Mapping[str, models.Tree]
    revisions: Mapping[tuple[str, str], Placed]
    hardware: Mapping[str, models.Hardware]
    modes: Mapping[str, models.Mode]
    metrics: Mapping[str, models.Metric]
    variants: Mapping[str, models.Variant]
    warnings: Mapping[UUID, list[str]]
    made: Stored
    aliased: Mapping[UUID, named_rows.HardwareAndMode] = field(default_factory=dict)

    def sent_names_of(self, run: RunDocument) -> named_rows.HardwareAndMode:
        """Under which it was sent."""
        return named_rows.HardwareAndMode(
            self.hardware[run.hardware].pk, self.modes[str(run.mode)].pk
        )


def file_runs(identified: Identified) -> Filed:
    """Find or make the rows that the runs name, and compare changed runs with the stored ones.

    Raises:
        Forbidden: a run is stored for another lab, or names hardware of one.
        Unprocessable: as `_resolve`.
        Conflict: a run is stored with other content and is not to be replaced.
    """
    if not (identified.new or identified.changed or identified.unproven or identified.renamed):
        return Filed(identified)
    received, identities = identified.received, identified.identities
    runs, agent = identities.runs, received.agent
    stored = lock_current(run.uuid for run in identified.changed) if identified.changed else {}
    refuse_foreign_runs(runs, stored, agent.lab, replace=received.replace)
    # Indices in problems are those of the batch as it was sent, so all runs are resolved.
    rows = _resolve(runs, agent, register=received.register)
    changed = _filed(identified.changed, rows, identities)
    differing = _differing(changed, stored) if changed else {}
    if differing and not received.replace:
        raise Conflict(_conflicts(runs, differing))
    replacing = [replace(run, former=stored[run.uuid]) for run in changed if run.uuid in differing]
    renamed = [run for run in identified.renamed if run.uuid not in differing]
    return Filed(
        identified,
        runs=[*_filed(identified.new, rows, identities), *replacing],
        renamed=_filed(renamed, rows, identities),
        unproven=_filed(identified.unproven, rows, identities),
        aliases=[
            (rows.trees[run.tree].pk, rows.revisions[run.tree, run.revision].pk, found.alias)
            for run in runs
            if (found := identities.of.get(run.uuid)) is not None and found.alias
        ],
        warnings=rows.warnings,
        made=rows.made,
    )


def lock_current(uuids: Iterable[UUID]) -> dict[UUID, models.Run]:
    """The current runs of ``uuids``, which nobody withdraws until this transaction ends."""
    rows = models.Run.objects.current().filter(uuid__in=list(uuids)).order_by("pk")
    named = rows.select_related("kernel", "hardware", "mode", "aliased__hardware", "aliased__mode")
    locked = named.select_for_update(of=["self"], no_key=True)
    return {run.uuid: run for run in locked}


def _resolve(runs: Sequence[RunDocument], agent: Agent, *, register: bool) -> _Rows:
    """The rows that ``runs`` name. Raises with every problem that it found, not the first. Raises
    Unprocessable: hardware that nobody registered, a revision without a place on its tree, a metric
    with another unit than it is known with; Forbidden: hardware of another lab.
    """
    remarks, lab = Remarks(), agent.lab
    problems = remarks.problems
    hardware = _hardware(runs, problems, lab if register else None)
    made = Stored()
    trees = named_rows.trees_named({run.tree for run in runs}, made)
    metrics = _metrics(runs, remarks)
    revisions = place_revisions(runs, trees, agent, remarks)
    if problems:
        raise Unprocessable(problems)
    if foreign := named_rows.foreign_hardware(_named(runs), hardware, lab.pk):
        raise Forbidden(foreign)
    modes = named_rows.modes_named(run.mode for run in runs)
    variants = named_rows.variants_of(run.variant for run in runs if run.variant)
    named = _Rows(trees, revisions, hardware, modes, metrics, variants, remarks.warnings, made)
    aliases = aliases_in_force(lab.pk)
    return _with_aliased(runs, named, aliases) if aliases else named


def _hardware(
    runs: Sequence[RunDocument], problems: list[Problem], register_for: Lab | None
) -> dict[str, models.Hardware]:
    found = named_rows.remembered_hardware({run.hardware for run in runs}, register_for)
    problems += named_rows.unknown_hardware(_named(runs), found)
    return found


def _named(runs: Sequence[RunDocument]) -> list[tuple[str, str]]:
    return [(f"runs[{i}].hardware", run.hardware) for i, run in enumerate(runs)]


def _with_aliased(runs: Sequence[RunDocument], rows: _Rows, aliases: Sequence[Alias]) -> _Rows:
    """``rows`` with what the names of ``runs`` stand for, of those where that is something else."""
    sent = {run.uuid: rows.sent_names_of(run) for run in runs}
    found = {}
    for run in runs:
        mode = rows.modes[str(run.mode)].parts
        names = meant(sent[run.uuid].hardware, mode, _filing(run, rows), aliases)
        if names != (sent[run.uuid].hardware, mode):
            found[run.uuid] = names
    modes = named_rows.modes_named(mode for _, mode in found.values()) if found else {}
    aliased = {
        uuid: named_rows.HardwareAndMode(pk, modes[str(mode)].pk)
        for uuid, (pk, mode) in found.items()
    }
    return replace(rows, aliased=aliased, modes={**rows.modes, **modes})


def _filing(run: RunDocument, rows: _Rows) -> Filing:
    """Where the run lies, as `aliases` has it of a stored one."""
    place = rows.revisions[run.tree, run.revision]
    seen = run.evidence
    called = (seen.directory, seen.label, seen.session_name) if seen else ()
    tree = rows.trees[run.tree].pk
    return Filing(tree, None if place.is_waiting else place.position, called)


def _filed(runs: Sequence[RunDocument], rows: _Rows, identities: Identities) -> list[FiledRun]:
    options = {mode.pk: mode.options for mode in rows.modes.values()}
    return [_filed_run(run, rows, options, identities) for run in runs]


def _filed_run(
    run: RunDocument, rows: _Rows, options: Mapping[int, Sequence[str]], identities: Identities
) -> FiledRun:
    sent, tree = rows.sent_names_of(run), rows.trees[run.tree].pk
    names = rows.aliased.get(run.uuid, sent)
    variant = rows.variants[run.variant_name].pk if run.variant else None
    return FiledRun(
        document=run,
        tree=tree,
        revision=rows.revisions[run.tree, run.revision],
        sent=sent,
        names=names,
        options=options[names.mode],
        variant=variant,
        series={
            one.name: (tree, *names, rows.metrics[one.name].pk, variant or named_rows.PLAIN)
            for one in run.metrics
        },
        as_sent=_as_sent(run),
        identity=identities.of.get(run.uuid, Identity(run.revision)),
        left_out=identities.left_out.get(run.uuid, ""),
    )


def _metrics(runs: Sequence[RunDocument], remarks: Remarks) -> dict[str, models.Metric]:
    """The first upload proposes unit and direction. Numbers in another unit cannot be pooled; which
    direction is better changes no number, and is an operator's to decide.
    """
    first = {metric.name: metric for run in reversed(runs) for metric in run.metrics}
    found = named_rows.metrics_named(first)
    for i, run in enumerate(runs):
        for metric in run.metrics:
            known = found[metric.name]
            if metric.unit != known.unit:
                remarks.problems.append(_other_unit(i, metric, known))
            elif metric.better != known.better:
                remarks.warnings[run.uuid].append(_other_direction(metric, known))
    return found


def _other_unit(index: int, metric: MetricDocument, known: models.Metric) -> Problem:
    return Problem(
        f"runs[{index}].metrics.{metric.name}.unit",
        f"{metric.name} has unit {known.unit!r} here, not {metric.unit!r}; send it under another "
        "metric name or as it is known (an operator may correct the unit of a metric)",
    )


def _other_direction(metric: MetricDocument, known: models.Metric) -> str:
    return (
        f"of {metric.name}, {known.better} is better here, not {metric.better}: the run is stored "
        "and judged so until an operator changes the metric"
    )


def _as_sent(run: RunDocument) -> dict[str, Any] | None:
    sent = run.as_sent or run
    if str(sent.mode) == str(run.mode) and not sent.variant:
        return None
    return {"mode": str(sent.mode), "variant": [part.to_data() for part in sent.variant]}


def _differing(
    changed: Sequence[FiledRun], stored: Mapping[UUID, models.Run]
) -> dict[UUID, list[str]]:
    """UUID → the fields in which a document differs from the stored run.

    Digests are of documents; names may have moved since (hardware renamed, modes merged), so the
    rows decide.
    """
    kept: dict[int, dict[int, models.Measurement]] = {}
    measured = models.Measurement.objects.filter(run__in=[stored[run.uuid] for run in changed])
    for measurement in measured.select_related("series"):
        kept.setdefault(measurement.run_id, {})[measurement.series.metric_id] = measurement
    histograms: dict[int, dict[str, models.RunHistograms]] = {}
    for one in models.RunHistograms.objects.filter(run__in=[stored[run.uuid] for run in changed]):
        histograms.setdefault(one.run_id, {})[one.name] = one
    differing = {}
    for run in changed:
        row = stored[run.uuid]
        fields = [
            *_differing_fields(run, row),
            *_differing_metrics(run, kept.get(row.pk, {})),
            *_differing_histograms(run.document, histograms.get(row.pk, {})),
        ]
        if fields:
            differing[run.uuid] = fields
    return differing


def _differing_fields(run: FiledRun, row: models.Run) -> list[str]:
    kept, document = names_as_sent(row), run.document
    is_renamed = kept.mode.name in document.former_names
    sent = {
        "hardware": run.sent.hardware,
        "revision": run.revision.pk,
        "mode": run.sent.mode,
        "variant": run.variant,
        "build_id": document.build_id,
        "kernel_ident": document.kernel_ident,
        "measured_at": document.measured_at,
    }
    measured = {
        "hardware": kept.hardware.pk,
        "revision": row.revision_id,
        "mode": run.sent.mode if is_renamed else kept.mode.pk,
        "variant": run.variant if is_renamed else row.variant_id,
        "build_id": row.kernel.build_id,
        "kernel_ident": row.kernel.ident,
        "measured_at": row.measured_at,
    }
    return [name for name, value in sent.items() if value != measured[name]]


def _differing_metrics(run: FiledRun, kept: Mapping[int, models.Measurement]) -> list[str]:
    fields, sent = [], set()
    for metric in run.document.metrics:
        _, _, _, pk, _ = run.series[metric.name]
        sent.add(pk)
        row = kept.get(pk)
        if row is None:
            fields.append(f"metrics.{metric.name}")
        elif row.samples != metric.samples:
            fields.append(f"metrics.{metric.name}.samples")
        elif row.boots != metric.boots:
            fields.append(f"metrics.{metric.name}.boots")
    return fields + ["metrics" for pk in kept if pk not in sent]


def _differing_histograms(run: RunDocument, kept: Mapping[str, models.RunHistograms]) -> list[str]:
    """Of what differs in no quantile. (What is there on one side only has other metrics, too.)"""
    sent = {one.name: (one.packed, one.boots) for one in run.histograms}
    stored = {name: (one.unpacked.packed, one.boots) for name, one in kept.items()}
    differing = {name for name in sent | stored if sent.get(name) != stored.get(name)}
    return [f"metrics.{name}.histograms" for name in sorted(differing)]


def _conflicts(runs: Sequence[RunDocument], differing: Mapping[UUID, list[str]]) -> list[Problem]:
    """The refusal of documents that differ from stored runs and were not to replace them."""
    return [
        Problem(
            f"runs[{i}].{field}",
            f"run {run.uuid} is stored with another {field}; "
            "send a new UUID, or `replace` to let this one take its place",
        )
        for i, run in enumerate(runs)
        for field in differing.get(run.uuid, [])
    ]
