"""What cannot be read costs its own run; links, depth and odd files end nothing."""

from __future__ import annotations

import os

import pytest
from labagent.model import Skip
from labagent.readers.benchlab.layout import LINKED, TOO_DEEP, Bounds, find_labels

from agents.tests.make import (
    TOPIC,
    bench,
    label_dir,
    modes,
    read,
    receiver_log,
    samples,
    skipped,
    values_file,
)


@pytest.fixture
def label(tmp_path):
    """One good run, `pf`."""
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "pf", cfg="pf")
    return label


def unread(root) -> list[tuple[str, str]]:
    return [(skip.where.rpartition("/")[2], skip.reason) for skip in skipped(root) if skip.unread]


def test_a_log_too_large_to_be_real_costs_its_run_alone(tmp_path, label):
    bench(label, "ipfw", cfg="ipfw")
    with (label / "bench.ipfw.3.receiver").open("r+b") as file:
        file.truncate(6 * 1024**3)
    values_file(label / "ipfw.pps", [1.0, 2.0, 3.0])
    assert modes(tmp_path) == ["pf"], "nor do the value files stand in for it"
    ((where, reason),) = unread(tmp_path)
    assert where == "ipfw"
    assert reason == "bench.ipfw.3.receiver: has 6.0 GiB, more than the 16.0 MiB that are read"


@pytest.mark.parametrize(
    "name", ["bench.ipfw.3.receiver", "bench.ipfw.info", "bench.ipfw.1.sender"]
)
def test_a_log_that_is_a_fifo_is_never_opened_and_costs_its_run(tmp_path, label, name):
    bench(label, "ipfw", cfg="ipfw")
    (label / name).unlink()
    os.mkfifo(label / name)
    assert modes(tmp_path) == ["pf"]
    assert unread(tmp_path) == [("ipfw", f"{name}: is no regular file")]


