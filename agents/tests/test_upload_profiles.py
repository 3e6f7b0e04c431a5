"""Profiles on their way to the server: after their run, once, and never lost."""

from __future__ import annotations

import json
import uuid

import httpx2
import pytest
from labagent.cli_profile import ProfileSender
from labagent.client import Client
from labagent.errors import UnavailableError
from labagent.readers.profiles import perl_folded, read_profile
from labagent.spool import Spool

from agents.tests.make import bench, label_dir
from agents.tests.profiles import FOLDED, GRAPH, PERF
from agents.tests.server import TOKEN, error

RUN = str(uuid.UUID(int=7))


@pytest.fixture
def archive(tmp_path):
    """Two runs, three profiles: a graph (and its folded form) and folded stacks of `pf`, and the
    graph of a profiled iteration of `ipfw`."""
    label = label_dir(tmp_path / "archive", "fbsd12-head.r317849")
    for cfg in ("pf", "ipfw"):
        bench(label / "RAW", cfg, cfg=cfg)
    bench(label / "PMC", "ipfw", [700.0], cfg="ipfw")
    (label / "bench.pf.1.pmc.graph").write_text(GRAPH)
    (label / "bench.pf.1.pmc.stack").write_text(perl_folded(GRAPH.encode()))
    (label / "bench.pf.2.pmc.svg").write_text(FOLDED)
    (label / "PMC" / "bench.ipfw.1.pmc.graph").write_text(GRAPH)
    return label


@pytest.fixture
def sending(server, tmp_path, no_waiting):
    """Sends the spool, which holds two profiles of the run."""
    spool = Spool(tmp_path / "spool")
    for name in ("a", "b"):
        spool.add_profile(RUN, {"name": name})
    client = Client("https://driftline.test", TOKEN, transport=server.transport)
    return lambda absent=(): ProfileSender(client, spool, absent)


def waiting(sender):
    return len(sender.spool.profiles())


def test_an_upload_sends_profiles_after_their_runs_and_prints_how_many(
    labagent, server, archive, capsys
):
    assert labagent("upload", archive) == 0
    assert "profiles stored 3, known 0, rejected 0\n" in capsys.readouterr().out
    posts = [path for method, path, _ in server.requests if method == "POST"]
    assert posts[0] == "/api/v1/runs"
    by_workload = {run["mode"]["workload"]: number for number, run in server.runs.items()}
    assert {workload: len(server.profiles[by_workload[workload]]) for workload in by_workload} == {
        "pf": 2,
        "ipfw": 1,
    }
    (ipfw,) = server.profiles[by_workload["ipfw"]]
    assert (ipfw["name"], ipfw["iteration"], ipfw["pps"]) == ("bench.ipfw.1.pmc.graph", 1, 700.0)


def test_profiles_that_were_refused_follow_their_runs_when_these_are_sent_again(
    labagent, server, archive, capsys
):
    server.judge = lambda _run: ("hardware", "unknown")
    assert labagent("upload", archive) == 1
    server.judge = lambda _run: None
    assert labagent("upload", "--rejected") == 0
    assert "profiles stored 3, known 0, rejected 0\n" in capsys.readouterr().out
    assert sum(map(len, server.profiles.values())) == 3


def test_what_is_sent_is_the_document_of_the_file(labagent, server, archive):
    labagent("upload", archive)
    sent = {one["name"]: one for found in server.profiles.values() for one in found}
    profile = read_profile(archive / "bench.pf.2.pmc.svg")
    profile.iteration = 2
    assert sent["bench.pf.2.pmc.svg"] == json.loads(json.dumps(profile.document()))


def test_profiles_sent_twice_are_stored_once(labagent, archive, capsys):
    labagent("upload", archive)
    capsys.readouterr()
    assert labagent("upload", archive) == 0
    assert "profiles stored 0, known 3, rejected 0\n" in capsys.readouterr().out


def test_without_profiles_nothing_is_printed_of_them(labagent, tmp_path, capsys):
    bench(label_dir(tmp_path, "fbsd12-head.r317849"), "pf", cfg="pf")
    labagent("upload", tmp_path)
    labagent("parse", tmp_path)
    captured = capsys.readouterr()
    assert "profile" not in captured.out + captured.err


def test_a_rehearsal_and_parse_count_profiles_and_send_none(labagent, server, archive, capsys):
    assert labagent("upload", archive, "--dry-run") == 0
    assert "would send 3 profiles of 2 runs as well\n" in capsys.readouterr().out
    assert labagent("parse", archive) == 0
    assert "3 profiles of 2 runs" in capsys.readouterr().err
    assert not server.requests


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_a_profile_that_cannot_be_read_costs_neither_its_run_nor_others(
    labagent, server, archive, capsys, option
):
    (archive / "bench.pf.1.pmc.graph").write_text("@ E [0 samples]\n\n")
    assert labagent("upload", archive, *option) == 1
    err = capsys.readouterr().err
    assert "profile holds no sample (take the profile again)" in err
    assert "bench.pf.1.pmc.graph" in err
    if not option:
        assert len(server.runs) == 2
        assert sum(map(len, server.profiles.values())) == 2


