"""What labs have stored, counted anew."""

from django.db import connection

RECOUNT = """
INSERT INTO labs_labquota AS quota (lab_id, day, runs, trees, series)
SELECT lab.id, (now() AT TIME ZONE 'UTC')::date, 0, 0,
       (SELECT count(*) FROM results_series AS series
          JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
          JOIN results_metric AS metric ON metric.id = series.metric_id
         WHERE hardware.lab_id = lab.id AND metric.of_id IS NULL)
  FROM labs_lab AS lab ORDER BY lab.id
    ON CONFLICT (lab_id) DO UPDATE SET series = EXCLUDED.series
"""


def recount_quotas() -> None:
    """Count the series of every lab: merging makes fewer, and moving hardware gives them away."""
    with connection.cursor() as cursor:
        cursor.execute(RECOUNT)
