"""Machines that could say more of an alert's commit: the same mode, measured before it and not at
it."""

from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries.rows import rows_of
from webapp.labs.models import Lab
from webapp.results.models import Hardware, Series

STATEMENT = """
SELECT hardware.id, hardware.name, hardware.display_name, hardware.cpu, hardware.nic,
       lab.simulated, found.smallest
  FROM (SELECT series.hardware_id,
               (analysis.summary -> 'smallest' ->> 'pct')::double precision AS smallest
          FROM results_series AS series
          JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
         WHERE series.tree_id = %s AND series.mode_id = %s AND series.metric_id = %s
           AND series.variant_id IS NULL AND series.hardware_id <> %s
           AND EXISTS (SELECT FROM results_point AS point
                        WHERE point.series_id = series.id AND point.position < %s)
           AND NOT EXISTS (SELECT FROM results_point AS point
                            WHERE point.series_id = series.id AND point.revision_id = %s)
       ) AS found
  JOIN results_hardware AS hardware ON hardware.id = found.hardware_id
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
 WHERE found.smallest IS NOT NULL
 ORDER BY lab.simulated, found.smallest
 LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A machine and the smallest change, in percent, that its series of the mode detects."""

    hardware: Hardware
    detects: float


def machine_elsewhere(alert: Alert, series: Series) -> Elsewhere | None:
    """The other machine that detects most in the mode of ``series`` and has not measured the
    alert's likeliest commit; real machines before simulated ones. None: there is none.
    """
    likeliest = alert.likeliest
    rows = rows_of(
        STATEMENT,
        [
            *(series.tree_id, series.mode_id, series.metric_id, series.hardware_id),
            *(likeliest.position, likeliest.pk),
        ],
    )
    if not rows:
        return None
    pk, name, display_name, cpu, nic, simulated, detects = rows[0]
    hardware = Hardware(pk=pk, name=name, display_name=display_name, cpu=cpu, nic=nic)
    hardware.lab = Lab(simulated=simulated)
    return Elsewhere(hardware, detects)
