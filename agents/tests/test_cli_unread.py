"""One file that cannot be read never keeps the runs of the others from being sent."""

from __future__ import annotations

import os

import pytest

from agents.tests.make import bench, equilibrium_log, info_text, label_dir


@pytest.fixture
def label(tmp_path):
    label = label_dir(tmp_path / "archive", "fbsd12-head.r317849")
    for cfg in ("ipfw", "pf"):
        bench(label, cfg, cfg=cfg)
    return label


def _equilibrium(label, figure: str) -> None:
    log = equilibrium_log(64, 65).replace("throughput= 64", f"throughput= {figure}")
    (label / "bench.gcm.1.sender").write_text(log)
    (label / "bench.gcm.info").write_text(info_text(cfg="gcm"))


@pytest.mark.parametrize("figure", ["1e999", "9" * 400, "nan", "-inf", "-5"])
def test_a_log_without_a_finite_figure_is_left_out_and_the_others_are_sent(
    labagent, server, label, capsys, figure
):
    _equilibrium(label, figure)
    assert labagent("upload", label, "--register") == 0
    assert sorted(run["mode"]["workload"] for run in server.runs.values()) == ["ipfw", "pf"]
    assert "skipped 1 (1 no usable sample)" in capsys.readouterr().out


def test_a_number_that_is_no_sample_is_named_with_file_and_line_where_others_are(
    labagent, label, capsys
):
    log = label / "bench.pf.2.receiver"
    log.write_text(log.read_text().replace(" 1001 pps", " 1e999 pps"))
    assert labagent("parse", label) == 0
    out, err = capsys.readouterr()
    assert "iteration 2 gave no value: line 16 is garbled" in err
    assert "(n=4)" in out


@pytest.mark.parametrize("damage", ["large", "fifo", "uname", "link", "values"])
def test_what_could_not_be_read_is_named_the_others_are_sent_and_the_command_ends_with_one(
    labagent, server, label, capsys, damage
):
    bench(label, "ipf", cfg="ipf")
    log = label / "bench.ipf.2.receiver"
    warned = {
        "large": "bench.ipf.2.receiver: has 6.0 GiB, more than the 16.0 MiB that are read",
        "fifo": "bench.ipf.2.receiver: is no regular file",
        "uname": "bench.ipf.info: has 2.0 MiB, more than the 1.0 MiB that are read",
        "link": "bench.ipf.2.receiver: cannot be read: Too many levels of symbolic links",
        "values": "line 1: '1e999' is no value",
    }
    if damage == "large":
        os.truncate(log, 6 * 1024**3)
    elif damage == "uname":
        (label / "bench.ipf.info").write_text(" " * 2 * 1024**2)
    elif damage == "values":
        for path in label.glob("bench.ipf.*"):
            path.unlink()
        (label / "ipf.pps").write_text("1e999\n")
    else:
        log.unlink()
        os.mkfifo(log) if damage == "fifo" else log.symlink_to(log.name)
    assert labagent("upload", label, "--register") == 1
    assert sorted(run["mode"]["workload"] for run in server.runs.values()) == ["ipfw", "pf"]
    out, err = capsys.readouterr()
    assert warned[damage] in out
    assert f"{warned[damage]} (Atom_C2558_4Cores/Intel_i350/firewalls/" in err
    assert "1 left out, named above: could not be read" in err


def test_a_loop_of_links_does_not_end_the_archive(labagent, server, label):
    (label / "RAW").symlink_to(".")
    (label.parent / "loop").symlink_to("..")
    (label / "self").symlink_to("self")
    assert labagent("upload", label.parents[4], "--register") == 0
    assert len(server.runs) == 2


def test_what_a_name_or_file_contains_never_moves_the_cursor(labagent, label, capsys):
    bench(label, "x", cfg="\x1b[2Jx", uname="FreeBSD \x1b]0;title\x07 12.0")
    (label / os.fsdecode(b"odd\xff\x1b.pps")).write_text("1\n-1\n")
    labagent("parse", label)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\\udcff\\x1b.pps" in err
