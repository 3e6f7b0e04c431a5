"""`equilibrium` logs: the load at which offered and forwarded traffic meet, found by halving.

Its last line carries both values: `Estimated Equilibrium Ethernet throughput= 64 Mb/s (maximum
value seen: 64 Mb/s)`.
"""

from __future__ import annotations

import re

from labagent.formats.base import LogFormat, Reading
from labagent.model import Metric

EQUILIBRIUM = Metric("equilibrium", "Mb/s", "more")
MAXIMUM = Metric("equilibrium_max", "Mb/s", "more")

_RESULT = re.compile(
    rb"Estimated Equilibrium Ethernet throughput=\s*(\d+(?:\.\d+)?) Mb/s"
    rb"(?: \(maximum value seen: (\d+(?:\.\d+)?) Mb/s\))?"
)


def read(data: bytes) -> Reading:
    """The equilibrium throughput, and the highest one seen, of one log, in Mb/s."""
    results = _RESULT.findall(data)
    if not results:
        return Reading(problem="no equilibrium was reached")
    equilibrium, maximum = results[-1]
    values = {EQUILIBRIUM.name: float(equilibrium)}
    if maximum:
        values[MAXIMUM.name] = float(maximum)
    return Reading(values)


FORMAT = LogFormat(
    name="equilibrium",
    metrics=(EQUILIBRIUM, MAXIMUM),
    log="sender",
    claims=lambda data: b"quilibrium" in data,
    read=read,
    suffixes={
        ".equilibrium.max": MAXIMUM.name,
        ".equilibrium.throughpt": EQUILIBRIUM.name,
        ".equilibrium": EQUILIBRIUM.name,
    },
)
