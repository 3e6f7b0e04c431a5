"""In what documents differ from the runs that are stored under their UUIDs."""

from collections.abc import Sequence
from uuid import UUID

from webapp.results.documents import RunDocument
from webapp.results.errors import Problem
from webapp.results.models import Measurement, Run, RunHistograms
from webapp.results.services.aliased_runs import names_as_sent
from webapp.results.services.resolving import Subjects

COMPARED_FIELDS = (
    "hardware",
    "revision",
    "mode",
    "variant",
    "build_id",
    "kernel_ident",
    "measured_at",
)


def differing_fields(
    changed: Sequence[RunDocument], stored: dict[UUID, Run], subjects: Subjects
) -> dict[UUID, list[str]]:
    """UUID → the fields in which a document differs from the stored run.

    Digests are of documents; names may have moved since (hardware renamed, modes merged), so the
    rows decide.
    """
    kept: dict[int, dict[int, Measurement]] = {}
    measured = Measurement.objects.filter(run__in=[stored[run.uuid] for run in changed])
    for measurement in measured.select_related("series"):
        kept.setdefault(measurement.run_id, {})[measurement.series.metric_id] = measurement
    histograms: dict[int, dict[str, RunHistograms]] = {}
    for one in RunHistograms.objects.filter(run__in=[stored[run.uuid] for run in changed]):
        histograms.setdefault(one.run_id, {})[one.name] = one
    differing = {}
    for run in changed:
        row = stored[run.uuid]
        fields = [
            *_differing_fields(run, row, subjects),
            *_differing_metrics(run, kept.get(row.pk, {}), subjects),
            *_differing_histograms(run, histograms.get(row.pk, {})),
        ]
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


def _differing_histograms(run: RunDocument, kept: dict[str, RunHistograms]) -> list[str]:
    """Of what differs in no quantile. (What is there on one side only has other metrics, too.)"""
    sent = {one.name: (one.packed, one.boots) for one in run.histograms}
    stored = {name: (one.unpacked.packed, one.boots) for name, one in kept.items()}
    differing = {name for name in sent | stored if sent.get(name) != stored.get(name)}
    return [f"metrics.{name}.histograms" for name in sorted(differing)]


def conflicts(runs: Sequence[RunDocument], differing: dict[UUID, list[str]]) -> list[Problem]:
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
