"""Whether the parts of this instance work: for rooms of all heights."""

from webapp.readiness import heartbeats, parts
from webapp.readiness.heartbeats import still_works
from webapp.readiness.report import Reporter

__all__ = ["Reporter", "heartbeats", "parts", "still_works"]
