"""Summaries of many sets as columns, which comparisons of many pairs compute with, and each as the
bytes that a point stores: exact, and a tenth of the same as JSON.

Of a side only the mean and the scatter are written where the rest follows from the counts, and a
level with as many units as the one below it, which then has the same sides, is not written again.
What has another form than `Summary.to_data` gives is stored as JSON, deflated.
"""

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webapp.stats.arrays import Bools, Floats, Ints
from webapp.stats.compare.levels import FINEST, Level, Summary, Units

LEVELS = (Level.RUN, Level.BOOT, Level.BUILD)
"""What the codes of a unit in `Comparisons`, and the places in `Summaries.sides`, stand for."""

_NAMES = tuple(level.value for level in LEVELS)
_NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_COLUMNS = len(_NOTHING)
_UNITS = 4
"""The place of ``units`` among the columns of a `Side`."""


class Summaries:
    """One side of every row, as columns: made once from summaries, compared as often as wanted.

    ``log``: which rows have logarithms; ``boots`` is 0 where they are not known, ``totals`` NaN
    where samples are no counts. ``sides`` has the shape (2 scales, 3 levels, 6 columns of `Side`,
    rows), zeros where a level has no two units; ``floors`` (rows, 2 scales) is what equal values
    leave open (`Summary.floor`).
    """

    def __init__(self, rows: Iterable[Summary | Mapping[str, Any]]) -> None:
        """Of summaries, or of what `Summary.to_data` gave: of hundreds of stored points no object
        is made.
        """
        kept = [row.to_data() if isinstance(row, Summary) else row for row in rows]
        self.builds = np.array([row["builds"] for row in kept], np.float64)
        self.boots = np.array([row["boots"] or 0 for row in kept], np.float64)
        self.n = np.array([row["n"] for row in kept], np.float64)
        # What was stored before counts were distinguished has no total.
        self.totals = np.array([row.get("total") for row in kept], np.float64)
        self.exponent = np.array([row["exponent"] for row in kept], np.int64)
        self.log = np.array([bool(row["log"]) for row in kept], np.bool_)
        scales = (side for row in kept for side in (row["linear"], row["log"] or {}))
        columns = [side.get(name, _NOTHING) for side in scales for name in _NAMES]
        shape = (len(kept), 2, len(LEVELS), _COLUMNS)
        self.sides = np.array(columns, np.float64).reshape(shape).transpose(1, 2, 3, 0)
        digits = np.array([row["digit"] for row in kept], np.float64)
        self.floors = _floors(digits, self.exponent, np.abs(self.sides[0, 0, 0]), self.log)

    def __len__(self) -> int:
        return len(self.builds)

    def only(self, rows: Bools) -> "Summaries":
        """The same columns of some rows."""
        found = Summaries(())
        for name in ("builds", "boots", "n", "totals", "exponent", "log", "floors"):
            setattr(found, name, getattr(self, name)[rows])
        found.sides = self.sides[..., rows]
        return found

    def units(self, level: NDArray[np.integer[Any]]) -> Ints:
        """How many units each row has at its ``level``, a place in `LEVELS`."""
        counts: Ints = self.sides[0, level, _UNITS, np.arange(len(self))].astype(int)
        return counts


def _floors(digits: Floats, exponent: Ints, level: Floats, log: Bools) -> Floats:
    """`Summary.floor` of every row, on both scales; 0 where there are no logarithms."""
    linear = np.maximum(np.ldexp(digits / 2, -exponent), FINEST * level)
    return np.stack([linear, np.where(log, linear / np.where(log, level, 1.0), 0.0)], axis=1)


KEYS = frozenset(
    ("n", "builds", "boots", "exponent", "digit", "total", "linear", "log", "identity")
)
IDENTITY = re.compile("[0-9a-f]{16}")
HEAD = Struct("<H")

BYTE = 256


class Has:
    """Bits of the first two bytes: what is in those after them. None of it: JSON."""

    COLUMNS = 1
    WIDE = 2  # counts of four bytes
    BOOTS = 4
    LOG = 8
    TOTAL = 16
    TOTAL_UNKNOWN = (
        32  # null; without both there is no such key, as before counts were distinguished
    )
    DIGIT = 64
    BOOT_SIDE = 128
    BOOT_AS_RUN = 256
    BUILD_SIDE = 512
    BUILD_AS_BELOW = 1024
    RUN_SHARE = 2048
    BOOT_SHARE = 4096


