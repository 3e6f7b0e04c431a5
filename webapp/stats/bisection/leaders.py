"""The likeliest candidates of a bisect in words: those that share a chance stand together."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

FEW = 4
"""So many that share a chance are named one by one."""


def leaders(
    candidates: NDArray[np.float64],
    *,
    say: Callable[[float], str],
    name: Callable[[int], str],
    most: int = 3,
    least: float = 0.01,
) -> list[str]:
    """``93 % r303643``, the likeliest first: about ``most`` of those that hold ``least`` or more.

    Those whose chance reads the same stand or fall together: ``4 commits at 23 % each`` where they
    do not fit. ``candidates`` are probabilities; ``name`` is given their indices.
    """
    order = [int(at) for at in (-candidates).argsort(kind="stable") if candidates[at] >= least]
    shown: list[str] = []
    named = 0
    for text, group in groupby(order, key=lambda at: say(float(candidates[at]))):
        alike = sorted(group)
        if named >= most:
            break
        shown += _alike(alike, text, name, room=most - named)
        named += len(alike)
    return shown


def _alike(alike: Sequence[int], text: str, name: Callable[[int], str], *, room: int) -> list[str]:
    if len(alike) <= max(room, FEW if room > 1 else 1):
        return [f"{text} {name(at)}" for at in alike]
    return [f"{len(alike)} commits at {text} each"]
