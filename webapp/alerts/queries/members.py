"""What alerts hold, with everything that a page names of it, in one statement."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models

from webapp.analysis.models import Finding
from webapp.analysis.queries import TODAY
from webapp.labs.models import Lab
from webapp.results.models import Hardware, Metric, Mode, Revision, Series, Tree
from webapp.results.queries import made_of, rows_of


def _columns(model: type[models.Model], *without: str) -> tuple[str, ...]:
    fields = model._meta.concrete_fields  # noqa: SLF001 (Django's documented list of fields)
    return tuple(str(field.column) for field in fields if field.attname not in without)


def _attributes(model: type[models.Model], *without: str) -> tuple[str, ...]:
    fields = model._meta.concrete_fields  # noqa: SLF001
    return tuple(field.attname for field in fields if field.attname not in without)


LEFT_OUT = {
    Finding: ("why", "detector", "first_detected_at", "updated_at"),
    Series: (),
    Hardware: ("description", "facts", "created_at"),
    Lab: ("description", "created_at"),
    Mode: (),
    Metric: (),
    Tree: ("description", "created_at"),
}
"""What no line about a finding names, and what would be read for nothing."""

ALIASES = {
    Finding: "finding",
    Series: "series",
    Hardware: "hardware",
    Lab: "lab",
    Mode: "mode",
    Metric: "metric",
    Tree: "tree",
}
ATTRIBUTES = {model: _attributes(model, *without) for model, without in LEFT_OUT.items()}
SELECTED = ", ".join(
    f'{ALIASES[model]}."{column}"'
    for model, without in LEFT_OUT.items()
    for column in _columns(model, *without)
)


def _slices() -> list[tuple[type[models.Model], tuple[str, ...], slice]]:
    found, start = [], 0
    for model, names in ATTRIBUTES.items():
        found.append((model, names, slice(start, start + len(names))))
        start += len(names)
    return found


SLICES = _slices()
"""Of each model its attributes, and which values of a row they are."""

BUILD = """
    (SELECT kernel.build_id FROM results_run AS run
       JOIN results_kernel AS kernel ON kernel.id = run.kernel_id
      WHERE run.revision_id = finding.revision_id AND run.hardware_id = series.hardware_id
        AND run.mode_id = series.mode_id AND run.variant_id IS NULL
        AND run.withdrawn_at IS NULL
      ORDER BY kernel.build_id LIMIT 1)
"""
REVISIONS = ("revision", "previous", "after", "first", "last", "confirmed_by", "recovered_by")
REVISION_IDS = tuple((name, f"{name}_id") for name in REVISIONS)
JSON_COLUMNS = ("locations", "details", "one_build")
EMPTY: Mapping[str, Callable[[], Any]] = {"[]": list, "{}": dict}
"""What most of them hold, hundreds of times a page."""

TODAY_MOST = 12
"""Findings of an alert beside which stands what their series have lost today."""

MEMBERS = f"""
SELECT wanted.alert, members.worse, members.better, {BUILD} AS build,
       CASE WHEN members.rank <= {TODAY_MOST} THEN {TODAY} END AS today, {SELECTED}
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (alert, most)
 CROSS JOIN LATERAL (
       SELECT finding.id,
              count(*) FILTER (WHERE finding.verdict = 'worse') OVER () AS worse,
              count(*) FILTER (WHERE finding.verdict = 'better') OVER () AS better,
              row_number() OVER (ORDER BY (finding.verdict <> 'worse'),
                                 abs(finding.change_pct) DESC NULLS FIRST, finding.id) AS rank
         FROM alerts_alertfinding AS membership
         JOIN analysis_finding AS finding ON finding.id = membership.finding_id
        WHERE membership.alert_id = wanted.alert AND finding.state = ANY(%s)
        ORDER BY rank
        LIMIT wanted.most) AS members
  JOIN analysis_finding AS finding ON finding.id = members.id
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  JOIN results_tree AS tree ON tree.id = series.tree_id
 ORDER BY wanted.alert, members.rank
"""  # noqa: S608 (names of our own tables and columns; no value of a request is in this text)

WRITTEN = """finding.id, finding.xmin, analysis.xmin, series.xmin, mode.xmin, metric.xmin,
             tree.xmin, hardware.xmin, lab.xmin"""
"""The transactions that last wrote a finding, the analysis and what its series is of; more may
follow."""

SUBJECTS = """
       JOIN results_series AS series ON series.id = finding.series_id
       JOIN results_mode AS mode ON mode.id = series.mode_id
       JOIN results_metric AS metric ON metric.id = series.metric_id
       JOIN results_tree AS tree ON tree.id = series.tree_id
       JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
       JOIN labs_lab AS lab ON lab.id = hardware.lab_id
       LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
