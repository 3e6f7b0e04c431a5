"""Bodies as they come: in memory while small, then in nameless files whose sum is bounded."""

import tempfile
from typing import IO

from webapp.config.serving.reading import Refused

ANYBODYS_BYTES = 64 * 1024
"""A body that is taken from anybody, and always. A larger one needs room, and a known sender."""
IN_MEMORY_BYTES = 256 * 1024
BODIES_AT_ONCE = 16
"""So many of the largest size fill the room of a process; `/tmp` in docker-compose.yml has it."""


class Room:
    """Bytes that the large bodies of a process may take up together."""

    def __init__(self, most: int) -> None:
        self._free = most

    def take(self, count: int) -> None:
        """Take so many more, or raise Refused."""
        if count > self._free:
            raise Refused(
                503, "too many uploads are coming in at once", "Send it again in a few seconds."
            )
        self._free -= count

    def give(self, count: int) -> None:
        """Give so many back."""
        self._free += count


class Spool:
    """One body that is coming in."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken = 0
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115
        self.size = 0

    def write(self, piece: bytes) -> None:
        """Append it. Raises Refused when there is no room."""
        size = self.size + len(piece)
        if size > ANYBODYS_BYTES:
            self._room.take(size - self._taken)
            self._taken = size
        self.file.write(piece)
        self.size = size

    def close(self) -> None:
        """Forget all of it."""
        self.file.close()
        self._room.give(self._taken)
        self._taken = 0
