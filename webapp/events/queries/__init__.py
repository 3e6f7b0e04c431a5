"""What is known around measurements."""

from webapp.events.queries.canaries import WatchedCanary, watch
from webapp.events.queries.epochs import ONE_EPOCH, Epochs, epochs_of
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
from webapp.events.queries.releases import (
    RELEASE,
    ReleaseName,
    Stretch,
    names_called,
    names_with,
    neighbouring,
    release_names,
    stretches,
)
