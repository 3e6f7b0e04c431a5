"""What surrounds measurements: events of labs, releases of trees, canaries of machines."""

from webapp.events.models.canaries import Canary, CanaryJob
from webapp.events.models.lab_events import TEXT_MAX, LabEvent, Release

__all__ = ["TEXT_MAX", "Canary", "CanaryJob", "LabEvent", "Release"]
