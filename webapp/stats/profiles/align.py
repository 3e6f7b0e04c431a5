"""Two call trees on one: the nodes of both, and the samples of each side on them."""

from typing import NamedTuple

from webapp.stats.profiles.calls import Calls, Ints, summed


class Aligned(NamedTuple):
    """``calls`` has the nodes of both sides (N); ``a`` and ``b`` (N), its two rows, are the samples
    in which a node itself ran, of all CPUs of a side together.
    """

    calls: Calls
    a: Ints
    b: Ints


def aligned(a: Calls, b: Calls) -> Aligned:
    """Lay A's call tree over B's: nodes of one path, of name and module, are one."""
    both = summed([[a], [b]])
    return Aligned(both, both.counts[0], both.counts[1])
