"""What one more boot is expected to show."""

import numpy as np
import pytest
from scipy import integrate, stats

from tests.stats.bisection.one_series import posterior
from webapp.stats.bisection import Boot, Costs, Evidence, Noise, Plan
from webapp.stats.bisection.confirming import Case
from webapp.stats.bisection.information import (
    best_option,
    expect,
    look_ahead,
    mutual_information,
)
from webapp.stats.bisection.tally import tally


def entropy(p):
    return -sum(x * np.log2(x) for x in (p, 1 - p) if x > 0)


def slow_information(q, distance):
    def density(y):
        after, before = q * stats.norm.pdf(y, distance), (1 - q) * stats.norm.pdf(y)
        return (after + before) * entropy(after / (after + before))

    left, _ = integrate.quad(density, -8, distance + 8, limit=200)
    return entropy(q) - left


@pytest.mark.parametrize("q", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("distance", [0.1, 0.7, 1.4, 2.8, 5.0])
def test_the_expected_loss_equals_the_integral(q, distance):
    fast = mutual_information(np.array([q]), np.array([distance]))[0]

    assert fast == pytest.approx(slow_information(q, distance), abs=2e-3)


def test_nothing_is_learnt_where_the_answer_is_known_or_no_answer_is_heard():
    q, distance = np.array([0.0, 1.0, 0.5]), np.array([3.0, 3.0, 0.0])

    assert mutual_information(q, distance) == pytest.approx([0, 0, 0], abs=1e-9)


def outlook(plan, evidence):
    data, now = tally(plan, evidence), posterior(plan, evidence)
    return look_ahead(Case(plan, evidence, data, now, (), 1, ""), now)


ENDS = (Boot(0, 0.0), Boot(0, 0.1), Boot(32, -2.0), Boot(32, -2.1))


def test_a_fresh_build_beside_shows_more_than_the_tenth_boot_of_the_same():
    plan = Plan((1.0,) * 32, -2.0, Noise(0.5, 0.5, build=0.8))
    evidence = Evidence(ENDS + (Boot(16, -1.0),) * 10)

    best = best_option(plan, outlook(plan, evidence), frozenset())

    assert best.index in {15, 17}
    assert not best.rebuild


def test_where_the_lab_can_a_build_is_made_again_when_that_shows_most():
    ends = tuple(Boot(i, v, f"{i}.{b}") for i, v in ((0, 0.0), (2, -2.0)) for b in range(6))
    evidence = Evidence(ends + (Boot(1, -1.0),) * 10)
    plan = Plan((1.0, 1.0), -2.0, Noise(0.5, 0.5, build=0.8), can_rebuild=True)

    best = best_option(plan, outlook(plan, evidence), frozenset())

    assert (best.index, best.rebuild) == (1, True)


def test_what_is_under_way_makes_another_revision_the_best():
    plan = Plan((1.0,) * 32, -2.0, Noise(0.2))
    coming = outlook(plan, Evidence(ENDS))
    first = best_option(plan, coming, frozenset())

    expect(coming, first.index, rebuild=False)
    second = best_option(plan, coming, frozenset())

    assert first.index == 16
    assert second.index in {8, 24}
    assert coming.likely.sum() == pytest.approx(1)
    assert coming.chances.sum(axis=1) == pytest.approx(1)


def test_many_boots_under_way_stay_a_bounded_thought():
    plan = Plan((1.0,) * 32, -2.0, Noise(0.5))
    coming = outlook(plan, Evidence(ENDS))

    for index in range(1, 32):
        expect(coming, index, rebuild=False)

    assert len(coming.likely) <= 32


def test_long_ranges_are_halved_as_well():
    plan = Plan((1.0,) * 5000, -2.0, Noise(0.2), costs=Costs(build=0.5, boot=0.1))
    ends = (Boot(0, 0.0), Boot(0, 0.1), Boot(5000, -2.0), Boot(5000, -2.1))

    best = best_option(plan, outlook(plan, Evidence(ends)), frozenset())

    assert 2400 <= best.index <= 2600


def test_nothing_can_be_measured_when_everything_is_skipped():
    plan = Plan((1.0,) * 3, -2.0, Noise(0.5))

    assert best_option(plan, outlook(plan, Evidence(ENDS[:2])), frozenset(range(4))) is None
