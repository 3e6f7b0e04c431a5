"""Histories of other trackers move in by one command: rehearsed, sent, sent again, interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labagent.model import Metric
from labagent.readers.formats import Content, Result
from labagent.settings import SKIP, Directions

from agents.tests.histories import TRACKERS, commit, write
from agents.tests.server import FakeServer, listening
from agents.tests.test_kill import kill, start, wait_for

POINTS, REVISIONS = 120, 12
SAMPLES = Path(__file__).parent / "readers" / "formats" / "samples"


def asked(tracker, path, *more):
    options = TRACKERS[tracker][1]
    return ("upload", "--history", "--register", "--tree", "t", *options, *more, path)


@pytest.mark.parametrize("tracker", TRACKERS)
def test_a_history_is_rehearsed_sent_and_known(labagent, server, tmp_path, capsys, tracker):
    path = write(tmp_path, tracker, POINTS, REVISIONS)
    assert labagent(*asked(tracker, path, "--dry-run")) == 0
    assert f"would send {POINTS} runs" in capsys.readouterr().out
    assert not server.requests
    assert labagent(*asked(tracker, path)) == 0
    assert f"stored {POINTS}, known 0, rejected 0, skipped 0" in capsys.readouterr().out
    assert labagent(*asked(tracker, path)) == 0
    assert f"stored 0, known {POINTS}, rejected 0" in capsys.readouterr().out
    runs = list(server.runs.values())
    assert len({run["revision"] for run in runs}) == REVISIONS
    order = sorted({(run["position"], run["revision"]) for run in runs})
    assert [revision for _, revision in order] == sorted({run["revision"] for run in runs})
    assert {run["hardware"] for run in runs} == {"rig-1"}


def test_a_longer_history_sends_what_is_new(labagent, server, tmp_path, capsys):
    path = write(tmp_path, "codespeed", POINTS, POINTS)
    assert labagent(*asked("codespeed", path)) == 0
    dump = json.loads(path.read_text())
    newest = {**dump[-1]["fields"], "benchmark": dump[-1]["fields"]["benchmark"]}
    dump.append(
        {
            "model": "codespeed.revision",
            "pk": 9999,
            "fields": {"commitid": "f" * 40, "date": "2026-01-01T00:00:00Z", "branch": 1},
        }
    )
    dump.append({"model": "codespeed.result", "pk": 9999, "fields": {**newest, "revision": 9999}})
    path.write_text(json.dumps(dump))
    capsys.readouterr()
    assert labagent(*asked("codespeed", path)) == 0
    assert f"stored 1, known {POINTS}" in capsys.readouterr().out


def test_nothing_is_guessed(labagent, server, tmp_path, capsys):
    path = tmp_path / "dump.json"
    dump = (SAMPLES / "codespeed-dump.json").read_text()
    path.write_text(dump.replace('"name": "rig-1"', '"name": "Dual Core?"'))
    send = ("upload", "--history", "--register", path)
    assert labagent(*send) == 1
    assert "'net/default' is no tree yet: pass --tree" in capsys.readouterr().err
    assert labagent(*send, "--tree", "t") == 1
    assert "'Dual Core?' has no name that the server takes" in capsys.readouterr().err
    assert not server.runs
    named = ("--map", "tree:net/default=t", "--map", "hardware:Dual Core?=rig/nic")
    assert labagent(*send, *named) == 0
    assert {run["hardware"] for run in server.runs.values()} == {"rig/nic"}
    assert {run.get("position") for run in server.runs.values()} == {None}
    assert labagent(*send, "--map", "tree=t") == 3


def test_of_several_branches_each_is_mapped(labagent, server, tmp_path, capsys):
    path = tmp_path / "posted.json"
    posted = json.loads((SAMPLES / "codespeed-posted.json").read_text())
    posted[1]["branch"] = "dev"
    path.write_text(json.dumps(posted))
    given = ("--better", "codespeed.value=more", "--unit", "codespeed.value=kpps")
    send = ("upload", "--history", *given, path)
    assert labagent(*send, "--tree", "t") == 1
    assert "one of 2 branches, 'net/default'" in capsys.readouterr().err
    maps = ("--map", "tree:net/default=a", "--map", "tree:net/dev=b")
    assert labagent(*send, *maps) == 0
    assert {run["tree"] for run in server.runs.values()} == {"a", "b"}
    metrics = [run["metrics"]["codespeed.value"] for run in server.runs.values()]
    assert {(one["unit"], one["better"]) for one in metrics} == {("kpps", "more")}


def test_who_leaves_out_a_metric_when_asked_for_its_unit_is_not_asked_for_its_direction(tmp_path):
    asked = []
    directions = Directions(tmp_path / "d.json", ask=lambda one: asked.append(one) or SKIP)
    unknown = Result(Metric("x", "", ""), (1.0,))
    content, left = directions.complete(Content(results=[unknown]))
    assert (content.results, left) == ([], ["x (no unit)"])
    assert len(asked) == 1


def test_asv_and_conbench_move_in_too(labagent, server):
    for name in ("asv", "conbench"):
        send = ("upload", "--history", "--tree", "t", SAMPLES / f"{name}.json")
        assert labagent(*send) == 0
    runs = list(server.runs.values())
    assert {run["revision"] for run in runs} == {
        "587edf0705dcb0658194b15f387b30aa83dee367",
        "1" * 40,
        "2" * 40,
    }
    assert {run["mode"]["workload"].partition(".")[0] for run in runs} == {"asv", "conbench"}


@pytest.mark.long
@pytest.mark.parametrize("tracker", TRACKERS)
def test_ten_thousand_points_survive_a_kill(tmp_path, tracker):
    path = write(tmp_path, tracker, 10_000, 200)
    server = FakeServer(delay=0.02)
    with listening(server) as address:
        arguments = asked(tracker, path)[1:]
        process = start(address, tmp_path / "spool", *arguments)
        wait_for(lambda: server.posts() == 30, 120)
        kill(process)
        assert 2_900 <= len(server.runs) < 10_000
        out, _ = start(address, tmp_path / "spool", *arguments).communicate(timeout=300)
        assert len(server.runs) == 10_000
        assert "rejected 0" in out
        out, _ = start(address, tmp_path / "spool", *arguments).communicate(timeout=300)
        assert "stored 0, known 10000" in out
    assert {run["revision"] for run in server.runs.values()} >= {
        commit(0) if tracker != "lnt" else "300000"
    }
