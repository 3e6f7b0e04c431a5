"""What was measured, one file per part."""

from webapp.results.models.history import PlaceProposal, Revision, RevisionAlias, Tree
from webapp.results.models.refusals import RefusedReplacement
from webapp.results.models.runs import Measurement, Run
from webapp.results.models.series import Point, Series
from webapp.results.models.subjects import (
    Hardware,
    HardwareAlias,
    Metric,
    Mode,
    ModeAlias,
)

__all__ = [
    "Hardware",
    "HardwareAlias",
    "Measurement",
    "Metric",
    "Mode",
    "ModeAlias",
    "PlaceProposal",
    "Point",
    "RefusedReplacement",
    "Revision",
    "RevisionAlias",
    "Run",
    "Series",
    "Tree",
]
