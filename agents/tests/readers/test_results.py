"""What runs leave behind."""

from __future__ import annotations

import json

import pytest
from labagent.job import Job
from labagent.model import Metric
from labagent.work.commands import READERS, Output, UnreadableError

from agents.tests.board import job
from agents.tests.make import HEAD_12, bench

PPS = Metric("pps", "packets/s", "more")


@pytest.fixture
def read(tmp_path):
    def run(kind, *texts, metric=PPS, **of_job):
        printed = []
        for number, text in enumerate(texts, 1):
            path = tmp_path / f"run.{number}.out"
            path.write_text(text)
            printed.append(path)
        output = Output(tmp_path / "r317849.boot0", printed)
        return READERS[kind].read(output, Job.parse(job(**of_job)), metric)

    return run


def test_values_are_one_a_line_over_all_iterations(read):
    assert read("values", "1\n2.5\n\n", "3e6\n").values == {PPS: [1.0, 2.5, 3e6]}


@pytest.mark.parametrize("text", ["fast\n", "nan\n", "inf\n", "1 2\n", "1\n0x10\n"])
def test_what_is_no_number_is_named_with_its_line(read, text):
    with pytest.raises(UnreadableError, match=r"run\.1\.out line \d.*is no number"):
        read("values", text)


def test_json_lines_may_name_their_metric(read):
    lines = '{"value": 1}\n{"metric": "latency", "value": 2, "unit": "us", "better": "less"}\n'
    assert read("json-lines", lines).values == {PPS: [1.0], Metric("latency", "us", "less"): [2.0]}


@pytest.mark.parametrize("line", ["5", "{", '{"value": null}', '{"metric": "x", "value": 1}'])
def test_json_lines_that_state_too_little_are_refused(read, line):
    with pytest.raises(UnreadableError, match="line 1"):
        read("json-lines", line)


def test_iperf3_reports_what_arrived(read):
    tcp = {"end": {"sum_sent": {"bits_per_second": 9}, "sum_received": {"bits_per_second": 8.5}}}
    udp = {"end": {"sum": {"bits_per_second": 100.0, "lost_percent": 25.0}}}
    measured = read("iperf3", json.dumps(tcp), json.dumps(udp), metric=None)
    assert measured.values[Metric("throughput", "bit/s", "more")] == [8.5, 75.0]
    assert measured.values[Metric("lost", "%", "less")] == [25.0]


def test_an_error_of_iperf3_is_passed_on(read):
    with pytest.raises(UnreadableError, match="unable to connect"):
        read("iperf3", '{"error": "unable to connect"}')


def test_a_bench_directory_is_read_as_an_upload_reads_it(read, tmp_path):
    bench(tmp_path / "r317849.boot0", "317849.pf", [10.0, 12.0], image="317849", cfg="pf")
    measured = read("bench-lab", revision="r317849")
    assert list(measured.values.values()) == [(10.0, 12.0)]
    assert measured.ident == HEAD_12


def test_a_bench_directory_with_two_runs_is_refused(read, tmp_path):
    for cfg in ("pf", "ipfw"):
        bench(tmp_path / "r317849.boot0", f"317849.{cfg}", image="317849", cfg=cfg)
    with pytest.raises(Exception, match=r"more than one mode.*one configuration"):
        read("bench-lab", revision="r317849")
