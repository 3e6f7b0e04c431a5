"""Large archives are read by several processes, to the same outcome."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from labagent.model import Outcome, Overrides, Run
from labagent.readers import benchlab
from labagent.readers.benchlab.layout import LabelDirectory
from labagent.readers.benchlab.reader import Readme

from agents.tests.make import bench, label_dir


def archive(tmp_path: Path, count: int) -> Path:
    for number in range(count):
        directory = label_dir(tmp_path, f"fbsd12-head.r{303600 + number}")
        bench(directory, "pf", [1e6 + number] * 5, cfg="pf")
    unreadable = label_dir(tmp_path, "fbsd12-head.r303500")
    (unreadable / "bench.pf.1.receiver").symlink_to(tmp_path / "nothing")
    return tmp_path


def test_many_labels_are_read_by_several_processes_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = archive(tmp_path, benchlab.MANY_LABELS)
    monkeypatch.setattr(benchlab.os, "cpu_count", lambda: 1)
    alone = list(benchlab.read_directories([root], Overrides()))
    monkeypatch.setattr(benchlab.os, "cpu_count", lambda: 3)
    readers: list[int] = []
    pool = benchlab.ProcessPoolExecutor
    monkeypatch.setattr(
        benchlab, "ProcessPoolExecutor", lambda n, **more: readers.append(n) or pool(n, **more)
    )
    assert list(benchlab.read_directories([root], Overrides())) == alone
    assert readers == [3]
    assert len([one for one in alone if isinstance(one, Run)]) == benchlab.MANY_LABELS


def test_the_rest_is_read_where_a_reader_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = archive(tmp_path, benchlab.MANY_LABELS)
    monkeypatch.setattr(benchlab.os, "cpu_count", lambda: 2)
    here, read = os.getpid(), benchlab.read_label

    def killed_elsewhere(
        label: LabelDirectory, overrides: Overrides, readme: Readme
    ) -> Iterator[Outcome]:
        if os.getpid() != here and label.title.endswith("r303607"):
            os.kill(os.getpid(), signal.SIGKILL)
        return read(label, overrides, readme)

    monkeypatch.setattr(benchlab, "read_label", killed_elsewhere)
    outcomes = list(benchlab.read_directories([root], Overrides()))
    assert len([one for one in outcomes if isinstance(one, Run)]) == benchlab.MANY_LABELS
