"""Of which revision and tree a run is, and which runs are the same."""

import shutil

import pytest
from labagent.errors import SettingsError
from labagent.model import Mode
from labagent.readers.benchlab.reader import CONSOLE_ONLY, NO_REVISION

from agents.tests.make import (
    RELEASE_11_1,
    REPRODUCIBLE_16,
    TOPIC,
    bench,
    label_dir,
    old_info_text,
    read,
    receiver_log,
    skipped,
    values_file,
)


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


def uname_of(release):
    built = "#0: Tue Nov 11 21:02:49 UTC 2014 r@x:/o a"
    return f"FreeBSD hp {release} FreeBSD {release} {built}"


@pytest.mark.parametrize(
    ("label", "release"), [("fbsd12-head", "12.0-CURRENT"), ("fbsd11.1", "11.1-STABLE")]
)
def test_a_run_without_any_revision_is_skipped_and_named(tmp_path, label, release):
    """A branch moves: that it was this branch names no commit, whatever version the label has."""
    bench(label_dir(tmp_path, label), "pf", cfg="pf", uname=uname_of(release))
    (skip,) = skipped(tmp_path)
    assert (skip.reason, skip.where) == (NO_REVISION, f"{TOPIC}/{label}/pf")


@pytest.mark.parametrize(
    ("label", "names", "revision", "tree"),
    [
        ("fbsd10.1", {"uname": uname_of("10.1-RELEASE")}, "10.1-RELEASE", "freebsd-releng-10.1"),
        (
            "fbsd10.1",
            {"uname": uname_of("10.1-RELEASE-p12")},
            "10.1-RELEASE-p12",
            "freebsd-releng-10.1",
        ),
        ("fbsd12", {"uname": uname_of("12.0-RC1")}, "12.0-RC1", "freebsd-releng-12.0"),
        ("fbsd11", {"uname": uname_of("11.1-BETA2")}, "11.1-BETA2", "freebsd-stable-11"),
        ("fbsd10.1", {"info": None}, "10.1-RELEASE", "freebsd-releng-10.1"),
        ("fbsd11.0-RC2", {"info": None}, "11.0-RC2", "freebsd-releng-11.0"),
        ("fbsd10.3p4", {"info": None}, "10.3-RELEASE-p4", "freebsd-releng-10.3"),
        (
            "fbsd12-head.20180401",
            {"uname": uname_of("12.0-CURRENT")},
            "2018-04-01",
            "freebsd-head",
        ),
        ("fbsd11-stable.2017-03-02", {"info": None}, "2017-03-02", "freebsd-stable-11"),
        (
            "fbsd12-head",
            {"image": "20180401", "uname": uname_of("12.0-CURRENT")},
            "2018-04-01",
            "freebsd-head",
        ),
    ],
)
def test_where_nothing_names_a_commit_a_release_or_a_day_does(
    tmp_path, label, names, revision, tree
):
    prefix = ".".join(filter(None, (names.get("image", ""), "pf")))
    bench(label_dir(tmp_path, label), prefix, cfg="pf", **names)
    (run,) = read(tmp_path)
    assert (run.revision, run.tree, str(run.mode)) == (revision, tree, "pf")


def test_a_day_in_a_label_is_what_was_changed_where_the_kernel_has_a_number(tmp_path):
    """Its runs are known by that name already."""
    bench(label_dir(tmp_path, "fbsd12-head.20180401"), "pf", cfg="pf")
    (run,) = read(tmp_path)
    assert (run.revision, str(run.mode)) == ("r317849", "pf+20180401")


def test_a_day_that_no_calendar_has_is_none(tmp_path):
    bench(
        label_dir(tmp_path, "fbsd12-head.20181301"), "pf", cfg="pf", uname=uname_of("12.0-CURRENT")
    )
    assert [skip.reason for skip in skipped(tmp_path)] == [NO_REVISION]


@pytest.mark.parametrize(
    ("label", "kernel", "named"),
    [
        ("fbsd10.1", "10.2-RELEASE", ("10.2-RELEASE", "10.1-RELEASE")),
        ("fbsd10.1", "10.1-RELEASE-p3", ("", "")),
        ("fbsd10", "10.2-RELEASE", ("", "")),
    ],
)
def test_a_label_of_another_release_is_evidence_against_the_kernel(tmp_path, label, kernel, named):
    bench(label_dir(tmp_path, label), "pf", cfg="pf", uname=uname_of(kernel))
    (run,) = read(tmp_path)
    assert run.revision == kernel
    assert (run.evidence.kernel_revision, run.evidence.label_revision) == named


def test_console_captures_are_skipped(tmp_path):
    label = label_dir(tmp_path, "fbsd11.0-aesni", "HW/NIC/ipsec")
    for iteration in "12":
        (label / f"bench.aes-cbc-128.NOaesni.{iteration}").write_text("[root@R1]# equilibrium\n")
    values_file(label / "aes-cbc-128-NOaesni.data")
    assert [skip.reason for skip in skipped(tmp_path)] == [CONSOLE_ONLY]
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


def test_files_under_two_revisions_are_read_twice_and_reported_as_a_copy(tmp_path):
    original = label_dir(tmp_path, "fbsd14-n257521")
    bench(original, "pf", cfg="pf", uname=REPRODUCIBLE_16)
    shutil.copytree(original, tmp_path / TOPIC / "results/fbsd14-n257721")
    one, other = read(tmp_path)
    assert (one.warnings, other.warnings) == (
        (),
        (f"the same files as {TOPIC}/fbsd14-n257521: pf: one is a copy",),
    )


def test_one_log_of_another_run_is_named_and_empty_ones_are_no_copies(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    for at, cfg in enumerate(("a", "b", "c")):
        bench(label, cfg, [1000.0 + at, 2000.0 + at, 3000.0 + at], cfg=cfg)
        (label / f"bench.{cfg}.3.receiver").write_bytes(b"")
    shutil.copy(label / "bench.a.1.receiver", label / "bench.c.2.receiver")
    copies = [[one for one in run.warnings if "copy" in one] for run in read(tmp_path)]
    where = f"{TOPIC}/fbsd12-head.r317849"
    assert copies == [[], [], [f"the same files as {where}: a: one is a copy"]]


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


def test_builds_without_a_date_are_distinguished_by_image_and_label(tmp_path):
    for label in ("fbsd16-n311215", "fbsd16-n311215.D58513"):
        bench(label_dir(tmp_path, label), "pf", cfg="pf", uname=REPRODUCIBLE_16)
    assert [run.build_id for run in read(tmp_path)] == [
        "16.0-CURRENT n311215 fbsd16-n311215",
        "16.0-CURRENT n311215 fbsd16-n311215.D58513",
    ]


def test_the_time_of_an_old_run_is_when_it_started(tmp_path):
    bench(label_dir(tmp_path, "fbsd10.2"), "pf", info=old_info_text("pf"))
    assert read(tmp_path)[0].measured_at == "2015-09-10T08:11:48+02:00"


def test_a_time_in_an_ambiguous_zone_is_unknown_and_reported(tmp_path):
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
        "measured_at", "facts", "sources", "warnings", "evidence",
    ]  # fmt: skip
    assert document["mode"] == {"workload": "pf", "traffic": "inet4", "options": []}
    assert document["metrics"]["pps"]["boots"] == [0, 1, 2, 3, 4]
    assert document["sources"][0]["path"] == "fbsd12-head.r317849/bench.pf.inet4.1.receiver"
    assert document["measured_at"] is None
