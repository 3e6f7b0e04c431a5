"""Store runs, and analyse the series that they changed."""

from webapp.analysis.services.detecting import ALL_RUNS, Detected
from webapp.analysis.services.findings import FEWEST_REVISIONS
from webapp.analysis.services.steps import (
    are_as_read,
    claim_series,
    claim_stale,
    compare_and_detect,
    finish,
    mark_for_analysis,
    mark_stale,
    stale_among,
    store_findings,
)
from webapp.analysis.services.stored_findings import Other, as_rows
from webapp.analysis.services.storing import store_job_result, store_runs
