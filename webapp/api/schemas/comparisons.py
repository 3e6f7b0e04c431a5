"""Two sets of runs compared."""

from ninja import Schema
from pydantic import (
    BaseModel,
)


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
