"""One commit, several machines: one alert, at the right commit, without the changes of others.

Nine series of unequal noise. Some or all of them change at one commit; one in thirty changes at
another, two to ten revisions away.
"""

from collections.abc import Sequence
from math import log1p

import numpy as np

from benchmarks.cells import series_of
from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from benchmarks.worlds.reading import draw
from webapp.alerts.grouping import Evidence, Group, group
from webapp.stats.changes import Change, detect
from webapp.stats.simulate import Scatter

SERIES, REVISIONS, COMMIT = 9, 60, 30
ELSEWHERE, FURTHEST = 1 / 30, 10
NEAR = 6
"""Revisions from the commit up to which a finding of an affected series is of that commit; so is
one farther away that suspects the commit."""

LEAST_PCT = 2.0
"""Size from which on a finding opens an alert."""

LOSSES = ((3, 3.0, 8.0), (3, 6.0, 12.0), (6, 2.0, 4.0), (9, 2.0, 4.0))
"""How many series lose, and how many percent, from the least to the most."""
OTHER_PCT = (3.0, 8.0)
"""Percent that a change elsewhere has, from the least to the most."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return how often the alert names its commit, is the only one, and holds other changes."""
    return [figure for loss in LOSSES for figure in _measured(loss, trials, seed)]


def _measured(loss: tuple[int, float, float], trials: int, seed: int) -> list[Figure]:
    affected, low, high = loss
    rng = np.random.default_rng([seed, affected, int(low)])
    alerts = right = alone = members = foreign = 0
    for _ in range(trials):
        rows, own = _commit(rng, loss)
        held = [
            one for one in group(rows, dict.fromkeys(range(REVISIONS), SERIES)) if own & _of(one)
        ]
        if not held:
            continue
        first = max(held, key=lambda one: len(own & _of(one)))
        alerts, right, alone = (
            alerts + 1,
            right + (first.likeliest == COMMIT),
            alone + (len(held) == 1),
        )
        members += sum(len(one.members) for one in held)
        foreign += sum(len(_of(one) - own) for one in held)
    name = f"losses of {low:g} to {high:g} % in {affected} of {SERIES} series"
    return [
        Figure(f"{name}: an alert", percent(alerts, trials)),
        Figure(f"{name}: it names the commit", percent(right, alerts), at_least(95.0)),
        Figure(f"{name}: it is the only one", percent(alone, alerts), at_least(95.0)),
        Figure(f"{name}: findings of other commits", percent(foreign, members), at_most(2.0)),
    ]


def _of(one: Group) -> set[int]:
    return {row.finding for row in one.members}


def _commit(
    rng: np.random.Generator, loss: tuple[int, float, float]
) -> tuple[list[Evidence], set[int]]:
    """The findings of all series, and which of them are of the commit."""
    count, low, high = loss
    affected = set(rng.choice(SERIES, count, replace=False).tolist())
    rows: list[Evidence] = []
    own = set()
    for series in range(SERIES):
        width = 0.01 * 2 ** rng.uniform(-1, 1.5)
        shift, other = np.zeros(REVISIONS), None
        if series in affected:
            shift[COMMIT:] += log1p(-rng.uniform(low, high) / 100)
        if rng.random() < ELSEWHERE:
            other = COMMIT + int(rng.choice([-1, 1])) * int(rng.integers(2, FURTHEST + 1))
            shift[other:] += rng.choice([-1, 1]) * log1p(rng.uniform(*OTHER_PCT) / 100)
        values = draw(rng, shift, Scatter(run=width, build=width))
        for change in _confirmed(detect(series_of(values)).analysis.changes):
            at = change.revision.position
            rows.append(_evidence(len(rows) + 1, change, series))
            is_near = abs(at - COMMIT) <= NEAR or rows[-1].suspects(COMMIT)
            if (
                series in affected
                and is_near
                and (other is None or abs(at - COMMIT) < abs(at - other))
            ):
                own.add(len(rows))
    return rows, own


def _confirmed(changes: Sequence[Change]) -> list[Change]:
    return [one for one in changes if one.state == "confirmed"]


def _evidence(number: int, change: Change, series: int) -> Evidence:
    return Evidence(
        finding=number,
        after=change.after.position,
        last=change.last.position,
        at=change.revision.position,
        verdict=change.verdict,
        p_value=change.p_value,
        is_large=abs(change.change_pct) >= LEAST_PCT,
        series=series,
        locations=tuple((position, chance) for position, _, chance in change.locations),
        here=change.here,
    )
