"""What is found in series that are not steps in stationary noise: each kind planted once."""

from dataclasses import replace
from math import log1p

import numpy as np
import pytest

from benchmarks.cells import series_of
from benchmarks.worlds.noises import with_modes
from benchmarks.worlds.reading import USUAL, draw
from tests.stats.series import find, mirrored, worlds
from webapp.stats.changes import BadSeriesError, Findings, Point, detect, why_not, why_not_at
from webapp.stats.changes.levels import Level, freedom_between
from webapp.stats.changes.window import BLOCK, KEPT


def series(shift, seed=1, scatter=USUAL):
    return series_of(draw(np.random.default_rng(seed), np.asarray(shift, dtype=float), scatter))


def placed(revisions, *steps):
    """Log levels of so many revisions, with (first, before, percent) of what is added."""
    shift = np.zeros(revisions)
    for first, stop, pct in steps:
        shift[first:stop] += log1p(pct / 100)
    return shift


def starts(findings):
    return [change.first.position for change in findings.changes]


def test_an_excursion_is_reported_with_its_size_and_recovery_and_is_no_change_of_level():
    findings = find(series(placed(81, (40, 41, -57.0))))

    [excursion] = findings.excursions
    assert (excursion.first.label, excursion.last.label) == ("40", "41")
    assert excursion.low_pct < -57 < excursion.high_pct
    assert findings.changes == ()


def test_the_newest_revision_is_no_excursion_before_the_next_one():
    points = series(placed(42, (40, 41, -35.0)))

    assert find(points[:41]).excursions == ()
    assert len(find(points).excursions) == 1


def excursions(*odd):
    points = series(placed(200, *((at, at + 1, pct) for at, pct in odd)))
    return [one.first.position for one in find(points).excursions]


def test_the_third_excursion_of_a_kind_within_64_revisions_is_none():
    recurring = [(at, 40.0) for at in range(30, 180, 15)]

    assert excursions(*recurring) == [30, 45]
    assert excursions((30, 40.0), (45, 40.0), (110, 40.0), (180, 40.0)) == [30, 45, 110, 180]


def test_one_twice_as_far_as_those_that_recur_or_on_the_other_side_is_an_excursion():
    recurring = [(at, 15.0) for at in range(30, 180, 15)]

    assert excursions(*recurring, (97, 60.0)) == [30, 45, 97]
    assert excursions(*recurring, (97, -30.0)) == [30, 45, 97]


def test_the_reason_for_no_change_counts_excursions_that_recur():
    recurring = [(at, at + 1, 40.0) for at in range(30, 180, 15)]
    analysis = detect(series(placed(200, *recurring))).analysis
    reason = "Here 8 revisions far off the level are noise, not excursions, because such recur."

    assert why_not(analysis).endswith(reason)
    assert why_not_at(analysis, 60).endswith(reason)
    assert "recur" not in why_not(detect(series(placed(200, *recurring[:2]))).analysis)


def test_what_is_reported_of_excursions_stays_when_the_series_goes_on():
    recurring = [(at, at + 1, 40.0) for at in range(30, 580, 15)]
    points = series(placed(600, *recurring))

    for count in (70, KEPT + BLOCK - 1, KEPT + BLOCK, 600):
        excursions = detect(points[:count]).others.excursions
        assert [one.first.position for one in excursions] == [30, 45]


def test_two_revisions_that_are_far_off_together_are_a_level():
    findings = find(series(placed(80, (40, 42, -35.0))))

    assert starts(findings) == [40, 42]
    assert findings.excursions == ()


def test_two_that_agree_are_no_level_where_odd_ones_recur_and_three_are():
    odd = [(at, at + 1, 40.0) for at in (8, 16, 50)]

    assert starts(find(series(placed(60, (30, 32, 40.0))))) == [30, 32]
    assert starts(find(series(placed(60, *odd, (30, 32, 40.0))))) == []
    assert starts(find(series(placed(60, *odd, (30, 33, 40.0))))) == [30, 33]


