"""The values of a knob as one curve."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import BaseModel, Field

from webapp.analysis.queries import CurvePoint, curves_of
from webapp.api.requests import same
from webapp.api.schemas.types import Asked, ErrorOut


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


router = Router(tags=["series"])


class Turned(Schema):
    """Which knob, and where."""

    tree: Asked
    hardware: Asked
    metric: Asked
    knob: Asked = Field(description="Its name: hw.cxgbe.nXxq of hw.cxgbe.nXxq=5")
    revision: Asked | None = Field(
        None, description="Without it: the newest that was measured at more than one value."
    )


@router.get(
    "/knobs", response={200: KnobsOut, 422: ErrorOut}, summary="One curve for all values of a knob"
)
def list_knobs(request: HttpRequest, turned: Query[Turned]) -> Any:
    """Modes that differ in nothing but its value are one curve, in the order of the numbers."""
    asked = same(turned, "tree", "hardware", "metric", "knob")
    found = curves_of(**asked, revision=turned.revision or "")
    units = {one.series.metric.unit for curve in found.curves for one in curve.points}
    return asked | {
        "unit": min(units, default=None),
        "revision": found.revision and found.revision.name,
        "curves": [
            {"mode": one.mode, "points": [_point(at) for at in one.points]} for one in found.curves
        ],
    }


def _point(one: CurvePoint) -> dict[str, Any]:
    return {
        "value": one.value,
        "number": one.number,
        "series": one.series.pk,
        "mode": one.series.mode.name,
        "better": one.series.better,
        "n": one.point.n,
        "median": one.point.median,
        "min": one.point.minimum,
        "max": one.point.maximum,
        "runs_disagree": one.point.disagrees,
    }
