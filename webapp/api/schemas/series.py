"""Series, their points, and what was found in them."""

from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import (
    BaseModel,
)


class SeriesOut(Schema):
    """A series; `version` grows with its points."""

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
    """Series by tree, hardware, mode and metric."""

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
    """Columns of equal length, one entry a revision, in order along the tree.

    ``unit_of_noise`` is the level whose scatter counts at a point alone (``build``, ``boot`` or
    ``run``, the highest of which it has two) and ``units`` how many of them it has; ``mean_low``
    and ``mean_high`` are the ends of the 95 % interval of the mean by that scatter. ``verdict``
    and what stands with it are ministat's, which takes every sample for independent.
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
    findings: list[FindingOut]
    analysis: AnalysisOut | None
