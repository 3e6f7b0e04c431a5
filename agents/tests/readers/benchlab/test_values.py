"""Values: from logs, from files of values, and from both."""

import pytest
from labagent.readers.benchlab.pairing import COPY
from labagent.readers.benchlab.reader import NO_SAMPLE

from agents.tests.make import (
    FIVE,
    HEAD_12,
    RELEASE_11_1,
    bench,
    equilibrium_log,
    info_text,
    label_dir,
    read,
    receiver_log,
    samples,
    skipped,
    values_file,
)


@pytest.mark.parametrize(
    ("prefix", "file"),
    [
        ("forwarding", "forwarding.pps"),
        ("forwarding", "RAW/forwarding.pps"),
        ("forwarding", "pps.forwarding"),
        ("2", "none.2"),
        ("295150mbuf.pf", "295150mbuf.pf"),
        ("ipfw.8rx", "ipfw.8rx.pps"),
    ],
)
def test_a_value_file_belongs_to_the_logs_of_its_name(tmp_path, prefix, file):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / "RAW", prefix, cfg=prefix.removeprefix("295150mbuf."))
    values_file(label / file, [1.0, 2.0, 3.0])
    (run,) = read(tmp_path)
    assert samples(run) == list(FIVE), "the logs win"
    assert any("holds other values" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("file", "mode", "revision"),
    [
        ("forwarding.inet4.pps", "forwarding@inet4", "r317849"),
        ("RAW/303642.pf-statefull.pps", "pf-statefull", "r303642"),
        ("pps.pf-statefull", "pf-statefull", "r317849"),
        ("none.pf-statefull", "pf-statefull", "r317849"),
        ("295150mbuf.ipfw-statefull", "ipfw-statefull+mbuf", "r295150"),
        ("8192.pps", "8192", "r317849"),
        ("bench.pps", "forwarding", "r317849"),
    ],
)
def test_a_value_file_alone_is_a_run(tmp_path, file, mode, revision):
    values_file(label_dir(tmp_path, "fbsd12-head.r317849") / file)
    (run,) = read(tmp_path)
    assert (str(run.mode), run.revision, samples(run)) == (mode, revision, list(FIVE))


def test_a_value_file_without_info_takes_its_siblings_kernel(tmp_path):
    label = label_dir(tmp_path, "fbsd11.1", "HW/NIC/pf-sessions")
    bench(label, "512", cfg="pf-statefull", pktgen="512", uname=RELEASE_11_1)
    values_file(label / "8192.pps", [1.0, 2.0, 3.0])
    run = next(run for run in read(tmp_path) if run.mode.workload == "8192")
    assert (run.tree, run.revision) == ("freebsd-releng-11.1", "r322489")
    assert run.kernel_ident == ""
    assert "kernel taken from the other runs" in run.warnings[0]


def test_a_value_file_among_many_revisions_takes_its_siblings_tree(tmp_path):
    label = label_dir(tmp_path, "fbsd.2016")
    for number in (303642, 303643):
        bench(label, f"{number}.pf", [number, 2.0, 3.0], image=f"{number}", cfg="pf",
              uname=HEAD_12.replace("r317849M", f"r{number}"))  # fmt: skip
    values_file(label / "303644.pf.pps", [1.0, 2.0, 3.0])
    run = next(run for run in read(tmp_path) if run.revision == "r303644")
    assert run.tree == "freebsd-head"
    assert run.warnings == ("no .info: tree taken from the other runs of the directory",)


