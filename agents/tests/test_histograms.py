"""Histograms on their way: a file, repetitions, a job, two files compared."""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path

import pytest
from labagent.job import Job
from labagent.limits import faults
from labagent.work.api import result_document
from labagent.work.commands import READERS, Output
from labagent.work.state import BootRecord, Progress, ProgressFile

from agents.tests.board import job

SAMPLES = Path(__file__).parent / "readers" / "formats" / "samples"
FIO = SAMPLES / "fio-plus.json"


def test_a_repeated_command_sends_a_histogram_of_each_repetition(labagent, server):
    assert labagent("run", "--repeat", "2", "--", "cat", FIO) == 0
    (run,) = server.runs.values()
    metric = run["metrics"]["read_latency"]
    assert "samples" not in metric
    assert metric["boots"] == [0, 0]
    assert [sum(one["counts"]) for one in metric["histograms"]] == [16_384, 16_384]
    assert not faults(run)


def test_a_list_of_runs_has_the_number_of_values(labagent, server, capsys):
    named = ("--tree", "linux", "--revision", "v6.1", "--hardware", "host")
    assert labagent("upload", FIO, "--dry-run", *named) == 0
    assert "read_latency histogram of 16384 values" in capsys.readouterr().out


def test_a_job_about_a_quantile_keeps_its_histograms_on_disk_and_sends_them(tmp_path):
    document = job(revision="r317849", metric="read_latency_p99")
    of_job = Job.parse(document)
    measured = READERS["fio"].read(Output(tmp_path, [FIO, FIO]), of_job, None)
    assert of_job.metric in measured.names
    record = BootRecord.of("FreeBSD", measured, {"run": 2.0})
    progress = Progress(document, "t", 60.0, "2017-01-01T00:00:00Z")
    progress.boots = [*record.split(), record]
    file = ProgressFile(tmp_path / "progress.json")
    file.save(progress)
    metric = result_document(of_job, file.load(), "worker")["metrics"]["read_latency"]
    assert metric["boots"] == [0, 1, 2, 2]
    assert {sum(one["counts"]) for one in metric["histograms"]} == {16_384}


def fio_of(path, scale, longer):
    """A result of 20,000 values; those above their 98th percentile are ``longer`` as large."""
    values = [scale * -log(1 - (at + 0.5) / 20_000) * 1e5 for at in range(20_000)]
    bins: dict[str, int] = {}
    for at, value in enumerate(values):
        key = str(int(value * (longer if at >= 19_600 else 1)))
        bins[key] = bins.get(key, 0) + 1
    largest = max(map(int, bins))
    clat = {"N": 20_000, "max": largest, "mean": sum(values) / 20_000, "bins": bins}
    read = {"io_bytes": 1, "bw_bytes": 1, "iops": 1, "clat_ns": clat}
    path.write_text(json.dumps({"fio version": "3", "jobs": [{"jobname": "x", "read": read}]}))


def test_two_sides_are_compared_by_the_quantiles_of_their_files(labagent, tmp_path, capsys):
    for side, longer in (("a", 1), ("b", 1.5)):
        (tmp_path / side).mkdir()
        for at in range(5):
            fio_of(tmp_path / side / f"{at}.json", exp((at - 2) / 100), longer)
    assert labagent("check", tmp_path / "a", tmp_path / "b", "--json") == 1
    found = {one["metric"]: one for one in json.loads(capsys.readouterr().out)["metrics"]}
    assert found["read_latency_p99"]["verdict"] == "worse"
    assert found["read_latency_p99.9"]["change_pct"] == pytest.approx(50, abs=1)
    assert found["read_latency_p50"]["change_pct"] == pytest.approx(0, abs=0.01)
