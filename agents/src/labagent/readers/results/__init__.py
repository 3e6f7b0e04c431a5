"""What a lab's `run` command leaves behind, by the word `result` in the configuration.

To add a kind, add a file with a `READER` and name it here.
"""

from labagent.readers.results import benchlab, iperf3, jsonlines, values
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError

READERS: dict[str, Reader] = {
    one.name: one for one in (benchlab.READER, values.READER, jsonlines.READER, iperf3.READER)
}

__all__ = ["READERS", "Measurement", "Output", "Reader", "UnreadableError"]
