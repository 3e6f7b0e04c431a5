"""Third step of an upload: the rows that runs belong to (tree, revision, hardware, mode, variant,
metrics), and the stored runs that changed ones take the place of.

Each kind costs one query when everything is known, whatever the number of runs. What may be made
on the way is inserted with "on conflict do nothing" and read again, so that two uploads at once
make it once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from uuid import UUID

from webapp.labs.models import Agent, Lab
from webapp.labs.services import Stored
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.errors import Conflict, Forbidden, Problem, Unprocessable
from webapp.results.models import Hardware, Measurement, Metric, Mode, Run, Tree, Variant
from webapp.results.services.aliases import (
    Alias,
    Filing,
    aliases_in_force,
    meant,
    names_as_sent,
)
from webapp.results.services.named_rows import (
    PLAIN,
    HardwareAndMode,
    SeriesKey,
    foreign_hardware,
    metrics_named,
    modes_named,
    remembered_hardware,
    trees_named,
    unknown_hardware,
    variants_of,
)
from webapp.results.services.placing import Placed, Remarks, place_revisions
from webapp.results.services.upload.identifying import Identified

COMPARED_FIELDS = (
    "hardware",
    "revision",
    "mode",
    "variant",
    "build_id",
    "kernel_ident",
    "measured_at",
)


@dataclass(frozen=True)
class Subjects:
    """The rows that a batch of documents names, and the modes that these stand for. ``aliased``:
    what the names of runs stand for, where aliases of the lab have them filed under other ones.
    """

    trees: Mapping[str, Tree]
    revisions: Mapping[tuple[str, str], Placed]
    hardware: Mapping[str, Hardware]
    modes: Mapping[str, Mode]
    metrics: Mapping[str, Metric]
    variants: Mapping[str, Variant]
    aliased: Mapping[UUID, HardwareAndMode]
    warnings: Mapping[UUID, list[str]]
    made: Stored

    def series_key(self, run: RunDocument, metric: MetricDocument) -> SeriesKey:
        """The ids of what a metric of the run is about."""
        names = self.names_of(run)
        variant = self.variant_of(run) or PLAIN
        return (self.trees[run.tree].pk, *names, self.metrics[metric.name].pk, variant)

    def names_of(self, run: RunDocument) -> HardwareAndMode:
        """Under which hardware and mode the run is filed."""
        return self.aliased.get(run.uuid) or self.sent_names_of(run)

    def sent_names_of(self, run: RunDocument) -> HardwareAndMode:
        """Under which it was sent."""
        return HardwareAndMode(self.hardware[run.hardware].pk, self.modes[str(run.mode)].pk)

    def options_of(self, run: RunDocument) -> Collection[str]:
        """The options of the mode under which it is filed."""
        return self._options[self.names_of(run).mode]

    @cached_property
    def _options(self) -> dict[int, list[str]]:
        return {mode.pk: mode.options for mode in self.modes.values()}

    def variant_of(self, run: RunDocument) -> int | None:
        """The id of the run's variant; None: the plain kernel."""
        return self.variants[run.variant_name].pk if run.variant else None

    def revision_of(self, run: RunDocument) -> Placed:
        """The revision that the run measured."""
        return self.revisions[run.tree, run.revision]


@dataclass(frozen=True, slots=True)
class Filed:
    """``subjects`` are the rows of the runs; None where no run changes what is stored of them.
    ``former`` are the stored runs that ``replaced`` take the place of, in the same order.
    """

    identified: Identified
    subjects: Subjects | None = None
    replaced: Sequence[RunDocument] = ()
    former: Sequence[Run] = ()

    @property
    def documents(self) -> list[RunDocument]:
        """The runs that are written."""
        return [*self.identified.new, *self.replaced]

    @property
    def known(self) -> list[RunDocument]:
        """The runs that are stored already and stay."""
        written = {run.uuid for run in self.documents}
        return [run for run in self.identified.fresh if run.uuid not in written]


