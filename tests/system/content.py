"""What a database contains, without what differs between two ways to the same content."""

from typing import Any

from tests.system.running import System

SERIES = """
    JOIN results_tree AS tree ON tree.id = series.tree_id
    JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
    JOIN results_mode AS mode ON mode.id = series.mode_id
    JOIN results_metric AS metric ON metric.id = series.metric_id
"""
NAMES = "tree.name, hardware.name, mode.name, metric.name, revision.name"
QUERIES = {
    "runs": """
        SELECT run.uuid, hardware.name, revision.name, revision.position, mode.name,
               encode(digest, 'hex'), build_id, kernel.ident, measured_at, history,
               run.facts::text, sources::text, warnings::text, withdrawn_at
          FROM results_run AS run
          JOIN results_kernel AS kernel ON kernel.id = run.kernel_id
          JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
          JOIN results_revision AS revision ON revision.id = run.revision_id
          JOIN results_mode AS mode ON mode.id = run.mode_id
         ORDER BY run.uuid""",
    "measurements": f"""
        SELECT run.uuid, {NAMES}, samples, measurement.boots
          FROM results_measurement AS measurement
          JOIN results_run AS run ON run.id = measurement.run_id
          JOIN results_revision AS revision ON revision.id = run.revision_id
          JOIN results_series AS series ON series.id = measurement.series_id {SERIES}
         ORDER BY run.uuid, metric.name""",
    "points": f"""
        SELECT {NAMES}, point.position, n, runs, builds, boots, mean, median, variance,
               minimum, maximum
          FROM results_point AS point
          JOIN results_revision AS revision ON revision.id = point.revision_id
          JOIN results_series AS series ON series.id = point.series_id {SERIES}
         ORDER BY {NAMES}""",
    "noted points": f"""
        SELECT {NAMES}, noted.position, is_compared
          FROM analysis_notedpoint AS noted
          JOIN results_revision AS revision ON revision.id = noted.revision_id
          JOIN results_series AS series ON series.id = noted.series_id {SERIES}
         ORDER BY {NAMES}""",
    "findings": f"""
        SELECT {NAMES}, finding.position, state, finding.verdict, here, change_pct, low_pct,
               high_pct, level, score, probability, why
          FROM analysis_finding AS finding
          JOIN results_revision AS revision ON revision.id = finding.revision_id
          JOIN results_series AS series ON series.id = finding.series_id {SERIES}
         WHERE state <> 'retracted'
         ORDER BY {NAMES}""",
}
Content = dict[str, list[tuple[Any, ...]]]


def content(system: System) -> Content:
    """Runs, measurements, points, those noted, and findings by name, once all is analysed.

    Row ids, times of arrival and versions of series are left out.
    """
    system.wait_until_analysed()
    return {kind: system.rows(query) for kind, query in QUERIES.items()}
