"""Run documents as an agent sends them."""

from typing import Any
from uuid import uuid4

SAMPLES = [635734.0, 625167.0, 629014.0, 636936.5, 641688.0]


def run_document(**changes: Any) -> dict[str, Any]:
    """A good run document; ``samples`` sets those of pps, other keywords set fields."""
    samples = changes.pop("samples", SAMPLES)
    document: dict[str, Any] = {
        "uuid": str(uuid4()),
        "tree": "freebsd-head",
        "revision": "r303643",
        "hardware": "bench/nic",
        "mode": {"workload": "forwarding", "traffic": None, "options": []},
        "metrics": {
            "pps": {
                "unit": "packets/s",
                "better": "more",
                "samples": list(samples),
                "boots": list(range(len(samples))),
            }
        },
        "build_id": "r303643 #0",
        "kernel_ident": "FreeBSD 12.0-CURRENT #0 r303643",
        "measured_at": "2016-08-02T10:00:00+00:00",
        "facts": {"image": "303643"},
        "sources": [{"path": "303643.forwarding.pps", "sha256": "0" * 64}],
        "warnings": [],
    }
    return document | changes
