"""One revision more, anywhere, of any size: what is sure and far away stays as it was."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.worlds.inserting import GONE, STEPPED, disturbed
from tests.stats.series import worlds

FEW, MANY = range(60), range(60, 600)
MOST_GONE, MOST_DISTURBED = 0.02, 0.04
"""Shares of insertions; 0.9 % take a finding away, and 2.3 % disturb anything at all: two changes
close to each other that just pay, or a revision of heavy tails that is left out or not."""

CHANCE = 2
"""So many may of few insertions: at 0.9 %, two of sixty do in one set of ten."""


@pytest.mark.parametrize("numbers", worlds(FEW, MANY))
def test_an_inserted_revision_overturns_nothing_far_away(numbers):
    counts: Counter[str] = Counter()
    for number in numbers:
        rng = np.random.default_rng([16, number])
        found = disturbed(rng, STEPPED[number % len(STEPPED)](rng))
        counts.update([*found, *(["anything"] if found else [])])

    assert counts[GONE] <= max(MOST_GONE * len(numbers), CHANCE)
    assert counts["anything"] <= max(MOST_DISTURBED * len(numbers), 2 * CHANCE)
