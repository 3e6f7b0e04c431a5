"""Archives with a known truth, in small: the same each time, whole, and their faults are found."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.archives import __main__ as archives
from benchmarks.archives import directories, files, judge
from benchmarks.archives.judge import Tally, judge_seed
from benchmarks.archives.planning import DIRECTORIES
from benchmarks.archives.writing import Truth, write_archive
from webapp.results import identity

pytestmark = pytest.mark.bench

SEEDS = (1, 2, 3)
MANY = 50
"""Directories among which each kind is dealt."""

KINDS = {*directories.KINDS, directories.ORIGINAL, *files.KINDS}


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    root = tmp_path_factory.mktemp("archive")
    return root, write_archive(root, seed=SEEDS[0])


@pytest.fixture(scope="module")
def tally() -> Tally:
    found = Tally()
    for seed in SEEDS:
        found.add(judge_seed(seed))
    return found


def contents(root: Path) -> dict[str, bytes]:
    """Small files: large ones are sparse."""
    found = [path for path in root.rglob("*") if path.is_file() and path.stat().st_size < 2**20]
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def test_a_seed_gives_the_same_files_and_truth_and_another_one_others(tmp_path):
    first, second = (write_archive(tmp_path / name, 5, 6) for name in ("a", "b"))
    write_archive(tmp_path / "c", 6, 6)

    assert first.runs == second.runs
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") != contents(tmp_path / "c")


def test_an_archive_has_some_hundred_runs_and_each_has_its_logs(truth):
    root, found = truth

    assert len(found.kinds) >= DIRECTORIES
    assert len(found.runs) >= 80
    logs = [log for run in found.runs for log in run.logs]
    assert len(set(logs)) == len(logs)
    for log in logs:
        machine, nic, topic, *below = log.split("/")
        path = root / machine / nic / topic / "results" / "/".join(below)
        assert path.exists() or path.is_symlink(), log


def test_the_truth_states_of_each_fault_how_it_is_to_show(truth):
    _, found = truth

    for run in found.runs:
        assert bool(run.fault) == (run.fault_sign is not None)
        if not found.kinds[run.directory]:
            assert run.sign is None
    marked = {run.directory for run in found.runs if run.sign}
    assert marked == {at for at, kind in enumerate(found.kinds) if kind}


def test_each_kind_occurs_in_a_few_archives_and_the_goals_are_reached(tally):
    assert {name for name in KINDS if tally.total[name]} == KINDS
    found = sum(tally.count[name] for name in KINDS)
    assert found >= 0.98 * sum(tally.total[name] for name in KINDS), tally.missed
    assert tally.total[judge.SOUND_READ] > 50
    for name, (sign, goal) in archives.SOUND_GOALS.items():
        share = 100 * tally.count[name] / tally.total[name]
        assert share >= goal if sign == ">=" else share <= goal, tally.missed


@pytest.mark.bench
def test_a_rule_that_is_too_generous_is_noticed(monkeypatch):
    monkeypatch.setattr(identity, "NEAR", 1_000_000)

    found = judge_seed(SEEDS[0], MANY)

    names = ("label of another revision", "former kernel booted")
    missed = [line for line in found.missed if line.startswith(names)]
    assert missed
    assert sum(found.count[name] for name in names) < sum(found.total[name] for name in names)


@pytest.mark.bench
def test_a_rule_that_is_too_strict_is_noticed(monkeypatch):
    monkeypatch.setattr(identity, "NEAR", 0)

    found = judge_seed(SEEDS[0], MANY)

    name = "Subversion numbers up to 10 apart"
    assert found.count[name] < found.total[name]


def test_the_benchmark_prints_each_figure_with_interval_and_goal(monkeypatch, capsys):
    arguments = ["--archives", "1", "--directories", "6", "--seed", "4"]
    monkeypatch.setattr(sys, "argv", ["archives", *arguments])

    archives.main()

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["name"] for line in lines} == {
        f"archives: {name}" for name in [*KINDS, *archives.SOUND_GOALS]
    }
    for line in lines:
        if line["n"]:
            assert line["low"] <= line["value"] <= line["high"]
            sign, goal = line["goal"].split()
            is_met = line["value"] >= float(goal) if sign == ">=" else line["value"] <= float(goal)
            assert line["met"] == is_met
        else:
            assert line["value"] is None


def test_the_table_has_a_row_for_each_figure_also_of_what_did_not_occur():
    tally = Tally()
    tally.take("CRLF", 1, 2)
    rows = [archives._row(archives.figure(tally, name, ">=", 95, 1)) for name in ("CRLF", "cut")]

    assert rows == [
        ("CRLF", "1 of 2", "50.00 [9.45, 90.55]", ">= 95", "**no**"),
        ("cut", "0 of 0", "", "", ""),
    ]
