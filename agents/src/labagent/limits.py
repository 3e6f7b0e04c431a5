"""What the server takes in each field of a run, checked here before anything is spooled.

The server states the same in its OpenAPI document; tests/api/test_agent_limits.py holds the two
together, so a limit is changed in both places or the tests fail.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from labagent.errors import Detail

LARGEST_SAMPLE = 1e15
SMALLEST_SAMPLE = 1e-15
MOST_SAMPLES = 10_000
MOST_METRICS = 50
MOST_HISTOGRAMS, MOST_BUCKETS = 1000, 10_000
MOST_COUNTED = 2**53
MOST_OPTIONS = 20
MOST_SOURCES = 10_000
MOST_WARNINGS = 1000
MOST_VALIDITY = 10_000
LARGEST_BOOT = 1_000_000
LONGEST_MODE = 400
FACTS_BYTES, FACTS_LEVELS, FACTS_KEY = 64 * 1024, 8, 200
LARGEST_WHOLE = 2**63 - 1
MOST_POSITION = 2**62 - 1
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
)
NOT_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
NOT_LINE = re.compile(NOT_TEXT.pattern[:-1] + r"\t\n\r\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Text:
    """Limits of a text: characters, the form of a name, and what it must not hold."""

    most: int
    least: int = 0
    pattern: str = ""
    without: re.Pattern[str] = NOT_TEXT
    in_addresses: bool = False

    def fault(self, text: Any) -> str:
        """What is wrong with `text`, with the remedy; empty: nothing."""
        if not isinstance(text, str):
            return "must be text"
        if not self.least <= len(text) <= self.most:
            return f"has {len(text)} characters; the server takes {self.least} to {self.most}"
        if found := self.without.search(text):
            return f"holds the character U+{ord(found[0]):04X}; remove it or replace it"
        # Python's $ also matches before a line end at the end, the server's does not.
        if self.pattern and not re.fullmatch(self.pattern, text):
            return f"{text!r} is no name that the server takes"
        if self.in_addresses and not {".", ".."}.isdisjoint(text.split("/")):
            return f"{text!r} is what browsers take out of an address; give another name"
        return ""


_PART = rf"[^\s@+/?#&{INVISIBLE}]+"
_MODE = rf"{_PART}(@{_PART})?(\+{_PART})*"
_HARDWARE = rf"[^\s:/?#&{INVISIBLE}]+"
NAME = Text(100, pattern=rf"^[^\s:/?#&{INVISIBLE}]+$", in_addresses=True)
MODE_PART = Text(100, pattern=f"^{_PART}$", in_addresses=True)
UNIT = Text(50, 1, without=NOT_LINE)
SOURCE = Text(1000)
WARNING = Text(2000)
VALIDITY_TEXT = Text(500, 1)
VALIDITY_KINDS = frozenset(
    {
        "sender-saturated",
        "all-arrived",
        "warm-up",
        "zero-seconds",
        "missing-seconds",
        "too-few-seconds",
        "clock-step",
        "throttled",
    }
)
REVISION = Text(64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
EVIDENCE: Mapping[str, Text] = {
    "label": Text(300, without=NOT_LINE),
    "image": Text(300, without=NOT_LINE),
    "directory": Text(1000),
    "kernel_hash": Text(40, pattern="^([0-9a-f]{7,40})?$"),
    "kernel_revision": REVISION,
    "image_revision": REVISION,
    "label_revision": REVISION,
    "session": Text(300, without=NOT_LINE),
    "former_mode": Text(LONGEST_MODE, pattern=f"^({_MODE})?$"),
}
TEXTS: Mapping[str, Text] = {
    "tree": NAME,
    "revision": REVISION,
    "hardware": Text(200, pattern=rf"^{_HARDWARE}(/{_HARDWARE})*$", in_addresses=True),
    "build_id": Text(300, 1, without=NOT_LINE),
    "kernel_ident": Text(2000),
}

Faults = Iterator[Detail]


def faults(document: Mapping[str, Any]) -> list[Detail]:
    """What the server would refuse of a run, each with its path; empty: nothing."""
    return [
        *_texts("", {name: document[name] for name in TEXTS}, TEXTS),
        *_evidence(document.get("evidence") or {}),
        *_mode(document["mode"]),
        *_metrics(document["metrics"]),
        *_time(document["measured_at"]),
        *_facts(document["facts"]),
        *_sources(document["sources"]),
        *_listed("warnings", document["warnings"], MOST_WARNINGS, WARNING),
    ]


def _texts(path: str, values: Mapping[str, Any], limits: Mapping[str, Text]) -> Faults:
    for name, limit in limits.items():
        if fault := limit.fault(values[name]):
            yield Detail(f"{path}{name}", fault)


def _evidence(evidence: Mapping[str, Any]) -> Faults:
    given = {name: limit for name, limit in EVIDENCE.items() if evidence.get(name)}
    yield from _texts("evidence.", evidence, given)


def _listed(path: str, values: Sequence[Any], most: int, limit: Text) -> Faults:
    if len(values) > most:
        yield Detail(path, f"has {len(values)} entries; the server takes {most}")
    for index, value in enumerate(values):
        if fault := limit.fault(value):
            yield Detail(f"{path}[{index}]", fault)


def _mode(mode: Mapping[str, Any]) -> Faults:
    traffic = mode["traffic"]
    named = ["workload"] if traffic is None else ["workload", "traffic"]
    yield from _texts("mode.", mode, dict.fromkeys(named, MODE_PART))
    yield from _listed("mode.options", mode["options"], MOST_OPTIONS, MODE_PART)
    parts = [mode["workload"], *([traffic] if traffic else []), *sorted(set(mode["options"]))]
    written = len("+".join(parts))
    if written > LONGEST_MODE:
        yield Detail("mode", f"is {written} characters when written; shorten it to {LONGEST_MODE}")


def _metrics(metrics: Mapping[str, Any]) -> Faults:
    if not 1 <= len(metrics) <= MOST_METRICS:
        yield Detail("metrics", f"has {len(metrics)} entries; the server takes 1 to {MOST_METRICS}")
    for name, metric in metrics.items():
        path = f"metrics.{name}"
        if fault := NAME.fault(name):
            yield Detail(path, fault)
        if fault := UNIT.fault(metric["unit"]):
            yield Detail(f"{path}.unit", fault)
        histograms = metric.get("histograms")
        if histograms is not None:
            yield from _histograms(f"{path}.histograms", histograms)
        else:
            yield from _samples(path, metric["samples"])
        measured = metric["samples"] if histograms is None else histograms
        yield from _boots(path, metric["boots"], len(measured))
        yield from _validity(f"{path}.validity", metric.get("validity") or (), measured)


def _samples(path: str, samples: Sequence[float]) -> Faults:
    if not 1 <= len(samples) <= MOST_SAMPLES:
        message = f"has {len(samples)} entries; the server takes 1 to {MOST_SAMPLES}"
        yield Detail(f"{path}.samples", message)
    for index, value in enumerate(samples):
        if not (value == 0 or SMALLEST_SAMPLE <= abs(value) <= LARGEST_SAMPLE):
            message = f"{value!r} is not 0 or from {SMALLEST_SAMPLE:g} to {LARGEST_SAMPLE:g}"
            yield Detail(f"{path}.samples[{index}]", f"{message}; choose another unit")


def _histograms(path: str, histograms: Sequence[Mapping[str, Any]]) -> Faults:
    if not 1 <= len(histograms) <= MOST_HISTOGRAMS:
        yield Detail(path, f"has {len(histograms)} entries; the server takes {MOST_HISTOGRAMS}")
    for index, one in enumerate(histograms):
        values, counts = one["values"], one["counts"]
        if not 1 <= len(values) <= MOST_BUCKETS:
            yield Detail(f"{path}[{index}]", f"has {len(values)} values, not 1 to {MOST_BUCKETS}")
        if any(not (value == 0 or SMALLEST_SAMPLE <= value <= LARGEST_SAMPLE) for value in values):
            message = f"has a value that is not 0 or {SMALLEST_SAMPLE:g} to {LARGEST_SAMPLE:g}"
            yield Detail(f"{path}[{index}].values", f"{message}; choose another unit")
        if min(counts, default=1) < 1 or sum(counts) > MOST_COUNTED:
            yield Detail(f"{path}[{index}].counts", f"are not from 1 to {MOST_COUNTED} in all")


def _boots(path: str, boots: Sequence[int] | None, samples: int) -> Faults:
    if boots is None:
        return
    if len(boots) != samples:
        yield Detail(f"{path}.boots", f"has {len(boots)} entries for {samples} samples")
    for index, boot in enumerate(boots):
        if not 0 <= boot <= LARGEST_BOOT:
            yield Detail(f"{path}.boots[{index}]", f"{boot} is not from 0 to {LARGEST_BOOT}")


def _validity(path: str, found: Sequence[Mapping[str, Any]], samples: Sequence[float]) -> Faults:
    if len(found) > MOST_VALIDITY:
        yield Detail(path, f"has {len(found)} entries; the server takes {MOST_VALIDITY}")
    for index, one in enumerate(found):
        if not 0 <= one["sample"] < len(samples):
            message = f"{one['sample']} is the index of none of {len(samples)} samples"
            yield Detail(f"{path}[{index}].sample", message)
        if one["kind"] not in VALIDITY_KINDS:
            yield Detail(f"{path}[{index}].kind", f"{one['kind']!r} is no kind the server knows")
        if fault := VALIDITY_TEXT.fault(one["text"]):
            yield Detail(f"{path}[{index}].text", fault)


def _time(text: str | None) -> Faults:
    if text is None:
        return
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or "T" not in text:
        yield Detail("measured_at", f"{text!r} is no ISO 8601 time with its zone")
    elif moment < EARLIEST:
        yield Detail("measured_at", f"{text} lies before 1970; the clock was not set")


def _facts(facts: Mapping[str, Any]) -> Faults:
    found = [Detail(f"facts{path}", fault) for path, fault in _fact_faults("", facts, 0)]
    yield from found
    if not found and (size := len(json.dumps(facts))) > FACTS_BYTES:
        yield Detail("facts", f"are {size} bytes as JSON; the server takes {FACTS_BYTES}")


def _fact_faults(path: str, value: Any, level: int) -> Iterator[tuple[str, str]]:
    if level > FACTS_LEVELS:
        yield path, f"is nested deeper than {FACTS_LEVELS} levels"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if fault := Text(FACTS_KEY).fault(key):
                yield path, f"has a key that {fault}"
            yield from _fact_faults(f"{path}.{key}", inner, level + 1)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _fact_faults(f"{path}[{index}]", inner, level + 1)
    elif isinstance(value, str):
        if found := NOT_TEXT.search(value):
            yield path, f"holds the character U+{ord(found[0]):04X}"
    elif isinstance(value, int | float) and not _is_finite(value):
        yield path, f"{value!r:.40} is beyond what the server takes"


def _is_finite(value: float) -> bool:
    """A whole number of 64 bits, or a double that is no infinity and not NaN."""
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE
    return value - value == 0


def _sources(sources: Sequence[Mapping[str, str]]) -> Faults:
    if len(sources) > MOST_SOURCES:
        yield Detail("sources", f"has {len(sources)} entries; the server takes {MOST_SOURCES}")
    for index, source in enumerate(sources):
        if fault := SOURCE.fault(source["path"]):
            yield Detail(f"sources[{index}].path", fault)
