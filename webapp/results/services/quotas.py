"""What labs have stored, counted anew."""

from django.db import connection

RECOUNT = """
INSERT INTO labs_labquota AS quota (lab_id, day, runs, trees, series, profiles)
SELECT lab.id, (now() AT TIME ZONE 'UTC')::date, 0, 0,
       (SELECT count(*) FROM results_series AS series
          JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
          JOIN results_metric AS metric ON metric.id = series.metric_id
         WHERE hardware.lab_id = lab.id AND metric.of_id IS NULL),
       (SELECT coalesce(sum(ceil((octet_length(profile.calls) + 4 * cardinality(profile.functions))
                                 / 1000.0)), 0)
          FROM results_profile AS profile
          JOIN results_run AS run ON run.id = profile.run_id
          JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
         WHERE hardware.lab_id = lab.id)
  FROM labs_lab AS lab ORDER BY lab.id
    ON CONFLICT (lab_id) DO UPDATE SET series = EXCLUDED.series, profiles = EXCLUDED.profiles
"""


def recount_quotas() -> None:
    """Count the series and profiles of every lab: merging makes fewer, moving hardware gives them
    away, and old profiles go.
    """
    with connection.cursor() as cursor:
        cursor.execute(RECOUNT)
