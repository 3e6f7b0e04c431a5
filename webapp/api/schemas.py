"""What the API takes and gives. Types are strict: a number is not a string, and never NaN."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from django.utils import timezone
from ninja import Schema
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from webapp.api.facts import Facts
from webapp.results.bounds import (
    EARLIEST,
    HARDWARE_MAX,
    INVISIBLE,
    searchable,
    wrong_with_line,
    wrong_with_text,
)
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.modes import NAME_MAX, PART_MAX, PART_PATTERN, ModeName
from webapp.stats.limits import LARGEST_SAMPLE, RANGE, is_sample

MOST_RUNS = 500
MOST_SAMPLES = 10_000
MOST_METRICS = 50
MOST_OPTIONS = 20
CLOCK_TOLERANCE = timedelta(days=1)
ISO_8601 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)


def _sound(text: str) -> str:
    if fault := wrong_with_text(text):
        raise ValueError(fault)
    return text


def _sound_line(text: str) -> str:
    if fault := wrong_with_line(text):
        raise ValueError(fault)
    return text


def _within_the_calendar(moment: datetime) -> datetime:
    if moment < EARLIEST:
        raise ValueError(f"lies before {EARLIEST:%Y-%m-%d}; send null where it is not known")
    if moment > timezone.now() + CLOCK_TOLERANCE:
        raise ValueError("lies in the future; check the clock and the time zone")
    return moment


def _text_of_a_moment(value: Any) -> Any:
    """Not what else a parser of times may take, a bare number of seconds above all."""
    if not isinstance(value, str) or not ISO_8601.fullmatch(value):
        raise ValueError("must be an ISO 8601 time with its zone, as 2016-08-02T10:00:00Z, or null")
    return value


def _sample(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")  # noqa: TRY004 (pydantic reports ValueError)
    if not is_sample(value):
        raise ValueError(f"must be {RANGE}; choose another unit, or leave the sample out")
    return value


Asked = Annotated[str, AfterValidator(searchable)]
"""What a query looks for; a name that is not known finds nothing."""

Name = Annotated[
    str, StringConstraints(pattern=rf"^[^\s:/?#&{INVISIBLE}]+$", max_length=100, strict=True)
]
HardwareName = Annotated[
    str,
    StringConstraints(
        pattern=rf"^[^\s:/?#&{INVISIBLE}]+(/[^\s:/?#&{INVISIBLE}]+)*$",
        max_length=HARDWARE_MAX,
        strict=True,
    ),
]
ModePart = Annotated[
    str, StringConstraints(pattern=f"^{PART_PATTERN}$", max_length=PART_MAX, strict=True)
]
RevisionName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64, strict=True)
]
Text = Annotated[str, Field(strict=True), AfterValidator(_sound)]
Line = Annotated[str, Field(strict=True), AfterValidator(_sound_line)]
"""Text without a line end."""

Sample = Annotated[
    float,
    Field(allow_inf_nan=False, ge=-LARGEST_SAMPLE, le=LARGEST_SAMPLE),
    BeforeValidator(_sample),
]
Boot = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]


class Strict(BaseModel):
    """Input. Not ninja's Schema: its getter for model attributes doubles the cost of a batch."""

    model_config = ConfigDict(extra="forbid")


class ModeIn(Strict):
    workload: ModePart
    traffic: ModePart | None = None
    options: Annotated[list[ModePart], Field(max_length=MOST_OPTIONS)] = []

    @model_validator(mode="after")
    def fits_when_written(self) -> Self:
        written = len(str(self.name()))
        if written > NAME_MAX:
            raise ValueError(
                f"is {written} characters long when written workload[@traffic][+option…]; "
                f"shorten its parts to {NAME_MAX} in all"
            )
        return self

    def name(self) -> ModeName:
        return ModeName.of(self.workload, self.traffic, self.options)


