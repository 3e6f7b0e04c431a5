"""What tests of the cost of an option do again and again: runs with and without it, and a look."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.documents import run_document
from tests.results.steps import mode
from webapp.results.models import CostSamples, Point, Series

OPTION = "VIMAGE"
LEVEL = 1_000_000.0


def pair(
    revision: int,
    ratio: float = 0.98,
    *,
    seed: int = 3,
    day: float = 0.01,
    hardware: str = "bench/nic",
    **both: Any,
) -> list[dict[str, Any]]:
    """A run without the option and one with it, ``ratio`` times as fast, of one
    session; a ``day`` scatters by that, and both sides share it.
    """
    noise = np.random.default_rng([seed, revision])
    shared = LEVEL * float(np.exp(noise.normal(0, day)))
    return [
        run_document(
            revision=f"r{revision}",
            hardware=hardware,
            mode=mode("forwarding", *options),
            samples=(level * np.exp(noise.normal(0, 0.003, 5))).tolist(),
            build_id=f"{revision} {options}",
            **_session(f"session {revision}"),
            **both,
        )
        for options, level in (((), shared), ((OPTION,), shared * ratio))
    ]


def _session(name: str) -> dict[str, Any]:
    return {"evidence": {"session": name}}


def pairs(
    count: int, *, first: int = 300_001, steps: Mapping[int, float] | None = None, **both: Any
) -> list[dict[str, Any]]:
    """Pairs of that many revisions; ``steps``: index of a revision → ratio from there on."""
    found: list[dict[str, Any]] = []
    ratio = 0.988
    for at in range(count):
        ratio = (steps or {}).get(at, ratio)
        found += pair(first + at, ratio, **both)
    return found


def cost_series(**about: Any) -> Series:
    return Series.objects.named().get(metric__of__isnull=False, **about)


def costs() -> dict[str, float]:
    """Revision → median of the cost's point, in percent of the speed without."""
    rows = Point.objects.filter(series__metric__of__isnull=False).select_related("revision")
    return {row.revision.name: round(row.median, 2) for row in rows.order_by("position")}


def stored() -> Sequence[tuple[str, str, int]]:
    """Revision, mode and number of samples of each row."""
    rows = CostSamples.objects.order_by("revision__position", "run__mode__name")
    return [
        (row.revision.name, row.run.mode.name, len(row.samples))
        for row in rows.select_related("revision", "run__mode")
    ]
