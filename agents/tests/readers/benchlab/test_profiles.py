"""Profiles in bench directories: whose they are, which count once, and the rate they ran at."""

from __future__ import annotations

import pytest
from labagent.readers.benchlab.pairing import (
    NO_OWNER,
    NO_PROFILE,
    NO_RUN,
    NO_SYMBOLS,
    OTHER,
    PROFILED,
    SAME,
)
from labagent.readers.profiles import perl_folded

from agents.tests.make import FIVE, bench, label_dir, read, skipped, values_file
from agents.tests.profiles import FOLDED, GRAPH


@pytest.fixture
def label(tmp_path):
    """A directory with the run `pf`, whose logs lie in RAW."""
    path = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(path / "RAW", "pf", cfg="pf")
    return path


def write(path, text=GRAPH):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return path


def profiles(label):
    """Names and iterations of the profiles of the only run."""
    (run,) = read(label)
    return [(one.path.relative_to(label).as_posix(), one.iteration) for one in run.profiles]


@pytest.mark.parametrize(
    ("name", "iteration"),
    [
        ("bench.pf.1.pmc.graph", 1),
        ("bench.pf.12.graph", 12),
        ("bench.pf.pmc.graph", None),
        ("bench.pf.2.manual.pmc.graph", 2),
        ("pf.1.graph", 1),
        ("RAW/bench.pf.1.pmc.graph", 1),
        ("PMC/bench.pf.1.pmc.graph", 1),
        ("pmc/bench.pf.pmc.graph", None),
        ("PMC/on/bench.pf.1.graph", 1),
        ("PMC/on/pf.graph", None),
    ],
)
def test_a_profile_is_of_the_run_whose_prefix_it_has(label, name, iteration):
    write(label / name)
    assert profiles(label) == [(name, iteration)]
    assert skipped(label) == []


@pytest.mark.parametrize("suffix", ["stack", "folded", "folded.txt", "svg"])
def test_folded_stacks_are_a_profile_whatever_they_are_called(label, suffix):
    write(label / f"bench.pf.1.pmc.{suffix}", FOLDED)
    assert profiles(label) == [(f"bench.pf.1.pmc.{suffix}", 1)]


def test_a_picture_is_no_profile_and_not_worth_a_line(label):
    write(label / "bench.pf.1.pmc.svg", '<?xml version="1.0"?>\n<svg></svg>\n')
    assert profiles(label) == []
    assert skipped(label) == []


def test_a_graph_and_its_folded_form_count_once(label):
    write(label / "bench.pf.1.pmc.graph")
    write(label / "bench.pf.1.pmc.stack", perl_folded(GRAPH.encode()))
    assert profiles(label) == [("bench.pf.1.pmc.graph", 1)]
    (skip,) = skipped(label)
    assert skip.reason == SAME
    assert skip.where.endswith("bench.pf.1.pmc.stack")


def test_a_folded_file_of_other_content_beside_a_graph_does_not_count(label):
    write(label / "bench.pf.1.pmc.graph")
    write(label / "bench.pf.1.pmc.svg", FOLDED)
    assert profiles(label) == [("bench.pf.1.pmc.graph", 1)]
    assert [skip.reason for skip in skipped(label)] == [OTHER]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("bench.ipfw.1.pmc.graph", GRAPH, NO_OWNER),
        ("PMC/bench.pf.inet6.pmc.stack", FOLDED, NO_OWNER),
        ("bench.pf.1.pmc.graph", "nothing\n", NO_PROFILE),
        ("bench.pf.1.pmc.out", b"\x20\0\1\xee", NO_SYMBOLS),
    ],
)
def test_what_cannot_be_placed_is_named_with_the_reason(label, name, content, reason):
    write(label / name, content)
    assert profiles(label) == []
    assert [skip.reason for skip in skipped(label)] == [reason]


def test_a_profile_of_a_run_that_is_left_out_is_named(label):
    bench(label / "RAW", "ipf", [0.0], cfg="ipf")
    write(label / "bench.ipf.1.graph")
    assert NO_RUN in [skip.reason for skip in skipped(label)]


def test_a_configuration_that_is_a_number_is_no_iteration(label):
    bench(label / "RAW", "pf.2", cfg="pf.2")
    bench(label / "RAW", "4", cfg="4")
    write(label / "bench.4.graph")
    found = {run.mode.workload: run.profiles for run in read(label)}
    assert [one.iteration for one in found["4"]] == [None]


def test_nested_configurations_keep_their_profiles_apart(label):
    bench(label / "nested" / "RAW", "pf", cfg="pf")
    write(label / "nested" / "PMC" / "bench.pf.1.graph")
    found = {run.mode.options: len(run.profiles) for run in read(label)}
    assert sorted(found.values()) == [0, 1]
    assert found[()] == 0


def rate(label):
    (run,) = read(label)
    (profile,) = run.profiles
    return profile.pps


def test_the_rate_is_that_of_the_profiled_log_beside_it(label):
    bench(label / "PMC", "pf", [700.0], cfg="pf")
    write(label / "PMC" / "bench.pf.1.pmc.graph")
    assert rate(label) == 700.0
    assert [skip.reason for skip in skipped(label)] == [PROFILED]


def test_a_log_that_is_named_as_profiled_has_the_rate_wherever_it_lies(label):
    bench(label, "pf.pmc", [700.0], info=None)
    write(label / "bench.pf.1.pmc.graph")
    assert rate(label) == 700.0


def test_a_profile_by_hand_has_no_rate(label):
    bench(label / "PMC", "pf", [700.0], cfg="pf")
    write(label / "PMC" / "bench.pf.manual.pmc.graph")
    assert rate(label) is None


def test_the_rate_of_a_log_that_was_overwritten_is_kept(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", [700.0, *FIVE[1:]], cfg="pf")
    values_file(label / "pf.pps")
    write(label / "bench.pf.1.pmc.graph")
    assert rate(label) == 700.0


def test_a_plain_log_beside_a_profile_is_not_its_rate(label):
    write(label / "RAW" / "bench.pf.1.pmc.graph")
    values_file(label / "pf.pps")
    assert rate(label) is None


def test_profiles_are_no_part_of_a_runs_identity_or_document(label):
    (before,) = read(label)
    write(label / "bench.pf.1.graph")
    (after,) = read(label)
    assert after.profiles
    assert before.document() == after.document()
