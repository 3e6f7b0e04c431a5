"""The posterior against slow references that share no formula with it."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stats.bisection.one_series import posterior
from webapp.stats import NotFiniteError, OutOfRangeError
from webapp.stats.bisection import Boot, Evidence, Noise, Plan, Purpose, log_percent
from webapp.stats.bisection.hypotheses import (
    DIFFERENCE_SPREAD,
    EFFECT_SPREAD,
    SPREADS,
    lab_step_spread,
)
from webapp.stats.bisection.noise import noise_nodes
from webapp.stats.bisection.posterior import SHARE, TWO_STEPS_PRIOR
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.timeline import STATES, STEP_WEIGHT, LabKind

FLAT = 1e4
"""Standard deviation of a level that is as good as unknown, log percent."""


def merged(boots):
    """History's boots of one build as their mean: (index, build, value, boots, number or None)."""
    begin = next((i for i, b in enumerate(boots) if b.purpose is not Purpose.HISTORY), len(boots))
    past = {}
    for boot in boots[:begin]:
        past.setdefault((boot.index, boot.build), []).append(boot.value)
    rows = [(*key, np.mean(values), len(values), None) for key, values in past.items()]
    return rows + [
        (boot.index, boot.build, boot.value, 1, number) for number, boot in enumerate(boots[begin:])
    ]


def labs(plan, rows):
    """(prior, covariance between rows) of each state of the lab; the steady one first."""
    time = [row[4] for row in rows]
    found = []
    for state in STATES:
        shift = np.zeros((len(rows), len(rows)))
        for i, a in enumerate(time):
            for j, b in enumerate(time):
                if a is not None and b is not None:
                    since = a * b if state.kind is LabKind.TREND else min(a, b)
                    shift[i, j] = state.rate**2 * plan.noise.boot_variance(1) * (since + 9)
        found.append((state.weight, shift, True))
    fresh = [number for number in time if number is not None]
    places = fresh if None in time else fresh[1:]
    for place in places:
        moved = np.array([float(each is not None and each >= place) for each in time])
        covariance = lab_step_spread(plan) ** 2 * np.outer(moved, moved)
        found.append((STEP_WEIGHT / len(places), covariance, False))
    return found


def log_density(rows, covariance, steps):
    """Normal density of all rows: ``steps`` holds (weight of each row, mean, sd) each."""
    off = np.array([row[2] for row in rows])
    covariance = covariance + FLAT**2
    for weight, mean, spread in steps:
        off = off - mean * weight
        covariance = covariance + spread**2 * np.outer(weight, weight)
    return -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))


def worlds(plan, rows):
    """(log prior, covariance, whether the lab is steady) of each noise and state of the lab."""
    build = [(row[0], row[1]) for row in rows]
    same = np.array([[float(a == b) for a in build] for b in build])
    own = np.diag([plan.noise.boot_variance(1) / row[3] for row in rows])
    nodes = noise_nodes(plan.noise, plan.effect)
    for factor, spread, weight in zip(nodes.within, nodes.build, nodes.weight, strict=True):
        for number, (chance, shift, scales) in enumerate(labs(plan, rows)):
            lab = factor * shift if scales else shift
            prior = np.log(weight * chance)
            yield prior, factor * own + lab + spread * same, number == 0