def test_profiles_wait_with_their_runs_and_are_sent_by_the_next_upload(
    labagent, server, archive, capsys
):
    server.script = [httpx2.ConnectError("refused")] * 8
    assert labagent("upload", archive) == 5
    assert not server.profiles
    assert labagent("upload") == 0
    out, err = capsys.readouterr()
    assert "sending 3 profiles that wait from an earlier upload as well" in err
    assert "profiles stored 3, known 0, rejected 0" in out


def test_profiles_of_a_run_that_waits_wait_too(labagent, server, archive, capsys):
    server.judge, server.refusal = lambda one: ("x", "y") if "mode" in one else None, 500
    assert labagent("upload", archive) == 5
    assert not server.profiles
    assert "profiles stored 0, known 0, rejected 0, waiting 3" in capsys.readouterr().out
    server.judge = lambda _one: None
    assert labagent("upload") == 0
    assert sum(map(len, server.profiles.values())) == 3


def test_an_unreachable_server_loses_no_profile(sending, server):
    server.runs[RUN] = {}
    server.script = [httpx2.ConnectError("refused")] * 8
    with pytest.raises(UnavailableError):
        sending().send_all()
    assert waiting(sending()) == 2
    assert str(sending().send_all()) == "profiles stored 2, known 0, rejected 0"
    assert waiting(sending()) == 0


def test_a_refused_profile_is_set_aside_with_the_reason_and_holds_up_no_other(sending, server):
    server.runs[RUN] = {}
    server.judge = lambda one: ("name", "is odd") if one["name"] == "a" else None
    sender = sending()
    tally = sender.send_all()
    assert str(tally) == "profiles stored 1, known 0, rejected 1"
    assert [(skip.where, skip.reason) for skip in tally.rejected] == [
        (f"a of run {RUN}", "name: is odd")
    ]
    (aside,) = (sender.spool.directory / "rejected").glob("*.profile")
    kept = json.loads(aside.read_text())
    assert (kept["run"], kept["profile"]) == (RUN, {"name": "a"})
    server.judge = lambda _one: None
    sender.spool.add_profile(RUN, {"name": "a"})
    sending().send_all()
    assert not aside.exists(), "it was taken"


def test_profiles_of_an_unknown_run_are_refused(sending):
    tally = sending().send_all()
    assert [skip.reason for skip in tally.rejected] == ["no such run (upload the run first)"] * 2


def test_a_server_that_fails_on_one_profile_keeps_it_waiting(sending, server):
    server.runs[RUN] = {}
    server.script = [error(500)]
    assert str(sending().send_all()) == "profiles stored 1, known 0, rejected 0, waiting 1"
    assert waiting(sending()) == 1


def test_a_bad_token_stops_the_sender(labagent, server, tmp_path, capsys):
    (tmp_path / "a.graph").write_text(GRAPH)
    assert labagent("profile", tmp_path / "a.graph", "--run", RUN, "--token", "bad") == 4
    assert "the rest waits in" in capsys.readouterr().err


def test_files_are_sent_to_a_run_by_its_uuid(labagent, server, tmp_path, capsys):
    server.runs[RUN] = {}
    files = [tmp_path / "a.graph", tmp_path / "b.txt"]
    for path, text in zip(files, (GRAPH, PERF), strict=True):
        path.write_text(text)
    assert labagent("profile", *files, "--run", RUN, "--pps", "1.5e6") == 0
    assert capsys.readouterr().out == "profiles stored 2, known 0, rejected 0\n"
    assert [(one["format"], one["pps"], one["boot"]) for one in server.profiles[RUN]] == [
        ("pmcstat", 1.5e6, None),
        ("perf", 1.5e6, None),
    ]


def test_graphs_are_printed_as_the_perl_script_folds_them(labagent, tmp_path, capsys):
    (tmp_path / "a.graph").write_text(GRAPH)
    assert labagent("profile", tmp_path / "a.graph", "--folded") == 0
    assert capsys.readouterr().out == perl_folded(GRAPH.encode())
    (tmp_path / "b").write_text(FOLDED)
    assert labagent("profile", tmp_path / "a.graph", tmp_path / "b", "--folded") == 1
    found = capsys.readouterr()
    assert (found.out, "is no graph of pmcstat -G" in found.err) == ("", True)
    assert labagent("profile", tmp_path / "a.graph") == 2
    assert "Name the run with --run" in capsys.readouterr().err


def test_a_file_that_is_no_profile_is_named_and_the_others_are_sent(
    labagent, server, tmp_path, capsys
):
    server.runs[RUN] = {}
    (tmp_path / "a.svg").write_text("<svg></svg>")
    (tmp_path / "b").write_text(FOLDED)
    assert labagent("profile", tmp_path / "a.svg", tmp_path / "b", "--run", RUN) == 1
    err = capsys.readouterr().err
    assert "is a picture (send the graph or folded file it was made from)" in err
    assert len(server.profiles[RUN]) == 1


@pytest.mark.parametrize("wrong", [("--run", "7"), (), ("--run", RUN, "--pps", "0")])
def test_a_run_needs_its_uuid_and_a_rate_is_positive(labagent, tmp_path, wrong):
    (tmp_path / "a").write_text(FOLDED)
    assert labagent("profile", tmp_path / "a", *wrong) == 2
