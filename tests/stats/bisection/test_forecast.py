"""Forecasts: their worlds are drawn from what is believed, and state what they rest on."""

import numpy as np
import pytest

from tests.stats.bisection.one_series import forecast, posterior
from webapp.stats.bisection import Boot, Evidence, Kind, Noise, Plan, Purpose
from webapp.stats.bisection.forecast import Trial, forecast_from, quantile
from webapp.stats.bisection.forecast_labs import Believed, Culprits, chance_of_several
from webapp.stats.bisection.posterior import TWO_STEPS_PRIOR
from webapp.stats.bisection.timeline import STATES

COMMITS = 32
PLAN = Plan(weights=(1.0,) * COMMITS, effect=-3.0, noise=Noise(0.3, 0.3))
PAST = tuple(Boot(-back, 0.0 + 0.01 * back) for back in range(6))
DRAWS = 200


def measured(levels: dict[int, float], boots: int = 3) -> Evidence:
    """Boots of revisions at these levels, in turn."""
    fresh = [
        Boot(index, level + 0.05 * turn, purpose=Purpose.SEARCHING)
        for turn in range(boots)
        for index, level in levels.items()
    ]
    return Evidence((*PAST, *fresh))


TWO = measured({0: 0.0, 32: -3.0, 8: 0.0, 12: -1.5, 20: -1.5, 24: -3.0})
"""One and a half lost between 8 and 12, and as much between 20 and 24."""


def rng(number: int = 1) -> np.random.Generator:
    return np.random.default_rng(number)


class TestTruthsBeforeTheStart:
    def seen(self) -> Believed:
        return Believed.of(PLAN, Evidence(PAST))

    def test_the_noise_is_drawn_from_its_uncertainty_and_not_at_its_mean(self):
        seen, draw = self.seen(), rng()
        labs = [seen.lab(draw, seen.draw_one(draw, 5))[0] for _ in range(DRAWS)]
        boot = {round(lab.noise.boot, 6) for lab in labs}
        assert min(boot) < PLAN.noise.boot < 1.3 * PLAN.noise.boot < max(boot)

    def test_the_machine_moves_as_often_as_the_prior_expects(self):
        seen, draw = self.seen(), rng()
        states = [seen.draw_one(draw, 5)[1] for _ in range(1000)]
        steady = STATES[0].weight / sum(state.weight for state in STATES)
        assert np.mean(np.array(states) == 0) == pytest.approx(steady, abs=0.05)
        moved = [np.ptp(seen.lab(draw, (0, state, {}))[1]) for state in (1, 4)]
        assert min(moved) > 0

    def test_some_boots_go_wrong_and_in_most_labs_few(self):
        seen, draw = self.seen(), rng()
        shares = [seen.lab(draw, (0, 0, {}))[0].changes.flaky for _ in range(DRAWS)]
        assert 0 < np.mean(shares) < 0.1

    def test_without_any_boot_there_is_a_lab_all_the_same(self):
        blank, draw = Believed.of(PLAN, Evidence()), rng()
        lab, path = blank.lab(draw, blank.draw_one(draw, 5))
        assert lab.levels.shape == (COMMITS + 1,)
        assert np.isfinite(lab.levels).all()
        assert np.isfinite(path).all()


class TestTruthsOfABisectThatRuns:
    def test_a_lab_goes_on_where_the_boots_were(self):
        plan = PLAN
        seen, draw = Believed.of(plan, measured({0: 10.0, 32: 7.0, 16: 10.0})), rng()
        for _ in range(20):
            lab, _ = seen.lab(draw, seen.draw_one(draw, 20))
            assert lab.booted == 9
            assert lab.levels[16] + lab.changes.offset(9) == pytest.approx(10, abs=1.5)
            assert lab.levels[32] + lab.changes.offset(9) == pytest.approx(7, abs=1.5)

    def after(self, values: list[float], state: int, boots: int) -> float:
        """The mean level of a further boot, so many after those of these values."""
        steady = [Boot(0, value, purpose=Purpose.ANCHOR) for value in values]
        seen, draw = Believed.of(PLAN, Evidence((*PAST, *steady))), rng()
        labs = [seen.lab(draw, (0, state, {}))[0] for _ in range(60)]
        at = len(values) + boots
        return float(np.mean([lab.levels[0] + lab.changes.offset(at) for lab in labs]))

    def test_a_machine_with_a_trend_goes_on_with_it(self):
        values = [0.2 * turn for turn in range(20)]
        assert self.after(values, 1, 0) == pytest.approx(4.0, abs=0.3)
        assert self.after(values, 1, 10) == pytest.approx(6.0, abs=0.5)

    def test_a_machine_that_walked_goes_on_from_where_it_is(self):
        values = [0.0] * 5 + [4.0] * 15
        assert self.after(values, 3, 0) == pytest.approx(4.0, abs=0.4)
        assert self.after(values, 3, 10) == pytest.approx(4.0, abs=0.6)

    def test_builds_that_scatter_keep_their_effects(self):
        plan = Plan(PLAN.weights, PLAN.effect, Noise(0.1, 0.1, build=1.0))
        boots = [Boot(3, 2.0, "a", purpose=Purpose.SEARCHING)] * 5
        seen, draw = Believed.of(plan, Evidence((*PAST, *boots))), rng()
        lab, _ = seen.lab(draw, (0, 0, {20: -3.0}))
        assert lab.levels[3] + lab.builds[3, "a"] == pytest.approx(2.0, abs=0.5)