def test_a_wild_sample_moves_nothing():
    points = series(np.zeros(80))
    wild = replace(points[40], samples=(0.4 * points[40].samples[0], *points[40].samples[1:]))

    findings = find([*points[:40], wild, *points[41:]])

    assert findings.changes == findings.excursions == ()
    assert findings.noise_pct == pytest.approx(find(points).noise_pct, rel=0.1)


def test_sizes_come_from_values_as_measured():
    findings = find(series(placed(81, (40, 41, -33.0), (48, 81, -12.0))))

    [excursion], [step] = findings.excursions, findings.changes
    assert excursion.low_pct < -33 < excursion.high_pct
    assert step.first.position == 48
    assert step.low_pct < -12 < step.high_pct


ALTERNATING = placed(
    75, *((first, stop, -5.0) for first, stop in ((15, 26), (37, 48), (59, 68)))
)  # fmt: skip


def test_levels_that_return_are_all_found_also_beside_an_odd_revision():
    odd = ALTERNATING + placed(75, (3, 4, -40.0))

    for shift in (ALTERNATING, odd):
        places = starts(find(series(shift, seed=3)))
        assert len(places) == 6
        assert all(
            abs(place - true) <= 1
            for place, true in zip(places, (15, 26, 37, 48, 59, 68), strict=True)
        )


@pytest.mark.parametrize("pct", [-60.0, -15.0, 15.0, 60.0])
def test_one_revision_inserted_anywhere_leaves_far_findings_as_they_are(pct):
    shift = placed(70, (20, 70, -8.0), (45, 70, 6.0))
    values = draw(np.random.default_rng(4), shift)
    plain = find(series_of(values))
    assert starts(plain) == [20, 45]
    for at in range(0, 71, 5):
        extra = values[max(at - 1, 0)] * (1 + pct / 100)
        other = find(series_of(np.insert(values, at, extra, axis=0)))
        assert other.noise_pct == pytest.approx(plain.noise_pct, rel=0.1)
        for change in plain.changes:
            place = change.first.position + (change.first.position >= at)
            if abs(place - at) > 6:
                [same] = [one for one in other.changes if one.first.position == place]
                width = change.high_pct - change.low_pct
                assert same.pct == pytest.approx(change.pct, abs=width / 10)


def test_noise_that_grows_is_reported_as_that_and_makes_no_levels():
    rng = np.random.default_rng(5)
    more = replace(USUAL, run=3 * USUAL.run, build=3 * USUAL.build)
    values = np.concatenate((draw(rng, np.zeros(100)), draw(rng, np.zeros(60), more)))

    findings = find(series_of(values))

    [change] = findings.noise_changes
    assert abs(change.first.position - 100) <= 3
    assert 2 < change.ratio < 4.5
    assert findings.changes == ()


def test_runs_that_fall_into_a_second_mode_are_reported_with_share_and_gap():
    values = with_modes(np.random.default_rng(7), 0.0, 0.2, -18.0)

    findings = find(series_of(values))

    [change] = findings.modes
    assert abs(change.first.position - 100) <= 5
    assert (change.share_before, change.share_after) == pytest.approx((0.0, 0.2), abs=0.06)
    assert change.gap_pct == pytest.approx(-18, abs=0.5)
    assert findings.changes == ()


def test_all_runs_in_the_other_mode_are_a_level_and_not_a_change_of_share():
    values = with_modes(np.random.default_rng(6), 0.3, 1.0, -18.0)

    findings = find(series_of(values))

    [change] = findings.changes
    assert change.first.position == 100
    assert change.low_pct < -18 < change.high_pct
    assert findings.modes == ()


def test_a_slow_loss_is_reported_with_its_window_and_blames_no_revision():
    findings = find(series(log1p(-0.10) * np.arange(200) / 200, seed=7))

    [slow] = findings.slow
    assert (slow.first.label, slow.last.label) == ("0", "199")
    assert slow.low_pct < -10 < slow.high_pct
    assert findings.changes == ()


def test_a_slow_loss_that_fills_the_end_of_a_young_series_is_reported():
    shift = np.zeros(110)
    shift[-60:] = log1p(-0.10) * np.arange(60) / 60

    [slow] = find(series(shift, seed=7)).slow

    assert 40 <= slow.first.position <= 55
    assert slow.last.label == "109"
    assert slow.low_pct < -10 < slow.high_pct


