"""Ratios with an option over without: in pairs that share a session, a day or nothing."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.option_cost import PairedRun, Ratios, ratios

MONDAY, TUESDAY = date(2016, 8, 1), date(2016, 8, 2)


def run(key: int, *samples: float, build: str = "", **fields: object) -> PairedRun:
    boots = fields.pop("boots", list(range(len(samples))))
    return PairedRun(key, build or f"build {key}", samples, boots, **fields)  # type: ignore[arg-type]


def values(found: list[Ratios]) -> list[float]:
    return [value for one in found for value in one.samples]


class TestPairs:
    def test_samples_are_paired_in_their_order(self) -> None:
        found = ratios([run(1, 97, 99)], [run(2, 100, 90)])
        assert found == [Ratios(1, [97.0, pytest.approx(110.0)], [0, 1])]

    def test_the_longer_side_is_dealt_to_groups_none_of_which_serves_two_pairs(self) -> None:
        found = ratios([run(1, 90, 110, 50)], [run(2, 100)])
        assert values(found) == [pytest.approx(250 / 3)]
        found = ratios([run(1, 90, 50)], [run(2, 80, 120, 60, 40)])
        assert values(found) == [pytest.approx(90.0), pytest.approx(100.0)]

    def test_boots_are_paired_with_boots_before_samples_with_samples(self) -> None:
        one = run(1, 10, 20, 30, 40, boots=[0, 0, 1, 1])
        other = run(2, 10, 10, 100, boots=[0, 0, 1])
        assert ratios([one], [other]) == [Ratios(1, [100.0, 200.0, 35.0], [0, 0, 1])]

    def test_unknown_boots_stay_unknown(self) -> None:
        assert ratios([run(1, 1, 1, boots=None)], [run(2, 1, 1)])[0].boots is None
        assert ratios([run(1, 1, 1)], [run(2, 1, 1, boots=None)])[0].boots is None

    def test_two_builds_over_one_are_one_pair_of_builds(self) -> None:
        with_it = [run(1, 90, 92), run(2, 110, 108)]
        assert [one.run for one in ratios(with_it, [run(3, 100, 100)])] == [1]
        both = ratios(with_it, [run(3, 100, 100), run(4, 100, 100)])
        assert [one.run for one in both] == [1, 2]
        assert values(both) == pytest.approx([90, 92, 110, 108])

    def test_two_runs_of_one_build_are_of_one_pair_of_builds(self) -> None:
        with_it = [run(1, 90, build="one"), run(2, 110, build="one")]
        without = [run(3, 100, build="plain"), run(4, 100, build="plain")]
        assert ratios(with_it, without) == [Ratios(1, [90.0, pytest.approx(110.0)], [0, 1])]

    def test_what_has_no_ratio_is_left_out(self) -> None:
        assert values(ratios([run(1, 90, 91)], [run(2, 0, 100)])) == [91.0]
        assert ratios([run(1, 90)], [run(2, -5.0)]) == []
        assert ratios([run(1, 1e308)], [run(2, 1e-308)]) == []
        assert ratios([run(1, *[1.7e308] * 3)], [run(2, 1.7e308)])[0].samples == [100.0]

    def test_a_run_without_samples_takes_no_part(self) -> None:
        assert ratios([run(1), run(2, 90)], [run(3, 100)])[0].run == 2
        assert ratios([run(1)], [run(3, 100)]) == []
        assert ratios([], [run(3, 100)]) == []

    @given(st.lists(st.floats(1, 1e6), min_size=1, max_size=9), st.integers(1, 9))
    def test_a_factor_is_the_ratio_whatever_the_numbers(
        self, samples: list[float], number: int
    ) -> None:
        found = values(ratios([run(1, *[0.97 * one for one in samples])], [run(2, *samples)]))
        assert len(found) == len(samples)
        assert found == pytest.approx([97.0] * len(samples))
        dealt = values(ratios([run(1, *[5.0] * number)], [run(2, *samples)]))
        assert len(dealt) == min(number, len(samples))


class TestTogether:
    def test_a_session_comes_before_a_day(self) -> None:
        with_it = [run(1, 90, session="a", day=MONDAY), run(2, 50, session="b", day=TUESDAY)]
        without = [run(3, 100, session="a", day=MONDAY), run(4, 100, session="", day=TUESDAY)]
        assert ratios(with_it, without) == [Ratios(1, [90.0], [0])]

    def test_each_session_is_paired_in_itself(self) -> None:
        with_it = [run(1, 90, session="a"), run(2, 180, session="b")]
        without = [run(3, 200, session="b"), run(4, 100, session="a")]
        assert ratios(with_it, without) == [Ratios(1, [90.0], [0]), Ratios(2, [90.0], [0])]

    def test_a_day_comes_before_the_revision(self) -> None:
        with_it = [run(1, 90, day=MONDAY), run(2, 50, day=TUESDAY), run(5, 70)]
        without = [run(3, 100, session="c", day=MONDAY), run(4, 100)]
        assert ratios(with_it, without) == [Ratios(1, [90.0], [0])]

    def test_else_all_that_the_revision_has(self) -> None:
        found = ratios([run(1, 90, day=MONDAY)], [run(2, 100, day=TUESDAY)])
        assert found == [Ratios(1, [90.0], [0])]


def test_day_and_machine_cancel_and_builds_stay() -> None:
    """In percent: days of 5 and machines of 3 leave nothing, builds of 1 leave √2."""
    noise = np.random.default_rng(8)
    means = []
    for _ in range(4000):
        shared = float(np.exp(noise.normal(0, 0.05) + noise.normal(0, 0.03)))
        one, other = np.exp(noise.normal(0, 0.01, 2)).tolist()
        (found,) = ratios(
            [run(1, *[97.0 * shared * one] * 5)], [run(2, *[100 * shared * other] * 5)]
        )
        means.append(float(np.mean(found.samples)))
    scatter = float(np.std(np.log(means)))
    assert scatter == pytest.approx(0.01 * np.sqrt(2), rel=0.05)
    assert float(np.median(means)) == pytest.approx(97.0, abs=0.1)
