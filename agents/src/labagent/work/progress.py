"""How far a job is, on disk: what was built and measured is not done again after a restart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labagent.disk import write_durably
from labagent.errors import SettingsError
from labagent.job import Lease, Leased
from labagent.readers.results import Measurement

SAMPLES, HISTOGRAMS = "samples", "histograms"


def kind_of(values: Mapping[str, Any]) -> str:
    """What a metric has in a boot."""
    return HISTOGRAMS if HISTOGRAMS in values else SAMPLES


@dataclass
class BootRecord:
    """One boot that was measured. `values` maps a metric's name to its unit, direction, samples or
    histograms, and where something was found `validity`: what the server is sent about samples."""

    ident: str
    values: dict[str, dict[str, Any]]
    warnings: list[str]
    seconds: dict[str, float]

    @classmethod
    def of(cls, ident: str, measured: Measurement, seconds: Mapping[str, float]) -> BootRecord:
        """What is kept of a boot: its kernel, values, warnings and seconds of each stage."""
        values: dict[str, dict[str, Any]] = {
            metric.name: {"unit": metric.unit, "better": metric.better, "samples": list(samples)}
            for metric, samples in measured.values.items()
        }
        for metric, histograms in measured.histograms.items():
            documents = [one.document() for one in histograms]
            found = {"unit": metric.unit, "better": metric.better, HISTOGRAMS: documents}
            values[metric.name] = found
        for metric, findings in measured.findings.items():
            validity = [
                one.document(index) for index, found in enumerate(findings) for one in found
            ]
            if validity:
                values[metric.name]["validity"] = validity
        return cls(ident, values, list(measured.warnings), dict(seconds))

    def split(self) -> list[BootRecord]:
        """One record for each sample, in order. The seconds are shared out equally."""
        count = max(len(found[kind_of(found)]) for found in self.values.values())
        seconds = {stage: whole / count for stage, whole in self.seconds.items()}
        return [
            BootRecord(self.ident, self._sample(index), self.warnings, seconds)
            for index in range(count)
        ]

    def _sample(self, index: int) -> dict[str, dict[str, Any]]:
        """The values of one sample; a metric that has fewer is left out of the last."""
        return {
            name: _only(found, index)
            for name, found in self.values.items()
            if index < len(found[kind_of(found)])
        }


def _only(found: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The values of a metric with one of its samples or histograms alone."""
    kind = kind_of(found)
    one = {**found, kind: found[kind][index : index + 1]}
    validity = [
        {**each, "sample": 0} for each in one.pop("validity", ()) if each["sample"] == index
    ]
    return one | {"validity": validity} if validity else one


@dataclass
class Progress:
    """The job in hand. `restarts` counts those of the worker since the last finished step.
    `profiles` are the files of the boots that were profiled, `unprofiled` says why others were not.
    """

    document: dict[str, Any]
    token: str
    lease_seconds: float
    started_at: str
    build_id: str | None = None
    build_seconds: float = 0.0
    digest: str = ""
    restarts: int = 0
    boots: list[BootRecord] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)
    unprofiled: str = ""

    @classmethod
    def begin(cls, leased: Leased, started_at: str) -> Progress:
        """A job before its first boot."""
        lease = leased.lease
        return cls(dict(leased.document), lease.token, lease.seconds, started_at)

    @property
    def leased(self) -> Leased:
        """The job with its lease, as the server gave it."""
        return Leased(self.document, Lease(self.token, self.lease_seconds))

    def finish_boot(self, record: BootRecord) -> None:
        """Add a boot that was measured."""
        self.boots.append(record)
        self.restarts = 0

    def finish_profile(self, file: Path) -> None:
        """Add a boot that was profiled; its profile is in this file."""
        self.profiles.append(str(file))
        self.restarts = 0

    def renew(self, leased: Leased) -> None:
        """The same job, leased anew by a worker that was started again."""
        self.restarts += 1
        self.document = dict(leased.document)
        self.token, self.lease_seconds = leased.lease.token, leased.lease.seconds


class ProgressFile:
    """Where the progress lies. One job at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, progress: Progress) -> None:
        """Write it so that it outlives a crash."""
        write_durably(self.path, json.dumps(asdict(progress)).encode())

    def load(self) -> Progress | None:
        """What was written last, None: no job is under way."""
        try:
            content = json.loads(self.path.read_text("utf-8"))
            boots = [BootRecord(**boot) for boot in content.pop("boots")]
            return Progress(**content, boots=boots)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(
                f"cannot read {self.path}: {error}",
                "remove it; the job is then done from its start",
            ) from error

    def clear(self) -> None:
        """Forget it: the job is reported."""
        self.path.unlink(missing_ok=True)
