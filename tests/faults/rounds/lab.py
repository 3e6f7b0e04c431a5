"""A machine whose answers follow from the revision alone: `python lab.py URL TOKEN DIR [HARDWARE]`.

What `labagent work` sends holds the hour and the number of the job, so that no two rounds could
have the same digest. Otherwise this does what it does: it polls, measures, sends the result until
the server has it, and goes on after a kill. Which boot of a revision a job is, is on disk.
"""

import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException
from pathlib import Path
from typing import Any

TREE, HARDWARE, WORKLOAD = "faults-next", "hunt/nic", "pf"
OTHER = "second/nic"
"""The machine that helps the first one where a bisect has two."""

SALTS = {HARDWARE: 0, OTHER: 4}
"""What makes two machines scatter apart."""
FIRST, COUNT, GUILTY = 1000, 16, 9
LEVEL, STEP = 1_000_000.0, 0.97
DRIFT = 0.999
"""What each boot that the lab measured makes of the next ones: a machine that gets slower."""
NAMESPACE = uuid.UUID("6f0f5c8e-3f0b-5d0e-9a57-000000000000")
MEASURING_SECONDS = 0.3


def samples(
    revision: str, boot: int, count: int, *, measured: int = 0, hardware: str = HARDWARE
) -> list[float]:
    """Around the level of the revision, 0.2 % from side to side, after so many boots."""
    number = int(revision[1:])
    salted = number * 7 + boot * 5 + SALTS[hardware]
    level = LEVEL * (STEP if number >= FIRST + GUILTY else 1.0) * DRIFT**measured
    return [level * (1 + 0.0004 * ((salted + i * 5) % 11 - 5)) for i in range(count)]


def document(
    revision: str,
    boot: int,
    *,
    boots: int,
    iterations: int = 1,
    measured: int = 0,
    hardware: str = HARDWARE,
) -> dict[str, Any]:
    """A run of `boots` boots, of which the first is the revision's `boot`-th."""
    count = boots * iterations
    values = samples(revision, boot, count, measured=measured, hardware=hardware)
    where = "" if hardware == HARDWARE else f" on {hardware}"
    pps = {"unit": "packets/s", "better": "more", "samples": values}
    return {
        "uuid": str(uuid.uuid5(NAMESPACE, f"{revision} {boot}{where}")),
        "tree": TREE,
        "revision": revision,
        "hardware": hardware,
        "mode": {"workload": WORKLOAD, "traffic": None, "options": []},
        "metrics": {"pps": {**pps, "boots": [i // iterations for i in range(count)]}},
        "build_id": f"build of {revision}",
        "kernel_ident": f"FreeBSD 12.0-CURRENT {revision}",
        "measured_at": "2016-08-02T10:00:00+00:00",
        "facts": {},
        "sources": [],
        "warnings": [],
    }


def ask(server: str, token: str, path: str, body: object, *, seconds: float = 30) -> dict[str, Any]:
    """What the server answers; raises `OSError` and `HTTPException` when it does not in time."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(server + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=seconds) as response:
        found: dict[str, Any] = json.load(response)
        return found


def boots_before(directory: Path, job: dict[str, Any]) -> tuple[int, int]:
    """How many boots of the revision, and of all, earlier jobs measured; the same after a kill."""
    path = directory / "measured.json"
    known = json.loads(path.read_text()) if path.exists() else []
    mine = [entry for entry in known if entry["job"] == job["id"]]
    if not mine:
        boot = 5 + sum(one["boots"] for one in known if one["revision"] == job["revision"])
        entry = {"job": job["id"], "revision": job["revision"], "boots": job["boots"]}
        mine = [{**entry, "at": boot, "measured": sum(one["boots"] for one in known)}]
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(known + mine))
        draft.replace(path)
    return int(mine[0]["at"]), int(mine[0]["measured"])


def work(server: str, token: str, directory: Path, hardware: str) -> None:
    """One poll, and the job that it brought."""
    asking = {"serves": [{"hardware": hardware}], "worker": f"rig at {hardware}", "wait": 2}
    job = ask(server, token, "api/v1/jobs/poll", asking).get("job")
    if not job:
        return
    boot, measured = boots_before(directory, job)
    time.sleep(MEASURING_SECONDS)
    size = {"boots": job["boots"], "iterations": job["iterations"]}
    run = document(job["revision"], boot, measured=measured, hardware=hardware, **size)
    ask(server, token, f"api/v1/jobs/{job['id']}/result", {"lease": job["lease"], "run": run})


def main() -> None:
    server, token, directory = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    hardware = sys.argv[4] if len(sys.argv) > 4 else HARDWARE
    while True:
        try:
            work(server, token, directory, hardware)
        except urllib.error.HTTPError as error:
            print(error.code, error.read()[:500], flush=True)
            time.sleep(0.5)
        except (OSError, HTTPException, ValueError) as error:
            print(error, flush=True)
            time.sleep(0.5)


if __name__ == "__main__":
    main()
