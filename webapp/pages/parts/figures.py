"""Figures that Plotly draws in place of the server's drawings, and what a page needs for that."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from csp.decorators import csp_update
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from webapp.charts import quantiles
from webapp.results.queries import histograms_until

WITH_PLOTLY = {
    "style-src-elem": [
        "'self'",
        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
        "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
    ],
    "style-src-attr": ["'unsafe-inline'"],
}
"""What Plotly needs beside the policy of all pages: style attributes, and two style elements: an
empty one for its rules, and the one of its maps, which nothing here draws. Of another version the
browser's console states the hash.
"""

MOST_COLUMNS = 40
FEWEST_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Drawn:
    """The server's drawing (SVG) and the figure that takes its place (JSON)."""

    image: str
    figure: str


@dataclass(frozen=True, slots=True)
class OverRevisions:
    """The map of a histogram over so many ``columns``, each a revision."""

    drawn: Drawn
    columns: int


def rendered_with_plotly(
    request: HttpRequest, template: str, context: Mapping[str, object]
) -> HttpResponseBase:
    """`render` for a page whose script loads Plotly."""
    return csp_update(WITH_PLOTLY)(lambda asked: render(asked, template, context))(request)


def as_json(content: object) -> str:
    """``content`` as compact JSON; ValueError for what is not finite."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def over_revisions(
    name: str, series: int, position: int, asof: datetime | None, *, unit: str
) -> OverRevisions | None:
    """The map of the histograms ``name`` of a series (id) over its last measured revisions up to a
    position; None where few have any.
    """
    found = histograms_until(name, series, position, MOST_COLUMNS, asof)
    if len(found) < FEWEST_COLUMNS:
        return None
    columns = [(revision, one.middles()) for revision, one in found]
    image = quantiles.over_revisions(columns, unit=unit)
    figure = quantiles.map_figure(columns, unit=unit)
    return OverRevisions(Drawn(image, as_json(figure)), len(columns))
