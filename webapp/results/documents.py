"""A run as an agent sends it, after its types and ranges were checked at the boundary, and why an
upload or an operator's change is refused.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from webapp.results.fact_names import ChangedFact
from webapp.results.identity import Evidence
from webapp.results.spellings import ModeName, VariantPart
from webapp.results.validity import Mark
from webapp.stats.histograms import Histograms


@dataclass(frozen=True, slots=True)
class MetricDocument:
    """The samples of one metric. ``boots`` has one index a sample, or is None when unknown;
    ``marks`` say what may be wrong with some of them.
    """

    name: str
    unit: str
    better: str
    samples: list[float]
    boots: list[int] | None
    marks: Sequence[Mark] = ()


@dataclass(frozen=True, slots=True)
class RunDocument:
    """One run. ``position`` helps where the revision's id has no order. ``variant`` are the parts
    of the kernel's variant in their order; none: the plain kernel. ``as_sent`` is the run as it
    came, where ``evidence`` or a rule about parts of labels has it filed elsewhere; ``former`` is
    then where its former mode is filed. ``metrics`` has the quantiles of ``histograms`` too.
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
    variant: tuple[VariantPart, ...] = ()
    as_sent: "RunDocument | None" = None
    former: str = ""
    histograms: Sequence[Histograms] = ()

    @property
    def former_mode(self) -> str:
        """The mode as agents before this one named it; empty: the same."""
        former = self.evidence.former_mode if self.evidence else ""
        return former if former != str(self.mode) else ""

    @property
    def former_names(self) -> frozenset[str]:
        """The modes under which a run of an agent before this one is stored: also the mode as it is
        sent, where only the evidence that comes with it names its variant.
        """
        sent = str(self.as_sent.mode) if self.as_sent else ""
        return frozenset({self.former_mode, self.former, sent} - {"", str(self.mode)})

    @property
    def variant_name(self) -> str:
        """The name of its variant; empty: the plain kernel."""
        return "+".join(map(str, self.variant))

    @property
    def remarks(self) -> list[str]:
        """Which quantiles its histograms have too few values for."""
        return [text for one in self.histograms for text in one.remarks()]

    @property
    def image(self) -> str:
        """The name of the image, as far as the agent named it."""
        named = self.evidence.image if self.evidence else ""
        return named or str(self.facts.get("image") or "")

    def digest(self) -> str:
        """SHA-256 of what makes two documents of one UUID the same run.

        Facts, sources and warnings describe and may be put better by a later agent, or name
        another path after the directory moved; they do not count. Nor does evidence, which states
        where the run belongs: a run that is filed elsewhere later is the same run. Nor do the marks
        of samples, which a later agent may find where this one did not look. One whose mode
        has another name by now counts under the former one.
        """
        if self.as_sent is not None:
            return self.as_sent.digest()
        content: dict[str, Any] = {
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
        if self.variant:
            content["variant"] = [str(part) for part in self.variant]
        if self.histograms:
            content["histograms"] = sorted(
                [one.name, one.packed.hex(), one.boots] for one in self.histograms
            )
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a batch: the new, the replaced and the known runs, by UUID.

    ``waiting``: those, new or known, that take no part until somebody decides where they belong.
    ``refiled``: known runs that new evidence moved. ``warnings``: of runs that were taken, and not
    quite as they were sent. ``changed_facts``: facts of machines that these runs found changed.
    """

    stored: tuple[UUID, ...]
    replaced: tuple[UUID, ...]
    known: tuple[UUID, ...]
    waiting: frozenset[UUID] = frozenset()
    refiled: frozenset[UUID] = frozenset()
    warnings: Mapping[UUID, list[str]] = field(default_factory=dict)
    changed_facts: tuple[ChangedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend: where it is in the document, and what to do about it."""

    path: str
    message: str


class ResultsError(Exception):
    """Base of what ``results`` refuses; ``problems`` lists every reason, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems))
        self.problems = tuple(problems)


class Unprocessable(ResultsError):
    """The document is well formed, and cannot be stored as it is."""


class Forbidden(ResultsError):
    """The document is about things of another lab.

    ``attempted``: the stored runs (ids) that it was to take the place of, for the record.
    """

    def __init__(self, problems: Sequence[Problem], *, attempted: Sequence[int] = ()) -> None:
        super().__init__(problems)
        self.attempted = tuple(attempted)


class Conflict(ResultsError):
    """A run of this UUID is stored with other content."""
