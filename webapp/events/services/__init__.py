"""Writes about what surrounds measurements, one file per matter."""

from webapp.events.services.canaries import create_canary, end_twins, set_canary_active
from webapp.events.services.lab_events import (
    EventFields,
    edit_event,
    record_changes,
    record_event,
    withdraw_event,
)
from webapp.events.services.naming import (
    CanaryNames,
    EventNames,
    ReleaseTaken,
    canary_of,
    event_fields,
    record_release,
)
