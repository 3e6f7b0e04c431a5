"""Store runs, and analyse the series that they changed."""

from webapp.analysis.services.findings import FEWEST_REVISIONS
from webapp.analysis.services.steps import (
    claim_series,
    compare_and_detect,
    finish,
    mark_for_analysis,
    store_findings,
)
from webapp.analysis.services.storing import store_job_result, store_runs

__all__ = [
    "FEWEST_REVISIONS",
    "claim_series",
    "compare_and_detect",
    "finish",
    "mark_for_analysis",
    "store_findings",
    "store_job_result",
    "store_runs",
]
