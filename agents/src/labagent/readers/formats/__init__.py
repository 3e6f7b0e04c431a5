"""Formats of benchmarks' results, recognised by content or named by `--format`; those of our own
(numbers, one a line, one JSON object a line, documents of runs) stand here.

To add one, add a row to `json_tables.py` or `text_tables.py`, or a file with `FORMATS` that are
named here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from labagent.errors import SettingsError
from labagent.limits import NOT_TEXT
from labagent.model import (
    MAX_NAME,
    Evidence,
    Finding,
    Histogram,
    Metric,
    Mode,
    Run,
    Samples,
    Source,
    clean,
)
from labagent.readers.formats import (
    base,
    ci,
    hdrlog,
    json_tables,
    languages,
    latencies,
    network_and_tracing,
    text_tables,
    trackers,
)
from labagent.readers.formats.base import (
    Content,
    Format,
    Printed,
    Provenance,
    Result,
    UnreadableError,
)

__all__ = [
    "FORMATS",
    "Content",
    "Format",
    "Printed",
    "Provenance",
    "Result",
    "UnreadableError",
    "broken_line",
    "detect",
    "format_named",
    "read_results",
]


# Numbers, one a line, as ministat(1) reads them: what they measure has to be named beside.


UNNAMED = Metric("value", "1", "")


def claims_values(printed: base.Printed) -> bool:
    """Whether there are lines and each is one number; `#` begins a comment."""
    lines = [line for _, line in _lines(printed)]
    return bool(lines) and all(base.is_number(line) for line in lines)


def broken_line(printed: base.Printed) -> str:
    """The place of the first line that is no number where most are; empty where most are none."""
    lines = [(where, base.is_number(line)) for where, line in _lines(printed)]
    broken = [where for where, is_number in lines if not is_number]
    return broken[0] if 0 < len(broken) < len(lines) / 2 else ""


def read_values(printed: base.Printed) -> base.Content:
    """The numbers as samples of the metric that was named. Raises UnreadableError."""
    found = tuple(base.finite(line, where) for where, line in _lines(printed))
    return base.Content([base.Result(printed.metric or UNNAMED, found)])


def _lines(printed: base.Printed) -> list[tuple[str, str]]:
    lines = base.numbered_lines(printed.text, printed.where)
    return [(where, line) for where, line in lines if not line.startswith("#")]


# One JSON object a line: `{"value": 1004.5}`.
#
# With `"metric"`, `"unit"` and `"better"` (`more` or `less`) where nothing else names the metric,
# or it is another one, and `"boot": 3` in each line where several boots were measured.


def claims_json_lines(printed: base.Printed) -> bool:
    """Whether each line is an object with a value and what it is of."""
    lines = printed.json_lines
    return bool(lines) and all("value" in one and (_is_named(one, printed)) for one in lines)


def _is_named(one: dict[str, Any], printed: base.Printed) -> bool:
    return printed.metric is not None or {"metric", "unit", "better"} <= one.keys()


def read_json_lines(printed: base.Printed) -> base.Content:
    """A sample a line. Raises UnreadableError."""
    results = []
    for where, line in base.numbered_lines(printed.text, printed.where):
        one = base.parse_json(line, where)
        metric = _metric(one, printed.metric, where)
        boots = (base.whole(one["boot"], f"{where}: boot"),) if "boot" in one else None
        value = base.finite(one.get("value"), f"{where}: value")
        results.append(base.Result(metric, (value,), boots=boots))
    return base.Content(results)


def _metric(one: dict[str, Any], metric: Metric | None, where: str) -> Metric:
    name = one.get("metric", metric.name if metric else None)
    if metric and name == metric.name:
        return metric
    unit, better = one.get("unit"), one.get("better")
    if not (isinstance(name, str) and isinstance(unit, str) and better in ("more", "less")):
        raise base.UnreadableError(f"{where} needs metric, unit, and better (more or less)")
    if len(name) > MAX_NAME or len(unit) > MAX_NAME:
        raise base.UnreadableError(f"{where}: names have up to {MAX_NAME} characters")
    return Metric(clean(name), clean(unit), better)


# Run documents, as `labagent run --dry-run` and `labagent parse --json` print them: a run with its
# boots and its build.


MARKS = frozenset({"uuid", "tree", "revision", "hardware", "mode", "metrics", "build_id"})


def claims_documents(printed: base.Printed) -> bool:
    """Whether all there is are documents of runs."""
    found = _documents(printed)
    return bool(found) and all(isinstance(one, dict) and one.keys() >= MARKS for one in found)


def _documents(printed: base.Printed) -> Sequence[Any]:
    found = printed.json if printed.json is not None else printed.json_lines
    return found if isinstance(found, list) else [found]


def read_documents(printed: base.Printed) -> base.Content:
    """The runs, and their results with the mode as the case. Raises UnreadableError."""
    if not claims_documents(printed):
        raise base.UnreadableError(f"{printed.where} holds no document of a run")
    runs = []
    for number, one in enumerate(_documents(printed), 1):
        where = f"{printed.where}: run {number}"
        try:
            runs.append(_run_of(one, where))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise base.UnreadableError(
                f"{where} is no document of a run: {error!r:.200}"
            ) from error
    results = [
        base.Result(one.metric, one.values, str(run.mode), one.histograms, one.boots)
        for run in runs
        for one in run.samples
    ]
    return base.Content(results, [text for run in runs for text in run.warnings], runs=runs)


def _run_of(document: Mapping[str, Any], where: str) -> Run:
    """The run. Raises UnreadableError, also where the identity is not that of the content, and
    KeyError, TypeError, ValueError or AttributeError for what is no document."""
    mode, evidence = document["mode"], document.get("evidence")
    run = Run(
        tree=str(document["tree"]),
        revision=str(document["revision"]),
        hardware=str(document["hardware"]),
        mode=Mode(str(mode["workload"]), mode.get("traffic"), tuple(map(str, mode["options"]))),
        samples=tuple(_samples(document["metrics"], where)),
        build_id=str(document["build_id"]),
        kernel_ident=str(document["kernel_ident"]),
        measured_at=document["measured_at"],
        sources=tuple(Source(str(one["path"]), str(one["sha256"])) for one in document["sources"]),
        facts=dict(document["facts"]),
        warnings=tuple(map(str, document["warnings"])),
        evidence=None if evidence is None else Evidence(**evidence),
        position=document.get("position"),
    )
    if document["uuid"] != str(run.uuid):
        raise base.UnreadableError(
            f"{where}: its uuid is not that of its content; it was changed",
            "read the files that it was made of again",
        )
    return run


def _samples(metrics: Mapping[str, Any], where: str) -> Iterator[Samples]:
    for name, one in metrics.items():
        place = f"{where} {name[:80]}"
        values = tuple(base.finite(value, place) for value in one.get("samples", ()))
        histograms = tuple(_histogram(each, place) for each in one.get("histograms", ()))
        boots = one["boots"]
        if boots is not None:
            boots = tuple(base.whole(boot, f"{place}: boots") for boot in boots)
            if len(boots) != len(values or histograms):
                raise base.UnreadableError(f"{place} has not one boot a sample")
        if one["better"] not in ("more", "less"):
            raise base.UnreadableError(f"{place}: better is neither more nor less")
        metric = Metric(str(name), str(one["unit"]), one["better"])
        findings = _findings(one.get("validity", ()), len(values), place)
        yield Samples(metric, values, boots, findings, histograms)


def _histogram(document: Mapping[str, Any], where: str) -> Histogram:
    pairs = zip(document["values"], document["counts"], strict=True)
    found = [(base.amount(value, where), base.whole(count, where)) for value, count in pairs]
    if any(low >= high for (low, _), (high, _) in pairwise(found)):
        raise base.UnreadableError(f"{where}: the values of a histogram do not rise")
    return Histogram.of(found)


def _findings(
    listed: Sequence[Mapping[str, Any]], count: int, where: str
) -> tuple[tuple[Finding, ...], ...] | None:
    found: list[list[Finding]] = [[] for _ in range(count)]
    for one in listed:
        index = base.whole(one["sample"], f"{where}: validity")
        if index >= count:
            raise base.UnreadableError(f"{where}: validity is of sample {index} of {count}")
        found[index].append(Finding(str(one["kind"]), str(one["text"])))
    return tuple(map(tuple, found)) if listed else None


_OWN = (
    base.Format(
        "run-document",
        "the document itself",
        claims_documents,
        read_documents,
        ends_itself=True,
    ),
    base.Format("values", "the user", claims_values, read_values, needs_metric=True),
    base.Format("json-lines", "the lines themselves", claims_json_lines, read_json_lines),
)

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        *network_and_tracing.NETWORK,
        *json_tables.FORMATS,
        *latencies.FORMATS,
        hdrlog.FORMAT,
        *network_and_tracing.TRACING,
        *text_tables.FORMATS,
        *languages.FORMATS,
        *languages.SUITES,
        *ci.BENCHER,
        *trackers.FORMATS,
        *_OWN,
        *ci.FORMATS,
    )
}


def format_named(name: str) -> Format:
    """The format called so. Raises SettingsError."""
    if name not in FORMATS:
        raise SettingsError(f"no format {name!r}", f"write one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect(printed: Printed) -> Format | None:
    """The first format that claims the text."""
    return next((one for one in FORMATS.values() if one.claims(printed)), None)


def read_results(printed: Printed, form: Format) -> Content:
    """What the text holds, the samples of one metric and case in one result.

    Raises `UnreadableError`, also where there is no sample.
    """
    found = form.read(printed)
    merged: dict[tuple[Provenance | None, str, str], Result] = {}
    for one in found.results:
        key = (one.provenance, one.case, one.metric.name)
        before = merged.get(key)
        if before and before.metric != one.metric:
            raise UnreadableError(f"{printed.where}: {one.metric.name} has two units or directions")
        merged[key] = _merged(before, one) if before else one
    if not any(one.values or one.histograms for one in merged.values()):
        reason = found.warnings[0] if found.warnings else ""
        raise UnreadableError(f"{printed.where} holds no result of {form.name}", reason)
    doubts = [f"{printed.where}: {name!r} is there twice" for name in printed.doubled]
    if NOT_TEXT.search(printed.text):
        doubts.append(f"{printed.where} holds bytes that are no text")
    if not form.ends_itself and not printed.text.endswith("\n"):
        doubts.append(f"{printed.where} ends within a line, which may be cut")
    return replace(
        found, results=list(merged.values()), warnings=[*found.warnings, *dict.fromkeys(doubts)]
    )


def _merged(a: Result, b: Result) -> Result:
    """The samples of both; their boots where both have them."""
    boots = None if a.boots is None or b.boots is None else (*a.boots, *b.boots)
    return replace(
        b,
        values=(*a.values, *b.values),
        histograms=(*a.histograms, *b.histograms),
        boots=boots,
    )
