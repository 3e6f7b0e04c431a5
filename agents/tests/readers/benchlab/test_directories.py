"""Whole directories: every layout and naming variant of the archive, in small."""

import shutil

import pytest
from labagent.errors import SettingsError
from labagent.model import Mode
from labagent.readers.benchlab.reader import CONSOLE_ONLY, COPY, NO_REVISION, NO_SAMPLE, PROFILED

from agents.tests.make import (
    FIVE,
    HEAD_12,
    RELEASE_11_1,
    REPRODUCIBLE_16,
    TOPIC,
    bench,
    equilibrium_log,
    info_text,
    label_dir,
    modes,
    old_info_text,
    read,
    receiver_log,
    samples,
    skipped,
    values_file,
)


@pytest.mark.parametrize("raw", ["", "RAW", "raw"])
def test_logs_lie_at_the_top_or_in_a_raw_directory(tmp_path, raw):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / raw, "forwarding", cfg="forwarding")
    values_file(label / "forwarding.pps")
    (run,) = read(tmp_path)
    assert (run.hardware, run.tree, run.revision, str(run.mode)) == (
        "Atom_C2558_4Cores/Intel_i350",
        "freebsd-head",
        "r317849",
        "forwarding",
    )
    assert samples(run) == list(FIVE)
    assert run.warnings == ()


def test_a_run_is_the_same_whichever_level_is_named(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / "RAW", "forwarding", cfg="forwarding")
    hardware = tmp_path / TOPIC.split("/")[0]
    found = [read(path)[0] for path in (tmp_path, hardware, label.parent, label, label / "RAW")]
    assert len({str(run.document()) for run in found}) == 1


def test_naming_a_raw_directory_reports_only_what_lies_below(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / "RAW", "forwarding", cfg="forwarding")
    values_file(label / "pf.pps", [1, 2, 3])
    assert modes(label / "RAW") == ["forwarding"]
    assert modes(label) == ["forwarding", "pf"]


def test_overlapping_directories_give_each_run_once(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "forwarding", cfg="forwarding")
    assert len(read(tmp_path, label)) == 1


def test_an_archive_below_a_directory_called_results_is_found(tmp_path):
    bench(label_dir(tmp_path / "results" / "netbenches", "fbsd12-head.r317849"), "pf", cfg="pf")
    assert len(read(tmp_path / "results" / "netbenches")) == 1


def test_a_result_directory_in_the_singular_is_read(tmp_path):
    bench(tmp_path / TOPIC / "result" / "fbsd12-head.r317849", "pf", cfg="pf")
    assert modes(tmp_path) == ["pf"]


def test_files_that_stray_directly_into_results_are_read(tmp_path):
    bench(tmp_path / TOPIC / "results", "303643.pf", image="303643", cfg="pf")
    bench(label_dir(tmp_path, "fbsd12-head.r303644"), "pf", cfg="pf")
    assert sorted(run.revision for run in read(tmp_path)) == ["r303643", "r303644"]


def test_a_directory_outside_an_archive_needs_its_hardware_and_mode_told(tmp_path):
    bench(tmp_path / "somewhere", "", uname=HEAD_12)
    assert not read(tmp_path / "somewhere")
    (run,) = read(tmp_path / "somewhere", hardware="box/nic", mode=Mode("forwarding"))
    assert (run.hardware, run.revision, str(run.mode)) == ("box/nic", "r317849", "forwarding")


def test_a_run_without_any_name_is_the_topic(tmp_path):
    bench(label_dir(tmp_path, "fbsd13-r358171", "HW/NIC/NUMA-crossing"), "")
    values_file(label_dir(tmp_path, "fbsd13-r358171", "HW/NIC/NUMA-crossing") / "bench.pps")
    (run,) = read(tmp_path)
    assert (str(run.mode), run.warnings) == (
        "NUMA-crossing",
        ("the kernel says r317849, image or label r358171",),
    )


def test_a_run_without_configuration_under_firewalls_is_plain_forwarding(tmp_path):
    bench(label_dir(tmp_path, "fbsd.2017"), "311014", image="311014")
    (run,) = read(tmp_path)
    assert (str(run.mode), run.revision) == ("forwarding", "r311014")


