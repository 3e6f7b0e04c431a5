"""The logs of load generators: one file for each, one table of all.

A format turns one log into at most one value per metric. To add a benchmark, add a file with a
`FORMAT` and name it here; the first one that claims a group of logs reads it.
"""

from labagent.readers.logs import equilibrium, pktgen
from labagent.readers.logs.base import LogFormat, Reading

FORMATS: tuple[LogFormat, ...] = (pktgen.FORMAT, equilibrium.FORMAT)

__all__ = ["FORMATS", "LogFormat", "Reading"]