def test_a_blank_line_of_a_failed_iteration_is_no_value(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    (label / "pf.pps").write_text("10\n\n20.5\n30\n")
    assert samples(read(tmp_path)[0]) == [10.0, 20.5, 30.0]


def test_aggregates_and_pictures_are_never_values(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    for name in ("gnuplot.data", "pf.data", "gnuplot.data.max", "graph.plt", "303642.data"):
        (label / name).write_text("1 2 3 4\n")
    (label / "README.md").write_text("words\n")
    assert not read(tmp_path)


@pytest.mark.parametrize("content", ["", "nan\n", "1e999\n", "text\n"])
def test_a_value_file_without_numbers_is_no_run(tmp_path, content):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    (label / "pf.pps").write_text(content)
    assert not read(tmp_path)


def test_the_old_median_of_ministat_explains_other_stored_values(tmp_path):
    label = label_dir(tmp_path, "fbsd11-head.r287478")
    bench(label, "pf", [10.5, 20.5, 30.0], cfg="pf")
    values_file(label / "pps.pf", [11.0, 21.0, 30.0])
    (run,) = read(tmp_path)
    assert samples(run) == [10.5, 20.5, 30.0]
    assert any("ministat before 2016" in warning for warning in run.warnings)


def test_a_value_left_out_by_hand_is_kept_and_named(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", [100.0, 101.0, 1.0, 102.0], cfg="pf")
    values_file(label / "pf.pps", [100.0, 101.0, 102.0])
    (run,) = read(tmp_path)
    assert len(samples(run)) == 4
    assert run.warnings[0].endswith("1 left out there (1)")


def test_a_value_changed_by_hand_is_named(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", [100.0, 101.0, 102.0], cfg="pf")
    values_file(label / "pf.pps", [100.0, 999.0, 102.0])
    assert read(tmp_path)[0].warnings[0].endswith("101 there 999")


def test_results_renamed_after_the_run_keep_their_new_name(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r303643")
    bench(label / "raw", "303642.fastforwarding", image="303642", cfg="fastforwarding")
    values_file(label / "303642.forwarding.pps")
    (run,) = read(tmp_path)
    assert (str(run.mode), run.revision, samples(run)) == ("forwarding", "r303642", list(FIVE))
    assert "logs are named 303642.fastforwarding" in run.warnings[0]


def test_a_copy_of_values_is_not_a_second_run(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    values_file(label / "pf.pps")
    values_file(label / "for-ministat.pps")
    assert len(read(tmp_path)) == 1
    assert [skip.reason for skip in skipped(tmp_path)] == [COPY]


def test_values_stand_in_for_logs_that_hold_none(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", [], cfg="pf")
    (label / "bench.pf.1.receiver").write_text("CMD: pkt-gen\n")
    values_file(label / "pf.pps", [1.0, 2.0, 3.0])
    (run,) = read(tmp_path)
    assert samples(run) == [1.0, 2.0, 3.0]


# Broken logs


def test_iterations_without_a_value_are_left_out_and_named(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    (label / "bench.pf.2.receiver").write_text("CMD: pkt-gen\n" * 14)
    (label / "bench.pf.4.receiver").write_text(receiver_log(0))
    (run,) = read(tmp_path)
    assert samples(run) == [FIVE[0], FIVE[2], FIVE[4]]
    assert run.facts["iterations"] == ["1", "3", "5"]
    assert len(run.warnings) == 2


def test_receivers_that_saw_nothing_are_skipped_with_a_reason(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "ipf-stateful.inet6", [0.0, 0.0], cfg="ipf-stateful", pktgen="inet6")
    (label / "ipf-stateful.inet6.pps").write_text("")
    assert [skip.reason for skip in skipped(tmp_path)] == [NO_SAMPLE]


def test_a_receiver_without_sender_counts(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    (label / "bench.pf.1.sender").unlink()
    assert samples(read(tmp_path)[0]) == list(FIVE)


def test_senders_without_receivers_are_no_measurement(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    for path in label.glob("*.receiver"):
        path.unlink()
    assert [skip.reason for skip in skipped(tmp_path)] == [NO_SAMPLE]


def test_generators_are_counted_unless_they_did_nothing(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    for kind in ("sender_2", "sender_gen2_2"):
        (label / f"bench.pf.1.{kind}").write_text("CMD on pxetest3: pkt-gen\nup\nup\nup\n")
    (label / "bench.pf.1.sender_gen2").write_text("CMD on pxetest3:\nno tty\n")
    (run,) = read(tmp_path)
    assert run.facts["senders"] == 3
    assert run.facts["receiver_command"] == "pkt-gen -f rx -i igb3 -w 4"


# Equilibrium


def equilibrium_run(directory, prefix, results, **names):
    directory.mkdir(parents=True, exist_ok=True)
    for iteration, (value, maximum) in enumerate(results, 1):
        log = equilibrium_log(value, maximum)
        (directory / f"bench.{prefix}.{iteration}.sender").write_text(log)
    (directory / f"bench.{prefix}.info").write_text(info_text(**names))


def test_an_equilibrium_run_has_two_metrics_in_megabits(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r365873", "HW/NIC/ipsec")
    equilibrium_run(label / "RAW", "null", [(64, 65), (63, 66)], cfg="null")
    (run,) = read(tmp_path)
    assert samples(run, "equilibrium") == [64, 63]
    assert samples(run, "equilibrium_max") == [65, 66]
    assert {(s.metric.unit, s.metric.better) for s in run.samples} == {("Mb/s", "more")}


def test_equilibrium_values_that_piled_up_give_way_to_the_logs(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r365873", "HW/NIC/ipsec")
    equilibrium_run(label, "null", [(64, 65), (63, 66)], cfg="null")
    values_file(label / "null.equilibrium", [50, 51, 64, 63])
    values_file(label / "null.equilibrium.max", [65, 66])
    (run,) = read(tmp_path)
    assert samples(run, "equilibrium") == [64, 63]
    assert len([w for w in run.warnings if "null.equilibrium holds" in w]) == 1


@pytest.mark.parametrize("suffix", ["equilibrium", "equilibrium.throughpt"])
def test_equilibrium_value_files_alone_are_one_run(tmp_path, suffix):
    label = label_dir(tmp_path, "fbsd13-r365873", "HW/NIC/ipsec")
    values_file(label / f"null.{suffix}", [64, 63, 62])
    values_file(label / "null.equilibrium.max", [65, 66, 67])
    (run,) = read(tmp_path)
    assert (samples(run, "equilibrium"), samples(run, "equilibrium_max")) == (
        [64, 63, 62],
        [65, 66, 67],
    )
