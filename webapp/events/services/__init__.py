"""Writes about what surrounds measurements, one file per matter."""

from webapp.events.services.canaries import (
    CanaryNames,
    canary_of,
    create_canary,
    end_twins,
    set_canary_active,
)
from webapp.events.services.lab_events import (
    EventFields,
    EventNames,
    ReleaseTaken,
    edit_event,
    event_fields,
    record_changes,
    record_event,
    record_release,
    withdraw_event,
)