OWN = {"run": Has.COLUMNS, "boot": Has.BOOT_SIDE, "build": Has.BUILD_SIDE}
AS_BELOW = {"run": 0, "boot": Has.BOOT_AS_RUN, "build": Has.BUILD_AS_BELOW}
SHARE = {"run": Has.RUN_SHARE, "boot": Has.BOOT_SHARE, "build": 0}
"""Of each level: that it is written, that it repeats the one below, that its share is written."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in the unpacked numbers what stands; 0: nowhere. ``columns`` are many of them with
    their heads, as NumPy reads bytes. ``sides`` of each level that is there:
    its name, and the places of its count of units, of its first mean, and of its share.
    """

    struct: Struct
    columns: np.dtype[Any]
    boots: int
    identity: int
    digit: int
    total: int
    has_total: bool
    has_log: bool
    sides: tuple[tuple[str, int, int, int], ...]


def pack_summary(data: Mapping[str, Any]) -> bytes:
    """Return what `Summary.to_data` gave, with the ``identity`` of the builds (16 hexadecimal
    digits), as bytes that `unpack_summary` reads; anything else that JSON can hold too.
    """
    if data.keys() | {"total"} == KEYS and IDENTITY.fullmatch(data["identity"]):
        packed = _columns(data)
        if packed is not None:
            return packed
    return HEAD.pack(0) + zlib.compress(json.dumps(data).encode())


def unpack_summary(packed: bytes) -> dict[str, Any]:
    """Return what `pack_summary` was given, the floats to their last bit."""
    flags = packed[0] | packed[1] << 8
    if not flags & 1:
        found: dict[str, Any] = json.loads(zlib.decompress(packed[2:]))
        return found
    layout = _layout(flags)
    values = layout.struct.unpack_from(packed, 2)
    found = {
        "n": values[1],
        "builds": values[2],
        "boots": values[layout.boots] if layout.boots else None,
        "exponent": values[0],
        "digit": values[layout.digit] if layout.digit else 0.0,
        "identity": values[layout.identity].hex(),
        "linear": _sides(layout, values, 0),
        "log": _sides(layout, values, 2) if layout.has_log else None,
    }
    if layout.has_total:
        found["total"] = values[layout.total] if layout.total else None
    return found


def own_units(packed: Sequence[bytes]) -> Units:
    """Return the sides of the highest level that each of ``packed`` has, linear. A chart of
    thousands of points reads no more of each.
    """
    found = np.zeros((len(Units._fields), len(packed)))
    alike: defaultdict[bytes, list[int]] = defaultdict(list)
    for at, one in enumerate(packed):
        alike[one[: HEAD.size]].append(at)
    for head, places in alike.items():
        own = [packed[at] for at in places]
        (flags,) = HEAD.unpack(head)
        found[:, places] = (
            _own_columns(_layout(flags), own)
            if flags & Has.COLUMNS
            else np.array([_own_values(unpack_summary(one)) for one in own]).T
        )
    return Units(*found)


def _own_columns(layout: _Layout, packed: Sequence[bytes]) -> tuple[Floats, ...]:
    rows = np.frombuffer(b"".join(packed), layout.columns)
    counts, numbers = rows["counts"].astype(np.float64), rows["numbers"]
    _, own, mean, written = layout.sides[-1]
    units, builds, first = counts[:, own - 1], counts[:, 1], layout.identity + 1
    # As `_shape` has them
    share = numbers[:, written - first] if written else np.zeros(len(rows))
    share = np.where((units == builds) | (builds == 1), 1 / units, share)
    df = np.where(units == 1, 0, np.where(units == builds, builds - 1, units - builds))
    both = numbers[:, mean - first], numbers[:, mean - first + 1]
    return *both, share, df, rows["exponent"]


def _own_values(data: Mapping[str, Any]) -> tuple[float, ...]:
    linear = data.get("linear", {})
    side = next((linear[level] for level in _NAMES[::-1] if level in linear), None)
    return (*side[:4], data["exponent"]) if side else (0.0,) * len(Units._fields)


