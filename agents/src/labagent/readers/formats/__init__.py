"""Formats of benchmarks' results, recognised by content or named by `--format`.

To add one, add a row to `json_tables.py` or `text_tables.py`, or a file with `FORMATS` that are
named here.
"""

from dataclasses import replace

from labagent.errors import SettingsError
from labagent.limits import NOT_TEXT
from labagent.readers.formats import (
    ci,
    hdrlog,
    json_tables,
    languages,
    latencies,
    network,
    plain,
    text_tables,
    tracing,
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
from labagent.readers.formats.plain import broken_line

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        *network.FORMATS,
        *json_tables.FORMATS,
        *latencies.FORMATS,
        hdrlog.FORMAT,
        *tracing.FORMATS,
        *text_tables.FORMATS,
        *languages.FORMATS,
        *languages.SUITES,
        *ci.BENCHER,
        *trackers.FORMATS,
        *plain.FORMATS,
        *ci.FORMATS,
    )
}

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
        raise UnreadableError(f"{printed.where} holds no result of {form.name}")
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
