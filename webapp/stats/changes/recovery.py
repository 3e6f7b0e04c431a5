"""Which changes of a series were taken back by a later one.

A pure function of the changes: read again with other points, it may say otherwise.
"""

from collections.abc import Sequence

from webapp.stats.changes.findings import Change

RESTORED = 0.75
"""Share of the way back to the old level from which on a change counts as recovered."""


def recoveries(changes: Sequence[Change]) -> tuple[Change | None, ...]:
    """For each change the first later one that took it back; None where the level stays.

    `changes` are in order along the tree. A change is taken back by the first confirmed change of
    the opposite direction whose new level is at least `RESTORED` of the way back to the level
    before. Levels are compared, not sizes: the end of a later dip gives an earlier loss nothing
    back. A candidate, which rests on the newest revision alone, neither recovers nor is recovered.
    """
    return tuple(_recovery(change, changes[i + 1 :]) for i, change in enumerate(changes))


def _recovery(change: Change, later: Sequence[Change]) -> Change | None:
    lost = change.before - change.level
    if change.state != "confirmed" or not lost:
        return None
    for other in later:
        opposite = other.state == "confirmed" and other.verdict != change.verdict
        if opposite and (other.level - change.level) / lost >= RESTORED:
            return other
    return None