@pytest.mark.parametrize("count", [30, 45])
def test_a_slow_loss_that_fills_a_young_series_is_reported(count):
    """Of 40 series of either length none had any finding while a trend had to hold sixty."""
    falling = log1p(-0.10) * np.arange(count) / count

    reported = [bool(find(series(falling, seed=seed)).slow) for seed in range(20)]
    calm = [find(series(np.zeros(count), seed=seed)).slow for seed in range(20)]

    assert sum(reported) >= 17
    assert not any(calm)


@pytest.mark.parametrize("over", [10, 20, 28])
@pytest.mark.parametrize("begins", [6, 48])
def test_a_loss_over_some_revisions_that_stays_is_a_change_wherever_it_lies(begins, over):
    """A trend that bends, or a wave, explained it better than steps, and nothing was reported."""
    shift = log1p(-0.10) * np.clip((np.arange(80) - begins) / over, 0, 1)

    found = [find(series(shift, seed=seed)) for seed in range(10)]

    lost = [any(one.pct < 0 for one in (*each.slow, *each.changes)) for each in found]
    assert sum(lost) >= 7


def test_a_loss_over_some_revisions_that_has_just_ended_is_followed_by_no_gain():
    """The update's line goes on falling, from which the new level seems to come back."""
    shift = log1p(-0.10) * np.clip((np.arange(80) - 40) / 28, 0, 1)

    found = [detect(series(shift, seed=seed)).analysis.changes for seed in (9, 12, 21, 27, 33)]

    assert all(one.change_pct < 0 for each in found for one in each)


def test_a_slow_loss_with_a_step_inside_ends_at_the_level_as_it_is():
    shift = log1p(-0.10) * np.arange(200) / 200
    shift[120:] += log1p(0.08)

    points = series(shift, seed=7)

    [slow] = find(points).slow

    newest = np.mean([np.mean(point.samples) for point in points[-10:]])
    assert slow.level == pytest.approx(newest, rel=0.01)
    assert slow.level / slow.before == pytest.approx(0.9, abs=0.01)


def test_a_slope_beside_a_step_has_that_step_only():
    shift = np.linspace(0.0, -0.1, 150)
    shift[80:] += 0.08

    found = [starts(find(series(shift, seed=seed))) for seed in range(20)]

    assert sum(len(one) == 1 and abs(one[0] - 80) <= 1 for one in found) >= 19


@pytest.mark.parametrize("ends_at", worlds(200, 250, 300))
def test_a_wave_makes_no_levels_wherever_in_it_the_series_ends(ends_at):
    shift = 0.02 * np.sin(2 * np.pi * np.arange(ends_at) / 100)

    found = [starts(find(series(shift, seed=seed))) for seed in range(60)]

    assert sum(map(bool, found)) <= 6


def test_a_step_beside_a_wave_is_reported():
    shift = 0.02 * np.sin(2 * np.pi * np.arange(200) / 100) + placed(200, (120, 200, 6.0))

    findings = [find(series(shift, seed=seed)) for seed in range(10)]

    assert all(119 in near or 120 in near or 121 in near for near in map(starts, findings))
    found_near = [
        one for each in findings for one in each.changes if abs(one.first.position - 120) <= 1
    ]
    assert sum(one.low_pct < 6 < one.high_pct for one in found_near) >= 8


def test_levels_that_return_at_equal_distances_are_no_wave():
    steps = [(first, first + 40, -3.0) for first in (20, 100, 180)]

    found = [starts(find(series(placed(220, *steps), seed=seed))) for seed in range(5)]

    for each in found:
        assert len(each) == 5
        assert each == pytest.approx([20, 60, 100, 140, 180], abs=2)


def test_a_step_is_no_slow_loss():
    findings = find(series(placed(200, (90, 200, -5.0)), seed=8))

    assert starts(findings) == [90]
    assert findings.slow == ()


