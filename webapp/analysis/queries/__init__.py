from webapp.analysis.queries.compare import (
    MOST_SIDES,
    PARTS,
    ComparedRow,
    ComparedSet,
    ComparedTable,
    Side,
    SideError,
    compare_sides,
)
from webapp.analysis.queries.knobs import Curve, CurvePoint, curves_of
from webapp.analysis.queries.links import (
    READABLE,
    compare_link,
    side_of,
    sides_of,
    trend_link,
    with_query,
)
from webapp.analysis.queries.noise import build_noise_of
from webapp.analysis.queries.one_build import one_build_lines
from webapp.analysis.queries.verdicts import (
    BUILDS_DIFFER,
    RUNS_DISAGREE,
    PointVerdict,
    judge_points,
)

__all__ = [
    "BUILDS_DIFFER",
    "MOST_SIDES",
    "PARTS",
    "READABLE",
    "RUNS_DISAGREE",
    "ComparedRow",
    "ComparedSet",
    "ComparedTable",
    "Curve",
    "CurvePoint",
    "PointVerdict",
    "Side",
    "SideError",
    "build_noise_of",
    "compare_link",
    "compare_sides",
    "curves_of",
    "judge_points",
    "one_build_lines",
    "side_of",
    "sides_of",
    "trend_link",
    "with_query",
]
