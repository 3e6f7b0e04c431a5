"""What was measured at each value of a knob."""

from pydantic import BaseModel


class KnobPointOut(BaseModel):
    """The samples of one mode at the revision, pooled, in the metric's unit. ``number`` is the
    value as one, null where it is none; ``better`` is ``more`` or ``less``, as set for the series.
    """

    value: str
    number: float | None
    series: int
    mode: str
    better: str
    n: int
    median: float
    min: float
    max: float
    runs_disagree: bool


class KnobCurveOut(BaseModel):
    """All values in one mode, which is named without the knob: numbers in order, then words."""

    mode: str
    points: list[KnobPointOut]


class KnobsOut(BaseModel):
    """The curves of a knob at one revision; null and none where nothing was measured."""

    tree: str
    hardware: str
    metric: str
    knob: str
    unit: str | None
    revision: str | None
    curves: list[KnobCurveOut]
