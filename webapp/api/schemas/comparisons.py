"""Two sets of runs compared."""

from ninja import Schema
from pydantic import (
    BaseModel,
)


class DifferenceOut(Schema):
    """The difference of two means with its error, as ministat gives it; null: no figure."""

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
    """The samples of one series on one side, in the metric's unit."""

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
    """What is compared with each other: the sets of one mode, hardware and metric. Lists of
    differences, judgements and verdicts go by the sets after the base.
    """

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
    """The sides as they were asked for, and the rows that they have in common; `unmatched` counts
    what only some sides have.
    """

    sides: list[str]
    unmatched: int
    rows: list[RowOut]
