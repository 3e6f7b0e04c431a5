"""A run as an agent sends it, after its types and ranges were checked at the boundary."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from webapp.results.identity import Evidence
from webapp.results.modes import ModeName


@dataclass(frozen=True, slots=True)
class MetricDocument:
    """The samples of one metric. ``boots`` has one index a sample, or is None when unknown."""

    name: str
    unit: str
    better: str
    samples: list[float]
    boots: list[int] | None


@dataclass(frozen=True, slots=True)
class RunDocument:
    """One run. ``position`` helps where the revision's id tells no order. ``as_sent`` is the run as
    it came, where ``evidence`` has it filed elsewhere.
    """

    uuid: UUID
    tree: str
    revision: str
    hardware: str
    mode: ModeName
    metrics: list[MetricDocument]
    build_id: str
    kernel_ident: str
    measured_at: datetime | None
    position: int | None
    facts: dict[str, Any]
    sources: list[dict[str, Any]]
    warnings: list[str]
    evidence: Evidence | None = None
    as_sent: "RunDocument | None" = None

    @property
    def former_mode(self) -> str:
        """The mode as agents before this one named it; empty: the same."""
        former = self.evidence.former_mode if self.evidence else ""
        return former if former != str(self.mode) else ""

    def digest(self) -> str:
        """SHA-256 of what makes two documents of one UUID the same run.

        Facts, sources and warnings describe and may be put better by a later agent, or name
        another path after the directory moved; they do not count. Nor does evidence, which says
        where the run belongs: a run that is filed elsewhere later is the same run. One whose mode
        has another name by now counts under the former one.
        """
        if self.as_sent is not None:
            return self.as_sent.digest()
        content = {
            "tree": self.tree,
            "revision": self.revision,
            "hardware": self.hardware,
            "mode": self.former_mode or str(self.mode),
            "metrics": sorted(
                [one.name, one.unit, one.better, one.samples, one.boots] for one in self.metrics
            ),
            "build_id": self.build_id,
            "kernel_ident": self.kernel_ident,
            "measured_at": self.measured_at and self.measured_at.timestamp(),
            "position": self.position,
        }
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a batch: the new, the replaced and the known runs, by UUID.

    ``waiting``: those, new or known, that take no part until somebody decides where they belong.
    ``refiled``: known runs that new evidence moved. ``warnings``: of runs that were taken, and not
    quite as they were sent.
    """

    stored: tuple[UUID, ...]
    replaced: tuple[UUID, ...]
    known: tuple[UUID, ...]
    waiting: frozenset[UUID] = frozenset()
    refiled: frozenset[UUID] = frozenset()
    warnings: Mapping[UUID, list[str]] = field(default_factory=dict)
