"""A run as the agent knows it, its histograms, and the document it is sent as."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from math import frexp, ldexp
from pathlib import Path
from typing import Any

from labagent.errors import SettingsError
from labagent.limits import NOT_TEXT, VALIDITY_TEXT, WARNING

PARTS = 128
"""Of a power of two: the server keeps values in buckets of 0.4 to 0.8 %."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
BEYOND = 10
"""Values above a quantile, without which it is not derived."""
LARGEST = "max"
MOST_ABOVE = 1e-3
"""Of all values, those that may lie above the buckets."""


@dataclass(frozen=True)
class Histogram:
    """The values, ascending, and how often each was there."""

    values: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, int]], scale: float = 1.0) -> "Histogram":
        """Of values times ``scale``, in any order; those without a count are left out."""
        found: dict[float, int] = {}
        for value, count in pairs:
            if count:
                found[value * scale] = found.get(value * scale, 0) + count
        return cls(tuple(sorted(found)), tuple(found[value] for value in sorted(found)))

    @classmethod
    def up_to(
        cls,
        longest: float,
        pairs: Sequence[tuple[float, int]],
        above: int,
        where: str,
        scale: float = 1.0,
    ) -> "tuple[Histogram | None, list[str]]":
        """Of buckets, with ``above`` values beyond them: these count as the longest, which moves no
        quantile up to 99.9 % as long as they are a thousandth. None, with the reason, where they
        are more, or less than none."""
        counted = sum(count for _, count in pairs)
        if not 0 <= above <= (counted + above) * MOST_ABOVE:
            lost = f"{where}: the histogram holds {counted} of {counted + above} values"
            return None, [f"{lost}: it is left out; measure it up to a higher latency"]
        text = f"{where}: {above} of {counted + above} values lie above the histogram and count as"
        doubts = [f"{text} the longest, {longest:g}"] if above else []
        return cls.of([*pairs, (longest, above)], scale), doubts

    def document(self) -> dict[str, Any]:
        """As the server takes it."""
        return {"values": list(self.values), "counts": list(self.counts)}

    def derived(self) -> dict[str, float]:
        """The quantiles that there are enough values for, and the largest value."""
        buckets: dict[tuple[float, float], int] = {}
        for value, count in zip(self.values, self.counts, strict=True):
            bounds = _bounds(value)
            buckets[bounds] = buckets.get(bounds, 0) + count
        total = sum(self.counts)
        found = {
            name: min(_quantile(buckets, min(share * total, total)), self.values[-1])
            for name, share in QUANTILES.items()
            if total >= round(BEYOND / (1 - share))
        }
        return found | {LARGEST: self.values[-1]}


def derived_names(name: str) -> set[str]:
    """The metrics that the server derives of histograms called ``name``."""
    return {f"{name}_{quantile}" for quantile in (*QUANTILES, LARGEST)}


def _bounds(value: float) -> tuple[float, float]:
    """Of the bucket of a value."""
    if value == 0:
        return 0.0, 0.0
    fraction, exponent = frexp(value)
    part = int((fraction - 0.5) * 2 * PARTS)
    low, high = (ldexp(0.5 + one / (2 * PARTS), exponent) for one in (part, part + 1))
    return low, high


def _quantile(buckets: Mapping[tuple[float, float], int], rank: float) -> float:
    """The value of a rank, those of a bucket spread evenly."""
    below = accumulate(buckets.values())
    (low, high), count, upto = next(
        one for one in zip(buckets, buckets.values(), below, strict=True) if one[2] >= rank
    )
    return low + (1 - (upto - rank) / count) * (high - low)


RUN_NAMESPACE = uuid.UUID("6f0f5c8e-3f0b-5d0e-9a57-6d1c2f6a4b11")
"""Namespace of run identities (RFC 9562, version 5). Changing it makes every stored run new."""

MAX_NAME = 100
"""Characters in a workload, traffic or option, as the server accepts them."""

