"""The bisects that run, for the front page: one statement, written out."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import connection

from webapp.bisects.document import detail_document, summary_document
from webapp.bisects.draft import Draft
from webapp.bisects.forecasting import forecast_of
from webapp.bisects.sentences import LEAST_LEAD, chance_text, with_what_is_left
from webapp.bisects.view import NOT_YET, BisectView, Suspect, view_of
from webapp.bisects.workers import agents_for, command_for
from webapp.stats.bisection.ending import SET_MASS

__all__ = [
    "LEAST_LEAD",
    "NOT_YET",
    "BisectView",
    "Draft",
    "RunningBisect",
    "Suspect",
    "agents_for",
    "chance_text",
    "command_for",
    "detail_document",
    "forecast_of",
    "running_bisects",
    "summary_document",
    "view_of",
    "with_what_is_left",
]

RUNNING = """
SELECT bisect.id, bisect.alert_id, bisect.state, cardinality(bisect.along) - 1, series.hardware_id,
       mode.name, latest.figures
  FROM bisects_bisect AS bisect
  JOIN results_series AS series ON series.id = bisect.series_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  LEFT JOIN LATERAL (SELECT decision.figures FROM bisects_bisectdecision AS decision
                      WHERE decision.bisect_id = bisect.id
                      ORDER BY decision.number DESC LIMIT 1) AS latest ON true
 WHERE bisect.state NOT IN ('done', 'cancelled')
 ORDER BY bisect.id DESC
 LIMIT %(most)s
"""


class RunningBisect(NamedTuple):
    """A bisect that has not ended, paused ones included, by its number. ``candidates`` is how many
    commits it began with; ``figures`` are of its newest decision, empty before the first.
    """

    number: int
    alert: int | None
    state: str
    candidates: int
    hardware_id: int
    mode: str
    figures: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        """Where it stands: ``93 % r303643, 5 % r303640; 2 to 5 boots left``."""
        return with_what_is_left(self.figures) if self.figures else NOT_YET

    @property
    def chances(self) -> list[float]:
        """The probability of each candidate, along the tree."""
        chances = [0.0] * (self.candidates + 1)
        for index, chance in self.figures.get("chances", []):
            chances[index] = chance
        return chances[1:]

    @property
    def left(self) -> int:
        """The fewest candidates that hold 95 %; before the first decision all."""
        chances = sorted(self.chances, reverse=True)
        needed, held = SET_MASS * sum(chances), 0.0
        for count, chance in enumerate(chances, start=1):
            held += chance
            if held >= needed > 0:
                return count
        return self.candidates


def running_bisects(most: int) -> list[RunningBisect]:
    """The ``most`` newest that have not ended."""
    with connection.cursor() as cursor:
        cursor.execute(RUNNING, {"most": most})
        rows = cursor.fetchall()
    return [
        RunningBisect._make([*row[:-1], json.loads(row[-1]) if row[-1] else {}]) for row in rows
    ]
