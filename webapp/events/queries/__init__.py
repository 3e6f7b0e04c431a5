"""What is known around measurements."""

from webapp.events.queries.canaries import WatchedCanary, watch
from webapp.events.queries.nearby import (
    Axis,
    Disturbance,
    LocatedEvent,
    Window,
    axis_of,
    disturbances,
    events_along,
    recorded_along,
    stamps,
)
from webapp.events.queries.stretches import (
    ONE_EPOCH,
    RELEASE,
    Epochs,
    ReleaseName,
    Stretch,
    epochs_of,
    names_called,
    names_with,
    neighbouring,
    release_names,
    stretches,
)
