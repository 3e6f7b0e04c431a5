"""Real benchmarks by `labagent run`: from nothing to points on a chart of a fresh instance."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from agents.tests import histories
from tests.launcher.running import PROJECT, free_port
from tests.system.running import System, wait_for

pytestmark = [pytest.mark.long, pytest.mark.stack]

PORT = free_port()
# Tool, options of `labagent run`, command, and a metric of the series that it has to make.
TOOLS: dict[str, tuple[list[str], list[str], str]] = {
    "iperf3": ([], ["-J", "-c", "127.0.0.1", "-p", str(PORT), "-t", "1"], "throughput"),
    "fio": (
        [],
        ["--name=randread", "--rw=randread", "--size=1m", "--output-format=json+"],
        "read_iops",
    ),
    "hackbench": (["--repeat", "3"], ["-g", "1", "-l", "20"], "time"),
    "cyclictest": (
        ["--read", "cyclictest.json"],
        ["--json=cyclictest.json", "-l", "50", "-q", "-i", "500"],
        "latency_max",
    ),
    "sysbench": ([], ["cpu", "--time=1", "run"], "rate"),
    "stress-ng": (
        ["--read", "stress.yaml"],
        ["--cpu", "1", "-t", "1", "--metrics", "--yaml", "stress.yaml"],
        "bogo_rate",
    ),
    "perf": ([], ["bench", "sched", "pipe", "-l", "100"], "time_per_op"),
    "hyperfine": (
        ["--read", "hyperfine.json"],
        ["--export-json", "hyperfine.json", "-r", "2", "true"],
        "time",
    ),
    "true": ([], [], "wall_time"),
}


class Agent:
    """`labagent` of a user who has logged in to ``system``, in a folder of its own."""

    def __init__(self, system: System, folder: Path) -> None:
        self.folder = folder
        self.environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PROJECT / "agents" / "src"),
            "DRIFTLINE_SPOOL": str(folder / "spool"),
            "DRIFTLINE_CONFIG": str(folder / "config.toml"),
        }
        self("login", system.launch.url, "--token", system.token)

    def __call__(self, *arguments: str) -> str:
        """What it prints; fails with what it complained about."""
        command = [sys.executable, "-m", "labagent", *arguments]
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def agent(system: System, tmp_path: Path) -> Agent:
    system.empty()
    return Agent(system, tmp_path)


@contextmanager
def iperf3_server() -> Iterator[None]:
    """A server for one client."""
    command = ["iperf3", "-s", "-1", "-p", str(PORT)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(_listens, 60)
        yield
    finally:
        process.terminate()
        process.wait()


def _listens() -> bool:
    """Whether somebody does; a connection would be taken for the client."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            return True
    return False


def fetched(system: System, path: str) -> Any:
    return json.loads(system.page(path))


def test_each_tool_ends_as_a_point_on_a_chart(system: System, agent: Agent) -> None:
    present = [tool for tool in TOOLS if shutil.which(tool)]
    for tool in present:
        options, arguments, _ = TOOLS[tool]
        with iperf3_server() if tool == "iperf3" else nullcontext():
            out = agent("run", *options, "--", tool, *arguments)
        assert "stored " in out
        assert "rejected 0" in out
    system.wait_until_analysed()
    series = fetched(system, "/api/v1/series")["series"]
    for tool in present:
        metric = TOOLS[tool][2]
        found = [one for one in series if _is_of(one, tool, metric)]
        assert found, f"{tool} made no series of {metric}"
        points = fetched(system, f"/api/v1/series/{found[0]['id']}/points")
        assert points["revision"] == [os.uname().release]
        assert points["mean"][0] >= 0
        parts = {part: found[0][part] for part in ("tree", "hardware", "mode", "metric")}
        figure = fetched(system, f"/trends/figure.json?{urlencode(parts)}")
        drawn = [one for one in figure["data"] if one.get("meta") == found[0]["id"]]
        assert any(len(one["y"]) == 1 for one in drawn), figure["data"]
    if missing := sorted(set(TOOLS) - set(present)):
        pytest.skip(f"{', '.join(present)} were run; not installed: {', '.join(missing)}")


def _is_of(one: dict[str, Any], tool: str, metric: str) -> bool:
    workload = "perf-bench" if tool == "perf" else tool
    return one["metric"] == metric and one["mode"].partition(".")[0] == workload


def test_three_commands_lead_from_nothing_to_a_chart(
    system: System, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the page of first steps prints them, in an environment with nothing but pip."""
    system.empty()
    page = system.page("/")
    wheel = re.findall(r"pip install (http\S+\.whl)", page)
    assert wheel
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    programs = tmp_path / "venv" / "bin"
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    environ |= {name: text for name, text in os.environ.items() if name.startswith("PIP_")}
    took = {}
    for command in (
        ["pip", "install", "--quiet", *wheel],
        ["labagent", "login", system.launch.url, "--token", system.token],
        ["labagent", "run", "--", "true"],
    ):
        start = time.monotonic()
        subprocess.run(command, check=True, cwd=tmp_path, env=environ, timeout=300)
        took[" ".join(command[:2])] = time.monotonic() - start
    start = time.monotonic()
    system.wait_until_analysed()
    took["analysed"] = time.monotonic() - start
    (series, *_) = fetched(system, "/api/v1/series")["series"]
    assert fetched(system, f"/api/v1/series/{series['id']}/points")["revision"]
    with capsys.disabled():
        print("; ".join(f"{name} {seconds:.1f} s" for name, seconds in took.items()))


@pytest.mark.parametrize("revisions", [20, pytest.param(200, marks=pytest.mark.release)])
def test_histories_of_other_trackers_move_in(
    system: System, agent: Agent, tmp_path: Path, revisions: int
) -> None:
    """Points in several batches each: rehearsed, sent, and sent again for nothing."""
    points = 50 * revisions
    for tracker, (_, options) in histories.TRACKERS.items():
        path = str(histories.write(tmp_path, tracker, points, revisions))
        command = ["upload", "--history", "--register", "--tree", tracker, *options, path]
        assert f"would send {points} runs" in agent(*command, "--dry-run")
        assert f"stored {points}, known 0, rejected 0" in agent(*command)
        assert f"stored 0, known {points}, rejected 0" in agent(*command)
        series = fetched(system, f"/api/v1/series?tree={tracker}")["series"]
        assert len(series) == 50
        assert (
            len(fetched(system, f"/api/v1/series/{series[0]['id']}/points")["revision"])
            == revisions
        )