def file_runs(identified: Identified) -> Filed:
    """Find or make the rows that the runs name, and compare changed runs with the stored ones.

    Raises:
        Forbidden: a run is stored for another lab, or names hardware of one.
        Unprocessable: as `_resolve`.
        Conflict: a run is stored with other content and is not to be replaced.
    """
    if not identified.need_subjects:
        return Filed(identified)
    received, changed = identified.received, identified.changed
    runs, agent = identified.identities.runs, received.agent
    stored = lock_current(run.uuid for run in changed) if changed else {}
    _refuse_foreign_runs(runs, stored, agent.lab, replace=received.replace)
    # Indices in problems are those of the batch as it was sent, so all runs are resolved.
    subjects = _resolve(runs, agent, register=received.register)
    differing = _differing(changed, stored, subjects) if changed else {}
    if differing and not received.replace:
        raise Conflict(_conflicts(runs, differing))
    replaced = [run for run in changed if run.uuid in differing]
    return Filed(identified, subjects, replaced, [stored[run.uuid] for run in replaced])


def lock_current(uuids: Iterable[UUID]) -> dict[UUID, Run]:
    """The current runs of ``uuids``, which nobody withdraws until this transaction ends."""
    rows = Run.objects.current().filter(uuid__in=list(uuids)).order_by("pk")
    named = rows.select_related("hardware", "mode", "aliased__hardware", "aliased__mode")
    locked = named.select_for_update(of=["self"], no_key=True)
    return {run.uuid: run for run in locked}


def _refuse_foreign_runs(
    runs: Sequence[RunDocument], stored: Mapping[UUID, Run], lab: Lab, *, replace: bool
) -> None:
    """Raise Forbidden where a run is stored for hardware of another lab than ``lab``.

    Whose run it is follows from the stored one, whatever hardware the sent one names.
    """
    foreign = {uuid: run for uuid, run in stored.items() if run.hardware.lab_id != lab.pk}
    if not foreign:
        return
    problems = [
        Problem(
            f"runs[{i}].uuid",
            f"run {run.uuid} was measured on {foreign[run.uuid].hardware}, which belongs to "
            "another lab than this token",
        )
        for i, run in enumerate(runs)
        if run.uuid in foreign
    ]
    raise Forbidden(problems, attempted=[run.pk for run in foreign.values()] if replace else [])


def _resolve(runs: Sequence[RunDocument], agent: Agent, *, register: bool) -> Subjects:
    """The rows that ``runs`` name. Raises with every problem that it found, not the first.

    Raises:
        Unprocessable: hardware that nobody registered, a revision without a place on its tree,
            a metric with another unit than it is known with.
        Forbidden: hardware of another lab.
    """
    remarks, lab = Remarks(), agent.lab
    problems = remarks.problems
    hardware = _hardware(runs, problems, lab if register else None)
    made = Stored()
    trees = trees_named({run.tree for run in runs}, made)
    metrics = _metrics(runs, remarks)
    revisions = place_revisions(runs, trees, agent, remarks)
    if problems:
        raise Unprocessable(problems)
    if foreign := foreign_hardware(_named(runs), hardware, lab.pk):
        raise Forbidden(foreign)
    modes = modes_named(run.mode for run in runs)
    variants = variants_of(run.variant for run in runs if run.variant)
    named = Subjects(
        trees, revisions, hardware, modes, metrics, variants, {}, remarks.warnings, made
    )
    aliases = aliases_in_force(lab.pk)
    return _with_aliased(runs, named, aliases) if aliases else named


def _hardware(
    runs: Sequence[RunDocument], problems: list[Problem], register_for: Lab | None
) -> dict[str, Hardware]:
    found = remembered_hardware({run.hardware for run in runs}, register_for)
    problems += unknown_hardware(_named(runs), found)
    return found


def _named(runs: Sequence[RunDocument]) -> list[tuple[str, str]]:
    return [(f"runs[{i}].hardware", run.hardware) for i, run in enumerate(runs)]


def _with_aliased(
    runs: Sequence[RunDocument], subjects: Subjects, aliases: Sequence[Alias]
) -> Subjects:
    """``subjects`` with what the names of ``runs`` stand for, of those where that is something
    else."""
    sent = {run.uuid: subjects.sent_names_of(run) for run in runs}
    found = {}
    for run in runs:
        mode = subjects.modes[str(run.mode)].parts
        names = meant(sent[run.uuid].hardware, mode, _filing(run, subjects), aliases)
        if names != (sent[run.uuid].hardware, mode):
            found[run.uuid] = names
    modes = modes_named(mode for _, mode in found.values()) if found else {}
    named = {uuid: HardwareAndMode(pk, modes[str(mode)].pk) for uuid, (pk, mode) in found.items()}
    aliased = {uuid: names for uuid, names in named.items() if names != sent[uuid]}
    return replace(subjects, aliased=aliased, modes={**subjects.modes, **modes})