def test_a_configuration_means_something_only_within_its_topic(tmp_path):
    for topic in ("ipsec", "openvpn", "firewalls"):
        bench(label_dir(tmp_path, "fbsd13-r365873", f"HW/NIC/{topic}"), "null", cfg="null")
    assert modes(tmp_path) == ["null", "null+ipsec", "null+openvpn"]


def test_a_topic_named_like_a_firewall_is_not_that_firewall(tmp_path):
    bench(label_dir(tmp_path, "fbsd13-r365873", "HW/NIC/ipfw"), "")
    bench(label_dir(tmp_path, "fbsd13-r365874", "HW/NIC/ipfw"), "ipfw", cfg="ipfw")
    bench(label_dir(tmp_path, "fbsd13-r365873", "HW/NIC/firewalls"), "ipfw", cfg="ipfw")
    assert modes(tmp_path) == ["ipfw", "ipfw+ipfw", "ipfw+topic-ipfw"]


def test_names_are_never_aliased(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    names = ["forwarding", "fastforwarding", "pf-statefull", "pf-stateful"]
    for name in names:
        bench(label, name, cfg=name)
    assert modes(tmp_path) == sorted(names)


def test_presets_and_numeric_configurations_are_told_apart(tmp_path):
    label = label_dir(tmp_path, "fbsd10.2", "HW/NIC/hw.igb.num_queues")
    bench(label, "1", info=old_info_text("1"))
    bench(label, "8", info=old_info_text("8"))
    bench(label_dir(tmp_path, "fbsd10.3", "HW/NIC/RFC2544"), "1024", pktgen="1024")
    assert modes(tmp_path) == ["1+hw.igb.num_queues", "8+hw.igb.num_queues", "RFC2544@1024"]


def test_iterations_are_in_the_order_of_ls(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", [float(i) for i in range(1, 12)], cfg="pf")
    (run,) = read(tmp_path)
    assert samples(run) == [1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]
    assert run.facts["iterations"] == ["1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"]


def test_each_iteration_is_a_boot_of_its_own(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849"), "pf", cfg="pf")
    assert read(tmp_path)[0].samples[0].boots == (0, 1, 2, 3, 4)


def test_both_log_notations_give_the_same_value(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "old", cfg="old")
    bench(label, "new", cfg="new", new=True)
    assert [samples(run) for run in read(tmp_path)] == [list(FIVE), list(FIVE)]


# Value files


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


# Profiles


@pytest.mark.parametrize("where", ["PMC", "pmc", "PMC/on"])
def test_profiled_runs_never_count(tmp_path, where):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / "RAW", "pf", cfg="pf")
    bench(label / where, "pf", [1.0], cfg="pf")
    (label / "bench.pf.1.pmc.graph").write_text("@ cpu\n")
    (label / "bench.pf.stack").write_text("a;b 1\n")
    assert [samples(run) for run in read(tmp_path)] == [list(FIVE)]
    assert [skip.reason for skip in skipped(tmp_path)] == [PROFILED]


def test_a_profiled_run_beside_the_others_is_known_by_its_name(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    bench(label, "pf.pmc", [1.0], info=None)
    assert modes(tmp_path) == ["pf"]


# Revisions and trees


@pytest.mark.parametrize(
    ("label", "names", "revision"),
    [
        ("fbsd12-head.r654937", {"image": "364937"}, "r364937"),
        ("fbsd12-head.r323724", {"image": "HEAD120"}, "r323724"),
        ("fbsd11-stable.r320490", {}, "r320490"),
        ("fbsd14-n272525", {"uname": REPRODUCIBLE_16}, "n272525"),
        ("fbsd-c255761-mlxperf", {}, "c255761"),
        ("fbsd11.1", {"image": "GENERIC111yandex", "uname": RELEASE_11_1}, "r322489"),
        ("main-vs-stable13", {"image": "MAIN_n268154", "uname": REPRODUCIBLE_16}, "n268154"),
        ("fbsd12", {"image": "97be6fced7d"}, "97be6fced7d"),
        ("fbsd14-97be6fced7d", {"uname": REPRODUCIBLE_16}, "97be6fced7d"),
        ("fbsd10.3", {}, "r317849"),
    ],
)
def test_the_revision_is_of_the_image_else_the_label_else_the_kernel(
    tmp_path, label, names, revision
):
    prefix = ".".join(filter(None, (names.get("image", ""), "pf")))
    bench(label_dir(tmp_path, label), prefix, cfg="pf", **names)
    assert [run.revision for run in read(tmp_path)] == [revision]


def test_a_run_without_any_revision_is_skipped_and_named(tmp_path):
    uname = "FreeBSD hp 10.1-RELEASE FreeBSD 10.1-RELEASE #0: Tue Nov 11 21:02:49 UTC 2014 r@x:/o a"
    bench(label_dir(tmp_path, "fbsd10.1"), "pf", cfg="pf", uname=uname)
    (skip,) = skipped(tmp_path)
    assert (skip.reason, skip.where) == (NO_REVISION, f"{TOPIC}/fbsd10.1/pf")


def test_console_captures_are_skipped(tmp_path):
    label = label_dir(tmp_path, "fbsd11.0-aesni", "HW/NIC/ipsec")
    for iteration in "12":
        (label / f"bench.aes-cbc-128.NOaesni.{iteration}").write_text("[root@R1]# equilibrium\n")
    values_file(label / "aes-cbc-128-NOaesni.data")
    assert [skip.reason for skip in skipped(tmp_path)] == [NO_REVISION]
    label.rename(label.with_name("fbsd11-head.r300000"))
    assert [skip.reason for skip in skipped(tmp_path)] == [CONSOLE_ONLY]


@pytest.mark.parametrize(
    ("label", "names", "tree"),
    [
        ("fbsd11-routing.r287531", {}, "freebsd-projects-routing"),
        ("fbsd11-stable.r320490", {}, "freebsd-stable-11"),
        ("fbsd11.1", {"uname": RELEASE_11_1}, "freebsd-releng-11.1"),
        ("stable-vs-main", {"image": "MAIN_n268154"}, "freebsd-head"),
    ],
)
def test_a_branch_in_the_label_wins_over_the_kernels_name(tmp_path, label, names, tree):
    prefix = ".".join(filter(None, (names.get("image", ""), "pf")))
    bench(label_dir(tmp_path, label), prefix, cfg="pf", **names)
    assert [run.tree for run in read(tmp_path)] == [tree]


def test_one_number_on_two_branches_is_two_trees(tmp_path):
    label = label_dir(tmp_path, "fbsd11.0vs11.1")
    beta = RELEASE_11_1.replace("11.1-RELEASE-p1", "11.1-BETA1")
    old = RELEASE_11_1.replace("11.1-RELEASE-p1", "11.0-RELEASE-p10")
    bench(label, "11.0.pf", image="11.0", cfg="pf", uname=old)
    bench(label, "11.1BETA1.pf", image="11.1BETA1", cfg="pf", uname=beta)
    runs = read(tmp_path)
    assert {run.revision for run in runs} == {"r322489"}
    assert [run.tree for run in runs] == ["freebsd-releng-11.0", "freebsd-stable-11"]
    assert {str(run.mode) for run in runs} == {"pf"}


def test_a_label_without_kernels_suggests_its_tree_with_a_warning(tmp_path):
    values_file(label_dir(tmp_path, "fbsd14-n272525") / "pf.pps")
    (run,) = read(tmp_path)
    assert run.tree == "freebsd-head"
    assert run.warnings == ("no kernel named: tree taken from the directory's name",)


def test_overrides_win_and_change_the_identity(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849"), "pf", cfg="pf")
    plain = read(tmp_path)[0]
    for overrides in ({"tree": "mine"}, {"hardware": "a/b"}, {"mode": Mode("x", "y", ("z",))}):
        (run,) = read(tmp_path, **overrides)
        name, value = overrides.popitem()
        assert getattr(run, name) == value
        assert run.uuid != plain.uuid


def test_one_mode_for_several_configurations_is_refused(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    bench(label, "ipfw", cfg="ipfw")
    with pytest.raises(SettingsError, match="2 modes"):
        read(tmp_path, mode=Mode("x"))


def test_one_hardware_for_several_machines_is_refused(tmp_path):
    for hardware in ("A/B", "C/D"):
        bench(label_dir(tmp_path, "fbsd12-head.r317849", f"{hardware}/firewalls"), "pf", cfg="pf")
    with pytest.raises(SettingsError, match="2 machines"):
        read(tmp_path, hardware="x/y")


# Options


def ab(tmp_path, label, *images, **names):
    directory = label_dir(tmp_path, label)
    for image in images:
        prefix = ".".join(filter(None, (image, "pf")))
        bench(directory, prefix, [float(len(image)), 2.0, 3.0], image=image, cfg="pf", **names)
    return modes(tmp_path)


@pytest.mark.parametrize(
    ("label", "images", "expected"),
    [
        ("fbsd12-head.r317849.VIMAGE", ["317849", "317849VIMAGE"], ["pf", "pf+VIMAGE"]),
        (
            "fbsd12-head.r325006.yandex.D12685",
            ["325006yandex", "325006yandexD12685"],
            ["pf+D12685+yandex", "pf+yandex"],
        ),
        ("fbsd12-head.r323724.D12439", ["HEAD120", "HEAD120D12439"], ["pf", "pf+D12439"]),
        ("fbsd12-head.r320000.D4306", ["320000", "320000D4304"], ["pf", "pf+D4304"]),
        ("fbsd12-head.r329155IPSEC", ["329155", "329155IPSEC"], ["pf", "pf+IPSEC"]),
        ("fbsd11-head.r295150.mbuf_cleanup", ["295150", "295150mbuf"], ["pf", "pf+mbuf"]),
        ("fbsd14-n277567-D33658", ["n277567D33658"], ["pf+D33658"]),
        ("fbsd12-head.iflib", ["301000", "302000"], ["pf+iflib", "pf+iflib"]),
        ("main-vs-stable13", ["MAIN_n268154", "STABLE13_n265892"], ["pf", "pf"]),
        ("fbsd16-n311215.D58513", [""], ["pf+D58513"]),
        ("fbsd13-r365873.vti", [""], ["pf+vti"]),
        ("fbsd16-n311215.option-RSS.net.isr", [""], ["pf+option-RSS.net.isr"]),
        ("fbsd11-stable.r320490.BSDRP.1.80.5k", [""], ["pf+BSDRP.1.80.5k"]),
        ("fbsd11.1-yandex", [""], ["pf+yandex"]),
    ],
)
def test_what_was_changed_is_an_option_but_not_of_the_base_it_is_compared_with(
    tmp_path, label, images, expected
):
    assert ab(tmp_path, label, *images) == expected


def test_named_images_that_nothing_tells_apart_carry_their_names(tmp_path):
    assert ab(tmp_path, "fbsd11.1-test", "RELEASE11", "11.1", uname=RELEASE_11_1) == [
        "pf+11.1+test",
        "pf+RELEASE11+test",
    ]


def test_a_label_that_names_one_of_two_paired_configurations_is_no_option(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r365328-fastio", "HW/NIC/openvpn")
    for cfg in ("null", "null-fastio"):
        bench(label, cfg, cfg=cfg)
    assert modes(tmp_path) == ["null+openvpn", "null-fastio+openvpn"]


def test_nested_directories_are_options(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r357572-2M_leg-0to12M_dos")
    bench(label / "fbsd13-r357572-2-2", "ipfw", cfg="ipfw")
    bench(label / "fbsd13-r357572-2-10" / "RAW", "ipfw", cfg="ipfw")
    values_file(label / "fbsd13-r357572-2-10" / "ipfw.pps")
    runs = read(tmp_path)
    assert [str(run.mode) for run in runs] == [
        "ipfw+2-10+2M_leg-0to12M_dos",
        "ipfw+2-2+2M_leg-0to12M_dos",
    ]
    assert {run.revision for run in runs} == {"r357572"}


def test_raw_directories_with_a_suffix_are_options(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r357572")
    for number, queues in enumerate(("1rx", "8rx", "16rx"), 1):
        values = [1000.0 * number + i for i in range(3)]
        bench(label / f"RAW.{queues}", "ipfw", values, cfg="ipfw")
        values_file(label / f"ipfw.{queues}.pps", values)
    assert modes(tmp_path) == ["ipfw+16rx", "ipfw+1rx", "ipfw+8rx"]
    assert not skipped(tmp_path)


def test_values_of_raw_directories_with_a_suffix_may_have_any_name(tmp_path):
    label = label_dir(tmp_path, "fbsd13-r357572")
    bench(label / "RAW.8rx", "ipfw", cfg="ipfw")
    values_file(label / "eight-queues.pps")
    assert modes(tmp_path) == ["ipfw+8rx"]


def test_options_hold_only_what_a_written_mode_can_carry(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849.a+b@c")
    bench(label, "pf", cfg="pf")
    assert modes(tmp_path) == ["pf+a_2bb_40c"]


# Identity


def test_the_identity_does_not_depend_on_where_the_files_lie(tmp_path):
    bench(label_dir(tmp_path / "a", "fbsd12-head.r317849"), "pf", cfg="pf")
    shutil.copytree(tmp_path / "a", tmp_path / "b" / "c")
    assert read(tmp_path / "a")[0].document() == read(tmp_path / "b")[0].document()


def test_the_identity_follows_the_content(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    before = read(tmp_path)[0].uuid
    (label / "bench.pf.1.receiver").write_text(receiver_log(999.0))
    assert read(tmp_path)[0].uuid != before


def test_the_same_files_twice_are_one_run(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849"), "pf", cfg="pf")
    shutil.copytree(
        label_dir(tmp_path, "fbsd12-head.r317849"), tmp_path / TOPIC / "results/fbsd.r317849"
    )
    assert len(read(tmp_path)) == 1
    assert [skip.reason for skip in skipped(tmp_path)] == ["the same files as another run"]


def test_a_repeat_of_a_run_is_a_run_of_the_same_series(tmp_path):
    bench(label_dir(tmp_path, "fbsd.2016") / "RAW", "303642.pf", image="303642", cfg="pf")
    repeat = label_dir(tmp_path, "fbsd12-head.r303643") / "raw"
    bench(repeat, "303642.pf", [7.0, 8.0, 9.0], image="303642", cfg="pf")
    one, other = read(tmp_path)
    assert one.uuid != other.uuid
    assert (one.hardware, one.tree, one.revision, one.mode) == (
        other.hardware,
        other.tree,
        other.revision,
        other.mode,
    )
    assert one.build_id == other.build_id


def test_builds_without_a_date_are_told_apart_by_image_and_label(tmp_path):
    for label in ("fbsd16-n311215", "fbsd16-n311215.D58513"):
        bench(label_dir(tmp_path, label), "pf", cfg="pf", uname=REPRODUCIBLE_16)
    assert [run.build_id for run in read(tmp_path)] == [
        "16.0-CURRENT n311215 fbsd16-n311215",
        "16.0-CURRENT n311215 fbsd16-n311215.D58513",
    ]


def test_the_time_of_an_old_run_is_when_it_started(tmp_path):
    bench(label_dir(tmp_path, "fbsd10.2"), "pf", info=old_info_text("pf"))
    assert read(tmp_path)[0].measured_at == "2015-09-10T08:11:48+02:00"


def test_a_time_in_an_ambiguous_zone_is_unknown_and_said_so(tmp_path):
    started = "Thu Sep 10 08:11:48 IST 2015"
    bench(label_dir(tmp_path, "fbsd10.2"), "pf", info=old_info_text("pf", start=started))
    (run,) = read(tmp_path)
    assert run.measured_at is None
    assert run.warnings == (f"time of the measurement not understood: {started}",)


def test_the_document_has_exactly_the_fields_of_the_contract(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849"), "pf.inet4", cfg="pf", pktgen="inet4")
    document = read(tmp_path)[0].document()
    assert list(document) == [
        "uuid", "tree", "revision", "hardware", "mode", "metrics", "build_id", "kernel_ident",
        "measured_at", "facts", "sources", "warnings",
    ]  # fmt: skip
    assert document["mode"] == {"workload": "pf", "traffic": "inet4", "options": []}
    assert document["metrics"]["pps"]["boots"] == [0, 1, 2, 3, 4]
    assert document["sources"][0]["path"] == "fbsd12-head.r317849/bench.pf.inet4.1.receiver"
    assert document["measured_at"] is None
