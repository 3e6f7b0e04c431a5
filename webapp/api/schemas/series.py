"""Series, their points, and what was found in them."""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import BaseModel

from webapp.api.schemas.comparisons import LeftOutOut, NetLossOut


class CostOut(Schema):
    """What a series is the cost of: the `option`, in the other `metric`. It is computed from the
    series (ids) `with_option` and `without_option`; null where there is such a one no more.
    """

    option: str
    metric: str
    with_option: int | None
    without_option: int | None


class SeriesOut(Schema):
    """A series; `version` grows with its points. `variant` is what its kernels were built from
    besides their revisions, empty for plain ones; nothing is looked for in series of variants.
    `kind` is `measured`, or `cost` where `cost` names what of: values with an option in percent of
    those without. Nobody uploads such a series.
    """

    id: int
    tree: str
    hardware: str
    mode: str
    metric: str
    variant: str
    unit: str
    better: str
    version: int
    analysed: bool
    kind: Literal["measured", "cost"]
    cost: CostOut | None


class SeriesList(Schema):
    """Series by tree, hardware, mode and metric."""

    series: list[SeriesOut]


class UploadOut(BaseModel):
    """One run of a point: the mean of its ``n`` samples, in the metric's unit."""

    uuid: str
    session: str
    build_id: str
    n: int
    mean: float


class DisagreementOut(BaseModel):
    """A point whose runs differ by more than their noise; it takes no part in findings until a run
    is withdrawn or somebody decides that they count together. The run ``second`` (its UUID; of
    ``of_sessions`` the name of the session) lies ``percent`` above ``first``; without a cause so
    much is seen with ``chance``, and more than ``limit`` would not be marked.
    """

    first: str
    second: str
    percent: float
    chance: float
    limit: float
    of_sessions: bool
    runs: list[UploadOut]


class ForeignSessionOut(BaseModel):
    """A point of ``session`` alone, which lies ``percent`` from those of ``home`` before it (empty:
    runs without a session). Unless it ``counts`` it takes no part in findings until another session
    agrees; otherwise it begins a stretch that is compared with itself alone until then.
    """

    session: str
    home: str
    percent: float
    counts: bool


class OneBuildOut(BaseModel):
    """What a loss was judged by that rests on so few builds that their scatter had to be believed.

    Without a change a loss as large is seen with ``chance``, which may be ``limit`` at most: less
    than .25 % where its commit has more than two ``pairs``. It is ``surely_percent`` or more with
    95 %. Believed: builds scatter by ``believed_build_percent``, in two series of three within
    ``believed_factor`` of it; from ``not_from_build_percent`` on it would not be found.
    """

    chance: float
    limit: float
    pairs: int
    builds_before: int
    builds_after: int
    surely_percent: float
    believed_build_percent: float
    believed_factor: float
    not_from_build_percent: float


class PartOut(BaseModel):
    """A part of a slow change: the level moved so much after one revision up to another."""

    after: str
    up_to: str
    change_percent: float


class FindingOut(BaseModel):
    """Mostly a change of level. The suspects are the commits after ``after`` up to ``last``; of
    other kinds no commit is blamed, and ``details`` has their shares, gap or ratio; of a slow
    change ``parts`` are the stretches that hold most of it, none where it went evenly. In the state
    ``one build`` it is no fact about a commit yet; ``one_build`` is null where the detector found
    it.
    """

    kind: str
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
    details: dict[str, float]
    parts: list[PartOut]
    one_build: OneBuildOut | None
    first_detected_at: datetime


class AnalysisOut(BaseModel):
    """The conclusions on the whole series: see docs/statistics.md."""

    levels: list[dict[str, Any]]
    net_loss: NetLossOut | None
    noise: dict[str, Any] | None
    smallest: dict[str, Any] | None
    bimodal: bool
    drifting: bool
    why_not: str
    what_helps: str


class PointsOut(Schema):
    """Columns of equal length, one entry a revision, in order along the tree.

    ``unit_of_noise`` is the level whose scatter counts at a point alone (``build``, ``boot`` or
    ``run``, the highest of which it has two) and ``units`` how many of them it has; ``mean_low``
    and ``mean_high`` are the ends of the 95 % interval of the mean by that scatter. ``verdict``
    and what stands with it are ministat's, which takes every sample for independent.
    ``samples_left_out`` are not in ``n`` and nowhere else.
    """

    series: SeriesOut
    revision: list[str]
    position: list[int]
    committed_at: list[datetime | None]
    n: list[int]
    boots: list[int | None]
    builds: list[int]
    unit_of_noise: list[str]
    units: list[int]
    mean_low: list[float | None]
    mean_high: list[float | None]
    mean: list[float]
    median: list[float]
    sd: list[float | None]
    min: list[float]
    max: list[float]
    change_percent: list[float | None]
    change_percent_error: list[float | None]
    verdict: list[str | None]
    flag: list[str | None]
    runs_disagree: list[bool]
    disagreement: list[DisagreementOut | None]
    foreign_session: list[ForeignSessionOut | None]
    samples_left_out: list[int]
    left_out: list[LeftOutOut | None]
    findings: list[FindingOut]
    other_findings: list[FindingOut]
    analysis: AnalysisOut | None
