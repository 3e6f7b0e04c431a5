"""Whether uploads of one revision agree: what must be caught, and what nobody can know."""

import json
from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from webapp.stats.upload_consistency import (
    LIMIT,
    MOST_UPLOADS,
    Disagreement,
    History,
    Upload,
    history_of,
    judge,
    may_disagree,
    upload_of,
)

FIVE = [-1.2, 0.4, 0.0, 1.1, -0.3]
"""Percent around the level; they scatter by .87 %."""


def upload(
    name: str = "a",
    level: float = 1000.0,
    *,
    build: str | None = None,
    boots: list[int] | None = None,
    samples: list[float] | None = None,
) -> Upload:
    values = samples or [level * (1 + one / 100) for one in FIVE]
    made = upload_of(name, build or name, values, list(range(5)) if boots is None else boots)
    assert made is not None
    return made


def judged(*uploads: Upload, history: History | None = None) -> Disagreement:
    found = judge(uploads, history)
    assert found is not None
    return found


def marks(*uploads: Upload, history: History | None = None) -> bool:
    return judged(*uploads, history=history).is_beyond_noise


class TestWhatMustBeCaught:
    @pytest.mark.parametrize("boots", [list(range(5)), [0] * 5, [None] * 5])
    def test_another_configuration(self, boots: list[int]) -> None:
        assert marks(upload("a", 1.2e6, boots=boots), upload("b", 1.9e6, boots=boots))

    @pytest.mark.parametrize("factor", [1.2, 0.8])
    @pytest.mark.parametrize("boots", [list(range(5)), [0] * 5, [None] * 5])
    def test_twenty_percent_at_one_percent_noise(self, boots: list[int], factor: float) -> None:
        assert marks(upload("a", boots=boots), upload("b", 1000 * factor, boots=boots))

    def test_the_same_build_by_the_scatter_of_its_boots(self) -> None:
        assert marks(upload("a", build="x"), upload("b", 1030, build="x"))

    def test_one_boot_against_five_of_the_same_build(self) -> None:
        assert marks(upload("a", build="x"), upload("b", 1080, build="x", boots=[7] * 5))

    def test_the_odd_one_of_four(self) -> None:
        found = judged(*(upload(name) for name in "abc"), upload("d", 1600))
        assert found.is_beyond_noise
        assert "d" in (found.first, found.second)
        assert found.limit == LIMIT / 6

    def test_the_odd_one_of_more_than_are_compared(self) -> None:
        many = [upload(f"{one:03}", 1000 + one / 10) for one in range(3 * MOST_UPLOADS)]
        assert not marks(*many)
        assert marks(*many, upload("odd", 1600))

    def test_a_wild_sample_does_not_hide_another_configuration(self) -> None:
        wild = [1900.0, 1910, 1890, 1905, 1600]
        assert marks(upload("a", 1200), upload("b", samples=wild))


class TestWhatMustNot:
    def test_builds_as_builds_scatter(self) -> None:
        assert not marks(upload("a"), upload("b", 1080))

    def test_one_boot_a_side_whatever_its_runs_scatter(self) -> None:
        steady = [1000.0, 1000.1, 999.9, 1000.0, 1000.05]
        a = upload("a", build="x", samples=steady, boots=[0] * 5)
        b = upload("b", build="x", samples=[1.08 * one for one in steady], boots=[0] * 5)
        assert may_disagree([a, b])
        assert not marks(a, b)

    def test_one_wild_sample_in_an_upload_that_agrees(self) -> None:
        wild = [500.0, 1004, 1000, 1011, 997]
        assert not marks(upload("a", build="x"), upload("b", build="x", samples=wild))

    def test_two_samples_a_side(self) -> None:
        a = upload("a", build="x", samples=[1000.0, 1010], boots=[0, 1])
        b = upload("b", build="x", samples=[1030.0, 1042], boots=[0, 1])
        assert not marks(a, b)

    def test_equal_values_that_differ_by_their_last_digit(self) -> None:
        a, b = (
            upload("a", build="x", samples=[100.0] * 5),
            upload("b", build="x", samples=[101.0] * 5),
        )
        assert not marks(a, b)
        assert marks(a, upload("c", build="x", samples=[110.0] * 5))

    def test_the_same_twice(self) -> None:
        found = judged(upload("a"), upload("b"))
        assert (found.chance, found.percent) == (1.0, 0.0)
        assert not may_disagree([upload("a"), upload("b")])


