"""When modes of a machine agree that one revision was odd, and how often nothing makes them."""

from collections import Counter

import numpy as np
import pytest

from webapp.stats.changes import Finding, Point, advance, present, start
from webapp.stats.metrics import ALONE
from webapp.stats.several_series import TOGETHER, faint_excursions, modes_agree

REVISIONS, AT = 60, 40


def points(builds: np.ndarray, rng: np.random.Generator) -> list[Point]:
    """Five runs of 0.5 % scatter in each build; ``builds`` are logs, (revisions,)."""
    return [
        Point(i, f"r{i}", (1e6 * np.exp(log + rng.normal(0, 0.005, 5))).tolist())
        for i, log in enumerate(builds)
    ]


def excursions_of(series: list[Point]) -> tuple[list[Finding], list[Finding]]:
    """Excursions of the series alone, and those that count where others agree."""
    state = advance(start(), series)
    found = present(state, "more").others
    return list(found.excursions), faint_excursions(state.window.rows.values(), found)


@pytest.mark.parametrize(
    ("off", "measured", "agrees"),
    [(1, 1, False), (2, 2, True), (2, 4, True), (2, 5, False), (10, 20, True), (0, 0, False)],
)
def test_two_modes_and_half_of_those_measured_must_agree(
    off: int, measured: int, agrees: bool
) -> None:
    assert modes_agree(off, measured) is agrees


def test_what_lies_between_five_and_eight_deviations_counts_only_with_others() -> None:
    rng = np.random.default_rng(1)
    builds = rng.normal(0, 0.005, REVISIONS)
    builds[AT] = -0.03

    alone, faint = excursions_of(points(builds, rng))

    assert not alone
    (one,) = faint
    assert (one.first.label, one.previous.label, one.last.label) == ("r40", "r39", "r41")
    assert TOGETHER <= one.score < ALONE
    assert one.low_pct < 100 * np.expm1(-0.03) < one.high_pct


def test_a_larger_one_is_shown_alone_and_not_twice() -> None:
    rng = np.random.default_rng(1)
    builds = rng.normal(0, 0.005, REVISIONS)
    builds[AT] = -0.3

    alone, faint = excursions_of(points(builds, rng))

    assert [one.first.label for one in alone] == ["r40"]
    assert not faint


def test_neither_one_wild_sample_nor_the_newest_revision_counts() -> None:
    rng = np.random.default_rng(2)
    series = points(rng.normal(0, 0.005, REVISIONS), rng)
    series[AT] = Point(AT, "r40", [*list(series[AT].samples)[:4], 1e5])
    series[-1] = Point(REVISIONS - 1, "r59", [0.965e6 + i for i in range(5)])

    alone, faint = excursions_of(series)

    assert not alone
    assert not faint


@pytest.mark.parametrize("shared", [0.0, 0.25, 0.75])
def test_noise_makes_no_modes_agree_however_much_they_share(shared: float) -> None:
    """Builds of one machine stray together: `shared` of their variance is common to its modes."""
    rng = np.random.default_rng(16)
    for _ in range(15):
        common, own = rng.normal(0, 1, REVISIONS), rng.normal(0, 1, (3, REVISIONS))
        off: Counter[str] = Counter()
        for of_mode in own:
            builds = 0.01 * (np.sqrt(shared) * common + np.sqrt(1 - shared) * of_mode)
            alone, faint = excursions_of(points(builds, rng))
            off.update(one.first.label for one in (*alone, *faint))
        assert not any(modes_agree(count, 3) for count in off.values())
