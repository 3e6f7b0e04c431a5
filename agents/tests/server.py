"""A small Driftline to upload to: in the process as a transport, or behind a real socket."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

from agents.tests.board import Board

TOKEN = "secret-token"
Answer = tuple[int, dict[str, Any]]


def error(status: int, message: str = "no", remedy: str = "", **details: str) -> Answer:
    """An answer in the shape of the API's errors; `details` are given as path=message."""
    listed = [{"path": path, "message": text} for path, text in details.items()]
    body = {"code": "x", "message": message, "remedy": remedy, "details": listed}
    return status, {"error": body}


@dataclass
class FakeServer:
    """Stores runs by UUID. `script` holds answers to give first; `judge` may object to a run."""

    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: Board = field(default_factory=Board)
    profiles: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    experiments: dict[str, dict[str, Any]] = field(default_factory=dict)
    has_experiments: bool = True
    hardware: list[dict[str, Any]] = field(default_factory=list)
    script: list[Answer | Exception] = field(default_factory=list)
    judge: Callable[[dict[str, Any]], tuple[str, str] | None] = lambda _run: None
    refusal: int = 422
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    time: str = "2024-01-01T00:00:00+00:00"
    delay: float = 0.0
    most: int = 500
    status: str = "stored"
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, url: str, headers: dict[str, str], content: bytes) -> Answer:
        target = httpx2.URL(url)
        with self.lock:
            self.requests.append((method, target.path, dict(target.params)))
            if self.script:
                scripted = self.script.pop(0)
                if isinstance(scripted, Exception):
                    raise scripted
                return scripted
            if target.path == "/healthz":
                return 200, {"status": "ok"}
            if target.path == "/api/v1/hardware" and method == "GET":
                return 200, {"hardware": self.hardware}
            if headers.get("authorization") != f"Bearer {TOKEN}":
                return error(401, "No good token was sent.")
            if target.path == "/api/v1/whoami":
                return 200, {"agent": "agent-1", "lab": "lab", "time": self.time}
            body = json.loads(gzip.decompress(content)) if content else {}
            return self.take(method, target.path, body)

    def take(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        if path.startswith("/api/v1/jobs"):
            return self.jobs.answer(method, path, body)
        if path.endswith("/profiles"):
            return self.store_profile(path.split("/")[-2], body)
        if path == "/api/v1/experiments":
            return self.store_experiment(body)
        if path == "/api/v1/hardware":
            self.hardware.append(body)
            return 201, body
        return self.store_runs(body["runs"])

    def store_runs(self, runs: list[dict[str, Any]]) -> Answer:
        if len(runs) > self.most:
            return error(413, "the body is too large")
        problems = {}
        for index, run in enumerate(runs):
            if found := self.judge(run):
                problems[f"runs[{index}].{found[0]}"] = found[1]
        if problems:
            return error(self.refusal, "cannot be stored", "mend it", **problems)
        status = {run["uuid"]: "known" if run["uuid"] in self.runs else self.status for run in runs}
        self.runs.update({run["uuid"]: run for run in runs})
        count = list(status.values()).count
        listed = [{"uuid": uuid, "status": found} for uuid, found in status.items()]
        return 201, {"stored": count("stored"), "known": count("known"), "runs": listed}

    def store_profile(self, run: str, body: dict[str, Any]) -> Answer:
        if run not in self.runs and run not in {one["uuid"] for _, one in self.jobs.results}:
            return error(404, "no such run", "upload the run first")
        if found := self.judge(body):
            return error(self.refusal, "cannot be stored", "mend it", **{found[0]: found[1]})
        known = self.profiles.setdefault(run, [])
        if body in known:
            return 200, {"status": "known"}
        known.append(body)
        return 201, {"status": "stored"}

    def store_experiment(self, body: dict[str, Any]) -> Answer:
        if not self.has_experiments:
            return error(404, "Not Found")
        if not set(body["runs"]) <= self.runs.keys():
            return error(422, "cannot be stored", runs="no two sides")
        number = (
            list(self.experiments).index(body["source"]) + 1
            if (body["source"] in self.experiments)
            else len(self.experiments) + 1
        )
        self.experiments.setdefault(body["source"], body)
        source = body["source"]
        beside = [
            {"source": one, "url": "", "both": None}
            for one in self.experiments
            if one != source and (one.startswith(source) or source.startswith(one))
        ]
        url = f"/experiments/{number}/"
        return 201, {"number": number, "url": url, "source": source, "beside": beside}

    def posts(self) -> int:
        return sum(request[:2] == ("POST", "/api/v1/runs") for request in self.requests)

    @property
    def transport(self) -> httpx2.MockTransport:
        def handle(request: httpx2.Request) -> httpx2.Response:
            headers = {name.lower(): value for name, value in request.headers.items()}
            answer = self.answer(request.method, str(request.url), headers, request.content)
            extra = answer[1].pop("headers", {})
            return httpx2.Response(answer[0], json=answer[1], headers=extra)

        return httpx2.MockTransport(handle)


@contextmanager
def listening(fake: FakeServer) -> Iterator[str]:
    """`fake` behind a real socket; yields its address. Answers wait `fake.delay` seconds, after
    what was sent has been stored."""

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, body = fake.answer(self.command, self.path, headers, content)
            time.sleep(fake.delay)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do  # noqa: N815 (names of http.server)

        def log_message(self, *_arguments: Any) -> None:
            """Log nothing."""

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
