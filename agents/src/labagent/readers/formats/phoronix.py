"""The Phoronix Test Suite's `composite.xml`: each result with its unit and which way is better."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from labagent.model import MAX_NAME, Metric, clean, safe_name
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import finite

BETTER = {"HIB": "more", "LIB": "less"}


def claims(printed: Printed) -> bool:
    """Whether it is a document of the suite."""
    return (
        re.match(
            r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<PhoronixTestSuite>", printed.text, re.DOTALL
        )
        is not None
    )


def read(printed: Printed) -> Content:
    """A case a test and its arguments. Raises UnreadableError, also for a document type: entities
    of its own are how XML is made to grow."""
    if "<!DOCTYPE" in printed.text or "<!ENTITY" in printed.text:
        raise UnreadableError(f"{printed.where}: XML with a document type is not read")
    try:
        root = ElementTree.fromstring(printed.text.lstrip())  # noqa: S314 (no entities: see above)
    except (ElementTree.ParseError, ValueError) as error:
        raise UnreadableError(f"{printed.where} is no XML: {error}") from error
    results = []
    warnings = []
    for number, one in enumerate(root.iterfind("Result"), 1):
        where = f"{printed.where} result {number}"
        name = re.sub(r"-[0-9.]+$", "", one.findtext("Identifier") or "")
        better = BETTER.get(one.findtext("Proportion") or "", "")
        entries = one.findall("Data/Entry")
        if not name or not entries:
            warnings.append(f"{where} has no identifier or no value; left out")
            continue
        if len(entries) > 1:
            warnings.append(f"{where} is of {len(entries)} systems; the first counts")
        case = ".".join(filter(None, [name, one.findtext("Description")]))
        unit = clean(one.findtext("Scale") or "1")[:50]
        metric = Metric(safe_name("pts." + unit.replace("/", "_per_"))[:MAX_NAME], unit, better)
        results.append(Result(metric, _samples(entries[0], where), case))
    return Content(results, warnings)


def _samples(entry: ElementTree.Element, where: str) -> tuple[float, ...]:
    """Each repetition where they are kept, else the value."""
    raw = (entry.findtext("RawString") or "").split(":")
    texts = raw if len(raw) > 1 and all(raw) else [entry.findtext("Value") or ""]
    return tuple(finite(text.strip(), where) for text in texts)


FORMAT = Format("phoronix", "the file: Scale and Proportion", claims, read)
