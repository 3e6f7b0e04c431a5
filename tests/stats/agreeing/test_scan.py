"""Series that agree: by hand, in any order, copies of one, lone wild ones."""

from dataclasses import replace
from math import erfc, exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from webapp.stats.agreeing import SeriesRecent, agreements, suspects
from webapp.stats.agreeing.scan import DRAWN_IN, FALSE_CANDIDATES, LOOKS, MOST_CANDIDATES, limit

AT = (109, 108, 107, 106, 105, 104)


def series(number: int, machine: int, *scores: float, at: tuple[int, ...] = AT) -> SeriesRecent:
    """A series whose newest revision, newest two, … score so."""
    its = at[: len(scores) + 1]
    return SeriesRecent(number, machine, its, scores, tuple(s / 100 for s in scores))


def nine(score: float = -2.0) -> list[SeriesRecent]:
    """Nine machines; six fell with the newest revision."""
    return [series(i, i, score if i < 6 else 0.0, score / 2 if i < 6 else 0.0) for i in range(9)]


def test_the_example_of_the_documentation() -> None:
    """Six times −2 over the root of nine is −4; the limit for nine series is 3.08."""
    (found,) = agreements(nine(), {})
    assert found.score == pytest.approx(6 * 2 / sqrt(9))
    assert limit(9) == pytest.approx(stats.norm.isf(9 * 0.00025 / 1.1 / 2), abs=1e-9)
    assert limit(9) == pytest.approx(3.08, abs=0.005)
    assert (found.after, found.likeliest, found.last) == (108, 109, 109)
    assert (found.verdict, found.series, found.received) == ("worse", (0, 1, 2, 3, 4, 5), 9)
    assert (found.machines, found.received_machines) == (6, 9)
    assert found.change == pytest.approx(-0.02)
    assert found.false_share == pytest.approx(LOOKS * erfc(4 / sqrt(2)))
    # The place before scores 6 · 1 / 3 = 2: exp(2² / 2 - 4² / 2) of the likeliest one.
    assert found.here == pytest.approx(1 / (1 + exp((4 - 16) / 2)))


def test_three_modes_of_three_machines_say_less_than_nine_machines() -> None:
    """Each machine's three have the variance 3 · (1 + 2 · .75) where nothing is known of them."""
    rows = [replace(row, machine=row.series // 3) for row in nine(-3.0)]
    (found,) = agreements(rows, {})
    assert found.score == pytest.approx(18 / sqrt(3 * 3 * (1 + 2 * 0.75)))
    assert agreements([replace(row, machine=0) for row in nine()], {}) == []


def test_more_series_do_not_make_the_limit_laxer_than_nine_do() -> None:
    assert limit(3) > limit(9) == limit(100)
    share = MOST_CANDIDATES * FALSE_CANDIDATES
    assert LOOKS * erfc(limit(100) / sqrt(2)) == pytest.approx(share)


def test_better_is_told_as_better() -> None:
    (found,) = agreements(nine(2.0), {})
    assert found.verdict == "better"


def test_a_lone_wild_series_is_no_agreement() -> None:
    rows = [series(i, i, -40.0 if i == 0 else 0.3) for i in range(9)]
    assert agreements(rows, {}) == []
    assert DRAWN_IN < 3.3


def test_two_series_are_too_few() -> None:
    assert agreements([series(i, i, -3.0) for i in range(2)], {}) == []
    assert agreements([], {}) == []


def test_few_of_many_are_no_agreement() -> None:
    rows = [series(i, i, -3.0 if i < 10 else -0.1) for i in range(100)]
    assert agreements(rows, {}) == []


def test_series_at_other_revisions_have_their_say_about_the_steps_between() -> None:
    """Some measured 104 and 109, some 106 and 109: the change is after 106."""
    long = [series(i, i, -3.0, at=(109, 104)) for i in range(3)]
    short = [series(i + 3, i + 3, -3.0, -0.2, at=(109, 106, 103)) for i in range(3)]
    (found,) = agreements([*long, *short], {})
    assert (found.after, found.last) == (106, 109)


def test_what_other_machines_show_elsewhere_is_an_agreement_of_its_own() -> None:
    old = [series(i, i, -3.0, at=(19, 18)) for i in range(3)]
    new = [series(i + 3, i + 3, 3.0) for i in range(3)]
    assert [(a.likeliest, a.verdict) for a in agreements([*new, *old], {})] == [
        (19, "worse"),
        (109, "better"),
    ]


def test_one_build_on_all_machines_is_one_build() -> None:
    apart = agreements(nine(), {}, [(i, f"build {i}") for i in range(9)])
    assert apart == agreements(nine(), {})
    assert agreements(nine(), {}, [(i, "one") for i in range(9)]) == []


scores = st.lists(st.floats(-6, 6, allow_nan=False), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(scores, min_size=3, max_size=9), st.randoms(use_true_random=False))
def test_the_order_of_series_does_not_matter(all_scores: list[list[float]], dice) -> None:  # type: ignore[no-untyped-def]
    rows = [series(i, i // 2, *its) for i, its in enumerate(all_scores)]
    shuffled = rows.copy()
    dice.shuffle(shuffled)
    assert agreements(shuffled, {}) == agreements(rows, {})
    assert suspects(shuffled) == suspects(rows)


@settings(max_examples=60, deadline=None)
@given(st.lists(scores, min_size=3, max_size=6))
def test_what_a_closer_look_finds_was_suspected(all_scores: list[list[float]]) -> None:
    rows = [series(i, i // 2, *its) for i, its in enumerate(all_scores)]
    for one in agreements(rows, {}):
        first = suspects(rows)
        assert first is not None
        assert first <= one.likeliest


def test_a_copy_under_a_second_mode_adds_next_to_nothing() -> None:
    noise = np.random.default_rng(1).standard_normal((3, 40))
    off = {i: dict(enumerate(row.tolist())) for i, row in enumerate(noise)}
    rows = [series(i, i, -2.2) for i in range(3)]
    (alone,) = agreements(rows, off)
    copies = [replace(row, series=row.series + 3) for row in rows]
    (twice,) = agreements([*rows, *copies], off | {i + 3: off[i] for i in range(3)})
    assert alone.score <= twice.score <= 1.02 * alone.score
