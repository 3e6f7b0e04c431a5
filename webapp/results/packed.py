"""Columns whose values are packed in the database: models read and write them as plain data.

SQL does not look into them. A statement that is written out gets bytes, and unpacks them.
"""

import json
import re
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from django.db import models

from webapp.stats.compare import pack_summary, unpack_summary

NUL = "\0"
OF_SOURCE = frozenset(("path", "sha256"))
AS_JSON, AS_PATHS, AS_COLUMNS = b"\0", b"\1", b"\2"
HEXADECIMAL = re.compile("[0-9a-f]{64}")
COLUMN = re.compile("[0-9A-Za-z+/]{32,}={0,2}")
DOUBLE = 8
"""Bytes of a number in a column."""
DIGEST = 32
"""Bytes of a SHA-256."""
WINDOW = 12
"""Of deflating, as a power of two: the paths of one directory are alike from one to the next."""


class _Packed:
    """Values of a field in a column of bytes, by a subclass's `pack` and `unpack`."""

    @staticmethod
    def pack(data: Any) -> bytes:
        """The bytes that are stored."""
        raise NotImplementedError

    @staticmethod
    def unpack(packed: bytes) -> Any:
        """What was packed."""
        raise NotImplementedError

    def db_type(self, connection: Any) -> str:
        """Not of JSON or of an array: no operator of theirs would find anything."""
        return "bytea"

    def from_db_value(self, value: Any, *_: Any) -> Any:
        """The data; what is null stays so."""
        return None if value is None else self.unpack(value)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """As they are stored."""
        return None if value is None else self.pack(value)


class PackedField(_Packed, models.JSONField):
    """Data that JSON can hold."""


class LevelsField(PackedField):
    """What `Summary.to_data` gives, with the digest of the builds."""

    pack = staticmethod(pack_summary)
    unpack = staticmethod(unpack_summary)


class SourcesField(PackedField):
    """The files of a run: a list of their ``path`` and ``sha256`` (64 hexadecimal digits).

    Paths of one run have most of their text in common, so they are deflated together, the digests,
    which have nothing to save, are bytes beside them. What has another form is deflated as JSON.
    """

    @staticmethod
    def pack(sources: Sequence[Mapping[str, Any]]) -> bytes:
        """Nothing of none; else a byte, the paths, the digests."""
        if not sources:
            return b""
        if all(one.keys() == OF_SOURCE for one in sources):
            paths = NUL.join([one["path"] for one in sources])
            digests = [one["sha256"] for one in sources]
            if paths.count(NUL) == len(sources) - 1 and all(map(HEXADECIMAL.fullmatch, digests)):
                return AS_PATHS + _deflate(paths) + bytes.fromhex("".join(digests))
        return AS_JSON + _deflate(json.dumps(sources))

    @staticmethod
    def unpack(packed: bytes) -> list[dict[str, Any]]:
        """The sources in their order."""
        if not packed:
            return []
        inflating = zlib.decompressobj(-WINDOW)
        text = inflating.decompress(packed[1:]).decode()
        if packed[:1] == AS_JSON:
            found: list[dict[str, Any]] = json.loads(text)
            return found
        digests = inflating.unused_data
        return [
            {"path": path, "sha256": digests[at : at + DIGEST].hex()}
            for path, at in zip(text.split(NUL), range(0, len(digests), DIGEST), strict=True)
        ]


def _deflate(text: str) -> bytes:
    deflating = zlib.compressobj(zlib.Z_BEST_COMPRESSION, zlib.DEFLATED, -WINDOW)
    return deflating.compress(text.encode()) + deflating.flush()


class MeasuredField(_Packed, models.Field):  # type: ignore[type-arg]  # not subscriptable as it runs
    """A list of numbers: an array takes 20 bytes more, and 4 for each small one."""


