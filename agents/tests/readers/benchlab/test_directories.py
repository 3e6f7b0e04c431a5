"""Whole directories: every layout of the archive, in small."""

from dataclasses import replace

import pytest
from labagent.model import Mode
from labagent.readers.benchlab.pairing import PROFILED

from agents.tests.make import (
    FIVE,
    HEAD_12,
    TOPIC,
    bench,
    label_dir,
    modes,
    old_info_text,
    read,
    samples,
    skipped,
    values_file,
)
from agents.tests.profiles import GRAPH


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


def test_a_directory_outside_an_archive_needs_its_hardware_and_mode_given(tmp_path):
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
        ("the kernel names r317849, image or label r358171",),
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


def test_presets_and_numeric_configurations_are_distinguished(tmp_path):
    label = label_dir(tmp_path, "fbsd10.2", "HW/NIC/hw.igb.num_queues")
    bench(label, "1", info=old_info_text("1"))
    bench(label, "8", info=old_info_text("8"))
    bench(label_dir(tmp_path, "fbsd10.3", "HW/NIC/RFC2544"), "1024", pktgen="1024")
    assert modes(tmp_path) == [
        "RFC2544@1024",
        "forwarding+hw.igb.num_queues=1",
        "forwarding+hw.igb.num_queues=8",
    ]


@pytest.mark.parametrize("value", ["5", "-1", "0.5"])
def test_a_number_under_a_knob_is_its_value_and_the_run_stays_the_same(tmp_path, value):
    bench(label_dir(tmp_path, "fbsd12-head.r317849", "HW/NIC/hw.cxgbe.nXxq"), value, cfg=value)
    (run,) = read(tmp_path)
    assert str(run.mode) == f"forwarding+hw.cxgbe.nXxq={value}"
    assert run.evidence.former_mode == f"{value}+hw.cxgbe.nXxq"
    as_before = replace(run, mode=Mode(value, None, ("hw.cxgbe.nXxq",)), evidence=None)
    assert run.uuid == as_before.uuid
    assert run.document()["evidence"]["former_mode"] == f"{value}+hw.cxgbe.nXxq"


def test_a_default_under_a_knob_is_its_value_and_the_run_stays_the_same(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849", "HW/NIC/net.inet.hash")
    bench(label, "8000-default", cfg="8000-default")
    (run,) = read(tmp_path)
    assert str(run.mode) == "forwarding+net.inet.hash=8000"
    assert run.facts["cfg"] == "8000-default"
    as_before = replace(run, mode=Mode("8000-default", None, ("net.inet.hash",)), evidence=None)
    assert run.uuid == as_before.uuid


@pytest.mark.parametrize(
    ("topic", "cfg"),
    [("hw.cxgbe.caps", "disabled"), ("pf-sessions", "8192"), ("ipsec", "1"), ("firewalls", "1")],
)
def test_a_word_or_a_topic_that_is_no_knob_is_read_as_ever(tmp_path, topic, cfg):
    label = label_dir(tmp_path, "fbsd12-head.r317849", f"HW/NIC/{topic}")
    bench(label, cfg, info=old_info_text(cfg))
    (run,) = read(tmp_path)
    assert str(run.mode) == (cfg if topic == "firewalls" else f"{cfg}+{topic}")
    assert not run.evidence.former_mode


def test_a_mode_that_the_user_names_has_no_former_one(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849", "HW/NIC/hw.cxgbe.nXxq"), "5", cfg="5")
    (run,) = read(tmp_path, mode=Mode("forwarding"))
    assert (str(run.mode), run.evidence.former_mode) == ("forwarding", "")


def test_a_knob_of_a_label_is_an_option_and_was_escaped(tmp_path):
    bench(label_dir(tmp_path, "fbsd12-head.r317849.rss=1"), "pf", cfg="pf")
    (run,) = read(tmp_path)
    assert (str(run.mode), run.evidence.former_mode) == ("pf+rss=1", "pf+rss_3d1")


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


# Profiles


@pytest.mark.parametrize("where", ["PMC", "pmc", "PMC/on"])
def test_profiled_runs_never_count(tmp_path, where):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / "RAW", "pf", cfg="pf")
    bench(label / where, "pf", [1.0], cfg="pf")
    (label / "bench.pf.1.pmc.graph").write_text(GRAPH)
    (label / "bench.pf.stack").write_text("a;b 1\n")
    assert [samples(run) for run in read(tmp_path)] == [list(FIVE)]
    assert [skip.reason for skip in skipped(tmp_path)] == [PROFILED]


def test_a_profiled_run_beside_the_others_is_known_by_its_name(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    bench(label, "pf.pmc", [1.0], info=None)
    assert modes(tmp_path) == ["pf"]


PROFILES = [
    "bench.pf.1.pmc.graph",
    "bench.pf.1.pmc.stack",
    "bench.pf.1.graph",
    "bench.pf.pmc.graph",
]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("where", ["", "RAW"])
def test_where_a_profiled_run_overwrote_a_log_the_plain_value_wins(tmp_path, profile, where):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label / where, "pf", [FIVE[0] * 0.7, *FIVE[1:]], cfg="pf")
    (label / profile).write_text(GRAPH)
    values_file(label / "pf.pps")
    (run,) = read(tmp_path)
    assert samples(run) == list(FIVE)
    (warning,) = [text for text in run.warnings if "profiled" in text]
    assert f"{profile} lies beside it" in warning
    assert "the plain value of pf.pps was kept" in warning
    assert not any("which were kept" in text for text in run.warnings)


def test_without_a_profile_of_that_iteration_the_log_counts(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    logged = [FIVE[0] * 0.7, *FIVE[1:]]
    bench(label, "pf", logged, cfg="pf")
    (label / "bench.pf.2.pmc.graph").write_text(GRAPH)
    values_file(label / "pf.pps")
    (run,) = read(tmp_path)
    assert samples(run) == logged
    assert any("which were kept" in text for text in run.warnings)


def test_where_other_values_differ_too_the_file_was_edited_and_the_logs_count(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    logged = [FIVE[0] * 0.7, FIVE[1] * 2, *FIVE[2:]]
    bench(label, "pf", logged, cfg="pf")
    (label / "bench.pf.1.pmc.graph").write_text(GRAPH)
    values_file(label / "pf.pps")
    assert [samples(run) for run in read(tmp_path)] == [logged]


def test_a_profile_beside_a_configuration_that_is_a_number_is_of_its_first_iteration(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf.2", [FIVE[0] * 0.7, *FIVE[1:]], cfg="pf.2")
    (label / "bench.pf.2.graph").write_text(GRAPH)
    values_file(label / "pf.2.pps")
    assert [samples(run) for run in read(tmp_path)] == [list(FIVE)]


def test_a_profile_beside_a_log_that_agrees_changes_nothing(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    (label / "bench.pf.1.pmc.graph").write_text(GRAPH)
    values_file(label / "pf.pps")
    (run,) = read(tmp_path)
    assert (samples(run), run.warnings) == (list(FIVE), ())