def slow(plan, boots):
    """Weights of every candidate, of none and of two steps, by enumeration."""
    rows = merged(boots)
    prior = np.array(plan.weights) / sum(plan.weights)
    after = {j: np.array([float(row[0] >= j) for row in rows]) for j in range(plan.bad + 2)}
    measured = sorted({row[0] for row in rows})
    one, none, two = [], [], []
    for log_prior, covariance, is_steady in worlds(plan, rows):
        none.append(log_prior + log_density(rows, covariance, []))
        for share, chance in SPREADS:
            spread, known = share * abs(plan.effect), log_prior + np.log(chance)
            steps = [(after[j], plan.effect, spread) for j in range(1, plan.bad + 1)]
            one.append([known + log_density(rows, covariance, [step]) for step in steps])
            for a, b in combinations(range(1, plan.bad + 1), 2) if is_steady else ():
                apart = any(a <= index < b for index in measured)
                if apart and measured[0] < a and b <= measured[-1]:
                    whole = ((after[a] + after[b]) / 2, plan.effect, spread)
                    rest = ((after[a] - after[b]) / 2, 0, DIFFERENCE_SPREAD * abs(plan.effect))
                    pair = np.log(2 * prior[a - 1] * prior[b - 1])
                    two.append(known + pair + log_density(rows, covariance, [whole, rest]))
    top = max(none)
    z = np.append(
        (1 - plan.doubt) * prior * np.exp(np.array(one) - top).sum(axis=0),
        plan.doubt * np.exp(np.array(none) - top).sum(),
    )
    share = (1 - plan.doubt) * TWO_STEPS_PRIOR
    odds = share * np.exp(np.array(two) - top).sum() / ((1 - share) * z.sum())
    return z / z.sum(), odds / (1 + odds)


def slow_remainder(plan, boots, top):
    """The log likelihood ratio of a second step of half the alerted one, by enumeration."""
    rows = merged(boots)
    prior = np.array(plan.weights) / sum(plan.weights)
    after = {j: np.array([float(row[0] >= j) for row in rows]) for j in range(1, plan.bad + 1)}
    measured = {row[0] for row in rows}
    alike = [j for j in after if (after[j] == after[top]).all()]
    open_to = [j for j in after if j not in alike and min(measured) < j <= max(measured)]
    if not open_to or not min(measured) < top <= max(measured):
        return -np.inf
    one, two = [], []
    for log_prior, covariance, is_steady in worlds(plan, rows):
        one.append(np.log(plan.doubt) + log_prior + log_density(rows, covariance, []))
        for share, chance in SPREADS:
            total, known = (plan.effect, share * abs(plan.effect)), log_prior + np.log(chance)
            for j, column in after.items():
                weight = np.log((1 - plan.doubt) * prior[j - 1])
                one.append(weight + known + log_density(rows, covariance, [(column, *total)]))
            for j, sign in product(open_to, (-1, 1)) if is_steady else ():
                weight = prior[j - 1] / prior[[k - 1 for k in open_to]].sum() / 2
                weight *= (1 - plan.doubt) * prior[[k - 1 for k in alike]].sum()
                size = sign * SHARE * abs(plan.effect)
                other = (after[j] - after[top], size, EFFECT_SPREAD * abs(size))
                steps = [(after[top], *total), other]
                two.append(np.log(weight) + known + log_density(rows, covariance, steps))
    return np.logaddexp.reduce(two) - np.logaddexp.reduce(one)


def boots_strategy(commits):
    return st.lists(
        st.builds(
            Boot,
            index=st.integers(-2, commits + 2),
            value=st.floats(-4, 4),
            purpose=st.sampled_from([Purpose.HISTORY, Purpose.SEARCHING]),
        ),
        max_size=7,
    ).map(lambda more: [Boot(0, 0.3), Boot(commits, -2.1), *more])


@settings(max_examples=25, deadline=None)
@given(
    boots=boots_strategy(4),
    weights=st.lists(st.floats(0.1, 1.9), min_size=4, max_size=4),
    noise=st.sampled_from(
        [
            Noise(0.5, 0.5),
            Noise(0.5, 0.5, 2.0, within_df=3),
            Noise(0.7, build=0.3, within_df=12, build_df=8, history_boots=5),
        ]
    ),
    effect=st.sampled_from([-2.0, 1.0]),
)
def test_it_equals_the_enumeration_of_normal_densities(boots, weights, noise, effect):
    plan = Plan(tuple(weights), effect, noise)

    now = posterior(plan, Evidence(tuple(boots)))

    chances, two = slow(plan, tally(plan, Evidence(tuple(boots))).counted)
    assert np.append(now.candidates, now.none) == pytest.approx(chances, abs=2e-5)
    assert now.two == pytest.approx(two, abs=1e-4)
    ratio = slow_remainder(plan, tally(plan, Evidence(tuple(boots))).counted, now.top)
    assert now.rest.ratio == pytest.approx(ratio, abs=1e-3)


