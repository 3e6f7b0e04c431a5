"""The commands as a user gives them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from labagent.readers.formats import FORMATS

from agents.tests.make import bench, label_dir, values_file
from agents.tests.server import TOKEN, FakeServer, error, listening


@pytest.fixture
def archive(tmp_path):
    """Two runs, one skipped for want of samples, one profiled."""
    label = label_dir(tmp_path / "archive", "fbsd12-head.r317849")
    bench(label / "RAW", "pf", cfg="pf")
    bench(label / "RAW", "ipfw", cfg="ipfw")
    bench(label / "RAW", "ipf", [0.0], cfg="ipf")
    bench(label / "PMC", "pf", [1.0], cfg="pf")
    return tmp_path / "archive"


# parse


def test_parse_prints_a_line_for_each_run_and_what_it_skipped(labagent, archive, capsys):
    assert labagent("parse", archive) == 0
    out, err = capsys.readouterr()
    assert [line.split()[:5] for line in out.splitlines()] == [
        ["Atom_C2558_4Cores/Intel_i350", "freebsd-head", "r317849", "ipfw", "pps"],
        ["Atom_C2558_4Cores/Intel_i350", "freebsd-head", "r317849", "pf", "pps"],
    ]
    assert "1002 packets/s (n=5)" in out
    assert "skipped 1: no usable sample (Atom_C2558_4Cores/Intel_i350/firewalls/" in err
    assert "skipped 1: profiled" in err


def test_parse_prints_one_json_document_a_line(labagent, archive, capsys):
    assert labagent("parse", archive, "--json") == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [document["mode"]["workload"] for document in documents] == ["ipfw", "pf"]


def test_warnings_are_counted_not_repeated(labagent, tmp_path, capsys):
    label = label_dir(tmp_path, "fbsd12-head.r300000")
    for cfg in ("pf", "ipfw"):
        bench(label, cfg, cfg=cfg)
    labagent("parse", tmp_path)
    assert "the kernel names r317849, image or label r300000 (2 runs)" in capsys.readouterr().err


def test_a_directory_without_results_is_an_error_with_a_remedy(labagent, tmp_path, capsys):
    assert labagent("parse", tmp_path) == 1
    assert "name an archive" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [(), ("--no-such-option",), ("/no/such/directory",)])
def test_misuse_ends_with_two(labagent, arguments):
    assert labagent("parse", *arguments) == 2


def test_a_malformed_mode_is_refused(labagent, archive, capsys):
    assert labagent("parse", archive, "--mode", "a b") == 3
    assert "workload[@traffic][+option…]" in capsys.readouterr().err


# upload


def test_upload_stores_runs_once_and_prints_it_in_one_line(labagent, server, archive, capsys):
    assert labagent("upload", archive) == 0
    out = capsys.readouterr().out
    assert out == (
        "stored 2, known 0, rejected 0, skipped 2"
        " (1 no usable sample; 1 profiled, so not a measurement)\n"
    )
    assert labagent("upload", archive) == 0
    assert capsys.readouterr().out.startswith("stored 0, known 2, rejected 0")
    assert len(server.runs) == 2


def test_options_of_the_upload_reach_the_server(labagent, server, archive):
    labagent("upload", archive, "--register", "--history", "--replace", "--tree", "mine")
    assert server.requests[0][2] == {"register": "true", "history": "true", "replace": "true"}
    assert {run["tree"] for run in server.runs.values()} == {"mine"}


def test_a_dry_run_shows_and_sends_nothing(labagent, server, archive, tmp_path, capsys):
    assert labagent("upload", archive, "--dry-run") == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "would send 2 runs to https://driftline.test; skipped 2"
    )
    assert not server.requests
    assert not (tmp_path / "spool").exists()


def test_a_dry_run_needs_no_server(labagent, environ, archive, capsys):
    del environ["DRIFTLINE_SERVER"], environ["DRIFTLINE_TOKEN"]
    assert labagent("upload", archive, "--dry-run") == 0
    assert "no server given yet" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["DRIFTLINE_SERVER", "DRIFTLINE_TOKEN"])
def test_an_upload_without_server_or_token_prints_how_to_give_them(
    labagent, environ, archive, capsys, missing
):
    del environ[missing]
    assert labagent("upload", archive) == 3
    assert missing in capsys.readouterr().err


def test_a_bad_token_ends_with_four_and_keeps_the_runs(labagent, server, archive, capsys):
    assert labagent("upload", archive, "--token", "bad") == 4
    assert "the rest waits in" in capsys.readouterr().err
    assert labagent("upload") == 0
    assert len(server.runs) == 2


def test_an_unreachable_server_ends_with_five_and_the_next_call_goes_on(
    labagent, server, archive, capsys
):
    server.script = [httpx2.ConnectError("refused")] * 8
    assert labagent("upload", archive, "--history") == 5
    assert "nothing is lost" in capsys.readouterr().err
    assert labagent("upload") == 0
    out, err = capsys.readouterr()
    assert out == "stored 2, known 0, rejected 0, skipped 0\n"
    assert "sending 2 runs that wait from an earlier upload" in err
    assert server.requests[-1][2] == {"history": "true"}, "as the first call had asked"


def test_refused_runs_end_with_one_and_are_named(labagent, server, archive, capsys):
    unknown = "unknown hardware; do you mean Atom_C2558_4Cores/Intel_i354?"
    server.judge = lambda run: ("hardware", unknown) if run["mode"]["workload"] == "pf" else None
    assert labagent("upload", archive) == 1
    out, err = capsys.readouterr()
    assert out.startswith("stored 1, known 0, rejected 1")
    run = "Atom_C2558_4Cores/Intel_i350 r317849 pf (fbsd12-head.r317849)"
    assert f"rejected 1: hardware: {unknown} ({run})" in err
    assert "`labagent upload --rejected`" in err
    server.judge = lambda _run: None
    assert labagent("upload", archive) == 0
    assert len(server.runs) == 2


def test_what_was_refused_is_sent_again_without_its_directory(
    labagent, server, archive, environ, capsys
):
    server.judge = lambda run: ("hardware", "unknown") if run["mode"]["workload"] == "pf" else None
    assert labagent("upload", archive, "--history") == 1
    assert labagent("upload", "--rejected") == 1, "the cause is still there"
    assert capsys.readouterr().out.splitlines()[-1].startswith("stored 0, known 0, rejected 1")
    server.judge = lambda _run: None
    assert labagent("upload") == 0, "nothing is sent again unless asked"
    assert len(server.runs) == 1
    assert labagent("upload", archive, "--rejected") == 0, "of a run read anew there is one"
    assert capsys.readouterr().out.splitlines()[-1].startswith("stored 1, known 1, rejected 0")
    assert not list(Path(environ["DRIFTLINE_SPOOL"]).glob("*/rejected/*"))
    assert labagent("upload", "--rejected") == 0


def test_what_was_refused_is_not_sent_by_a_dry_run(labagent, server, capsys):
    assert labagent("upload", "--rejected", "--dry-run") == 2
    assert "--rejected sends" in capsys.readouterr().err
    assert not server.requests


def test_nothing_to_send_is_no_error(labagent, server, capsys):
    assert labagent("upload") == 0
    assert capsys.readouterr().out == "stored 0, known 0, rejected 0, skipped 0\n"
    assert not server.requests


def test_without_a_terminal_there_is_no_progress_bar(labagent, archive, capsys):
    labagent("upload", archive)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert len(out.splitlines()) == 1


def test_many_runs_go_in_several_batches(labagent, server, tmp_path):
    label = label_dir(tmp_path / "archive", "fbsd11-head.2015")
    for number in range(300_000, 300_250):
        values_file(label / f"{number}.pf.pps", [number, number + 1, number + 2])
    assert labagent("upload", tmp_path / "archive") == 0
    assert server.posts() == 3
    assert len(server.runs) == 250


# hardware


def test_hardware_is_added_and_listed(labagent, server, capsys):
    assert labagent("hardware", "add", "A/B", "--description", "a box", "--fact", "cores=8") == 0
    assert server.hardware == [{"name": "A/B", "description": "a box", "facts": {"cores": "8"}}]
    capsys.readouterr()
    assert labagent("hardware", "list") == 0
    assert capsys.readouterr().out == "A/B  a box\n"


def test_a_refused_name_is_named(labagent, server, capsys):
    server.script = [error(422, "cannot be stored", name="is no name of a machine")]
    assert labagent("hardware", "add", "A//B") == 4
    assert "name: is no name of a machine" in capsys.readouterr().err


def test_a_fact_needs_a_name_and_a_value(labagent):
    assert labagent("hardware", "add", "A/B", "--fact", "cores") == 3


# doctor


def test_the_doctor_finds_everything_right(labagent, capsys):
    assert labagent("doctor") == 0
    out = capsys.readouterr().out
    assert "ok    server: https://driftline.test answers" in out
    assert "ok    token: agent agent-1 of lab lab" in out
    assert "ok    clock: 5.0 s ahead of the server" in out
    assert "ok    spool: 0 runs wait" in out


def test_the_doctor_names_a_bad_token(labagent, capsys):
    assert labagent("doctor", "--token", "bad") == 1
    out = capsys.readouterr().out
    assert "FAIL  token: No good token was sent." in out
    assert "create_agent" in out


def test_the_doctor_names_a_token_for_which_a_proxy_refuses_everything(labagent, server, capsys):
    server.script = [(401, {})]
    assert labagent("doctor") == 1
    out = capsys.readouterr().out
    assert "FAIL  token: " in out
    assert "create_agent" in out
    assert "is this its URL" not in out


def test_the_doctor_names_a_missing_token(labagent, environ, capsys):
    del environ["DRIFTLINE_TOKEN"]
    assert labagent("doctor") == 1
    assert "FAIL  token: no token given" in capsys.readouterr().out


def test_the_doctor_names_a_server_that_is_down(labagent, server, capsys):
    server.script = [httpx2.ConnectError("refused")]
    assert labagent("doctor") == 1
    assert "FAIL  server: cannot reach https://driftline.test: refused" in capsys.readouterr().out


def test_the_doctor_needs_a_server(labagent, environ, capsys):
    del environ["DRIFTLINE_SERVER"]
    assert labagent("doctor") == 1
    assert "DRIFTLINE_SERVER" in capsys.readouterr().out


@pytest.mark.parametrize(("minutes", "code"), [(-2, 1), (2, 1), (0, 0)])
def test_the_doctor_compares_the_clocks(labagent, world, capsys, minutes, code):
    world.now = lambda: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    assert labagent("doctor") == code
    assert ("FAIL  clock" in capsys.readouterr().out) == bool(code)


def test_the_doctor_prints_what_waits(labagent, server, archive, capsys):
    server.judge, server.refusal = lambda _run: ("tree", "no"), 500
    assert labagent("upload", archive) == 5
    capsys.readouterr()
    assert labagent("doctor") == 0
    assert "2 runs wait, 0 rejected" in capsys.readouterr().out


def test_runs_refused_for_one_reason_are_one_line(labagent, server, tmp_path, capsys):
    label = label_dir(tmp_path / "archive", "fbsd11-head.2015")
    for number in range(300_000, 300_020):
        values_file(label / f"{number}.pf.pps", [number, number + 1, number + 2])
    server.judge = lambda _run: ("hardware", "not known")
    assert labagent("upload", tmp_path / "archive") == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("rejected")]
    assert len(lines) == 1
    assert lines[0].startswith("rejected 20: hardware: not known (")
    assert lines[0].endswith(", … 17 more: -v)")
    assert labagent("upload", "-v", tmp_path / "archive") == 1
    err = capsys.readouterr().err
    assert all(f" r{number} pf" in err for number in range(300_000, 300_020))


def test_all_that_was_skipped_is_named_where_that_is_asked_for(labagent, tmp_path, capsys):
    label = label_dir(tmp_path / "archive", "fbsd12-head.r317849")
    for number in range(5):
        bench(label, f"ipf{number}", [0.0], cfg=f"ipf{number}")
    assert labagent("parse", tmp_path) == 0
    assert "ipf4" not in capsys.readouterr().err
    assert labagent("parse", tmp_path, "-v") == 0
    assert [line[-4:] for line in capsys.readouterr().err.splitlines()[1:]] == [
        f"ipf{number}" for number in range(5)
    ]


WHENCE = ("--tree", "linux", "--revision", "6.12.3", "--hardware", "Atom/T540")
IPERF3 = {
    "start": {},
    "intervals": [],
    "end": {"sum_received": {"bits_per_second": 9e9}, "sum_sent": {"retransmits": 3}},
}


def test_files_of_results_are_sent_once(labagent, server, tmp_path, capsys):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(IPERF3))
    for known in (0, 1):
        assert labagent("upload", file, *WHENCE) == 0
        assert f"known {known}, rejected 0" in capsys.readouterr().out
    (run,) = server.runs.values()
    assert run["mode"]["workload"] == "iperf3"
    assert {name: one["samples"] for name, one in run["metrics"].items()} == {
        "throughput": [9e9],
        "retransmits": [3.0],
    }
    assert (run["tree"], run["revision"], run["hardware"]) == ("linux", "6.12.3", "Atom/T540")


def test_a_file_needs_what_a_directory_states_itself(labagent, tmp_path, capsys):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(IPERF3))
    assert labagent("parse", file, "--tree", "linux") == 3
    assert "pass --revision, --hardware" in capsys.readouterr().err


def test_a_file_in_no_format_is_left_out_and_named(labagent, tmp_path, capsys):
    file = tmp_path / "results.csv"
    file.write_text("pf,fast\n")
    assert labagent("upload", file, *WHENCE) == 1
    assert "results.csv: no format that is known" in capsys.readouterr().err
    assert labagent("parse", tmp_path) == 1
    assert "bench.*.receiver" in capsys.readouterr().err


def test_the_one_line_of_a_file_of_numbers_that_is_none_is_named(labagent, tmp_path, capsys):
    file = tmp_path / "pf.txt"
    file.write_text("1\n2\n\n1,234\n3\n")
    assert labagent("upload", file, *WHENCE, "--mode", "pf") == 1
    assert "pf.txt line 4 is no number, and most lines are" in capsys.readouterr().err
    file.write_text("date\npf\n1\n")
    assert labagent("upload", file, *WHENCE, "--mode", "pf") == 1
    assert "pf.txt: no format that is known" in capsys.readouterr().err


def test_bare_numbers_need_a_mode_and_a_direction_that_is_remembered_as_their_unit_is(
    labagent, server, tmp_path, capsys
):
    file = tmp_path / "pf.txt"
    file.write_text("1\n2\n3\n")
    assert labagent("upload", file, *WHENCE) == 1
    assert "name what they measure by --mode" in capsys.readouterr().err
    named = (*WHENCE, "--mode", "pf@inet4")
    assert labagent("upload", file, *named) == 0
    assert "pass --better METRIC=more" in capsys.readouterr().err
    assert labagent("upload", file, *named, "--better", "value=up") == 3
    assert labagent("upload", file, *named, "--better", "value=less") == 0
    file.write_text("4\n")
    assert labagent("upload", file, *named) == 0
    file.write_text("5\n")
    assert labagent("upload", file, *named, "--better", "value=more", "--unit", "value=bit/s") == 0
    file.write_text("6\n")
    assert labagent("upload", file, *named) == 0
    metrics = [run["metrics"]["value"] for run in server.runs.values()]
    assert [(one["better"], one["unit"], one["samples"]) for one in metrics] == [
        ("less", "1", [1.0, 2.0, 3.0]),
        ("less", "1", [4.0]),
        ("more", "bit/s", [5.0]),
        ("more", "bit/s", [6.0]),
    ]


def test_on_a_terminal_an_upload_shows_its_progress(archive, tmp_path):
    main, terminal = pty.openpty()
    with listening(FakeServer(delay=0.2)) as address:
        process = subprocess.Popen(
            [sys.executable, "-m", "labagent", "upload", str(archive)],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
                "TERM": "xterm",
                "DRIFTLINE_SERVER": address,
                "DRIFTLINE_TOKEN": TOKEN,
                "DRIFTLINE_SPOOL": str(tmp_path / "spool"),
                "DRIFTLINE_CONFIG": str(tmp_path / "none.toml"),
            },
            stdout=terminal,
            stderr=subprocess.DEVNULL,
        )
        os.close(terminal)
        shown = read_terminal(main)
        assert process.wait(10) == 0
    assert "sending" in shown
    assert "0/2" in shown
    assert "stored 2, known 0" in shown


def read_terminal(main: int) -> str:
    """All that a program wrote to its terminal until it closed it."""
    shown = b""
    with contextlib.suppress(OSError):  # Linux reports the end as an error
        while data := os.read(main, 4096):
            shown += data
    os.close(main)
    return shown.decode()


# what no server takes


@pytest.fixture
def beyond(tmp_path):
    """Two runs; the samples of the second are smaller than what any server takes."""
    label = label_dir(tmp_path / "archive", "fbsd12-head.r317849")
    bench(label / "RAW", "pf", cfg="pf")
    values_file(label / "ipfw.pps", [1e-20] * 5)
    return tmp_path / "archive"


def test_a_run_out_of_limits_is_kept_aside_and_named_and_the_others_are_sent(
    labagent, server, beyond, environ, capsys
):
    assert labagent("upload", beyond) == 1
    out, err = capsys.readouterr()
    assert out.startswith("stored 1, known 0, rejected 1")
    assert "metrics.pps.samples[0]: 1e-20 is not 0 or from 1e-15 to 1e+15" in err
    assert "ipfw" in err
    assert [run["mode"]["workload"] for run in server.runs.values()] == ["pf"]
    (kept,) = Path(environ["DRIFTLINE_SPOOL"]).glob("*/rejected/*.json")
    assert json.loads(kept.read_text())["run"]["mode"]["workload"] == "ipfw"
    assert not list(Path(environ["DRIFTLINE_SPOOL"]).glob("*/pending/*"))


@pytest.mark.parametrize("command", [("parse",), ("upload", "--dry-run")])
def test_a_run_out_of_limits_is_named_before_it_is_sent(labagent, beyond, capsys, command):
    assert labagent(*command, beyond) == 0
    assert "out of limits 1: metrics.pps.samples[0]" in capsys.readouterr().err


# Whose word counts, and what waits


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--position", "7"], "--position goes with --revision"),
        (["--revision", "r1", "--trust", "kernel"], "leave one of them out"),
        (["--revision", "r 1"], "no name that the server takes"),
        (["--position", "-1"], "--position"),
        (["--trust", "me"], "--trust"),
    ],
)
def test_options_that_do_not_go_together_are_refused(labagent, archive, capsys, options, message):
    assert labagent("parse", archive, *options) != 0
    assert message in capsys.readouterr().err


def test_a_given_revision_is_sent_with_its_place(labagent, archive, capsys):
    assert labagent("parse", archive, "--json", "--revision", "x1", "--position", "7") == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(one["revision"], one["position"]) for one in documents} == {("x1", 7)}


def test_an_upload_prints_what_waits_and_where_to_look(labagent, archive, server, capsys):
    server.status = "waiting"
    assert labagent("upload", archive) == 0
    out, err = capsys.readouterr()
    assert out.startswith("stored 0, known 0, waiting 2, rejected 0")
    assert "waiting 2: kernel and label (or image) name two commits; decide at" in err
    assert "/runs/waiting/" in err


def test_an_upload_ends_with_the_page_of_its_machine(labagent, archive, server, capsys):
    assert labagent("upload", archive) == 0
    assert "/hardware/Atom_C2558_4Cores/Intel_i350/" in capsys.readouterr().err


def test_history_ends_with_the_changes_it_shows(labagent, archive, server, capsys):
    assert labagent("upload", archive, "--history") == 0
    assert "/alerts/?state=history" in capsys.readouterr().err


def test_all_formats_are_listed_with_what_their_units_are_known_from(labagent, capsys):
    assert labagent("formats") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(FORMATS)
    assert next(line for line in lines if line.startswith("fio ")).endswith("fio(1), JSON+ output")
