from webapp.jobs.capability import Capability, takes
from webapp.jobs.estimates import Durations
from webapp.jobs.forecast import Forecast, queue_forecast

__all__ = ["Capability", "Durations", "Forecast", "queue_forecast", "takes"]