KNOB = "="
"""Between the name of a knob and its value in an option: `hw.cxgbe.nXxq=5`."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_DIGEST_LENGTH = 12


def safe_name(text: str) -> str:
    """`text` as a name that `workload[@traffic][+option…]` can carry.

    Other characters become `_` and their code point in hex, rather than all the same; names past
    `MAX_NAME` keep their beginning and end in a digest of the whole.
    """
    return _bounded(_escaped(text), text)


def safe_option(text: str) -> str:
    """The same for an option, which may be a knob and its value: `name=value`, both not empty."""
    name, separator, value = text.partition(KNOB)
    if not name or not value or KNOB in value:
        return safe_name(text)
    return _bounded(_escaped(name) + separator + _escaped(value), text)


def _escaped(text: str) -> str:
    return _UNSAFE.sub(lambda match: f"_{ord(match.group()):02x}", text)


def _bounded(name: str, text: str) -> str:
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_LENGTH]
    return f"{name[: MAX_NAME - _DIGEST_LENGTH - 1]}-{digest}"


@dataclass(frozen=True)
class Mode:
    """What the kernel was asked to do, and how it was built or configured. An option is a word, or
    a knob and its value (`name=value`)."""

    workload: str
    traffic: str | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, workload: str, traffic: str | None, options: Iterable[str]) -> "Mode":
        """A mode from names as a lab writes them."""
        return cls(
            safe_name(workload),
            safe_name(traffic) if traffic else None,
            tuple(sorted({safe_option(option) for option in options})),
        )

    @classmethod
    def parse(cls, text: str) -> "Mode":
        """The mode written `workload[@traffic][+option…]`; `SettingsError` where it is not one."""
        head, *options = text.split("+")
        workload, separator, traffic = head.partition("@")
        names = [workload, *([traffic] if separator else [])]
        if any(not name or safe_name(name) != name for name in names) or any(
            not option or safe_option(option) != option for option in options
        ):
            raise SettingsError(
                f"{text!r} is not a mode",
                "write workload[@traffic][+option…] with letters, digits, '.', '_' and '-'; an "
                "option may be a knob and its value, name=value",
            )
        return cls.of(workload, traffic or None, options)

    def __str__(self) -> str:
        traffic = f"@{self.traffic}" if self.traffic else ""
        return self.workload + traffic + "".join(f"+{option}" for option in self.options)


@dataclass(frozen=True)
class Metric:
    """What is measured: its name, its unit, and whether `more` or `less` of it is better."""

    name: str
    unit: str
    better: str


@dataclass(frozen=True)
class Finding:
    """A reason why a sample may not measure what it should: a short `code`, and a sentence with the
    numbers. The sample is kept as it is."""

    code: str
    text: str

    def document(self, sample: int) -> dict[str, Any]:
        """What the server is sent about the sample of this index."""
        text = clean(self.text)[: VALIDITY_TEXT.most]
        return {"sample": sample, "kind": self.code, "text": text}


@dataclass(frozen=True)
class Samples:
    """The samples of one metric in the order they were measured; `boots[i]` is the boot of
    `values[i]`, None as a whole where boots are unknown. `findings[i]` are those of `values[i]`,
    None as a whole where no log was judged. They are no part of the run's identity. Instead of
    `values` there may be `histograms`, each of a boot or iteration."""

    metric: Metric
    values: tuple[float, ...]
    boots: tuple[int, ...] | None
    findings: tuple[tuple[Finding, ...], ...] | None = None
    histograms: tuple[Histogram, ...] = ()


@dataclass(frozen=True)
class Source:
    """A file the run was read from: its path from the label's directory on, and its digest."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Evidence:
    """What was read of the commit before any rule, for the server to file the run by; empty: it was
    not there. `trust` is what the user gave: whom to believe where kernel and names differ, and
    `session` what the user calls what was measured together. `former_mode` is the mode that agents
    before this one read, where it was another.
    """

    label: str = ""
    image: str = ""
    directory: str = ""
    kernel_hash: str = ""
    kernel_revision: str = ""
    image_revision: str = ""
    label_revision: str = ""
    trust: str = ""
    session: str = ""
    former_mode: str = ""

    def document(self) -> dict[str, str]:
        """What there is, as the server takes it."""
        return {name: clean(text) for name, text in asdict(self).items() if text}


@dataclass(frozen=True)
class ProfileFile:
    """A profile of a run: its file, the iteration during which it was taken, and the packets/s
    then; None: not known."""

    path: Path
    iteration: int | None = None
    pps: float | None = None