def test_neither_unit_nor_order_of_points_matters():
    points = series(placed(81, (40, 41, -35.0), (60, 81, -8.0)), seed=9)
    scaled = [
        replace(point, samples=tuple(sample * 1e-12 for sample in point.samples))
        for point in reversed(points)
    ]

    plain, other = find(points), find(scaled)

    assert starts(other) == starts(plain)
    assert other.changes[0].pct == pytest.approx(plain.changes[0].pct)
    assert other.noise_pct == pytest.approx(plain.noise_pct)


def test_one_over_every_sample_gives_the_mirror_image():
    points = series(placed(81, (40, 41, -35.0), (60, 81, -8.0)), seed=9)

    plain, other = find(points), find(mirrored(points))

    assert starts(other) == starts(plain)
    one, its = plain.changes[0].pct, other.changes[0].pct
    assert log1p(its / 100) == pytest.approx(-log1p(one / 100), abs=1e-3)
    assert len(other.excursions) == len(plain.excursions) == 1


@pytest.mark.parametrize("count", [0, 1, 5])
def test_of_few_revisions_nothing_is_reported(count):
    assert find(series(np.zeros(8))[:count]) == Findings()


def test_equal_values_hold_nothing_and_scatter_by_half_of_their_last_digit():
    points = [Point(i, str(i), (1000.0,) * 5) for i in range(60)]

    findings = find(points)

    assert (findings.changes, findings.excursions, findings.slow) == ((), (), ())
    assert findings.noise_pct == pytest.approx(0.05)


def test_revisions_of_one_sample_or_without_a_positive_one_are_read():
    points = [
        replace(point, samples=point.samples[:1]) for point in series(placed(60, (30, 60, -15.0)))
    ]
    points[10] = replace(points[10], samples=(0.0,))

    assert starts(find(points)) == [30]


def test_a_sample_that_is_no_number_is_refused_by_name():
    points = series(np.zeros(10))
    points[4] = replace(points[4], samples=(1.0, float("nan")))

    with pytest.raises(BadSeriesError, match="revision 4 has a sample"):
        find(points)


def test_a_level_near_a_former_mode_is_not_moved_to_the_other_one():
    # Two modes until 25, then a level near the lower one, and a gain three revisions before the
    # end: too few for a stretch of shares, which then began two revisions early and moved these.
    rng = np.random.default_rng(11)
    values = draw(rng, placed(56, (25, 56, -20.0), (53, 56, 77.0)))
    values[:25][rng.random((25, 5)) < 0.35] *= 0.72

    findings = find(series_of(values))

    assert starts(findings) == [25, 53]
    assert findings.changes[1].low_pct < 77 < findings.changes[1].high_pct


@pytest.mark.parametrize("value", [1.0, 7.0])
def test_equal_values_are_one_level_and_nothing_slow(value):
    # The logarithm of 1 is 0: equal values leave no rounding error that could pass for scatter.
    findings = find([Point(i, str(i), [value] * 5) for i in range(80)])

    assert findings.slow == ()
    assert len(findings.stretches) == 1


def test_levels_that_scatter_apart_have_welchs_degrees_of_freedom():
    def freedom(*sides):
        return freedom_between(*(Level(0, 9, 0.0, *one, 9) for one in sides))

    # (1 + 1)² / (1/4 + 1/12), and (1 + 2)² / (1/4 + 4/8); alike: those of the one estimate.
    assert freedom((1.0, 4.0), (1.0, 12.0)) == pytest.approx(12)
    assert freedom((1.0, 4.0), (2.0, 8.0)) == pytest.approx(12)
    assert freedom((1.0, 7.0), (2.0, 7.0)) == 7


@pytest.mark.parametrize(("before", "after", "scatter"), [(100.0, 60.0, 3.0), (1.0, 30.0, 3.0)])
def test_equal_values_before_a_step_do_not_make_noise_after_it_into_changes(before, after, scatter):
    """A counter that stood still: the calm of its first half is not that of the second."""
    others = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = np.full((44, 5), before)
        values[24:] = np.maximum(rng.normal(after, scatter, (20, 5)), 1.0)
        found = detect(series_of(values))
        near = [abs(one.revision.position - 24) <= 2 for one in found.analysis.changes]
        assert any(near)
        others += len(near) - 1
        assert found.others.noise_pct > 20 * scatter / after  # 45 is true

    assert others <= 10
