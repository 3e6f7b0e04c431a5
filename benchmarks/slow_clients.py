"""How fast pages answer under slow clients: ``python -m benchmarks.slow_clients``, JSON lines.

An instance of its own, on loopback only, meets one attack after the other: uploads with a good
token that drip, half heads, and readers that take a byte a second of pipelined downloads; who is
cut off comes again. Meanwhile pages and the health check are asked for, one after the other; a
page unanswered after ``--patience`` seconds counts as timed out.
"""

import argparse
import json
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from statistics import quantiles

from benchmarks._instance import Instance, running
from benchmarks._slow import HALF_A_HEAD, Kind, attacking, dripping_upload, slow_reader

UPLOADS, HEADS, READERS = 12, 440, 100
SECONDS, PATIENCE = 14.0, 10.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_clients")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each attack")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="with each page")
    options = parser.parse_args()
    with running() as instance:
        token = instance.manage("create_agent", "bench", "--lab", "benchmarks").split()[-1]
        attacks: dict[str, tuple[list[Kind], float]] = {
            "nobody else": ([], 1.0),
            f"{UPLOADS} dripping uploads": ([dripping_upload(token)] * UPLOADS, 2.0),
            f"{HEADS} half heads": ([HALF_A_HEAD] * HEADS, 1.0),
            f"{READERS} readers of 1 byte/s": ([slow_reader()] * READERS, 1.0),
        }
        for name, (kinds, every) in attacks.items():
            with attacking(instance.port, kinds, every=every) as cut_off:
                for path in ("/", "/healthz"):
                    _report(f"{path} with {name}", _ask(instance, path, options), cut_off)


def _ask(instance: Instance, path: str, options: argparse.Namespace) -> list[float | None]:
    """Milliseconds of each answer; None where none came."""
    end, took = time.monotonic() + options.seconds, list[float | None]()
    while time.monotonic() < end:
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", instance.port, timeout=options.patience)
        try:
            connection.request("GET", path)
            connection.getresponse().read()
            took.append((time.monotonic() - began) * 1000)
        except (OSError, HTTPException):
            took.append(None)
        finally:
            connection.close()
        time.sleep(0.1)
    return took


def _report(name: str, took: list[float | None], cut_off: Counter[str]) -> None:
    answered = [each for each in took if each is not None]
    cuts = quantiles(answered, n=20, method="inclusive") if len(answered) > 1 else []
    line = {
        "name": name,
        "value": len(took) - len(answered),
        "unit": "timed out",
        "n": len(took),
        "p50_ms": round(cuts[9], 1) if cuts else None,
        "p95_ms": round(cuts[18], 1) if cuts else None,
        "attackers_cut_off": dict(cut_off),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
