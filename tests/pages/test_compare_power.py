"""What it would take to prove a small change."""

import pytest

from tests import make
from webapp.analysis.queries.compare import ComparedSet
from webapp.pages.parts.job_offers import power_line
from webapp.stats.compare.comparing import BuildNoise, compare
from webapp.stats.compare.levels import Samples

SAMPLES = (100.0, 101.0, 99.0, 100.5, 99.5)


def a_set(
    samples: tuple[float, ...] = SAMPLES,
    *,
    boots: tuple[int, ...] | None = None,
    builds: tuple[str, ...] = (),
) -> ComparedSet:
    at = make.revision("r1")
    series = make.series()
    return ComparedSet(
        side_index=0,
        series_id=series.pk,
        label="r1",
        revision=at,
        hardware=series.hardware,
        mode=series.mode,
        variant=None,
        levels=Samples(samples, boots=boots, builds=builds or tuple("one" for _ in samples)),
        disagrees=False,
        sessions=(),
    )


def sentence_of(a: ComparedSet, b: ComparedSet, build_noise: BuildNoise | None = None) -> str:
    return power_line(a, b, compare(a.levels, b.levels, build_noise=build_noise))


pytestmark = pytest.mark.django_db


def test_without_known_noise_between_builds_it_is_of_one_build_and_states_it() -> None:
    # sd 0.79 % from 8 degrees of freedom: 0.67 to 1.04 % by the quantiles 11.03 and 4.59 of
    # chi-squared. By normal quantiles n = 2 (2.80 * 0.67)^2 = 7 and 2 (2.80 * 1.04)^2 = 17, a
    # little more by Student's t.
    assert sentence_of(a_set(), a_set()) == (
        "To prove 1 % here in 80 of 100 cases, not counting the noise between builds: "
        "9 to 19 runs a side, by the lower and the upper 80 % bound of the scatter."
    )


def test_known_boots_are_what_is_counted() -> None:
    boots = tuple(range(5))
    line = sentence_of(a_set(boots=boots), a_set(boots=boots))
    assert "9 to 19 boots a side" in line


def test_known_noise_between_builds_asks_for_builds() -> None:
    line = sentence_of(a_set(), a_set(), BuildNoise(0.5, 40))
    assert line.startswith("To prove 1 % here in 80 of 100 cases: ")
    assert "builds a side" in line


def test_what_no_plan_can_prove_is_stated_with_what_the_largest_can() -> None:
    line = sentence_of(a_set(), a_set(), BuildNoise(20.0, 40))
    assert "not by 10 builds a side, 20 runs of each, which would prove only" in line


def test_builds_on_both_sides_are_the_units_and_their_noise_is_known() -> None:
    builds = ("a", "a", "b", "b", "c")
    line = sentence_of(a_set(builds=builds), a_set(builds=builds))
    assert line.startswith("To prove 1 % here in 80 of 100 cases: ")
    assert "5 to 12 builds a side, by the lower" in line


@pytest.mark.parametrize("samples", [(100.0,), (100.0, 100.0), (0.0, 0.0), (-1.0, -2.0)])
def test_without_scatter_around_a_positive_mean_nothing_is_stated(
    samples: tuple[float, ...],
) -> None:
    assert sentence_of(a_set(samples), a_set(samples)) == ""