def test_estimated_noise_is_less_sure_than_known_noise():
    boots = tuple(Boot(i, v) for i, v in [(0, 0), (8, -2), (4, -2.2), (3, 0.1), (4, -1.9)])
    known = posterior(Plan((1.0,) * 8, -2.0, Noise(0.5)), Evidence(boots))
    estimated = Noise(0.5, within_df=4, build_df=4, history_boots=5)

    unsure = posterior(Plan((1.0,) * 8, -2.0, estimated), Evidence(boots))

    assert known.top == unsure.top == 4
    assert unsure.candidates[3] < known.candidates[3]


def test_without_any_boot_it_is_the_prior():
    now = posterior(Plan((3.0, 1.0, 0.0), 1.0, Noise(1.0), doubt=0.2), Evidence())

    assert now.candidates == pytest.approx([0.6, 0.2, 0.0])
    assert now.none == pytest.approx(0.2)
    assert now.two == 0
    assert now.effect == pytest.approx(1.0)


def test_neither_order_nor_direction_nor_level_nor_the_names_of_builds_matter():
    rng = np.random.default_rng(2)
    boots = [Boot(index, float(rng.normal())) for index in (0, 6, 3, 3, 4, 2, 0, 6)]
    plan = Plan((1.0,) * 6, -2.0, Noise(0.5, 0.5, 0.3))
    reference = posterior(plan, Evidence(tuple(boots)))
    other = Plan((1.0,) * 6, 2.0, Noise(0.5, 0.5, 0.3))
    moved = [Boot(b.index, 700.0 - b.value, f"build of {b.index}") for b in reversed(boots)]

    now = posterior(other, Evidence(tuple(moved)))

    assert now.candidates == pytest.approx(reference.candidates, abs=1e-9)
    assert now.none == pytest.approx(reference.none, abs=1e-9)
    assert now.effect == pytest.approx(-reference.effect, abs=1e-9)


def test_a_skipped_revision_moves_no_probability():
    plan = Plan((1.0,) * 6, -2.0, Noise(0.5))
    boots = (Boot(0, 0.0), Boot(6, -2.0), Boot(2, 0.1), Boot(5, -1.8))

    with_skips = posterior(plan, Evidence(boots, skipped=frozenset({3, 4})))

    assert with_skips.candidates.tolist() == posterior(plan, Evidence(boots)).candidates.tolist()
    assert with_skips.candidates[2:5] == pytest.approx(with_skips.candidates[2])


def test_more_boots_of_one_build_never_prove_more_than_the_build_does():
    noise = Noise(0.5, 0.5, build=1.0)
    ends = (Boot(0, 0.0), Boot(0, 0.0), Boot(2, -2.0), Boot(2, -2.0))

    now = posterior(Plan((1.0, 1.0), -2.0, noise), Evidence(ends + (Boot(1, -2.0),) * 500))

    assert now.candidates[0] < 0.96


def test_rebuilds_prove_what_more_boots_cannot():
    noise = Noise(0.5, 0.5, build=1.0)
    levels = {0: 0.0, 1: -2.0, 2: -2.0}
    boots = tuple(Boot(i, v, f"{i}.{b}") for i, v in levels.items() for b in range(12))

    now = posterior(Plan((1.0, 1.0), -2.0, noise), Evidence(boots))

    assert now.candidates[0] > 0.99


def test_identical_builds_share_their_boots():
    plan = Plan((1.0, 0.0, 1.0), -2.0, Noise(0.5, 0.0, 0.5))
    ends = (Boot(0, 0.0), Boot(3, -2.0))
    apart = (Boot(1, -2.1, "same"), Boot(2, -1.9, "same"))
    together = (Boot(1, -2.1, "same"), Boot(1, -1.9, "same"))

    now = posterior(plan, Evidence(ends + apart))

    assert now.candidates[1] == 0
    assert now.candidates == pytest.approx(posterior(plan, Evidence(ends + together)).candidates)


def test_a_build_of_revisions_that_differ_is_refused():
    boots = (Boot(1, 0.0, "same"), Boot(2, 0.0, "same"))

    with pytest.raises(OutOfRangeError, match="build same"):
        posterior(Plan((1.0,) * 3, -2.0, Noise(0.5)), Evidence(boots))


