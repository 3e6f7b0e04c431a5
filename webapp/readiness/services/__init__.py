from webapp.readiness import heartbeats, parts
from webapp.readiness.noting import still_works
from webapp.readiness.report import Reporter

__all__ = ["Reporter", "heartbeats", "parts", "still_works"]
