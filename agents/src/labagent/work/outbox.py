"""What the server is still to be told about jobs, on disk until it has answered for it.

<state>/outbox/<job>.json    a result with its profiles, or a failure
<state>/refused/<job>-….json what the server did not take, and why
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from labagent.disk import write_durably
from labagent.errors import SettingsError

Kind = Literal["result", "fail", "profiles"]


@dataclass(frozen=True)
class Report:
    """One thing to tell: `body` is the run, or stage, reason and log of the failure. `profiles` are
    documents of the run; of kind `profiles`, the run has arrived and they are still to be sent."""

    kind: Kind
    job: int
    lease: str
    body: dict[str, Any]
    profiles: list[dict[str, Any]] = field(default_factory=list)


class Outbox:
    """The reports of one worker."""

    def __init__(self, state: Path) -> None:
        self.directory = state / "outbox"
        self._refused = state / "refused"

    def put(self, report: Report) -> None:
        """Keep a report; it takes the place of what is still to be told about that job."""
        write_durably(self._path(report.job), json.dumps(asdict(report), allow_nan=False).encode())

    def pending(self) -> list[Report]:
        """The reports that did not arrive yet, by job."""
        if not self.directory.is_dir():
            return []
        return [_read(path) for path in sorted(self.directory.glob("*.json"))]

    def contains(self, job: int) -> bool:
        """Whether a report about the job waits."""
        return self._path(job).exists()

    def done(self, report: Report) -> None:
        """Forget a report that has arrived."""
        self._path(report.job).unlink(missing_ok=True)

    def refuse(self, report: Report, reason: str) -> Path:
        """Set a report aside, with the reason; where it lies then."""
        number = len(list(self._refused.glob(f"{report.job}-*.json"))) + 1
        path = self._refused / f"{report.job}-{number}.json"
        write_durably(path, json.dumps({"reason": reason, **asdict(report)}, indent=1).encode())
        self.done(report)
        return path

    def _path(self, job: int) -> Path:
        return self.directory / f"{job}.json"


def failure(stage: str, reason: str, log: str) -> Mapping[str, str]:
    """The body of a failure; the server takes one line of reason."""
    return {"stage": stage, "reason": " ".join(reason.split())[:500], "log": log}


def _read(path: Path) -> Report:
    try:
        return Report(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise SettingsError(f"cannot read {path}: {error}", "remove it") from error
