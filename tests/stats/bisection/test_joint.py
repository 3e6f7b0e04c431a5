"""Several subjects and one commit: the common posterior against products of single ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stats.bisection.one_series import posterior
from webapp.stats import OutOfRangeError
from webapp.stats.bisection import Boot, Evidence, Noise, Plan, Purpose, Subject
from webapp.stats.bisection.joint import views
from webapp.stats.bisection.plan import check_subjects

COMMITS, DOUBT = 6, 0.1
PLAN = Plan(weights=(1.0,) * COMMITS, effect=-2.0, noise=Noise(0.4, 0.3), doubt=DOUBT)


def boots(seed, *, first_bad=3, step=-2.0, count=8, shift=0.0, after=99):
    """Boots anywhere, the ends among them, in an order of their own."""
    rng = np.random.default_rng(seed)
    order = [0, COMMITS, *rng.integers(0, COMMITS + 1, count - 2).tolist()]
    past = [Boot(0, float(rng.normal(0, 0.5))) for _ in range(3)]
    return tuple(past) + tuple(
        Boot(
            index,
            float(rng.normal(0, 0.5)) + step * (index >= first_bad) + shift * (turn >= after),
            purpose=Purpose.SEARCHING,
            turn=turn,
        )
        for turn, index in enumerate(order)
    )


def subject(its_boots, machine, spared=0.0, plan=PLAN):
    return Subject(plan, Evidence(tuple(its_boots)), machine, spared)


def seen(*subjects):
    return views(subjects)


def by_products(*subjects):
    """Bayes factors of each commit against none, by each subject alone, multiplied."""
    odds = np.full(COMMITS, (1 - DOUBT) / COMMITS / DOUBT)
    for one in subjects:
        now = posterior(one.plan, one.evidence)
        factor = now.candidates / now.none * DOUBT / ((1 - DOUBT) / COMMITS)
        odds *= (1 - one.spared) * factor + one.spared
    return odds / (1 + odds.sum()), 1 / (1 + odds.sum())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), spared=st.sampled_from([0.0, 0.1, 0.5]))
def test_subjects_on_machines_of_their_own_multiply(seed, spared):
    both = subject(boots(seed), "a"), subject(boots(seed + 1, first_bad=4), "b", spared)

    found = seen(*both)
    candidates, none = by_products(*both)

    for view in found:
        assert view.posterior.candidates == pytest.approx(candidates, rel=1e-6, abs=1e-12)
        assert view.posterior.none == pytest.approx(none, rel=1e-6, abs=1e-12)


def test_the_order_of_subjects_and_the_names_of_machines_do_not_matter():
    one, other = subject(boots(1), "a", 0.1), subject(boots(2), "b", 0.5)

    there, back = seen(one, other), seen(other, one)

    assert there[0].posterior.candidates == pytest.approx(back[0].posterior.candidates, rel=1e-9)
    assert there[0].moved == pytest.approx(back[1].moved, rel=1e-9)
    assert there[0].posterior.effect != pytest.approx(there[1].posterior.effect)


def test_a_subject_that_shows_no_step_is_spared_and_keeps_nobody_from_being_suspected():
    moved, still = subject(boots(1, count=14), "a", 0.1), subject(boots(2, step=0.0), "b", 0.1)

    with_it, without = seen(moved, still), seen(moved)

    assert with_it[0].moved > 0.95 > 0.2 > with_it[1].moved
    assert with_it[0].posterior.top == without[0].posterior.top == 3
    assert with_it[0].posterior.none < 0.1


def test_subjects_that_suspect_different_commits_show_more_than_one():
    one = subject(boots(1, first_bad=2, count=20), "a", 0.1)
    other = subject(boots(2, first_bad=5, count=20), "b", 0.1)

    alike = seen(one, subject(boots(2, first_bad=2, count=20), "b", 0.1))[0].posterior
    apart = seen(one, other)[0].posterior

    assert alike.two < 0.1 < 0.5 < apart.two
    assert apart.two_gaps is not None
    (first, _), (second, _) = apart.two_gaps
    assert (first, second) == (2, 5)


def test_a_step_of_the_machine_that_its_modes_feel_is_paid_for_once():
    """No commit moves anything; the machine steps once, which both modes see at one time."""
    rows = [boots(seed, step=0.0, shift=-2.0, after=2, count=6) for seed in (3, 4)]
    apart = seen(*(subject(own, name) for own, name in zip(rows, "ab", strict=True)))
    together = seen(*(subject(own, "a") for own in rows))

    assert together[0].posterior.none > apart[0].posterior.none
    assert together[0].posterior.lab.steps > 0


def test_what_was_never_booted_is_no_evidence():
    known, unknown = subject(boots(1), "a"), subject((), "b", 0.5)

    with_it, without = seen(known, unknown), seen(known)

    assert with_it[0].posterior.candidates == pytest.approx(without[0].posterior.candidates)
    assert with_it[1].moved == 0.5
    assert with_it[1].posterior.effect == PLAN.effect
    assert seen(unknown)[0].posterior.none == pytest.approx(DOUBT)


def test_sharp_evidence_for_two_commits_neither_underflows_nor_names_one():
    sharp = Plan(weights=(1.0,) * COMMITS, effect=-2.0, noise=Noise(0.01, 0.01), doubt=DOUBT)
    rows = [
        [Boot(i, -2.0 * (i >= bad), purpose=Purpose.SEARCHING) for i in range(COMMITS + 1)]
        for bad in (2, 5)
    ]

    found = seen(*(subject(own, name, 0.1, sharp) for own, name in zip(rows, "ab", strict=True)))

    for view in found:
        now = view.posterior
        assert np.isfinite([now.effect, now.boot_sd, now.good_level, view.moved]).all()
        assert float(now.candidates.sum()) + now.none == pytest.approx(1.0)
        assert now.candidates.max() < 0.6


def test_subjects_that_search_among_other_commits_are_refused():
    fewer = Plan(weights=(1.0,) * 3, effect=-2.0, noise=Noise(0.4))

    with pytest.raises(OutOfRangeError, match="subjects"):
        check_subjects([Subject(PLAN), Subject(fewer)])
    with pytest.raises(OutOfRangeError, match="at least one"):
        check_subjects([])
    with pytest.raises(OutOfRangeError, match="spared"):
        Subject(PLAN, spared=1.0)