"""
"""What the series of a finding is of, and what is concluded of it."""

STAMP = f"""
    (SELECT md5(string_agg(concat_ws(' ', {WRITTEN}, series.version), ',' ORDER BY finding.id))
       FROM alerts_alertfinding AS membership
       JOIN analysis_finding AS finding ON finding.id = membership.finding_id {SUBJECTS}
      WHERE membership.alert_id = alert.id)
"""  # noqa: S608 (names of our own tables and columns; no value of a request is in this text)
"""Another one whenever a row was written that `members_of` gives of one alert: ``xmin`` is the
transaction that did. Of runs, and of the names of revisions, the version of a series shows changes.
"""

SHOWN_MOST = 1000
"""Findings of one alert that are read; there is one for a series."""


@dataclass(slots=True)
class Members:
    """What an alert holds: the weightiest of its ``findings`` (regressions before improvements,
    each from the largest on, then what options cost), and how many there are of either kind.
    """

    findings: list[Finding] = field(default_factory=list)
    worse: int = 0
    better: int = 0

    @property
    def worst(self) -> Finding | None:
        """The weightiest; None when it holds nothing."""
        return self.findings[0] if self.findings else None

    @property
    def more(self) -> int:
        """How many there are besides those that were read."""
        return self.worse + self.better - len(self.findings)


def members_of(alerts: Mapping[int, int]) -> dict[int, Members]:
    """What each alert (by id) holds, as many findings as asked for, with their subjects and builds;
    one statement. Their revisions are given by `give_revisions`.

    What is the same is the same object: 200 findings of ten machines share ten machines.
    """
    rows = rows_of(MEMBERS, [list(alerts), list(alerts.values()), list(Finding.ALERTED)])
    shared: dict[tuple[type[models.Model], int], models.Model] = {}
    members: dict[int, Members] = {pk: Members() for pk in alerts}
    for alert, worse, better, build, today, *values in rows:
        row = _finding(values, shared)
        row.build = build  # type: ignore[attr-defined]
        row.today = json.loads(today) if today else None  # type: ignore[attr-defined]
        members[alert].findings.append(row)
        members[alert].worse, members[alert].better = worse, better
    return members


def _finding(
    values: Sequence[Any], shared: dict[tuple[type[models.Model], int], models.Model]
) -> Finding:
    made: dict[type[models.Model], Any] = {}
    for model, names, columns in SLICES:
        key = (model, values[columns.start])  # the first column of each is its id
        row = shared.get(key)
        if row is None:
            row = shared[key] = made_of(model, names, values[columns])
        made[model] = row
    finding, series, hardware = made[Finding], made[Series], made[Hardware]
    known = vars(finding)
    for name in JSON_COLUMNS:
        written = known[name]
        if isinstance(written, str):
            known[name] = EMPTY[written]() if written in EMPTY else json.loads(written)
    give(finding, series=series)
    give(series, hardware=hardware, mode=made[Mode], metric=made[Metric], tree=made[Tree])
    give(hardware, lab=made[Lab])
    return finding  # type: ignore[no-any-return]


def give(row: models.Model, **related: models.Model | None) -> None:
    """Have ``row`` know what it refers to, as ``select_related`` would. The ids agree already, so
    nothing is checked: for 200 findings Django's own assignment takes longer than reading them.
    """
    row._state.fields_cache.update(related)  # noqa: SLF001 (what select_related fills)


def revision_ids(findings: Iterable[Finding]) -> Iterator[int | None]:
    """The ids of every revision that a sentence about a finding names."""
    for row in findings:
        known = vars(row)  # each attribute of a model takes ten times as long
        for _, attribute in REVISION_IDS:
            yield known[attribute]


def give_revisions(findings: Iterable[Finding], found: Mapping[int, Revision]) -> None:
    """Give each finding its revisions out of ``found``, by id."""
    given: set[int] = set()
    for row in findings:
        known = vars(row)
        its = {name: found.get(known[attribute]) for name, attribute in REVISION_IDS}
        give(row, **its)
        for revision in its.values():
            if revision is not None and id(revision) not in given:
                given.add(id(revision))
                give(revision, tree=row.series.tree)