def _sides(layout: _Layout, values: Sequence[Any], scale: int) -> dict[str, list[Any]]:
    return {side[0]: _side(values, side, scale) for side in layout.sides}


def _side(values: Sequence[Any], side: tuple[str, int, int, int], scale: int) -> list[Any]:
    """Mean, standard deviation, share, degrees of freedom, units and whether they are builds."""
    _, units, mean, share = side
    shape = _shape(values[units], values[2], values[share] if share else 0.0)
    return [values[mean + scale], values[mean + scale + 1], *shape]


def _shape(units: int, builds: int, share: float) -> tuple[float, int, int, bool]:
    """What follows from the counts, as `levels` computes it; the ``share`` of several builds with
    more units does not.
    """
    if units == 1:
        return 1.0, 0, 1, False
    if units == builds:
        return 1 / builds, builds - 1, builds, True
    return (1 / units if builds == 1 else share), units - builds, units, False


def _columns(data: Mapping[str, Any]) -> bytes | None:
    """None where a side has something else than what follows from the counts."""
    counts = [data["n"], data["builds"], data["boots"]]
    linear, log = data["linear"], data["log"]
    flags = Has.COLUMNS
    flags |= Has.WIDE if max(one or 0 for one in counts) >= BYTE else 0
    flags |= Has.BOOTS if counts[2] is not None else 0
    flags |= Has.LOG if log is not None else 0
    flags |= Has.DIGIT if data["digit"] else 0
    if "total" in data:
        flags |= Has.TOTAL_UNKNOWN if data["total"] is None else Has.TOTAL
    numbers = [data["digit"]] if flags & Has.DIGIT else []
    numbers += [data["total"]] if flags & Has.TOTAL else []
    below = None
    for level in _NAMES:
        if level not in linear:
            continue
        scales = [one[level] for one in (linear, log) if one is not None]
        if scales == below:
            flags |= AS_BELOW[level]
            continue
        flags, below = flags | OWN[level], scales
        share = scales[0][2]
        units = {"run": counts[0], "boot": counts[2], "build": counts[1]}[level]
        shape = _shape(units, counts[1], share)
        if any(tuple(side[2:]) != shape for side in scales):
            return None
        numbers += [number for side in scales for number in side[:2]]
        if level != "build" and 1 < counts[1] < units:
            flags |= SHARE[level]
            numbers.append(share)
    known = [one for one in counts if one is not None]
    identity = bytes.fromhex(data["identity"])
    # PostgreSQL's JSON had no negative zero.
    numbers = [number + 0.0 for number in numbers]
    return HEAD.pack(flags) + _layout(flags).struct.pack(
        data["exponent"], *known, identity, *numbers
    )


@lru_cache(maxsize=256)
def _layout(flags: int) -> _Layout:
    counts = 3 if flags & Has.BOOTS else 2
    identity = at = 1 + counts
    digit = at = at + 1 if flags & Has.DIGIT else at
    total = at = at + 1 if flags & Has.TOTAL else at
    places = {"run": 1, "build": 2, "boot": 3}
    mean, share, sides = 0, 0, []
    for level in _NAMES:
        if flags & OWN[level]:
            mean, share = at + 1, 0
            at += 4 if flags & Has.LOG else 2
            if flags & SHARE[level]:
                share = at = at + 1
        elif not flags & AS_BELOW[level]:
            continue
        sides.append((level, places[level], mean, share))
    numbers = at - identity
    width = "I" if flags & Has.WIDE else "B"
    columns = [
        ("head", "<u2"),
        ("exponent", "<i2"),
        ("counts", f"<{width}", (counts,)),
        ("identity", "S8"),
        ("numbers", "<f8", (numbers,)),
    ]
    return _Layout(
        Struct(f"<h{counts}{width}8s{numbers}d"),
        np.dtype(columns),
        boots=3 if flags & Has.BOOTS else 0,
        identity=identity,
        digit=digit if flags & Has.DIGIT else 0,
        total=total if flags & Has.TOTAL else 0,
        has_total=bool(flags & (Has.TOTAL | Has.TOTAL_UNKNOWN)),
        has_log=bool(flags & Has.LOG),
        sides=tuple(sides),
    )