class TestSeveralCulprits:
    def drawn(self, evidence: Evidence) -> list[list[int]]:
        seen, now, draw = Believed.of(PLAN, evidence), posterior(PLAN, evidence), rng()
        several = Culprits.of([seen], now, [1.0], draw)
        assert several is not None
        sets = [several.draw(draw)[0].tolist() for _ in range(DRAWS)]
        return [sorted(place for place in one if place <= COMMITS) for one in sets]

    def test_before_any_boot_the_chance_is_the_prior(self):
        evidence = Evidence(PAST)
        prior = Believed.of(PLAN, evidence).data.prior
        chance = chance_of_several(posterior(PLAN, evidence), prior)
        assert chance == pytest.approx((1 - PLAN.doubt) * TWO_STEPS_PRIOR)

    def test_before_any_boot_they_are_anywhere_and_two_or_three(self):
        drawn = self.drawn(Evidence(PAST))
        assert {len(one) for one in drawn} == {2, 3}
        assert (
            np.mean([one[0] for one in drawn]) < COMMITS / 2 < np.mean([one[-1] for one in drawn])
        )

    def test_boots_that_show_two_leave_those_places(self):
        drawn = self.drawn(TWO)
        assert np.mean([9 <= one[0] <= 12 and 21 <= one[-1] <= 24 for one in drawn]) > 0.9

    def test_of_boots_that_show_two_the_rest_is_forecast_as_theirs(self):
        prior = Believed.of(PLAN, TWO).data.prior
        assert chance_of_several(posterior(PLAN, TWO), prior) > 0.5
        coming = forecast(PLAN, TWO, trials=3)
        assert coming.several is not None
        assert coming.several.trials == 3

    def test_one_candidate_cannot_be_several(self):
        alone = Plan((1.0,), -3.0, Noise(0.3, 0.3))
        coming = forecast(alone, Evidence(PAST), trials=3)
        assert coming.several is None
        assert coming.one is not None
        assert coming.trials == 3


class TestWhatIsStated:
    def test_a_further_value_is_kept_in_as_often_as_it_promises(self):
        draw = rng()
        inside = [
            draw.standard_normal() <= quantile(draw.standard_normal(12), np.full(12, 1 / 12), 0.9)
            for _ in range(4000)
        ]
        assert np.mean(inside) == pytest.approx(0.9, abs=0.02)

    def test_of_equal_weights_it_is_the_sixth_of_hyndman_and_fan(self):
        values = np.array([5.0, 1.0, 9.0, 3.0, 7.0])
        for share in (0.2, 0.5, 0.8):
            found = quantile(values, np.full(5, 0.2), share)
            assert found == pytest.approx(np.quantile(values, share, method="weibull"))

    def test_each_kind_has_a_number_and_all_together_their_mixture(self):
        coming = forecast_from(
            lambda *_: Trial(Kind.SINGLE, 20, 10.0, 1),
            lambda *_: Trial(Kind.TWO_STEPS, 60, 30.0, 2),
            0.2,
            trials=20,
            seed=1,
        )
        assert coming.one is not None
        assert coming.several is not None
        assert (coming.one.boots_p90, coming.several.boots_median) == (20, 60)
        assert (coming.boots_median, coming.boots_p90) == (20, 60)
        assert coming.outcomes == pytest.approx({Kind.SINGLE: 0.8, Kind.TWO_STEPS: 0.2})
        assert coming.shows_two

    def test_several_that_are_as_good_as_excluded_are_not_simulated(self):
        coming = forecast_from(
            lambda *_: Trial(Kind.SINGLE, 20, 10.0, 1), pytest.fail, 0.001, trials=5, seed=1
        )
        assert coming.several is None
        assert not coming.shows_two
        assert coming.trials == 5