class MetricIn(Strict):
    unit: Annotated[Line, Field(min_length=1, max_length=50)]
    better: Literal["more", "less"]
    samples: Annotated[list[Sample], Field(min_length=1, max_length=MOST_SAMPLES)]
    boots: Annotated[list[Boot], Field(max_length=MOST_SAMPLES)] | None = Field(
        None, description="The index of the boot of each sample; null when unknown."
    )

    @field_validator("boots")
    @classmethod
    def boots_match_samples(cls, boots: list[int] | None, info: ValidationInfo) -> list[int] | None:
        samples = info.data.get("samples")
        if boots is not None and samples is not None and len(boots) != len(samples):
            raise ValueError(
                f"has {len(boots)} boots for {len(samples)} samples; "
                "give one a sample, or null when they are unknown"
            )
        return boots


class SourceIn(Strict):
    path: Annotated[Text, Field(max_length=1000)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class RunIn(Strict):
    """One build of one kernel, measured on one hardware in one mode."""

    uuid: UUID
    tree: Name
    revision: RevisionName
    position: Annotated[int, Field(strict=True, ge=0, lt=2**62)] | None = Field(
        None, description="The revision's place, where neither its id nor history tells it."
    )
    hardware: HardwareName
    mode: ModeIn
    metrics: Annotated[dict[Name, MetricIn], Field(min_length=1, max_length=MOST_METRICS)]
    build_id: Annotated[Line, Field(min_length=1, max_length=300)]
    kernel_ident: Annotated[Text, Field(max_length=2000)] = ""
    measured_at: (
        Annotated[
            AwareDatetime,
            BeforeValidator(_text_of_a_moment),
            AfterValidator(_within_the_calendar),
        ]
        | None
    ) = None
    facts: Facts = {}
    sources: Annotated[list[SourceIn], Field(max_length=10_000)] = []
    warnings: Annotated[list[Annotated[Text, Field(max_length=2000)]], Field(max_length=1000)] = []

    def document(self) -> RunDocument:
        return RunDocument(
            uuid=self.uuid,
            tree=self.tree,
            revision=self.revision,
            hardware=self.hardware,
            mode=self.mode.name(),
            metrics=[
                MetricDocument(name, one.unit, one.better, one.samples, one.boots)
                for name, one in self.metrics.items()
            ],
            build_id=self.build_id,
            kernel_ident=self.kernel_ident,
            measured_at=self.measured_at,
            position=self.position,
            facts=self.facts,
            sources=[{"path": source.path, "sha256": source.sha256} for source in self.sources],
            warnings=self.warnings,
        )


class BatchIn(Strict):
    """One to 500 runs, stored whole or not at all."""

    runs: Annotated[list[RunIn], Field(min_length=1, max_length=MOST_RUNS)]


class RunOut(BaseModel):
    """What became of a run. ``warnings``: it was taken, and not quite as it was sent."""

    uuid: UUID
    status: Literal["stored", "replaced", "known"]
    warnings: list[str]


class RecordedOut(BaseModel):
    stored: int
    replaced: int
    known: int
    runs: list[RunOut]


class ProblemOut(Schema):
    path: str
    message: str


class ErrorBody(Schema):
    code: str
    message: str
    remedy: str
    details: list[ProblemOut] = []


class ErrorOut(Schema):
    error: ErrorBody


class HardwareIn(Strict):
    name: HardwareName
    description: Annotated[Text, Field(max_length=2000)] = ""
    facts: Facts = {}


class HardwareOut(Schema):
    name: str
    lab: str
    description: str
    facts: dict[str, Any]


class HardwareList(Schema):
    hardware: list[HardwareOut]


class WhoOut(Schema):
    agent: str
    lab: str
    time: datetime


class SeriesOut(Schema):
    id: int
    tree: str
    hardware: str
    mode: str
    metric: str
    unit: str
    better: str
    version: int
    analysed: bool


class SeriesList(Schema):
    series: list[SeriesOut]


class FindingOut(BaseModel):
    """A change of level. The suspects are the commits after ``after`` up to ``last``."""

    state: str
    verdict: str
    revision: str
    previous: str
    after: str
    first: str
    last: str
    confirmed_by: str | None
    recovered_by: str | None
    here: float
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None
    level_before: float
    level: float
    probability: float
    why: str
    first_detected_at: datetime


class AlertOut(BaseModel):
    """All findings that point at one commit. The suspects are those after ``after`` up to
    ``revision``; ``likeliest`` is the one that most findings name, the first measured at the new
    level. ``commit`` is the cause: null while no commit holds 80 % of the chance alone. Until then
    ``commits`` share ``chance``; null where only one of them is known, and others may be."""

    number: int
    url: str
    tree: str
    revision: str
    after: str
    likeliest: str
    commit: str | None
    commits: int | None
    chance: float
    verdict: str
    state: str
    resolution: str | None
    resolution_revision: str | None
    duplicate_of: int | None
    snoozed_until: datetime | None
    snoozed_until_revision: str | None
    history: bool
    standing: bool
    opened_at: datetime
    updated_at: datetime
    version: int


class AlertList(BaseModel):
    """Newest first; ``next`` is the ``before`` of the next page, null on the last."""

    alerts: list[AlertOut]
    next: int | None


class AlertFindingOut(FindingOut):
    """A finding with the series it is in."""

    hardware: str
    mode: str
    metric: str
    unit: str


class AlertEventOut(BaseModel):
    """What happened to an alert; ``actor`` is null where the system did it."""

    at: datetime
    kind: str
    actor: str | None
    reason: str


class UnmovedOut(BaseModel):
    """A series measured at the likeliest commit that holds no finding there, and its verdict."""

    hardware: str
    mode: str
    metric: str
    unit: str
    verdict: str
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None
    smallest_visible: float | None


class AlertDetail(AlertOut):
    """``candidates`` suspect the same commits and are not confirmed yet."""

    findings: list[AlertFindingOut]
    candidates: list[AlertFindingOut]
    unmoved: list[UnmovedOut]
    events: list[AlertEventOut]


class AnalysisOut(BaseModel):
    """What is said of the whole series: see docs/statistics.md."""

    levels: list[dict[str, Any]]
    noise: dict[str, Any] | None
    smallest: dict[str, Any] | None
    bimodal: bool
    drifting: bool
    why_not: str
    what_helps: str


class PointsOut(Schema):
    """Columns of equal length, one entry a revision, in order along the tree."""

    series: SeriesOut
    revision: list[str]
    position: list[int]
    committed_at: list[datetime | None]
    n: list[int]
    boots: list[int | None]
    builds: list[int]
    mean: list[float]
    median: list[float]
    sd: list[float | None]
    min: list[float]
    max: list[float]
    change_percent: list[float | None]
    change_percent_error: list[float | None]
    verdict: list[str | None]
    flag: list[str | None]
    findings: list[FindingOut]
    analysis: AnalysisOut | None


class DifferenceOut(Schema):
    delta: float | None
    error: float | None
    percent: float | None
    percent_error: float | None
    confidence: float
    pooled_sd: float | None
    proven: bool


class JudgedOut(BaseModel):
    """A verdict with what it rests on; percent of the base. Null: there is no such figure."""

    verdict: str
    negligible: bool
    percent: float | None
    low: float | None
    high: float | None
    smallest_visible: float | None
    margin: float
    confidence: float
    reason: str


class SetOut(Schema):
    side: int
    series: int
    label: str
    revision: str
    hardware: str
    mode: str
    n: int
    samples: list[float]
    mean: float | None
    median: float | None
    sd: float | None


class RowOut(Schema):
    key: str
    metric: str
    unit: str
    better: str
    sets: list[SetOut]
    differences: list[DifferenceOut | None]
    judged: list[JudgedOut]
    verdicts: list[str]
    ministat: str | None


class CompareOut(Schema):
    sides: list[str]
    unmatched: int
    rows: list[RowOut]
