"""What is known around measurements."""

from webapp.events.queries.axis import Axis, axis_of
from webapp.events.queries.canaries import Boot, WatchedCanary, watch
from webapp.events.queries.epochs import ONE_EPOCH, Epochs, epochs_of
from webapp.events.queries.nearby import Disturbance, Window, disturbances
from webapp.events.queries.positions import LocatedEvent, events_along
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
from webapp.events.queries.stamp import chart_stamp

__all__ = [
    "ONE_EPOCH",
    "RELEASE",
    "Axis",
    "Boot",
    "Disturbance",
    "Epochs",
    "LocatedEvent",
    "ReleaseName",
    "Stretch",
    "WatchedCanary",
    "Window",
    "axis_of",
    "chart_stamp",
    "disturbances",
    "epochs_of",
    "events_along",
    "names_called",
    "names_with",
    "neighbouring",
    "release_names",
    "stretches",
    "watch",
]
