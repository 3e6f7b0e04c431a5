"""How much worse a series is now, by hand and with the levels that the detector finds."""

import numpy as np
import pytest

from benchmarks.online import detect
from webapp.stats.changes import At, Loss, NetLoss, Point, Segment, net_loss


def segments(*levels: tuple[float, float], half: float = 0.002) -> list[Segment]:
    """Levels (at the first and at the last revision) of ten revisions each, ± ``half``."""
    return [
        Segment(
            first=At(10 * i, f"r{10 * i}"),
            last=At(10 * i + 9, f"r{10 * i + 9}"),
            count=10,
            level=start,
            low=start * (1 - half),
            high=start * (1 + half),
            end_level=end,
            drift_pct=0.0,
        )
        for i, (start, end) in enumerate(levels)
    ]


def flat(*levels: float, half: float = 0.002) -> list[Segment]:
    return segments(*((level, level) for level in levels), half=half)


def step(number: int) -> Loss:
    """The loss with which the segment of that number begins."""
    return Loss(At(10 * number - 1, f"r{10 * number - 1}"), At(10 * number, f"r{10 * number}"))


def shown(found: NetLoss | None) -> tuple[str, float] | None:
    return found and (found.since.label, round(found.change_pct, 1))


def test_a_step_stands_with_the_intervals_of_both_levels() -> None:
    found = net_loss(flat(100, 90), [step(1)], "more")
    assert found is not None
    assert shown(found) == ("r10", -10.0)
    half = 0.002 * 2**0.5
    assert found.low_pct == pytest.approx(100 * (0.9 * np.exp(-half) - 1), abs=1e-4)
    assert found.high_pct == pytest.approx(100 * (0.9 * np.exp(half) - 1), abs=1e-4)


def test_a_bump_that_ended_is_no_loss() -> None:
    assert net_loss(flat(100, 113, 100.03), [step(2)], "more") is not None
    assert net_loss(flat(100, 87, 99.97), [step(1)], "more") is None


def test_gains_before_the_loss_do_not_count_and_those_after_it_do() -> None:
    assert shown(net_loss(flat(80, 100, 90), [step(2)], "more")) == ("r20", -10.0)
    assert shown(net_loss(flat(100, 90, 95), [step(1)], "more")) == ("r10", -5.0)


def test_losses_add_up_from_the_earliest_that_was_not_won_back() -> None:
    assert shown(net_loss(flat(100, 95, 90), [step(1), step(2)], "more")) == ("r10", -10.0)
    assert shown(net_loss(flat(100, 90, 105, 95), [step(1), step(3)], "more")) == ("r30", -9.5)


def test_drift_is_included() -> None:
    drifting = segments((100, 98), (92, 86))
    assert shown(net_loss(drifting, [step(1)], "more")) == ("r10", -12.2)
    slow = Loss(At(0, "r0"), At(0, "r0"), is_slow=True)
    found = net_loss(drifting, [slow, step(1)], "more")
    assert shown(found) == ("r0", -14.0)
    assert found is not None
    assert found.is_slow


def test_a_rate_of_0_stands_whatever_was_lost_before() -> None:
    lost = Loss(At(19, "r19"), At(20, "r20"), is_total=True)
    found = net_loss(flat(100, 90), [step(1), lost], "more")
    assert found == NetLoss(At(20, "r20"), False, 90, 0, -100, -100, -100)


def test_where_less_is_better_a_rise_is_the_loss() -> None:
    assert shown(net_loss(flat(100, 112), [step(1)], "less")) == ("r10", 12.0)


def test_what_is_not_distinguished_from_the_level_before_does_not_stand() -> None:
    assert net_loss(flat(100, 90, 99, half=0.02), [step(1)], "more") is None


def test_without_a_proven_loss_or_a_level_nothing_stands() -> None:
    assert net_loss(flat(100, 90), [], "more") is None
    assert net_loss([], [step(1)], "more") is None
    assert net_loss(flat(0, 90), [step(1)], "more") is None


def test_the_interval_holds_the_true_change() -> None:
    """A loss of 8 % and a gain of 3 %, builds that scatter by 1 %: 92 · 103 / 100² = −5.24 %."""
    truth, covered, count = 100 * (0.92 * 1.03 - 1), 0, 60
    for seed in range(count):
        noise = np.random.default_rng(seed)
        levels = np.repeat([1e6, 0.92e6, 0.92e6 * 1.03], 40)
        values = levels * np.exp(noise.normal(0, 0.01, 120))
        points = [
            Point(i, f"r{i}", (value * np.exp(noise.normal(0, 0.002, 5))).tolist())
            for i, value in enumerate(values)
        ]
        analysis = detect(points)
        losses = [
            Loss(one.previous, one.revision) for one in analysis.changes if one.verdict == "worse"
        ]
        found = net_loss(analysis.segments, losses, "more")
        assert found is not None
        covered += found.low_pct <= truth <= found.high_pct
    assert covered >= 0.88 * count
