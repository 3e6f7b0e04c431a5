"""How strongly a cell of the hardware × mode table is coloured. Pure."""

from math import isfinite

STEPS_PERCENT = (2.0, 5.0, 15.0)
"""A proven change below 2 % is pale; 2, 5 and 15 % deepen the colour."""


def cell_class(verdict: str, percent: float | None) -> str:
    """The CSS class of a cell: ``worse-2``, ``better-0``, ``equivalent``, ``cannot-tell``,
    ``builds-differ``, ``lab``.

    The number says how many of `STEPS_PERCENT` the size reaches; 0 where it is not known.
    """
    if verdict not in {"worse", "better"}:
        return verdict.rstrip("?").replace(" ", "-")
    size = 0.0 if percent is None or not isfinite(percent) else abs(percent)
    return f"{verdict}-{sum(size >= step for step in STEPS_PERCENT)}"
