"""What the lab seems to have done, in a sentence."""

from webapp.stats.bisection.explain import change, percent
from webapp.stats.bisection.lab_found import Lab

LIKELY = 0.5
"""Chance from which what the lab did is told, and is suspected where no commit is named."""

LEAST_MOVED = 0.05
"""Log percent: a drift that reads as nothing is none to tell."""


def lab(found: Lab) -> str:
    """What the lab did, as a sentence; empty while it is likelier that it did nothing."""
    if found.unsteady < LIKELY:
        return ""
    if found.steps >= found.moves:
        when = f"after boot {found.step_after}" if found.step_after else "before the first boot"
        return (
            f"The machine itself stepped by {change(found.step)} {when} "
            f"({percent(found.unsteady)} that it did not stay as it was)."
        )
    if abs(found.moved) < LEAST_MOVED:
        return f"The machine probably moved ({percent(found.unsteady)}); how far is not known yet."
    return (
        f"The machine drifted by {change(found.moved)} from the first to the last boot "
        f"({percent(found.unsteady)} that it did not stay as it was)."
    )
