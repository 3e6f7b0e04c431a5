"""The jobs of the small Driftline in `server`: leases without a clock."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Answer = tuple[int, dict[str, Any]]

HARDWARE = "A/B"


def job(number: int = 1, revision: str = "r303643", **more: Any) -> dict[str, Any]:
    """A job as the server words it."""
    document = {
        "id": number,
        "tree": "freebsd-head",
        "revision": revision,
        "aliases": [],
        "hardware": HARDWARE,
        "mode": "forwarding@inet4",
        "workload": "forwarding",
        "traffic": "inet4",
        "options": [],
        "metric": None,
        "boots": 2,
        "iterations": 1,
        "rebuild": False,
        "build_key": "",
        "attempt": 1,
        "purpose": "bisect",
        "reason": "",
        "deadline": None,
    }
    return {**document, **more}


def refusal(status: int, code: str, message: str = "no", path: str = "") -> Answer:
    details = [{"path": path, "message": message}] if path else []
    return status, {"error": {"code": code, "message": message, "remedy": "", "details": details}}


@dataclass
class Board:
    """`idle` is called when there is no job to give; `judge` may answer a result in its own way."""

    queue: list[dict[str, Any]] = field(default_factory=list)
    leased: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    failures: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    beats: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    polls: list[dict[str, Any]] = field(default_factory=list)
    cancelled: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    states: dict[int, str] = field(default_factory=dict)
    lease_seconds: float = 0.6
    idle: Callable[[], object] = lambda: None
    judge: Callable[[dict[str, Any]], Answer | None] = lambda _run: None

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        if path.endswith("/poll"):
            return self._poll(body)
        number, _, action = path.removeprefix("/api/v1/jobs/").partition("/")
        if method == "GET":
            return 200, {"id": int(number), "state": self.states.get(int(number), "leased")}
        return getattr(self, f"_{action}")(int(number), body)

    def _poll(self, body: dict[str, Any]) -> Answer:
        self.polls.append(body)
        worker = body["worker"]
        if worker not in self.leased and self.queue and not body["draining"]:
            self.leased[worker] = {**self.queue.pop(0), "lease": uuid.uuid4().hex}
        held = self.leased.get(worker)
        if held is None:
            self.idle()
            return 200, {"job": None}
        return 200, {"job": {**held, "lease_seconds": self.lease_seconds}}

    def _heartbeat(self, number: int, body: dict[str, Any]) -> Answer:
        self.beats.append((number, body))
        if number in self.lost:
            return refusal(409, "lease_lost", "another worker has this job")
        return 200, {"state": "leased", "cancel": number in self.cancelled, "reason": "not needed"}

    def _result(self, number: int, body: dict[str, Any]) -> Answer:
        if answer := self.judge(body["run"]):
            return answer
        known = any(run["uuid"] == body["run"]["uuid"] for _, run in self.results)
        if not known:
            self.results.append((number, body["run"]))
        self._end(number, "done")
        return (200 if known else 201), {"status": "known" if known else "stored"}

    def _fail(self, number: int, body: dict[str, Any]) -> Answer:
        self.failures.append((number, body))
        self._end(number, "failed")
        return 200, {"state": "failed"}

    def _end(self, number: int, state: str) -> None:
        self.states[number] = state
        self.leased = {who: held for who, held in self.leased.items() if held["id"] != number}