def test_what_people_rule_out_is_a_thousand_times_less_probable_but_can_be_true():
    plan = Plan((1.0,) * 4, -2.0, Noise(0.5))
    past = tuple(Boot(-back, 0.0) for back in range(9))
    boots = past + tuple(Boot(i, -2.0 if i else 0.0) for i in range(5) for _ in range(5))

    without = posterior(plan, Evidence(excluded=frozenset({1})))
    only = posterior(plan, Evidence(forced=frozenset({2, 3})))
    against = posterior(plan, Evidence(boots, excluded=frozenset({1})))

    assert without.candidates == pytest.approx([0, 0.3, 0.3, 0.3], abs=1e-3)
    assert only.candidates == pytest.approx([0, 0.45, 0.45, 0], abs=1e-3)
    assert against.candidates[0] > 0.99


def test_a_person_can_call_an_unlikely_candidate_as_likely_as_any_other():
    plan = Plan((1.0, 0.02, 0.02, 1.0), -2.0, Noise(0.5))

    now = posterior(plan, Evidence(allowed=frozenset({2})))

    assert now.candidates[1] == pytest.approx(now.candidates[0])
    assert now.candidates[2] == pytest.approx(0.05 * now.candidates[0])


def test_a_candidate_built_as_its_parent_is_ruled_out_as_by_the_plan():
    boots = tuple(Boot(i, -2.0 if i > 1 else 0.0) for i in range(5) for _ in range(3))
    known = posterior(Plan((1.0, 0.0, 1.0, 1.0), -2.0, Noise(0.5)), Evidence(boots))
    plan = Plan((1.0,) * 4, -2.0, Noise(0.5))

    learnt = posterior(plan, Evidence(boots, identical=frozenset({2})))
    called = posterior(plan, Evidence(boots, identical=frozenset({2}), forced=frozenset({2})))

    assert learnt.candidates == pytest.approx(known.candidates)
    assert learnt.candidates[1] == called.candidates[1] == 0


@pytest.mark.parametrize("effect", [-2.0, -500.0])
def test_without_noise_or_with_a_huge_step_one_boot_each_is_enough(effect):
    boots = tuple(Boot(i, effect if i >= 3 else 0.0) for i in (0, 5, 2, 3))

    now = posterior(Plan((1.0,) * 5, effect, Noise(0.0)), Evidence(boots))

    assert now.candidates[2] > 0.999
    assert np.isfinite(now.candidates).all()


def test_two_steps_are_recognised_and_placed():
    rng = np.random.default_rng(1)
    level = {0: 0.0, 3: 0.0, 4: -1.0, 5: -1.0, 7: -1.0, 8: -2.0, 12: -2.0}
    boots = tuple(
        Boot(i, value + 0.2 * float(rng.normal())) for _ in range(9) for i, value in level.items()
    )

    now = posterior(Plan((1.0,) * 12, -2.0, Noise(0.2)), Evidence(boots))

    assert now.two > 0.95
    assert now.two_gaps == ((4, 4), (8, 8))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"weights": ()}, "at least one candidate"),
        ({"weights": (0.0, 0.0)}, "every candidate is ruled out"),
        ({"weights": (-1.0, 2.0)}, "finite number ≥ 0"),
        ({"effect": 0.0}, "effect"),
        ({"doubt": 1.0}, "doubt"),
        ({"runs": 0}, "runs"),
        ({"names": ("a",)}, "names"),
    ],
)
def test_a_plan_that_makes_no_sense_names_the_field(arguments, complaint):
    plan = {"weights": (1.0, 1.0), "effect": -2.0, "noise": Noise(0.5)}

    with pytest.raises(OutOfRangeError, match=complaint):
        Plan(**(plan | arguments))


def test_values_are_log_percent_of_any_reference():
    assert log_percent(98, 100) == pytest.approx(-2.0203, abs=1e-4)
    with pytest.raises(OutOfRangeError):
        log_percent(0, 100)
    with pytest.raises(NotFiniteError):
        Boot(1, float("nan"))