@dataclass(frozen=True)
class Run:
    """One build of one kernel, measured on one hardware in one mode.

    `read_as` is the revision that the files name, where the user gave another; `home` the directory
    whose README speaks of it; `profiles` are sent after the run. None of them is a part of it.
    """

    tree: str
    revision: str
    hardware: str
    mode: Mode
    samples: tuple[Samples, ...]
    build_id: str
    kernel_ident: str
    measured_at: str | None
    sources: tuple[Source, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    evidence: Evidence | None = None
    position: int | None = None
    read_as: str | None = None
    home: Path | None = None
    profiles: tuple[ProfileFile, ...] = ()

    @property
    def uuid(self) -> uuid.UUID:
        """Version 5 of hardware, tree, revision, mode and the sorted digests of the sources: the
        same wherever the files lie, in whatever order they were read, wherever they are filed and
        whatever the mode is called by now.
        """
        digests = sorted(source.sha256 for source in self.sources)
        revision = self.read_as or self.revision
        mode = (self.evidence and self.evidence.former_mode) or str(self.mode)
        identity = [self.hardware, self.tree, revision, mode, *digests]
        return uuid.uuid5(RUN_NAMESPACE, json.dumps(identity, ensure_ascii=True))

    def document(self) -> dict[str, Any]:
        """The run as `POST /api/v1/runs` takes it."""
        document = self._described()
        if self.position is not None:
            document["position"] = self.position
        if self.evidence is not None:
            document["evidence"] = self.evidence.document()
        return document

    def _described(self) -> dict[str, Any]:
        return {
            "uuid": str(self.uuid),
            "tree": self.tree,
            "revision": self.revision,
            "hardware": clean(self.hardware),
            "mode": {
                "workload": self.mode.workload,
                "traffic": self.mode.traffic,
                "options": list(self.mode.options),
            },
            "metrics": {samples.metric.name: _metric(samples) for samples in self.samples},
            "build_id": clean(self.build_id),
            "kernel_ident": clean(self.kernel_ident),
            "measured_at": self.measured_at,
            "facts": {name: _clean_fact(fact) for name, fact in self.facts.items()},
            "sources": [{"path": clean(s.path), "sha256": s.sha256} for s in self.sources],
            "warnings": [clean(warning)[: WARNING.most] for warning in self.warnings],
        }


def clean(text: str) -> str:
    """`text` without what no server takes: control characters but tab and line ends, and bytes of
    file names that are no UTF-8."""
    return NOT_TEXT.sub("\ufffd", text.encode("utf-8", "replace").decode())


def _clean_fact(fact: Any) -> Any:
    if isinstance(fact, list):
        return [_clean_fact(one) for one in fact]
    return clean(fact) if isinstance(fact, str) else fact


def measured(values: Sequence[float], histograms: Sequence[Histogram]) -> dict[str, Any]:
    """What a metric has of both, as the server takes it."""
    if histograms:
        return {"histograms": [one.document() for one in histograms]}
    return {"samples": list(values)}


def _metric(samples: Samples) -> dict[str, Any]:
    metric = {
        "unit": samples.metric.unit,
        "better": samples.metric.better,
        **measured(samples.values, samples.histograms),
        "boots": None if samples.boots is None else list(samples.boots),
    }
    validity = [
        one.document(index) for index, found in enumerate(samples.findings or ()) for one in found
    ]
    return metric | {"validity": validity} if validity else metric


@dataclass(frozen=True)
class Skip:
    """Something that looked like a run and is not sent: where it lies and why. `unread` where it
    may well be a run, but a file or directory could not be read."""

    where: str
    reason: str
    unread: bool = False


@dataclass(frozen=True)
class Overrides:
    """What the user gave instead of what the directories name. `position` is the place of
    `revision` along its tree; `trust` is whom to believe where kernel and names mean two commits;
    `session` is what was measured together."""

    tree: str | None = None
    hardware: str | None = None
    mode: Mode | None = None
    revision: str | None = None
    position: int | None = None
    trust: str = ""
    session: str = ""


Outcome = Run | Skip


def runs_of(outcomes: Sequence[Outcome]) -> list[Run]:
    """The runs among the outcomes, in order."""
    return [outcome for outcome in outcomes if isinstance(outcome, Run)]


def skips_of(outcomes: Sequence[Outcome]) -> list[Skip]:
    """What was not read, in order, each with its reason."""
    return [outcome for outcome in outcomes if isinstance(outcome, Skip)]
