"""What a simulated lab measures, and that it is always the same."""

from __future__ import annotations

import statistics

import pytest
from labagent.errors import SettingsError
from labagent.job import Job
from labagent.simulate.truth import load_truth

from agents.tests.board import job

TRUTH = """
seed = 1
trees = ["t", "listed"]
{noise}
[[hardware]]
name = "A/B"
levels = {{ forwarding = 1000.0, "pf@inet4" = 500.0 }}
[revisions]
listed = ["old", "new"]
[[step]]
tree = "t"
revision = "r100"
percent = -10.0
[[step]]
tree = "t"
position = 200
percent = 50.0
mode = "pf@inet4"
[[step]]
tree = "listed"
revision = "new"
percent = 1.0
{more}
"""


@pytest.fixture
def load(tmp_path):
    def run(noise="", more="", seed=None):
        path = tmp_path / "truth.toml"
        path.write_text(TRUTH.format(noise=noise, more=more))
        return load_truth(path, seed)

    return run


def value(truth, revision, boot=0, iteration=1, build="b", **more):
    asked = Job.parse(job(**{"tree": "t", "revision": revision, "mode": "forwarding", **more}))
    return truth.value(asked, build, boot, iteration)


def test_without_noise_the_level_is_reported_by_the_steps(load):
    truth = load()
    assert value(truth, "r99") == 1000.0
    assert value(truth, "r100") == value(truth, "r250") == 900.0
    assert value(truth, "n1") == 900.0, "counted revisions follow the numbered ones"
    assert value(truth, "r250", mode="pf@inet4") == 675.0
    assert value(truth, "old", tree="listed") == 1000.0
    assert value(truth, "new", tree="listed") == 1010.0


def test_a_draw_depends_on_what_it_is_for_and_on_nothing_else(load):
    noise = "run_noise = 1.0\nboot_noise = 1.0\nbuild_noise = 1.0"
    one, again, other = load(noise), load(noise), load(noise, seed=2)
    assert value(one, "r1") == value(again, "r1")
    assert len({value(one, "r1"), value(one, "r1", boot=1), value(one, "r1", iteration=2)}) == 3
    assert value(one, "r1") != value(one, "r1", build="c")
    assert value(one, "r1") != value(other, "r1")
    assert value(one, "r1") != value(one, "r1", id=2)


@pytest.mark.parametrize("which", ["run", "boot", "build"])
def test_noise_has_the_size_that_was_asked_for(load, which):
    truth = load(f"{which}_noise = 2.0")
    draws = [
        value(
            truth,
            "r1",
            iteration=number if which == "run" else 1,
            boot=number if which == "boot" else 0,
            build=str(number) if which == "build" else "b",
        )
        for number in range(1, 2001)
    ]
    # The standard deviation of 2000 draws is within 5 % of the truth in 99.8 % of seeds.
    assert statistics.stdev(draws) == pytest.approx(20.0, rel=0.05)
    assert statistics.mean(draws) == pytest.approx(1000.0, abs=2.0)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ('[[step]]\ntree = "t"\nrevision = "abc"\npercent = 1', r"step\[4\]\.revision 'abc'"),
        ('[[step]]\ntree = "t"\npercent = 1', r"step\[4\]\.revision is missing"),
        ("[faults]\ncrash = 2", r"faults\.crash is 2.*0 to 1"),
        ("[faults]\ncrsh = 1", r"faults\.crsh is not known.*crash\?"),
        ('[[hardware]]\nname = "C"', r"hardware\[2\]\.levels is missing"),
    ],
)
def test_what_is_wrong_is_named(load, more, named):
    with pytest.raises(SettingsError, match=named):
        load(more=more)
