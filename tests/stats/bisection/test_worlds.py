"""The worlds that a forecast plays stand for all that are believed."""

from dataclasses import replace

import numpy as np
import pytest

from webapp.stats.bisection import Boot, Evidence, Noise, Plan, Purpose, Subject
from webapp.stats.bisection.forecast import POOL, Worlds, draw_moves, hardness
from webapp.stats.bisection.forecast_labs import Believed, Culprits
from webapp.stats.bisection.joint import views

PLAN = Plan(weights=(1.0,) * 16, effect=-2.0, noise=Noise(0.3, 0.4))
PAST = tuple(Boot(-back, 0.01 * back) for back in range(6))
SEEN = Believed.of(PLAN, Evidence(PAST))
USUAL = 4
"""The node of the noise that is as history has it, with builds that do not scatter."""


def rng():
    return np.random.default_rng(1)


class TestHardness:
    def test_a_step_is_as_hard_as_the_variance_of_a_boot_over_its_square(self):
        variance = PLAN.noise.boot_variance(PLAN.runs)
        assert SEEN.data.nodes.within[USUAL] == 1
        assert hardness([SEEN], [(USUAL, 0, {5: -2.0})]) == pytest.approx(variance / 4)

    def test_two_of_half_the_step_are_eight_times_as_hard_as_one(self):
        one, two = {5: -2.0}, {5: -1.0, 9: -1.0}
        hard = [hardness([SEEN], [(USUAL, 0, steps)]) for steps in (one, two)]
        assert hard[1] == pytest.approx(8 * hard[0])

    def test_noise_and_builds_that_scatter_make_it_harder(self):
        steps = {5: -2.0}
        usual, builds, noisy = (
            hardness([SEEN], [(node, 0, steps)]) for node in (USUAL, USUAL + 2, USUAL + 4)
        )
        assert usual < builds
        assert noisy == pytest.approx(2 * usual)

    def test_a_machine_that_is_spared_shows_nothing(self):
        moved, spared = (USUAL, 0, {5: -2.0}), (USUAL, 0, {})
        alone = hardness([SEEN], [moved])
        assert hardness([SEEN, SEEN], [moved, spared]) == pytest.approx(alone)
        assert hardness([SEEN, SEEN], [moved, moved]) == pytest.approx(alone / 2)

    def test_no_step_at_all_is_found_soonest(self):
        assert hardness([SEEN], [(USUAL, 0, {})]) == 0


class TestWorlds:
    def worlds(self):
        return Worlds.of([SEEN], lambda draw: [SEEN.draw_one(draw, 5)], rng())

    def test_the_easy_ones_come_first(self):
        hard = [hardness([SEEN], world) for world in self.worlds().truths]
        assert len(hard) == POOL
        assert hard == sorted(hard)
        assert hard[-1] > 2 * hard[0]

    @pytest.mark.parametrize("trials", [9, 12, 20])
    def test_a_few_are_spread_evenly_over_that_order(self, trials):
        worlds = Worlds(tuple([(at, 0, {})] for at in range(POOL)))
        places = np.sort([worlds.played(number)[0][0] / POOL for number in range(trials)])
        assert places[0] < 1.5 / trials
        assert places[-1] > 1 - 1.5 / trials
        assert np.diff(places).max() < 2 / trials

    def test_in_the_long_run_each_is_played_as_often_as_another(self):
        worlds = Worlds(tuple([(at, 0, {})] for at in range(POOL)))
        played = [worlds.played(number)[0][0] for number in range(50 * POOL)]
        assert np.bincount(played, minlength=POOL) == pytest.approx(50, abs=3)


class TestWhichMachinesMove:
    def share(self, moved, which):
        draw = rng()
        drawn = [draw_moves(moved, draw) for _ in range(4000)]
        assert all(any(each) for each in drawn)
        return np.mean([each in which for each in drawn])

    def test_either_of_two_may_be_spared(self):
        # 2 · 0.9 · 0.1 of 1 − 0.1².
        spared = self.share([0.9, 0.9], [(True, False), (False, True)])
        assert spared == pytest.approx(0.18 / 0.99, abs=0.02)

    def test_one_without_a_finding_is_spared_more_often(self):
        assert self.share([0.9, 0.5], [(True, False)]) == pytest.approx(0.45 / 0.95, abs=0.025)

    def test_a_single_machine_moves(self):
        assert self.share([0.9], [(True,)]) == 1

    def test_where_none_moves_it_is_the_likeliest_one(self):
        assert draw_moves([0.0, 0.0], rng()) == (True, False)

    def test_boots_of_a_machine_without_the_step_leave_it_spared(self):
        there = [
            Boot(at, level + 0.02 * turn, purpose=Purpose.SEARCHING)
            for turn in range(4)
            for at, level in ((0, 0.0), (16, -2.0))
        ]
        without = [replace(boot, value=0.02 * turn) for turn, boot in enumerate(there)]
        subjects = [
            Subject(PLAN, Evidence((*PAST, *boots)), machine, 0.1)
            for boots, machine in ((there, "a"), (without, "b"))
        ]
        known = views(subjects)
        assert self.share([one.moved for one in known], [(True, False)]) > 0.99


class TestSeveral:
    def test_two_commits_are_two_steps(self):
        truth = SEEN.draw_several(rng(), np.array([3, 9, 17]), np.array([-1.2, -0.8, 0.0]))
        assert truth[2] == {3: -1.2, 9: -0.8}

    def test_a_set_that_moves_no_machine_is_none(self):
        subjects = [Subject(PLAN, Evidence(PAST), name, 0.5) for name in "ab"]
        known = views(subjects)
        several = Culprits.of([SEEN, SEEN], known[0].posterior, [0.5, 0.5], rng())
        assert several is not None
        moved = np.array([sizes.any(axis=1) for sizes in several.sizes])
        assert several.chance[~moved.any(axis=0)].sum() == 0
        either = (moved[0] ^ moved[1]) @ several.chance
        assert either == pytest.approx(2 / 3, abs=0.05)
