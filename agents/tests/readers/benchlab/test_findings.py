"""Findings stand beside the samples they are about, and change nothing else."""

from __future__ import annotations

import os

from labagent.job import Job
from labagent.model import Finding
from labagent.work.api import result_document
from labagent.work.commands import READERS, Output
from labagent.work.state import BootRecord, Progress, ProgressFile

from agents.tests.board import job
from agents.tests.make import FIVE, bench, equilibrium_log, label_dir, read, samples, values_file
from agents.tests.readers.logs.test_validity import noisy, receiver, sender


def write(directory, logs, prefix="forwarding"):
    """An iteration for each pair of logs; None: the generator left none."""
    bench(directory, prefix, [], cfg=prefix)
    for number, (received, sent) in enumerate(logs, 1):
        (directory / f"bench.{prefix}.{number}.receiver").write_bytes(received)
        if sent is not None:
            (directory / f"bench.{prefix}.{number}.sender").write_bytes(sent)


def codes(run, metric="pps"):
    (one,) = [found for found in run.samples if found.metric.name == metric]
    return [[finding.code for finding in found] for found in one.findings]


def test_each_sample_has_its_own(tmp_path):
    slow = sender(500_000)
    stalled = noisy()
    stalled[5] = 0
    logs = [(receiver(noisy()), None), (receiver(stalled), slow), (receiver(noisy(5)), None)]
    write(label_dir(tmp_path, "fbsd12-head.r317849"), logs)
    (run,) = read(tmp_path)
    assert len(samples(run)) == 3
    assert codes(run) == [[], ["all-arrived", "zero-seconds"], ["too-few-seconds"]]


def test_an_iteration_without_a_value_has_none(tmp_path):
    logs = [(receiver(noisy()), None), (receiver(noisy(2)), None), (receiver(noisy(5)), None)]
    write(label_dir(tmp_path, "fbsd12-head.r317849"), logs)
    (run,) = read(tmp_path)
    assert len(samples(run)) == 2
    assert codes(run) == [[], ["too-few-seconds"]]


def test_the_document_names_the_sample_and_the_reason(tmp_path):
    logs = [(receiver(noisy()), None), (receiver(noisy(5)), None), (receiver(noisy()), None)]
    write(label_dir(tmp_path, "fbsd12-head.r317849"), logs)
    (run,) = read(tmp_path)
    (one,) = run.document()["metrics"]["pps"]["validity"]
    assert (one["sample"], one["kind"]) == (1, "too-few-seconds")
    assert one["text"].startswith("5 usable seconds; below 9 ")


def test_the_identity_is_that_without_a_generators_log(tmp_path):
    for name, sent in (("one", sender(500_000)), ("two", None)):
        write(label_dir(tmp_path / name, "fbsd12-head.r317849"), [(receiver(noisy()), sent)] * 3)
    (one,), (two,) = read(tmp_path / "one"), read(tmp_path / "two")
    assert codes(one) == [["all-arrived"]] * 3
    assert codes(two) == [[]] * 3
    assert one.uuid == two.uuid
    documents = [one.document(), two.document()]
    for document in documents:
        document["facts"] = {}  # the number of generators, and their command
    marked = documents[0]["metrics"]["pps"].pop("validity")
    assert [one["sample"] for one in marked] == [0, 1, 2]
    assert documents[0] == documents[1], "a sound run has no such field"


def test_a_job_keeps_them_on_disk_and_sends_them_with_its_result(tmp_path):
    directory = tmp_path / "r317849.boot0"
    write(directory, [(receiver(noisy(5)), None), (receiver(noisy()), None)])
    of_job = Job.parse(job(revision="r317849"))
    measured = READERS["bench-lab"].read(Output(directory, []), of_job, None)
    record = BootRecord.of("FreeBSD r317849", measured, {})
    progress = Progress(job(revision="r317849"), "t", 60.0, "2017-01-01T00:00:00Z")
    progress.boots = [*record.split(), record]
    file = ProgressFile(tmp_path / "progress.json")
    file.save(progress)
    document = result_document(of_job, file.load(), "worker")
    found = document["metrics"]["pps"]["validity"]
    assert [(one["sample"], one["kind"]) for one in found] == [
        (0, "too-few-seconds"),
        (2, "too-few-seconds"),
    ]
    for boot in progress.boots:
        boot.values["pps"].pop("validity", None)
    assert result_document(of_job, progress, "worker")["uuid"] == document["uuid"]


def test_a_generators_log_that_cannot_be_read_costs_nothing(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    write(label, [(receiver(noisy()), sender(500_000))] * 3)
    log = label / "bench.forwarding.2.sender"
    log.unlink()
    log.mkdir()
    os.truncate(label / "bench.forwarding.3.sender", 17 * 1024 * 1024)
    (run,) = read(tmp_path)
    assert codes(run) == [["all-arrived"], [], []]


def test_both_metrics_of_a_search_have_them(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "aes", [], cfg="aes")
    for number in (1, 2):
        log = equilibrium_log(64 + 35 * (number - 1), 99)
        log = log.replace("Iteration 1", "- Link rate = 100 Mb/s\nIteration 1")
        (label / f"bench.aes.{number}.sender").write_text(log)
    (run,) = read(tmp_path)
    assert codes(run, "equilibrium") == codes(run, "equilibrium_max") == [[], ["sender-saturated"]]


def test_values_without_logs_are_not_judged(tmp_path):
    values_file(label_dir(tmp_path, "fbsd12-head.r317849") / "forwarding.pps", FIVE)
    (run,) = read(tmp_path)
    assert [one.findings for one in run.samples] == [None]


def test_the_results_of_a_job_carry_them(tmp_path):
    directory = tmp_path / "r317849.boot0"
    write(directory, [(receiver(noisy()), sender(500_000)), (receiver(noisy()), None)])
    of_job = Job.parse(job(revision="r317849"))
    measured = READERS["bench-lab"].read(Output(directory, []), of_job, None)
    ((first, second),) = measured.findings.values()
    assert [one.code for one in first] == ["all-arrived"]
    assert all(isinstance(one, Finding) for one in first)
    assert second == ()
