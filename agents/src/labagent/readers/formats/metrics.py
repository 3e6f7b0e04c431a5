"""Metrics that several formats measure: the server keeps one unit for a name."""

from __future__ import annotations

from labagent.model import Metric

TIME = Metric("time", "s", "less")
USER_TIME = Metric("user_time", "s", "less")
SYSTEM_TIME = Metric("system_time", "s", "less")
TIME_PER_OP = Metric("time_per_op", "ns", "less")
RATE = Metric("rate", "ops/s", "more")
BANDWIDTH = Metric("bandwidth", "B/s", "more")

NANOSECONDS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
BINARY = {f"{prefix}B": 1024.0**power for power, prefix in enumerate(("", "K", "M", "G", "T"))}


LATENCY = Metric("latency", "us", "less")
"""Of histograms."""


def latency(of: str, kind: str = "") -> Metric:
    """``latency_p99`` or ``wakeup_latency_p99``, in µs."""
    return Metric(f"{kind}_latency_{of}" if kind else f"latency_{of}", "us", "less")