class SamplesField(MeasuredField):
    """A list of doubles, eight bytes each, the most significant first."""

    @staticmethod
    def pack(numbers: Sequence[float]) -> bytes:
        """The bytes that are stored."""
        return struct.pack(f">{len(numbers)}d", *numbers)

    @staticmethod
    def unpack(packed: bytes) -> list[float]:
        """The samples in their order."""
        return list(struct.unpack(f">{len(packed) // DOUBLE}d", packed))


class BootsField(MeasuredField):
    """A list of the indices of boots: a byte with the size of each in bytes, 1 or 4, then these."""

    @staticmethod
    def pack(numbers: Sequence[int]) -> bytes:
        """A byte each where that is enough."""
        if all(0 <= one < 256 for one in numbers):
            return b"\1" + bytes(numbers)
        return b"\4" + struct.pack(f">{len(numbers)}i", *numbers)

    @staticmethod
    def unpack(packed: bytes) -> list[int]:
        """The indices in their order."""
        if packed[0] == 1:
            return list(packed[1:])
        return list(struct.unpack(f">{len(packed) // 4}i", packed[1:]))


def pack_boots(boots: Sequence[int] | None) -> bytes | None:
    """As `BootsField` stores them; None: unknown."""
    return None if boots is None else BootsField.pack(boots)


def unpack_measured(samples: bytes, boots: bytes | None) -> tuple[list[float], list[int] | None]:
    """What a statement that is written out read of these two columns."""
    return SamplesField.unpack(samples), None if boots is None else BootsField.unpack(boots)


class DigestField(models.CharField):  # type: ignore[type-arg]  # not subscriptable as it runs
    """A digest in hexadecimal digits, of which two are a byte."""

    def db_type(self, connection: Any) -> str:
        """Bytes."""
        return "bytea"

    def from_db_value(self, value: Any, *_: Any) -> Any:
        """The digits."""
        return None if value is None else value.hex()

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """The bytes."""
        return None if value is None else bytes.fromhex(value)


class StateField(PackedField):
    """What JSON can hold, deflated: large, written often, read by one key.

    What a state holds most of is columns of doubles, as base64 in values of its dicts. They are
    deflated beside its text, all first bytes of a column before all second ones: the exponents of
    a series differ little, its last digits are noise. What was stored before is one stream of all.
    """

    @staticmethod
    def pack(data: Any) -> bytes:
        """Quickly: more effort saves next to nothing."""
        columns: list[bytes] = []
        text = json.dumps(_without_columns(data, columns)).encode()
        planes = b"".join(one[byte::DOUBLE] for one in columns for byte in range(DOUBLE))
        return AS_COLUMNS + b"".join(
            zlib.compress(one, zlib.Z_BEST_SPEED) for one in (text, planes)
        )

    @staticmethod
    def unpack(packed: bytes) -> Any:
        """The data as they were."""
        if packed[:1] != AS_COLUMNS:
            return json.loads(zlib.decompress(packed))
        inflating = zlib.decompressobj()
        data = json.loads(inflating.decompress(packed[1:]))
        return _with_columns(data, BytesIO(zlib.decompress(inflating.unused_data)))


def _without_columns(data: Any, columns: list[bytes]) -> Any:
    """The data with the length of each column in its place; the columns are added to a list."""
    if isinstance(data, dict):
        return {name: _without_columns(value, columns) for name, value in data.items()}
    if not isinstance(data, str) or len(data) % 4 or not COLUMN.fullmatch(data):
        return data
    column = b64decode(data)
    if len(column) % DOUBLE or b64encode(column).decode() != data:
        return data
    columns.append(column)
    return f"{NUL}{len(column)}"  # of text in a database, which has no NUL


def _with_columns(data: Any, planes: BytesIO) -> Any:
    """The inverse of `_without_columns`; ``planes`` is read as far as the columns of ``data``."""
    if isinstance(data, dict):
        return {name: _with_columns(value, planes) for name, value in data.items()}
    if not isinstance(data, str) or not data.startswith(NUL):
        return data
    column = np.frombuffer(planes.read(int(data[1:])), np.uint8)
    return b64encode(column.reshape(DOUBLE, -1).T.tobytes()).decode()
