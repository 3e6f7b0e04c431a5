"""How often a finding that is no change of level is real: `benchmarks.calibration kinds`.

Two hundred revisions in the noises of `cells.MIXED`. One series in ten has an excursion, one a
change of noise, one of modes, one a slow move, of any size from what is hardly seen to what is
plain; the others have none. Real is a finding of the kind that was planted, near where it was; an
excursion also where the build itself lies off by half of what is reported: heavy tails make such.
"""

from collections import Counter
from math import log1p

import numpy as np

from benchmarks.cells import MIXED, SAMPLES, Cell, Floats, series_of
from webapp.stats.changes import Findings, detect
from webapp.stats.simulate import draw_levels, draw_samples

REVISIONS = 200
KINDS = ("excursion", "noise", "modes", "slow")
SHARE = 0.1
"""Of the series that have each kind."""

FIRST, LAST = 40, 160
"""Revisions between which it begins."""

NEAR = 20
"""Revisions by which a change of noise or of modes may be placed off."""

HALF = 0.5


def count_kinds(rng: np.random.Generator, series: int) -> tuple[Counter[str], Counter[str]]:
    """Return by kind how many findings were reported, and how many of them are real."""
    reported: Counter[str] = Counter()
    real: Counter[str] = Counter()
    for number in range(series):
        cell = MIXED[number % len(MIXED)]
        kind = KINDS[at] if (at := int(rng.random() / SHARE)) < len(KINDS) else ""
        begin = int(rng.integers(FIRST, LAST))
        values, levels = _planted(rng, cell, kind, begin)
        findings = detect(series_of(values)).others
        for one, is_real in _judged(findings, kind, begin, levels):
            reported[one] += 1
            real[one] += is_real
    return reported, real


def _planted(rng: np.random.Generator, cell: Cell, kind: str, begin: int) -> tuple[Floats, Floats]:
    """A series with `kind` from revision `begin` on, and the log level of each of its builds."""
    levels = draw_levels(rng, 1, REVISIONS, cell.scatter)[0]
    sd, sign = cell.sd(), rng.choice((-1.0, 1.0))
    if kind == "excursion":
        levels[begin] += sign * sd * rng.uniform(6.0, 30.0)
    elif kind == "slow":
        levels += sign * sd * rng.uniform(1.0, 10.0) * np.arange(REVISIONS) / REVISIONS
    elif kind == "noise":
        levels[begin:] *= rng.uniform(2.0, 5.0)
    values = draw_samples(rng, levels[None], SAMPLES, cell.scatter)[0]
    if kind == "noise":
        own = np.exp(levels[begin:, None])
        values[begin:] = own * (values[begin:] / own) ** rng.uniform(2.0, 5.0)
    elif kind == "modes":
        slow = rng.random(values[begin:].shape) < rng.uniform(0.1, 0.5)
        values[begin:] *= np.exp(log1p(-rng.uniform(8.0, 25.0) / 100) * slow)
    return values, levels


def _judged(findings: Findings, kind: str, begin: int, levels: Floats) -> list[tuple[str, bool]]:
    middle = float(np.median(levels))
    rows = []
    for one in findings.excursions:
        off = levels[one.first.position] - middle
        is_off = off * one.pct > 0 and abs(off) >= HALF * abs(log1p(one.pct / 100))
        rows.append(("excursion", bool(is_off)))
    for name, its in (("noise", findings.noise_changes), ("modes", findings.modes)):
        near = [abs(each.first.position - begin) <= NEAR for each in its]
        rows += [(name, kind == name and is_near) for is_near in near]
    return rows + [("slow", kind == "slow") for _ in findings.slow]
