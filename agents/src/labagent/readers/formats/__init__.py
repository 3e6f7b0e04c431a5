"""Formats of benchmarks' results, recognised by content or named by `--format`.

To add one, add a row to `tables.py`, or a file with a `FORMAT` that is named here.
"""

from __future__ import annotations

from labagent.errors import SettingsError
from labagent.readers.formats import iperf3, jsonlines, values
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError

FORMATS: dict[str, Format] = {
    one.name: one for one in (iperf3.FORMAT, jsonlines.FORMAT, values.FORMAT)
}

__all__ = [
    "FORMATS",
    "Content",
    "Format",
    "Printed",
    "Result",
    "UnreadableError",
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
    merged: dict[tuple[str, str], Result] = {}
    for one in found.results:
        key = (one.case, one.metric.name)
        before = merged.get(key)
        if before and before.metric != one.metric:
            raise UnreadableError(f"{printed.where}: {one.metric.name} has two units or directions")
        merged[key] = Result(
            one.metric, (*(before.values if before else ()), *one.values), one.case
        )
    if not any(one.values for one in merged.values()):
        raise UnreadableError(f"{printed.where} holds no result of {form.name}")
    doubled = [f"{printed.where}: {name!r} is there twice" for name in printed.doubled]
    return Content(list(merged.values()), [*found.warnings, *dict.fromkeys(doubled)], found.facts)
