"""Bisects for other rooms: those that run, for the front page, in one statement, and each as plain
data, the same for the API and for the page's JSON.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from webapp.bisects.draft import Draft, forecast_of
from webapp.bisects.models import Bisect, BisectAct, BisectBoot, BisectDecision, BisectSettings
from webapp.bisects.question import agents_for
from webapp.bisects.sentences import LEAST_LEAD, chance_text, lane_document, with_what_is_left
from webapp.bisects.view import NOT_YET, BisectView, Suspect, view_of
from webapp.results.models import HASH_PATTERN, Revision, Series
from webapp.results.queries import rows_of
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
    return [
        RunningBisect._make([*row[:-1], json.loads(row[-1]) if row[-1] else {}])
        for row in rows_of(RUNNING, {"most": most})
    ]


def summary_document(bisect: Bisect) -> dict[str, Any]:
    """What a list shows of one. Needs ``with_subjects``."""
    series = bisect.series
    return {
        "number": bisect.pk,
        "url": bisect.get_absolute_url(),
        "tree": series.tree.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "good": bisect.good.name,
        "bad": bisect.bad.name,
        "alert": bisect.alert_id,
        "effect_percent": bisect.effect_pct,
        "manual": bisect.manual,
        "state": bisect.state,
        "outcome": bisect.outcome or None,
        "culprit": bisect.culprit.name if bisect.culprit else None,
        "probability": bisect.probability,
        "created_by": bisect.created_by.get_username() if bisect.created_by else None,
        "created_at": bisect.created_at,
        "updated_at": bisect.updated_at,
        "ended_at": bisect.ended_at,
        "version": bisect.version,
    }


def detail_document(view: BisectView) -> dict[str, Any]:
    """The same with all its evidence, decisions and acts."""
    names = [revision.name for revision in view.revisions]
    return {
        **summary_document(view.bisect),
        "sentence": view.sentence,
        "remarks": view.remarks,
        "revisions": names,
        "suspects": [
            {
                "revision": one.revision.name,
                "probability": one.chance,
                "after": one.after or None,
            }
            for one in view.suspects
        ],
        "unlikely": [{"revision": one.revision.name, "why": one.why} for one in view.unlikely],
        "likelier": [{"revision": one.revision.name, "why": one.why} for one in view.likelier],
        "machine": view.figures.get("lab"),
        "first_of_several": view.figures.get("several", False),
        "other_change_up_to_percent": view.figures.get("other_pct"),
        "outside": _outside(view),
        "skipped": [revision.name for revision in view.skipped],
        "budget": {
            "boots": view.bisect.most_boots,
            "machine_hours": view.bisect.most_hours,
            "deadline": view.bisect.deadline,
        },
        "forecast": view.bisect.forecast or None,
        "left": view.figures.get("left"),
        "noise": view.bisect.noise,
        "companions": [
            {"name": one["name"], "scatter_percent": one["sd"], "commits_move_it": one["can_step"]}
            for one in view.bisect.companions
        ],
        "subjects": [lane_document(lane) for lane in view.lanes],
        "boots": [_boot(row) for row in view.boots],
        "decisions": [_decision(view, row, names) for row in view.decisions],
        "acts": [_act(row) for row in view.acts],
    }


def _outside(view: BisectView) -> dict[str, Any] | None:
    found = view.outside
    if found is None:
        return None
    return {"side": found.side, "after": found.after.name, "up_to": found.up_to.name}


def _boot(row: BisectBoot) -> dict[str, Any]:
    return {
        "number": row.number,
        "subject": row.subject,
        "revision": row.revision.name,
        "build": row.build,
        "values": row.values,
        "beside": [{"companion": number, "value": value} for number, value in row.beside],
        "source": row.source,
        "purpose": row.purpose,
        "run": str(row.run.uuid) if row.run else None,
        "at": row.at,
    }


def _decision(view: BisectView, row: BisectDecision, names: Sequence[str]) -> dict[str, Any]:
    """``names`` are those of the revisions along the bisect."""
    return {
        "number": row.number,
        "at": row.at,
        "state": row.state,
        "action": view.action_of(row),
        "words": row.text,
        "boots": row.boots,
        "chances": [
            {"revision": names[index], "probability": chance}
            for index, chance in row.figures["chances"]
        ],
    }


def _act(row: BisectAct) -> dict[str, Any]:
    return {
        "number": row.number,
        "at": row.at,
        "actor": row.actor.get_username() if row.actor else None,
        "kind": row.kind,
        "revision": row.revision.name if row.revision else None,
        "reason": row.reason,
    }


SUBVERSION = re.compile(r"r([0-9]+)")
SHORTEST_HASH = 10
"""Shorter ones may be a commit count such as c255632."""
WORD = re.compile(r"\{(revision|hardware|mode|metric)\}")


def command_for(revision: Revision, series: Series, settings: BisectSettings | None) -> str:
    """The operator's command for the tree with its words filled in, each quoted for a shell; else
    the checkout of the revision; empty when its kind is not known.
    """
    if settings is not None and settings.command:
        values = {
            "revision": revision.name,
            "hardware": series.hardware.name,
            "mode": series.mode.name,
            "metric": series.metric.name,
        }
        return WORD.sub(lambda found: shlex.quote(values[found[1]]), settings.command)
    return _checkout(revision)


def _checkout(revision: Revision) -> str:
    names = [revision.name, *revision.aliases.values_list("name", flat=True)]
    hashes = [one for one in names if len(one) >= SHORTEST_HASH and HASH_PATTERN.fullmatch(one)]
    if hashes:
        return f"git checkout {max(hashes, key=len)}"
    found = SUBVERSION.fullmatch(revision.name)
    return f"svn update -r {found[1]}" if found else ""