class TestWhatNobodyCanTell:
    def test_one_upload(self) -> None:
        assert judge([upload()]) is None
        assert judge([]) is None

    def test_one_sample_a_side_without_a_history(self) -> None:
        pair = [upload(one, samples=[level], boots=[0]) for one, level in (("a", 1.0), ("b", 9.0))]
        assert judge(pair) is None
        assert may_disagree(pair)
        assert marks(*pair, history=History(1.0, 8.0))

    def test_samples_that_are_failed_measurements(self) -> None:
        assert upload_of("a", "x", [0.0, -1.0], None) is None
        some = upload_of("a", "x", [0.0, 5.0], [0, 1])
        assert some is not None
        assert some.samples.units == 1


class TestHistory:
    def test_it_is_the_scatter_of_the_points_whatever_the_steps(self) -> None:
        rng = np.random.default_rng(1)
        logs = 0.04 * rng.standard_normal(150) + np.repeat([0.0, 0.5, -0.4], 50)
        found = history_of([(float(exp(one)), 1) for one in logs])
        assert found is not None
        assert found.percent == pytest.approx(4.0, rel=0.15)
        assert found.freedom == 32

    def test_points_of_many_uploads_scatter_less(self) -> None:
        logs = [0.0, 0.01] * 20
        one, four = (history_of([(float(exp(x)), runs) for x in logs]) for runs in (1, 4))
        assert one is not None
        assert four is not None
        assert four.percent == pytest.approx(2 * one.percent, rel=0.11)  # by steps of 1.2

    def test_a_few_points_show_nothing(self) -> None:
        assert history_of([(1.0, 1)] * 4) is None
        assert history_of([(-1.0, 1)] * 40) is None
        assert history_of([(1.0, 1)] * 5) == History(0.3, 1.0)

    def test_one_more_point_seldom_moves_it(self) -> None:
        rng = np.random.default_rng(2)
        points = [(float(exp(one)), 1) for one in 0.02 * rng.standard_normal(200)]
        found = [history_of(points[:count]) for count in range(100, 200)]
        assert len(set(found)) <= 5

    def test_a_quiet_series_marks_more_and_a_restless_one_less(self) -> None:
        near, far = (upload("a"), upload("b", 1060)), (upload("a"), upload("b", 1200))
        assert not marks(*near)
        assert marks(*near, history=History(0.5, 32))
        assert marks(*far)
        assert not marks(*far, history=History(6.0, 32))


def test_the_chance_is_the_integral_over_noise_and_belief() -> None:
    a, b = upload("a"), upload("b", 1100)
    assert a.boots is not None
    assert b.boots is not None
    variance = (a.boots.squares + b.boots.squares) / 8
    difference = b.boots.mean - a.boots.mean

    def tail(u: float, v: float) -> float:
        """Of builds that scatter by 1.8 % × 1.5ᵘ, and a chi² of 8 degrees of freedom at v."""
        build = 2 * (0.018 * 1.5**u) ** 2
        sd = (build + 0.4 * variance * 8 / v) ** 0.5
        return 2 * stats.norm.cdf(-difference / sd) * stats.norm.pdf(u) * stats.chi2.pdf(v, 8)

    expected, _ = integrate.dblquad(tail, 0.05, 60, -6, 6, epsabs=1e-8)
    assert judged(a, b).chance == pytest.approx(expected, rel=0.01)


def test_of_one_build_it_is_students_t_on_boots() -> None:
    a, b = upload("a", build="x"), upload("b", 1020, build="x")
    logs = [[log(level * (1 + one / 100)) for one in FIVE] for level in (1000.0, 1020.0)]
    assert judged(a, b).chance == pytest.approx(stats.ttest_ind(*logs).pvalue)


