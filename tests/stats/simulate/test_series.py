"""The simulator is the truth of every other test: its own numbers are checked here."""

import numpy as np
import pytest

from webapp.stats import simulate
from webapp.stats.simulate import Drift, Noise, OutlierSample, Scatter, Step
from webapp.stats.simulate import lab as simulated_lab

pytestmark = pytest.mark.bench


def test_the_same_seed_gives_the_same_series():
    plan = {"revisions": 20, "scatter": Scatter(), "events": (Step(10, 5.0),), "missing": 0.2}

    assert simulate.make_series(seed=7, **plan) == simulate.make_series(seed=7, **plan)
    assert simulate.make_series(seed=7, **plan) != simulate.make_series(seed=8, **plan)


def test_run_and_build_scatter_are_what_was_asked_for():
    rng = np.random.default_rng(1)
    scatter = Scatter(run=0.01, build=0.03)

    logs = np.log(
        simulate.draw_samples(rng, simulate.draw_levels(rng, 50, 200, scatter), 5, scatter)
    )

    assert logs.std(axis=2, ddof=1).mean() == pytest.approx(0.0094, rel=0.03)  # c4(5) = 0.94
    assert logs.mean(axis=2).std() == pytest.approx(np.hypot(0.03, 0.01 / 5**0.5), rel=0.03)


def test_heavy_tails_keep_the_deviation_and_raise_the_extremes():
    rng = np.random.default_rng(2)
    plain = simulate.draw_levels(rng, 200, 500, Scatter(build=0.01))
    heavy = simulate.draw_levels(rng, 200, 500, Scatter(build=0.01, heavy_tails=True))

    assert heavy.std() == pytest.approx(0.01, rel=0.1)
    assert (abs(heavy) > 0.05).mean() > 100 * (abs(plain) > 0.05).mean()


def test_build_effects_remember_their_predecessor():
    levels = simulate.draw_levels(np.random.default_rng(3), 100, 500, Scatter(memory=0.6))

    ahead, behind = levels[:, 1:].ravel(), levels[:, :-1].ravel()
    assert np.corrcoef(ahead, behind)[0, 1] == pytest.approx(0.6, abs=0.02)


def test_steps_drifts_and_odd_samples_are_where_they_were_planted():
    quiet = Scatter(run=1e-9, build=1e-9)
    events = (Step(5, 10.0), Drift(10, 20, -5.0), OutlierSample(3, 0.5))

    series = simulate.make_series(seed=1, revisions=30, scatter=quiet, events=events, level=100.0)

    middle = [np.median(row) for row in series.samples]
    assert middle[4] == pytest.approx(100)
    assert middle[5] == pytest.approx(110)
    assert middle[15] == pytest.approx(110 * 0.95**0.5)
    assert middle[25] == pytest.approx(110 * 0.95)
    assert min(series.samples[3]) == pytest.approx(50)
    assert series.truth == (5,)


def test_the_truth_of_a_missing_revision_is_the_next_measured_one():
    events = tuple(Step(at, 1.0) for at in range(100))
    series = simulate.make_series(
        seed=5, revisions=100, scatter=Scatter(), events=events, missing=0.5
    )

    assert set(series.truth) == set(series.positions)
    assert len(series.truth) > len(series.positions)


@pytest.mark.parametrize("event", [Step(30, 1.0), Drift(5, 5, 1.0), Drift(-1, 5, 1.0)])
def test_an_event_outside_the_series_is_refused(event):
    with pytest.raises(ValueError, match=r"outside|before"):
        simulate.make_series(seed=1, revisions=30, scatter=Scatter(), events=(event,))


def test_two_modes_are_six_run_deviations_apart():
    rng = np.random.default_rng(6)
    scatter = Scatter(run=0.01, build=0.0, two_modes=True)
    logs = np.sort(np.log(simulate.draw_samples(rng, np.zeros((1, 4000)), 5, scatter, 1.0)).ravel())

    assert logs.mean() == pytest.approx(0.03, abs=0.001)
    assert logs.std() == pytest.approx((0.03**2 + 0.01**2) ** 0.5, rel=0.02)


def test_from_a_noise_event_on_builds_and_runs_scatter_so_many_times_as_much():
    events = (Step(50, 30.0), Noise(100, 3.0))
    plan = {"seed": 4, "revisions": 200, "scatter": Scatter(), "level": 100.0}

    plain = simulate.make_series(**plan, events=events[:1])
    noisy = simulate.make_series(**plan, events=events)

    assert noisy.samples[:100] == plain.samples[:100]
    before, after = (np.log(np.array(one.samples[100:]) / 130.0) for one in (plain, noisy))
    assert after == pytest.approx(3 * before)


def test_the_simulated_lab_holds_five_machines_four_modes_and_nine_planted_things():
    lab = simulated_lab.make_lab()

    assert len({run.hardware for run in lab.runs}) == 5
    assert {run.workload for run in lab.runs} == {
        "forwarding",
        "forwarding+VIMAGE",
        "ipfw-statefull",
        "pf-statefull",
    }
    assert 0.9 * 12 * 120 < len(lab.runs) < 12 * 120
    assert all(len(run.samples) == 5 for run in lab.runs)
    kinds = [planted.kind for planted in lab.planted]
    assert kinds[:5] == ["step", "mixed", "drift", "outlier", "machine change"]
    assert kinds[5:] == ["excursion", "slow loss", "cost", "noise"]


def test_the_simulated_lab_is_the_same_every_time_and_spans_a_year():
    lab = simulated_lab.make_lab()

    assert lab == simulated_lab.make_lab()
    days = (lab.revisions[-1].committed_at - lab.revisions[0].committed_at).days
    assert 350 <= days <= 366
    assert [r.position for r in lab.revisions] == sorted({r.position for r in lab.revisions})