def test_a_log_behind_a_link_that_leads_nowhere_costs_its_run(tmp_path, label):
    bench(label, "ipfw", cfg="ipfw")
    (label / "bench.ipfw.3.receiver").unlink()
    (label / "bench.ipfw.3.receiver").symlink_to("gone")
    assert modes(tmp_path) == ["pf"]
    assert unread(tmp_path)[0][1].startswith("bench.ipfw.3.receiver: cannot be read: No such file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_log_without_permission_costs_its_run(tmp_path, label):
    bench(label, "ipfw", cfg="ipfw")
    (label / "bench.ipfw.3.receiver").chmod(0)
    assert modes(tmp_path) == ["pf"]
    assert unread(tmp_path)[0][1].endswith("Permission denied")


@pytest.mark.parametrize(
    "text",
    ["1e999\n", "nan\n", "1001\n-5\n", "1001\nx\n", "9" * 400, "1_000\n", "1e300\n", "2e15\n"],
)
def test_a_value_file_with_anything_but_values_is_named_with_its_line(tmp_path, label, text):
    (label / "ipfw.pps").write_text(text)
    assert modes(tmp_path) == ["pf"]
    ((where, reason),) = unread(tmp_path)
    assert where == "ipfw.pps"
    assert reason.startswith(f"line {text.count(chr(10)) or 1}: ")


def test_a_value_file_whose_last_line_is_cut_is_read_with_a_warning(tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    (label / "ipfw.pps").write_text("1001\n1002\n10")
    (run,) = read(tmp_path)
    assert "ipfw.pps: its last line is cut" in run.warnings


def test_packed_logs_are_named(tmp_path, label):
    (label / "bench.ipfw.1.receiver.gz").write_bytes(b"\x1f\x8b")
    assert unread(tmp_path) == [("bench.ipfw.1.receiver.gz", "is packed: unpack it first")]


@pytest.mark.parametrize("target", [".", "..", "../..", "loop"])
def test_links_that_loop_are_followed_once(tmp_path, label, target):
    (label / "loop").symlink_to(target)
    (label / "bench.x.1.receiver").symlink_to("bench.x.1.receiver")
    bench(label / "nested", "pf", [1.0, 2.0, 3.0], cfg="pf")
    (label / "nested" / "again").symlink_to("..")
    assert modes(tmp_path) == ["pf", "pf+nested"]


def test_a_link_to_another_directory_of_the_label_is_read_once_under_its_own_name(tmp_path, label):
    bench(label / "nested", "pf", [1.0, 2.0, 3.0], cfg="pf")
    (label / "a-link").symlink_to("nested")
    assert modes(tmp_path) == ["pf", "pf+nested"]
    assert [skip.where for skip in skipped(tmp_path) if skip.reason == LINKED] == [
        f"{TOPIC}/fbsd12-head.r317849/a-link"
    ]


def test_a_link_to_a_label_is_that_label(tmp_path, label):
    (label.parent / "a-latest").symlink_to(label.name)
    (run,) = read(tmp_path)
    assert run.facts["label"] == label.name
    assert read(label.parent / "a-latest"), "named alone, it is read"


def test_directories_nested_without_end_are_named(tmp_path, label):
    deep = label
    for _ in range(40):
        deep /= "d"
    deep.mkdir(parents=True)
    assert modes(tmp_path) == ["pf"]
    assert [reason for _, reason in unread(tmp_path)] == [TOO_DEEP]


def test_an_archive_nested_without_end_is_named(tmp_path, label):
    (tmp_path / "/".join("d" * 200)).mkdir(parents=True)
    assert modes(tmp_path) == ["pf"]
    assert [reason for _, reason in unread(tmp_path)] == [TOO_DEEP]


def test_a_walk_ends_at_its_bound_and_reports_it(tmp_path, label):
    for number in range(50):
        (tmp_path / f"x{number}").mkdir()
    found = list(find_labels([tmp_path], Bounds(entries=20)))
    assert len(found) == 1
    assert isinstance(found[0], Skip)
    assert "more than" in found[0].reason


def test_names_that_are_no_text_do_no_harm(tmp_path, label):
    odd = os.fsdecode(b"bench.\xff\xfe") + "x" * 200
    for number in (1, 2, 3):
        log = (label / f"bench.pf.{number}.receiver").read_bytes()
        (label / f"{odd}.{number}.receiver").write_bytes(log)
    (label / "bench.new\nline.1.receiver").write_text("x")
    (label / "bench.pf.4.receiver\n").write_text("x")
    runs = read(tmp_path)
    assert len(runs) == 2
    for run in runs:
        str(run.document()).encode()
        assert len(samples(run)) in (3, 5)


def test_a_log_in_two_directories_of_one_place_is_named(tmp_path, label):
    bench(label / "RAW", "pf", cfg="pf")
    (run,) = read(tmp_path)
    assert "bench.pf.1.receiver lies in two directories: one was read" in run.warnings


def test_an_iteration_without_a_log_is_named(tmp_path, label):
    (label / "bench.pf.2.receiver").unlink()
    (run,) = read(tmp_path)
    assert "iteration 2 has no log" in run.warnings


def test_an_iteration_with_fewer_seconds_than_the_others_is_named(tmp_path, label):
    path = label / "bench.pf.2.receiver"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:28]))
    (run,) = read(tmp_path)
    warning = "bench.pf.2.receiver: no closing line, which the others have, after 19 seconds"
    assert warning in run.warnings
    path.write_text(receiver_log(1001.5, seconds=3))
    (run,) = read(tmp_path)
    assert "bench.pf.2.receiver: 18 seconds, the others 21" in run.warnings


def test_an_iteration_that_is_a_copy_of_another_is_named(tmp_path, label):
    (label / "bench.pf.2.receiver").write_bytes((label / "bench.pf.4.receiver").read_bytes())
    (run,) = read(tmp_path)
    assert "bench.pf.4.receiver: the same file as iteration 2" in run.warnings


def test_one_info_that_names_another_kernel_than_all_others_of_its_image_is_named(tmp_path, label):
    for value, cfg in enumerate(("a", "b", "c"), 1):
        bench(label, cfg, [7000.0 + value], cfg=cfg)
    info = label / "bench.b.info"
    info.write_text(info.read_text().replace("12.0", "13.0"))
    warnings = {str(run.mode): run.warnings for run in read(tmp_path)}
    assert warnings.pop("b") == (
        "the kernel names r317849 13.0-CURRENT, of the other runs r317849 12.0-CURRENT",
    )
    assert not any(warnings.values())


def test_a_value_file_that_begins_with_anything_else_is_named(tmp_path, label):
    (label / "ipf.pps").write_text("x" * 2000 + "\n1001\n1002\n1003\n")
    (skip,) = skipped(tmp_path)
    assert skip.unread
    assert f"ipf.pps: line 1: '{'x' * 40}' is no value" in f"{skip.where}: {skip.reason}"
