"""The logs of load generators, in one table.

A format turns one log into at most one value per metric. To add a benchmark, add a `LogFormat` and
name it here; the first one that claims a group of logs reads it.
"""

from labagent.readers.logs import generators
from labagent.readers.logs.base import LogFormat, Reading

FORMATS: tuple[LogFormat, ...] = (generators.PKTGEN, generators.EQUILIBRIUM_FORMAT)

__all__ = ["FORMATS", "LogFormat", "Reading"]
