"""Runs, as they are uploaded and as they were stored."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from webapp.api.schemas import types
from webapp.results import models
from webapp.results.services import Evidence, MetricDocument, Recorded, RunDocument
from webapp.stats.histograms import DERIVED, Histogram, Histograms, derived_name
from webapp.stats.metrics import LARGEST_SAMPLE, RANGE, is_sample

MOST_RUNS = 500


MOST_SAMPLES = 10_000


MOST_MARKS = 10_000


MOST_BUCKETS = 10_000


MOST_COUNTED = 2**53
"""Whole numbers that every reader of JSON holds exactly."""


MOST_HISTOGRAMS = 1000


MOST_METRICS = 50


MOST_OPTIONS = 20


class ModeIn(types.Strict):
    """What was measured: a workload, its traffic, and the options that were set."""

    workload: types.ModePart
    traffic: types.ModePart | None = None
    options: Annotated[list[types.ModePart], Field(max_length=MOST_OPTIONS)] = []

    @model_validator(mode="after")
    def fits_when_written(self) -> Self:
        """Refuse a mode whose name would be longer than a name may be."""
        written = len(str(self.name()))
        if written > models.NAME_MAX:
            raise ValueError(
                f"is {written} characters long when written workload[@traffic][+option…]; "
                f"shorten its parts to {models.NAME_MAX} in all"
            )
        return self

    def name(self) -> models.ModeName:
        """The mode with its options in order, as series name it."""
        return models.ModeName.of(self.workload, self.traffic, self.options)


class MarkIn(types.Strict):
    """What may be wrong with the sample of this index (from 0): a kind, and a sentence with the
    figures. A kind that is not known is refused; leave the entry out then.
    """

    sample: Annotated[int, Field(strict=True, ge=0, lt=MOST_SAMPLES)]
    kind: Literal[
        "sender-saturated",
        "all-arrived",
        "warm-up",
        "zero-seconds",
        "missing-seconds",
        "too-few-seconds",
        "clock-step",
        "throttled",
    ]
    text: Annotated[types.Text, Field(min_length=1, max_length=500)]


class VariantPartIn(types.Strict):
    """One thing that the kernel was built from besides its revision: a patch, an image or a
    vendor's branch. ``checksum`` (of the patch's or image's file, hexadecimal) separates two of one
    name apart.
    """

    kind: Literal["patch", "image", "vendor"]
    name: types.ModePart
    checksum: Annotated[
        str, StringConstraints(pattern=r"^([0-9a-f]{8,128})?$", max_length=128, strict=True)
    ] = ""

    def part(self) -> models.VariantPart:
        """The part as the services take it."""
        return models.VariantPart(self.kind, self.name, self.checksum)


class HistogramIn(types.Strict):
    """How often each value was there, ascending. It is kept in buckets of 0.4 to 0.8 %."""

    values: Annotated[
        list[Annotated[float, Field(strict=True, ge=0, le=LARGEST_SAMPLE, allow_inf_nan=False)]],
        Field(min_length=1, max_length=MOST_BUCKETS),
    ]
    counts: Annotated[
        list[Annotated[int, Field(strict=True, ge=1, le=MOST_COUNTED)]],
        Field(min_length=1, max_length=MOST_BUCKETS),
    ]

    @field_validator("values")
    @classmethod
    def values_ascend(cls, values: list[float]) -> list[float]:
        """Refuse values that are there twice, out of order or too small for a sample."""
        for at, (before, value) in enumerate(pairwise(values), 1):
            if value <= before:
                raise ValueError(
                    f"entry {at} ({value:g}) is not above the one before ({before:g}); "
                    "give each value once, in ascending order, with its count"
                )
        if not all(map(is_sample, values[:2])):
            raise ValueError(f"must be {RANGE}; choose another unit")
        return values

    @field_validator("counts")
    @classmethod
    def counts_match_values(cls, counts: list[int], info: ValidationInfo) -> list[int]:
        """Refuse counts that are not one for each value, or too many in all."""
        values = info.data.get("values")
        if values is not None and len(values) != len(counts):
            raise ValueError(f"has {len(counts)} counts for {len(values)} values; give one a value")
        if sum(counts) > MOST_COUNTED:
            raise ValueError(f"are more than {MOST_COUNTED} in all; send several histograms")
        return counts

    def histogram(self) -> Histogram:
        """In the buckets that are kept."""
        return Histogram.of(self.values, self.counts)


class MetricIn(types.Strict):
    """One metric in its unit: its ``samples`` in the order in which they were measured, or its
    ``histograms``, one a boot or iteration, of which the series NAME_p50, _p90, _p99, _p99.9 and
    _max are derived. The histograms of one boot count together."""

    unit: Annotated[types.Line, Field(min_length=1, max_length=50)]
    better: Literal["more", "less"]
    samples: Annotated[list[types.Sample], Field(min_length=1, max_length=MOST_SAMPLES)] | None = (
        None
    )
    histograms: (
        Annotated[list[HistogramIn], Field(min_length=1, max_length=MOST_HISTOGRAMS)] | None
    ) = None
    boots: Annotated[list[types.Boot], Field(max_length=MOST_SAMPLES)] | None = Field(
        None, description="The index of the boot of each sample or histogram; null when unknown."
    )

    validity: Annotated[list[MarkIn], Field(max_length=MOST_MARKS)] = Field(
        [], description="What may be wrong with single samples: docs/results.md."
    )

    @field_validator("validity")
    @classmethod
    def marks_are_of_samples(cls, marks: list[MarkIn], info: ValidationInfo) -> list[MarkIn]:
        """Refuse marks of samples that are not there."""
        samples = info.data.get("samples")
        if marks and info.data.get("histograms"):
            raise ValueError("is about samples, and there are histograms; leave it out")
        for number, mark in enumerate(marks):
            if samples is not None and mark.sample >= len(samples):
                raise ValueError(
                    f"entry {number} is about sample {mark.sample}, but there are {len(samples)}; "
                    "give the index of a sample, from 0"
                )
        return marks

    @field_validator("boots")
    @classmethod
    def boots_match_samples(cls, boots: list[int] | None, info: ValidationInfo) -> list[int] | None:
        """Refuse boots that are not one for each sample or histogram."""
        given = {name: info.data.get(name) for name in ("samples", "histograms")}
        for name, of in given.items():
            if boots is not None and of is not None and len(boots) != len(of):
                raise ValueError(
                    f"has {len(boots)} boots for {len(of)} {name}; "
                    f"give one a {name[:-1]}, or null when they are unknown"
                )
        return boots

    @model_validator(mode="after")
    def is_one_of_both(self) -> Self:
        """Refuse a metric with samples and histograms, or with neither."""
        if (self.samples is None) == (self.histograms is None):
            raise ValueError("needs either samples or histograms; give one of the two")
        return self

    def distribution(self, name: str) -> Histograms | None:
        """Its histograms; None: it has samples."""
        if self.histograms is None:
            return None
        return Histograms.of(name, [one.histogram() for one in self.histograms], self.boots)

    def documents(self, name: str, distribution: Histograms | None) -> Iterator[MetricDocument]:
        """The metric as the services take it, or those that are derived of it."""
        if distribution is not None:
            for derived, (samples, boots) in distribution.samples().items():
                yield MetricDocument(derived, self.unit, self.better, samples, boots)
            return
        marks = tuple(models.Mark(mark.sample, mark.kind, mark.text) for mark in self.validity)
        yield MetricDocument(name, self.unit, self.better, self.samples or [], self.boots, marks)


class SourceIn(types.Strict):
    """A file that the run was read from."""

    path: Annotated[types.Text, Field(max_length=1000)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class EvidenceIn(types.Strict):
    """What the agent read of the run's commit before any rule; empty: it was not there.

    ``kernel_hash`` and ``kernel_revision`` are from the kernel's version string, ``image_revision``
    and ``label_revision`` from the names of image and result directory. The server files the run by
    them, and ``revision`` is only what it is sent as. ``trust``: whom to believe where kernel and
    names state two commits; without it such a run waits. ``session`` is what runs that were
    measured together are called, else their label. ``former_mode``: the mode as agents before this
    one named it, where that was another; a run that is stored under it moves.
    """

    label: Annotated[types.Line, Field(max_length=300)] = ""
    image: Annotated[types.Line, Field(max_length=300)] = ""
    directory: Annotated[types.Text, Field(max_length=1000)] = ""
    kernel_hash: Annotated[str, StringConstraints(pattern="^([0-9a-f]{7,40})?$", max_length=40)] = (
        ""
    )
    kernel_revision: types.RevisionName | Literal[""] = ""
    image_revision: types.RevisionName | Literal[""] = ""
    label_revision: types.RevisionName | Literal[""] = ""
    trust: Literal["", "kernel", "label"] = ""
    session: Annotated[types.Line, Field(max_length=300)] = ""
    former_mode: types.FormerMode = ""


class RunIn(types.Strict):
    """One build of one kernel, measured on one hardware in one mode."""

    uuid: UUID
    tree: types.Name
    revision: types.RevisionName
    position: Annotated[int, Field(strict=True, ge=0, lt=2**62)] | None = Field(
        None, description="The revision's place, where neither its id nor history gives it."
    )
    hardware: types.HardwareName
    mode: ModeIn
    variant: Annotated[list[VariantPartIn], Field(max_length=MOST_OPTIONS)] = Field(
        [],
        description="What the kernel was built from besides its revision, in the order in which it "
        "was put on; empty: nothing, or what the rules find among the options of the mode.",
    )
    metrics: Annotated[dict[types.Name, MetricIn], Field(min_length=1, max_length=MOST_METRICS)]
    build_id: Annotated[types.Line, Field(min_length=1, max_length=300)]
    kernel_ident: Annotated[types.Text, Field(max_length=2000)] = ""
    measured_at: types.Moment | None = None
    evidence: EvidenceIn | None = None
    facts: types.Facts = {}
    sources: Annotated[list[SourceIn], Field(max_length=10_000)] = []
    warnings: Annotated[
        list[Annotated[types.Text, Field(max_length=2000)]], Field(max_length=1000)
    ] = []

    @field_validator("variant")
    @classmethod
    def variant_fits_when_written(cls, parts: list[VariantPartIn]) -> list[VariantPartIn]:
        """Refuse a part that is named twice, and a variant whose name would be too long."""
        written = [str(one.part()) for one in parts]
        if len(set(written)) < len(written):
            raise ValueError("names a part twice; name each once")
        if len("+".join(written)) > models.NAME_MAX:
            raise ValueError(
                f"is longer than {models.NAME_MAX} characters when written; shorten its parts"
            )
        return parts

    @field_validator("metrics")
    @classmethod
    def derived_are_not_sent(cls, metrics: dict[str, MetricIn]) -> dict[str, MetricIn]:
        """Refuse a quantile beside the histograms that it is derived of, and one too many."""
        derived = {
            derived_name(name, quantile): name
            for name, one in metrics.items()
            if one.histograms is not None
            for quantile in DERIVED
        }
        for name in sorted(derived.keys() & metrics.keys()):
            raise ValueError(f"has {name} and the histograms of {derived[name]}; leave {name} out")
        plain = [name for name, one in metrics.items() if one.histograms is None]
        if len(derived) + len(plain) > MOST_METRICS:
            raise ValueError(
                f"are {len(derived) + len(plain)}, {len(DERIVED)} of each that has histograms; "
                f"send at most {MOST_METRICS} in one run"
            )
        return metrics

    def document(self) -> RunDocument:
        """The run as the services take it."""
        histograms = {name: one.distribution(name) for name, one in self.metrics.items()}
        return RunDocument(
            uuid=self.uuid,
            tree=self.tree,
            revision=self.revision,
            hardware=self.hardware,
            mode=self.mode.name(),
            metrics=[
                document
                for name, one in self.metrics.items()
                for document in one.documents(name, histograms[name])
            ],
            build_id=self.build_id,
            kernel_ident=self.kernel_ident,
            measured_at=self.measured_at,
            position=self.position,
            facts=self.facts,
            sources=[{"path": source.path, "sha256": source.sha256} for source in self.sources],
            warnings=self.warnings,
            evidence=Evidence(**dict(self.evidence)) if self.evidence else None,
            variant=tuple(one.part() for one in self.variant),
            histograms=[one for one in histograms.values() if one is not None],
        )


class BatchIn(types.Strict):
    """One to 500 runs, stored whole or not at all."""

    runs: Annotated[list[RunIn], Field(min_length=1, max_length=MOST_RUNS)]


class RunOut(BaseModel):
    """What became of a run. ``waiting``: it is stored, and takes no part until somebody decides
    which commit it measured. ``refiled``: it was known, and its evidence moved it to another
    commit or mode. ``warnings``: it was taken, and not quite as it was sent."""

    uuid: UUID
    status: Literal["stored", "replaced", "known", "waiting", "refiled"]
    warnings: list[str]


class RecordedOut(BaseModel):
    """How many runs were stored, replaced or known, how many of all these wait for a decision, and
    each of them in the order sent."""

    stored: int
    replaced: int
    known: int
    waiting: int
    runs: list[RunOut]


def recorded_out(runs: list[RunIn], recorded: Recorded) -> dict[str, Any]:
    """What became of the runs that were sent."""
    status = dict.fromkeys(recorded.stored, "stored") | dict.fromkeys(recorded.replaced, "replaced")
    status |= dict.fromkeys(recorded.refiled, "refiled")
    status |= dict.fromkeys(recorded.waiting, "waiting")
    return {
        "stored": len(recorded.stored),
        "replaced": len(recorded.replaced),
        "known": len(recorded.known),
        "waiting": len(recorded.waiting),
        "runs": [
            {
                "uuid": run.uuid,
                "status": status.get(run.uuid, "known"),
                "warnings": recorded.warnings.get(run.uuid, []),
            }
            for run in runs
        ],
    }