def test_the_order_of_uploads_does_not_matter() -> None:
    some = [upload("a"), upload("b", 1500), upload("c", 1010)]
    forwards, backwards = judged(*some), judged(*reversed(some))
    assert forwards.chance == backwards.chance
    assert {forwards.first, forwards.second} == {backwards.first, backwards.second}


def test_an_upload_survives_json() -> None:
    for one in (upload(), upload(boots=[None] * 5)):
        assert Upload.from_data(json.loads(json.dumps(one.to_data()))) == one


def test_huge_and_tiny_levels_have_numbers() -> None:
    found = judged(upload("a", 1e-300), upload("b", 1e300))
    assert found.is_beyond_noise
    assert np.isfinite(found.percent)


def session(name: str, level: float, builds: list[str], **how: Any) -> list[Upload]:
    """Uploads of one session, one for each of ``builds``."""
    return [
        replace(upload(f"{name} {number}", level, build=build, **how), session=name)
        for number, build in enumerate(builds)
    ]


class TestSessions:
    def test_two_that_differ_are_marked_though_no_two_uploads_prove_it(self) -> None:
        one, other = (
            session(name, level, [f"{name}{number}" for number in range(4)])
            for name, level in (("one", 1000.0), ("other", 1090.0))
        )
        found = judged(*one, *other)
        assert found.is_beyond_noise
        assert found.of_sessions
        assert (found.first, found.second) == ("one", "other")
        assert found.percent == pytest.approx(9.0)
        assert found.limit == LIMIT / 2
        assert may_disagree([*one, *other])
        alone = [replace(upload, session="") for upload in (*one, *other)]
        assert not marks(*alone)

    def test_builds_of_both_sessions_that_scatter_as_much_explain_it(self) -> None:
        levels = [1000.0, 1090.0, 960.0, 1050.0]
        one = [replace(upload(f"a{x}", x), session="one") for x in levels]
        other = [replace(upload(f"b{x}", x * 1.05), session="other") for x in levels]
        assert not marks(*one, *other)

    def test_sessions_of_one_upload_each_are_uploads(self) -> None:
        one, other = upload("a"), upload("b", 1200)
        named = [replace(one, session="x"), replace(other, session="y")]
        assert judged(*named) == judged(one, other)

    def test_one_session_alone_is_no_pair(self) -> None:
        its = session("one", 1000.0, ["a", "b", "c"])
        assert judged(*its) == judged(*(replace(one, session="") for one in its))

    def test_the_same_build_is_judged_by_the_boots_of_both(self) -> None:
        one, other = session("one", 1000.0, ["x"] * 3), session("other", 1012.0, ["x"] * 3)
        found = judged(*one, *other)
        assert found.of_sessions
        boots = np.log([1000.0 * (1 + at / 100) for at in FIVE] * 3)
        expected = stats.ttest_ind(boots, boots + log(1.012)).pvalue
        assert found.chance == pytest.approx(expected, rel=1e-6)

    def test_an_odd_upload_within_a_session_is_still_marked(self) -> None:
        its = [*session("one", 1000.0, ["a", "b"]), *session("other", 1000.0, ["c", "d"])]
        odd = replace(upload("odd", 1900), session="other")
        assert marks(*its, odd)

    def test_of_many_sessions_the_outermost_are_compared(self) -> None:
        many = [
            one
            for number in range(MOST_UPLOADS + 4)
            for one in session(f"{number:02}", 1000.0 + number / 10, ["a", "b"])
        ]
        assert not marks(*many)
        found = judged(*many, *session("odd", 1500.0, ["c", "d"]))
        assert found.of_sessions
        assert "odd" in (found.first, found.second)

    def test_it_survives_json_and_what_was_stored_before_sessions(self) -> None:
        (one,) = session("one", 1000.0, ["a"])
        assert Upload.from_data(json.loads(json.dumps(one.to_data()))) == one
        old = {name: part for name, part in one.to_data().items() if name != "session"}
        assert Upload.from_data(old).session == ""
