"""The benchmark of detection, in small: it runs, and its own yardsticks are right."""

import re

import numpy as np
import pytest

from benchmarks import (
    detection,
    detection_power,
    detection_real,
    edivisive,
    intervals,
    peers,
    pictures,
)
from benchmarks.cells import CLEAN
from benchmarks.detection_null import count_alerts
from benchmarks.online import detect
from webapp.stats.simulate import draw_levels, draw_samples

pytestmark = pytest.mark.bench

TINY = detection.Size(1, 2, 1, 2, 2)


@pytest.mark.parametrize("name", ["null", "power", "real", "calibration", "speed"])
def test_every_table_can_be_made_in_small(name):
    text = detection.tables(TINY, 1, None)[name]()

    assert "|" in text or "archive" in text


def test_false_alerts_on_clean_noise_stay_within_the_goal():
    counts = [count_alerts(cell, 25, seed=4) for cell in CLEAN]

    ever = sum(count.ever for count in counts)
    assert intervals.rate(ever, sum(count.revisions for count in counts))[2] <= 2.0


def test_steps_of_four_deviations_are_nearly_all_found_after_three_revisions():
    arrays = detection_power.steps(CLEAN[2], 20, seed=5)
    result = detection_power.ours({4: arrays[4]}, detection_power.quiet(CLEAN[2], 1, 6), 3.3)

    assert result.hits[4, 3] >= 17
    assert result.hits[4, 10] >= 19


@pytest.mark.parametrize(
    ("count", "low", "high"), [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39)]
)
def test_poisson_intervals_are_those_of_the_tables(count, low, high):
    assert intervals.rate(count, 1000) == pytest.approx((count, low, high), rel=1e-3)


def test_wilson_intervals_are_those_of_the_textbook():
    """Newcombe 1998, table I, method 3: 81 of 263."""
    assert intervals.share(81, 263) == pytest.approx((0.3080, 0.2553, 0.3662), abs=1e-4)


def test_the_slow_e_divisive_finds_steps_and_leaves_noise_alone():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(80)
    stepped = noise + 4.0 * (np.arange(80) >= 40) - 6.0 * (np.arange(80) >= 60)

    assert edivisive.changes(noise) == []
    assert edivisive.changes(stepped) == [40, 60]


def test_the_statistic_of_e_divisive_is_the_papers_formula_written_out():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal(5), rng.standard_normal(9) + 8
    values = np.concatenate((x, y))
    between = np.mean([abs(a - b) for a in x for b in y])
    inside_x = np.mean([abs(x[i] - x[j]) for i in range(5) for j in range(5) if i != j])
    inside_y = np.mean([abs(y[i] - y[j]) for i in range(9) for j in range(9) if i != j])

    at, statistic = edivisive._best(np.abs(values[:, None] - values[None, :]))

    assert at == 5
    assert statistic == pytest.approx(5 * 9 / 14 * (2 * between - inside_x - inside_y))


def test_peers_find_a_plain_step():
    rng = np.random.default_rng(3)
    levels = draw_levels(rng, 1, 60, CLEAN[2].scatter)
    levels[:, 30:] += 0.1
    values = draw_samples(rng, levels, 5, CLEAN[2].scatter)[0]

    for peer in peers.all_peers(None):
        [found] = peer.detect([values])
        assert 30 in found, peer.name


def test_the_exact_partition_agrees_with_ours_on_clear_steps():
    """The optimal l2 partition by PELT, with a penalty that suits rare changes."""
    rng = np.random.default_rng(4)
    agreed = 0
    for _ in range(10):
        levels = draw_levels(rng, 1, 120, CLEAN[3].scatter)
        for at in (40, 70, 95):
            levels[:, at:] += 0.15 * rng.choice((-1.0, 1.0))
        values = draw_samples(rng, levels, 5, CLEAN[3].scatter)[0]
        [exact] = peers.pelt(8.0)([values])
        ours = [
            c.revision.position for c in detect(detection_power.cells.series_of(values)).changes
        ]
        agreed += ours == exact
    assert agreed >= 8


def test_scores_of_a_replay_count_labels_and_other_alerts():
    one = detection_real.YearSeries("x", ((1.0,),) * 30, sure=(10,), probable=(20,))
    score = detection_real.Score()

    detection_real._add(score, one, [11, 25], near=1)

    assert (score.sure, score.probable, score.other) == (1, 0, 1)
    assert detection_real._delays(one, [(11, 13), (25, 27)]) == [3]


def test_the_pictures_of_the_documentation_are_those_the_command_draws(tmp_path):
    pictures.main(tmp_path)

    for picture in pictures.PICTURES:
        drawn = (tmp_path / f"{picture.name}.svg").read_text(encoding="utf-8")
        kept = (pictures.FOLDER / f"{picture.name}.svg").read_text(encoding="utf-8")
        assert re.sub(r"[\d.]+", "0", drawn) == re.sub(r"[\d.]+", "0", kept)
