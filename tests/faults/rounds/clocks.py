"""The clock of the instance is wrong for a while, by libfaketime."""

import random
import re
import time
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from tests.faults.rounds.fault import Broken, Fault, Skipped
from tests.faults.rounds.rig import Rig
from tests.faults.rounds.workload import Work

LIBRARIES = "*/faketime/libfaketimeMT.so.1"
# Until each program has shown its clock; beat and the workers note a sweep every two seconds.
SHOWN_SECONDS = 60
SLACK = timedelta(minutes=10)
MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z", re.MULTILINE)
LOGGING = ("worker", "deliveries", "beat")


def clock(days: int) -> Fault:
    """The clock is so many days off, which every program must have seen; then it is right again."""

    def fault(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
        wrong = _restarted(rig, days, _variables(days))
        return Broken(wrong=wrong or _restarted(rig, 0, dict.fromkeys(_variables(0), "")))

    return fault


def _variables(days: int) -> dict[str, str]:
    library = next(Path("/usr/lib").glob(LIBRARIES), None)
    if library is None:
        raise Skipped("needs libfaketime (Debian: apt install faketime)")
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"{days:+d}d",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "PYTHONPATH": str(Path(__file__).parent / "false_clock"),
    }


def _restarted(rig: Rig, days: int, variables: Mapping[str, str]) -> str:
    """Start all again with `variables`; which clocks are not `days` off, or nothing."""
    rig.launch.interrupt()
    rig.restart(**variables)
    end = time.monotonic() + SHOWN_SECONDS
    while (wrong := _not_off(rig, timedelta(days=days))) and time.monotonic() < end:
        time.sleep(1)
    return wrong


def _not_off(rig: Rig, offset: timedelta) -> str:
    now = datetime.now(UTC)
    offsets = {name: moment - now for name, moment in _shown(rig).items()}
    return ", ".join(
        f"the clock of {name} was {found} off instead of {offset}"
        for name, found in offsets.items()
        if abs(found - offset) > SLACK
    )


def _shown(rig: Rig) -> dict[str, datetime]:
    """What the clock of each program shows."""
    with urllib.request.urlopen(rig.launch.url + "healthz", timeout=10) as response:
        web = parsedate_to_datetime(response.headers["Date"])
    logs = {name: rig.launch.state / "logs" / f"{name}.log" for name in LOGGING}
    return {
        "PostgreSQL": rig.system.rows("SELECT now()")[0][0],
        "the web server": web,
        **{name: _last_moment(path) for name, path in logs.items()},
    }


def _last_moment(log: Path) -> datetime:
    found = MOMENT.findall(log.read_text(errors="replace"))
    return datetime.fromisoformat(found[-1]) if found else datetime.min.replace(tzinfo=UTC)
