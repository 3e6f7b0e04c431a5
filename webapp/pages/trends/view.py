"""The part of a trend chart that its address asks for (``view``), by revisions that are shown."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from webapp.pages.trends.query import TrendQuery
from webapp.results.models import Revision, Tree


class End(NamedTuple):
    """One end of a view: the name in the address, and its position; None where that is unknown."""

    name: str
    position: int | None


class View(NamedTuple):
    """The revisions (names) at the ends of what is in sight; None: everything is. ``notes`` state
    where that is not what was asked for.
    """

    window: tuple[str, str] | None = None
    notes: Sequence[str] = ()


def ends_of(query: TrendQuery, tree: Tree) -> list[End]:
    """The ends of the query's view along ``tree``; none, and no statement, without one. A revision
    that was never measured has the position that its own name gives, if any.
    """
    revisions = Revision.objects.placed()
    return [
        End(name, revisions.position_named(tree=tree, name=name)) for name in query.window or ()
    ]


def nearest(positions: Sequence[int] | npt.NDArray[np.int64], position: int) -> int:
    """The index of the one of ``positions`` (in order, not empty) that is nearest to ``position``;
    of two as near the earlier.
    """
    after = bisect_left(positions, position)
    near = range(max(after - 1, 0), min(after + 1, len(positions)))
    return min(near, key=lambda index: abs(positions[index] - position))


def view_of(
    ends: Sequence[End], *, names: Sequence[str], positions: Sequence[int], tree: Tree
) -> View:
    """What is in sight of the revisions shown, which have these ``names`` and ``positions``."""
    if not ends or not names:
        return View()
    placed = [(end.position, end.name) for end in ends if end.position is not None]
    if len(placed) < len(ends):
        missing = [f"No revision {one.name} in {tree}" for one in ends if one.position is None]
        return View(notes=[f"{'. '.join(missing)}. All revisions are in view."])
    placed.sort()
    shown = [nearest(positions, position) for position, _ in placed]
    notes = [
        f"The view {verb} at {names[at]}, the nearest: {name} is not among the revisions shown."
        for verb, at, (position, name) in zip(("begins", "ends"), shown, placed, strict=True)
        if positions[at] != position
    ]
    return View((names[shown[0]], names[shown[-1]]), notes)
