"""What a lab's `run` command leaves behind, by the word `result` in the configuration.

`bench-lab` is a directory; any other kind is a format in `labagent.readers.formats`.
"""

from labagent.readers.formats import FORMATS
from labagent.readers.results import benchlab
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError
from labagent.readers.results.formats import reader_of

READERS: dict[str, Reader] = {
    one.name: one for one in (benchlab.READER, *map(reader_of, FORMATS.values()))
}

__all__ = ["READERS", "Measurement", "Output", "Reader", "UnreadableError"]