def _filing(run: RunDocument, subjects: Subjects) -> Filing:
    """Where the run lies, as `aliases` has it of a stored one."""
    place = subjects.revision_of(run)
    seen = run.evidence
    called = (seen.directory, seen.label, seen.session_name) if seen else ()
    tree = subjects.trees[run.tree].pk
    return Filing(tree, None if place.is_waiting else place.position, called)


def _metrics(runs: Sequence[RunDocument], remarks: Remarks) -> dict[str, Metric]:
    """The first upload proposes unit and direction. Numbers in another unit cannot be pooled; which
    direction is better changes no number, and is an operator's to decide.
    """
    first = {metric.name: metric for run in reversed(runs) for metric in run.metrics}
    found = metrics_named(first)
    for i, run in enumerate(runs):
        for metric in run.metrics:
            known = found[metric.name]
            if metric.unit != known.unit:
                remarks.problems.append(_other_unit(i, metric, known))
            elif metric.better != known.better:
                remarks.warnings[run.uuid].append(_other_direction(metric, known))
    return found


def _other_unit(index: int, metric: MetricDocument, known: Metric) -> Problem:
    return Problem(
        f"runs[{index}].metrics.{metric.name}.unit",
        f"{metric.name} has unit {known.unit!r} here, not {metric.unit!r}; send it under another "
        "metric name or as it is known (an operator may correct the unit of a metric)",
    )


def _other_direction(metric: MetricDocument, known: Metric) -> str:
    return (
        f"of {metric.name}, {known.better} is better here, not {metric.better}: the run is stored "
        "and judged so until an operator changes the metric"
    )


def _differing(
    changed: Sequence[RunDocument], stored: Mapping[UUID, Run], subjects: Subjects
) -> dict[UUID, list[str]]:
    """UUID → the fields in which a document differs from the stored run.

    Digests are of documents; names may have moved since (hardware renamed, modes merged), so the
    rows decide.
    """
    kept: dict[int, dict[int, Measurement]] = {}
    measured = Measurement.objects.filter(run__in=[stored[run.uuid] for run in changed])
    for measurement in measured.select_related("series"):
        kept.setdefault(measurement.run_id, {})[measurement.series.metric_id] = measurement
    differing = {}
    for run in changed:
        row = stored[run.uuid]
        fields = _differing_fields(run, row, subjects) + _differing_metrics(
            run, kept.get(row.pk, {}), subjects
        )
        if fields:
            differing[run.uuid] = fields
    return differing


def _differing_fields(run: RunDocument, row: Run, subjects: Subjects) -> list[str]:
    kept = names_as_sent(row)
    is_renamed = kept.mode.name in run.former_names
    names = subjects.sent_names_of(run)
    sent = {
        "hardware": names.hardware,
        "revision": subjects.revision_of(run).pk,
        "mode": names.mode,
        "variant": subjects.variant_of(run),
        "build_id": run.build_id,
        "kernel_ident": run.kernel_ident,
        "measured_at": run.measured_at,
    }
    measured = {
        "hardware": kept.hardware.pk,
        "revision": row.revision_id,
        "mode": names.mode if is_renamed else kept.mode.pk,
        "variant": subjects.variant_of(run) if is_renamed else row.variant_id,
        "build_id": row.build_id,
        "kernel_ident": row.kernel_ident,
        "measured_at": row.measured_at,
    }
    return [name for name in COMPARED_FIELDS if sent[name] != measured[name]]


def _differing_metrics(
    run: RunDocument, kept: dict[int, Measurement], subjects: Subjects
) -> list[str]:
    fields = []
    sent = {subjects.metrics[metric.name].pk: metric for metric in run.metrics}
    for pk, metric in sent.items():
        row = kept.get(pk)
        if row is None:
            fields.append(f"metrics.{metric.name}")
        elif row.samples != metric.samples:
            fields.append(f"metrics.{metric.name}.samples")
        elif row.boots != metric.boots:
            fields.append(f"metrics.{metric.name}.boots")
    return fields + ["metrics" for pk in kept if pk not in sent]


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
