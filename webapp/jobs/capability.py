"""What a worker can measure, and whether a job is that.

Stated twice, because it is asked in two places: in SQL where a job is claimed, and here where a
waiting poll is woken or a queue is forecast. A test holds the two together.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

TAKES = """
EXISTS (SELECT FROM json_to_recordset(%(serves)s::json)
                 AS serves (hardware bigint, modes bigint[], trees bigint[], rebuilds boolean)
         WHERE serves.hardware = job.hardware_id
           AND (serves.modes IS NULL OR job.mode_id = ANY(serves.modes))
           AND (serves.trees IS NULL OR job.tree_id = ANY(serves.trees))
           AND (serves.rebuilds OR NOT job.rebuild))
"""


class Setup(Protocol):
    """Where something is measured: a series, a job, or anything that reads like one."""

    hardware_id: int
    mode_id: int
    tree_id: int


class Measurable(Setup, Protocol):
    """What of a job matters to a worker."""

    rebuild: bool


@dataclass(frozen=True, slots=True)
class Capability:
    """One hardware (by id), with the modes and trees it can do; None: any."""

    hardware: int
    modes: frozenset[int] | None
    trees: frozenset[int] | None
    rebuilds: bool

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Capability":
        """What ``as_document`` wrote."""
        modes, trees = document["modes"], document["trees"]
        return cls(
            hardware=document["hardware"],
            modes=None if modes is None else frozenset(modes),
            trees=None if trees is None else frozenset(trees),
            rebuilds=document["rebuilds"],
        )

    def as_document(self) -> dict[str, Any]:
        """What ``of`` reads, with ids in order: JSON."""
        return {
            "hardware": self.hardware,
            "modes": None if self.modes is None else sorted(self.modes),
            "trees": None if self.trees is None else sorted(self.trees),
            "rebuilds": self.rebuilds,
        }

    def covers(self, setup: Setup) -> bool:
        """Whether it can measure there at all."""
        return (
            setup.hardware_id == self.hardware
            and (self.modes is None or setup.mode_id in self.modes)
            and (self.trees is None or setup.tree_id in self.trees)
        )

    def takes(self, job: Measurable) -> bool:
        """Whether it can do the job. ``TAKES`` is the same in SQL; a test holds them together."""
        return self.covers(job) and (self.rebuilds or not job.rebuild)


def takes(capabilities: Iterable[Capability], job: Measurable) -> bool:
    """Whether a worker that can do ``capabilities`` can do ``job``."""
    return any(each.takes(job) for each in capabilities)


def as_json(capabilities: Iterable[Capability]) -> str:
    """For the parameter ``serves`` of ``TAKES``."""
    return json.dumps([each.as_document() for each in capabilities])
