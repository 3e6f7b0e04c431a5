from webapp.jobs.capability import Capability, takes
from webapp.jobs.estimates import Durations
from webapp.jobs.forecast import Forecast, queue_forecast
from webapp.jobs.queries.reporting import MOST_IMPORTED, SILENT_AFTER, Machine, machines

__all__ = [
    "MOST_IMPORTED",
    "SILENT_AFTER",
    "Capability",
    "Durations",
    "Forecast",
    "Machine",
    "machines",
    "queue_forecast",
    "takes",
]
