"""One build a side of unknown noise: judged by what is believed of how builds scatter."""

from collections.abc import Sequence
from math import log

import numpy as np
import pytest

from webapp.stats.compare import Summaries, summarize
from webapp.stats.compare.comparing import BuildNoise, Comparison, Samples, Verdict, compare
from webapp.stats.compare.single_builds import believed
from webapp.stats.single_build import Measured, NoisePrior, build_of, interval, weigh

BEFORE = [635734, 625167, 629014, 636936.5, 641688]
AFTER = [1207046, 1150867, 1139815.5, 1138692, 1146448]
RUNS = (1.0, 0.99, 1.01, 1.005, 0.995)
OF_MACHINE = NoisePrior(1.8, 1.5, of_machine=True)


def pair(factor: float, belief: NoisePrior | None = None) -> Comparison:
    """Five runs a side that scatter by 0.8 %, the second times ``factor``."""
    after = [100 * factor * one for one in RUNS]
    return compare([100 * one for one in RUNS], after, same_build=False, belief=belief)


def test_a_difference_beyond_what_is_believed_of_builds_is_one() -> None:
    found = compare(BEFORE, AFTER, same_build=False)
    assert (found.verdict, found.why, found.one_build) == (Verdict.BETTER, "", True)
    assert found.change.p < 0.0001
    runs = compare(BEFORE, AFTER).change
    assert found.change.percent == runs.percent
    assert found.change.low is not None
    assert runs.low is not None
    assert found.change.low < runs.low


def test_what_believed_builds_explain_is_no_more_than_that_builds_differ() -> None:
    found = pair(0.96)
    assert (found.verdict, found.why) == (Verdict.CANNOT_TELL, "one_build_a_side")
    assert found.builds_differ
    assert found.change.proven == 0
    assert not pair(0.995).builds_differ


def test_on_a_machine_of_unknown_noise_the_chance_is_that_of_noisy_builds() -> None:
    """−10 %: far from 1.8 · √2 · 1.96 = 5.0 %, and within 6.4 · √2 · 1.96 = 17.7 %."""
    unknown, known = pair(0.9), pair(0.9, OF_MACHINE)
    assert unknown.verdict is known.verdict is Verdict.WORSE
    assert unknown.change.low == known.change.low
    assert known.change.p < 0.05 < unknown.change.p
    assert pair(0.8).change.p < 0.05


def test_a_noisier_machine_explains_more() -> None:
    assert pair(0.9, NoisePrior(5.2, 1.5, of_machine=True)).verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize("belief", [NoisePrior(), NoisePrior(4.0, 2.0)])
@pytest.mark.parametrize(
    ("boots", "builds"),
    [(None, "aaaaaa"), ("ppqqrr", "aaaaaa"), ("pppppp", "aaaaaa"), (None, "aabbcc")],
)
def test_the_interval_is_that_of_an_alert_about_the_pair(
    belief: NoisePrior, boots: str | None, builds: str
) -> None:
    before, after = [100.0, 101, 99.5, 100.2, 98.7, 101.1], [90.0, 91, 88, 90.5]
    of_before, of_after = (boots and list(boots)), (boots and list("xyzu"))
    sides = Samples(before, boots=of_before, builds=list(builds)), Samples(after, boots=of_after)
    old = [_build(before, boots, builds, of) for of in sorted(set(builds))]
    new = build_of(after, of_after)
    assert new is not None
    evidence = weigh([Measured(1, tuple(old))], [Measured(2, (new,))])
    assert evidence is not None
    low, high = interval(evidence, belief)
    columns = (Summaries([summarize(one)]) for one in sides)
    found = believed(*columns, np.array([-evidence.loss]), [belief], 95)
    assert found.reach[0] == pytest.approx((high - low) / 2, abs=1e-5)


def _build(values: Sequence[float], boots: str | None, builds: str, of: str):  # type: ignore[no-untyped-def]
    own = [at for at, name in enumerate(builds) if name == of]
    return build_of([values[at] for at in own], boots and [boots[at] for at in own])


def test_a_change_as_large_as_the_smallest_seen_is_proven_in_80_of_100() -> None:
    rng = np.random.default_rng(34)
    visible = pair(1.0, OF_MACHINE).change.visible
    assert visible is not None
    scatter = 0.018 * np.exp(rng.normal(0, log(1.5), 4000))
    seen = log(1 + visible / 100) + rng.normal(0, scatter * 2**0.5) + rng.normal(0, 0.005, 4000)
    reach = log(1 + (pair(1.0, OF_MACHINE).change.high or 0) / 100)
    assert np.mean(seen > reach) == pytest.approx(0.8, abs=0.03)


def test_the_same_build_on_both_sides_needs_no_noise_between_builds() -> None:
    found = compare(BEFORE, AFTER, same_build=True, build_noise=BuildNoise(60, 20))
    assert (found.verdict, found.one_build) == (Verdict.BETTER, False)
    assert found.change.history is None


def test_known_noise_between_builds_or_two_builds_a_side_settle_it() -> None:
    assert not compare(BEFORE, AFTER, same_build=False, build_noise=BuildNoise(2, 20)).one_build
    a = Samples([100, 101, 99, 100], builds="ppqq")
    b = Samples([200, 201, 199, 200], builds="rrss")
    assert not compare(a, b, same_build=False).one_build


def test_samples_without_logarithms_are_judged_by_no_belief() -> None:
    found = compare([0.0, 1, 2, 1, 0], [90.0, 91, 92, 89, 90], same_build=False)
    assert (found.verdict, found.belief) == (Verdict.CANNOT_TELL, None)
    assert found.builds_differ


def test_equal_runs_of_single_builds_prove_no_equivalence() -> None:
    assert pair(1.0).verdict is Verdict.CANNOT_TELL
    assert pair(1.0, NoisePrior(0.3, 1.5, of_machine=True)).verdict is Verdict.EQUIVALENT
