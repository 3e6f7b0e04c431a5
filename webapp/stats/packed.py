"""Columns of numbers as text, for states that are stored often: exact, and quick both ways."""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

DOUBLES = np.dtype("<f8")


def pack(numbers: Sequence[float]) -> str:
    """Return the numbers as text: base64 of their little-endian doubles.

    JSON's own numbers are twice as long, and take ten times as long to write and to read.
    """
    return b64encode(np.asarray(numbers, dtype=DOUBLES).tobytes()).decode("ascii")


def unpack(text: str) -> list[float]:
    """Return the numbers that `pack` wrote, bit by bit.

    Raises ValueError for text that it did not write.
    """
    numbers: list[float] = np.frombuffer(b64decode(text, validate=True), DOUBLES).tolist()
    return numbers


def extend(text: str, numbers: Sequence[float]) -> str:
    """Return what `pack` would write of those in `text` and these after them.

    Raises ValueError for text that `pack` did not write.
    """
    more = np.asarray(numbers, dtype=DOUBLES).tobytes()
    return b64encode(b64decode(text, validate=True) + more).decode("ascii")


def pack_data(data: Any) -> str:
    """Return what JSON can hold as text that needs no escapes: for what is written once and then
    carried along.
    """
    return b64encode(zlib.compress(json.dumps(data).encode(), 1)).decode("ascii")


def unpack_data(text: str) -> Any:
    """Return what `pack_data` wrote.

    Raises ValueError for text that it did not write.
    """
    try:
        return json.loads(zlib.decompress(b64decode(text, validate=True)))
    except zlib.error as error:
        raise ValueError(f"packed data cannot be read: {error}") from error
