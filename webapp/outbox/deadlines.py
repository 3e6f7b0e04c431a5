"""One deadline for a whole conversation with somebody who may be as slow as they like.

A socket's own timeout is for each piece: who sends a byte every five seconds is never late.
"""

import io
import socket
import time
from typing import Any


class Deadline:
    """``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        """Begin anew, for the next part of the conversation."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self, most: float | None = None) -> float:
        """Seconds left, ``most`` at most. Raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("The time for all of it is over.")
        return left if most is None else min(left, most)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.is_over_since(0)

    def is_over_since(self, seconds: float) -> bool:
        """Whether it was over ``seconds`` ago."""
        return time.monotonic() >= self._end + seconds


class DeadlineReader(io.RawIOBase):
    """What comes over ``sock``, until the deadline. Wrap it in io.BufferedReader."""

    def __init__(self, sock: socket.socket, deadline: Deadline, each: float | None = None) -> None:
        self._sock, self._deadline, self._each = sock, deadline, each
        # Keeps the connection open when `http.client` closes the socket under its answer.
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Raises TimeoutError at the deadline, or ``each`` seconds after the last piece."""
        self._sock.settimeout(self._deadline.left(self._each))
        return self._file.readinto(buffer) or 0

    def close(self) -> None:
        """Let go of the connection."""
        self._file.close()
        super().close()
