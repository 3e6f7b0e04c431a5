"""The state of a series as comparisons, pages and mails use it: its noise, and its loss by today.

What is believed of the noise between builds where a series does not know its own follows from what
other series of its tree do. A change is stated as it was at its commit; beside it stands what
`webapp.stats.changes.net_loss` found of the whole series.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from webapp.analysis.models import Finding, SeriesAnalysis, SeriesSettings, Verdict
from webapp.analysis.queries.ranges import RangeTable
from webapp.charts import text
from webapp.results.models import Revision, Series
from webapp.results.queries import rows_of
from webapp.stats.compare import BuildNoise
from webapp.stats.metrics import Better, least_of
from webapp.stats.single_build import Known, NoisePrior, learn
from webapp.stats.single_build.chance import LEAST_FREEDOM

Row = tuple[Hashable, int, str, float, float]
"""Within what noises are compared (tree and metric), and a `Noise`."""


class Noise(NamedTuple):
    """Hardware and workload of a series, the standard deviation of its builds in percent, and the
    degrees of freedom of that.
    """

    hardware: int
    workload: str
    percent: float
    freedom: float


NOISES = f"""
    (SELECT jsonb_agg(jsonb_build_array(
                metric.name, other.hardware_id, mode.workload,
                (known.summary -> 'noise' ->> 'build_pct')::float8,
                (known.summary -> 'noise' ->> 'freedom')::float8))
       FROM results_series AS other
       JOIN analysis_seriesanalysis AS known ON known.series_id = other.id
       JOIN results_mode AS mode ON mode.id = other.mode_id
       JOIN results_metric AS metric ON metric.id = other.metric_id
      WHERE other.tree_id = (SELECT tree_id FROM results_revision WHERE id = {{revision}})
        AND known.summary -> 'noise' ->> 'build_pct' IS NOT NULL
        AND (known.summary -> 'noise' ->> 'freedom')::float8 >= {LEAST_FREEDOM})
"""  # noqa: S608 (a constant of ours)
"""The noises that the series of a revision's tree know, as JSON; null: none does. It refers to no
row, so that a statement computes it once, and only where it is asked for."""

SUMMARIES = """
SELECT series_id, analysed_at, summary::text FROM analysis_seriesanalysis
 WHERE series_id = ANY(%s) ORDER BY series_id
"""

STANDS = """
SELECT analysis.series_id, analysis.summary->>'net_loss'
  FROM analysis_seriesanalysis AS analysis
  JOIN results_series AS series ON series.id = analysis.series_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
 WHERE analysis.series_id = ANY(%s) AND metric.of_id IS NULL
   AND analysis.summary->>'net_loss' IS NOT NULL
"""

BLIND = "COALESCE((analysis.summary -> 'noise' ->> 'measured_freedom')::float8, 0) < 1"
"""Whether a series, with its ``analysis`` at hand, does not know its noise (`noise_from`)."""


class Beliefs:
    """What is believed of any series, by the noises that are known."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.on_machine: defaultdict[Hashable, list[Noise]] = defaultdict(list)
        self.of_workload: defaultdict[Hashable, list[Noise]] = defaultdict(list)
        for scope, *noise in rows:
            hardware, workload, _, _ = found = Noise._make(noise)
            self.on_machine[scope, hardware].append(found)
            self.of_workload[scope, workload].append(found)
        self.found: dict[tuple[Hashable, int, str], NoisePrior] = {}

    @classmethod
    def from_json(cls, text: str | None) -> "Beliefs":
        """Of `NOISES`, within the metrics of one tree."""
        return cls(json.loads(text)) if text else cls()

    def of(self, scope: Hashable, hardware: int, workload: str) -> NoisePrior:
        """Of a series of that workload on that hardware (by id). Series that share neither tell
        nothing, and those of other machines are not looked at where its own tell enough.
        """
        key = scope, hardware, workload
        if key not in self.found:
            own = [_known(one, hardware, workload) for one in self.on_machine[scope, hardware]]
            believed = learn(own)
            if not believed.of_machine:
                alike = self.of_workload[scope, workload]
                others = [one for one in alike if one.hardware != hardware]
                believed = learn([*own, *(_known(one, hardware, workload) for one in others)])
            self.found[key] = believed
        return self.found[key]


def _known(one: Noise, hardware: int, workload: str) -> Known:
    return Known(
        one.percent,
        one.freedom,
        same_hardware=one.hardware == hardware,
        same_workload=one.workload == workload,
    )


class SeriesFacts(NamedTuple):
    """How to judge one series: its direction, its margin, and its noise between builds.

    ``build_noise`` is None where the history does not show it; then ``belief`` stands in for it
    where single builds are compared. Percentages are of the level.
    """

    better: Better
    margin_pct: float
    build_noise: BuildNoise | None
    belief: NoisePrior = NoisePrior()


def summaries_of(series: Collection[int]) -> list[tuple[int, datetime | None, str]]:
    """Of each of ``series`` (ids) that was analysed the id, the time of that, and the summary as
    JSON, by id. One query.
    """
    return rows_of(SUMMARIES, [list(series)])


def facts_of(series: Iterable[Series]) -> dict[int, SeriesFacts]:
    """The facts of each series (with its metric at hand), in one query, in two where a series does
    not know its noise; one more where there are variants. A variant, which has no history of its
    own, is judged as the plain kernel is.
    """
    rows = {one.pk: one for one in series}
    asked = {pk: one for pk, one in rows.items() if one.is_plain} | _plain_twins(rows.values())
    known = Series.objects.filter(pk__in={one.pk for one in asked.values()})
    columns = ("mode__workload", "analysis__summary__noise", "settings__margin_pct")
    read = {pk: values for pk, *values in known.values_list("pk", *columns)}
    judged = {pk: (one, *read[one.pk]) for pk, one in asked.items()}
    blind = {one.tree_id for one, _, noise, _ in judged.values() if not noise_of(noise)}
    beliefs = _beliefs(blind) if blind else Beliefs()
    plain = {
        pk: _facts(one, workload, noise, margin, beliefs)
        for pk, (one, workload, noise, margin) in judged.items()
    }
    return {pk: plain.get(pk) or _alone(one) for pk, one in rows.items()}


def _alone(variant: Series) -> SeriesFacts:
    """Those of a variant of whose plain kernel nothing is measured."""
    return SeriesFacts(variant.better, SeriesSettings.DEFAULT_MARGIN_PCT, None)


def _beliefs(trees: Collection[int]) -> Beliefs:
    """By what the series of ``trees`` know of their noise; one query."""
    noise = "summary__noise__"
    known = SeriesAnalysis.objects.filter(
        series__tree__in=trees,
        **{f"{noise}build_pct__isnull": False, f"{noise}freedom__gte": LEAST_FREEDOM},
    )
    parts = ("tree_id", "metric_id", "hardware_id", "mode__workload")
    columns = (*(f"series__{part}" for part in parts), f"{noise}build_pct", f"{noise}freedom")
    return Beliefs(
        ((tree, metric), hardware, workload, percent, freedom)
        for tree, metric, hardware, workload, percent, freedom in known.values_list(*columns)
        if percent is not None
    )


def _plain_twins(series: Iterable[Series]) -> dict[int, Series]:
    """The series of the plain kernel for those (by id) of variants, where there is one."""
    variants = [one for one in series if not one.is_plain]
    if not variants:
        return {}
    alike = (
        Series.objects.plain()
        .select_related("metric")
        .filter(
            tree__in={one.tree_id for one in variants},
            hardware__in={one.hardware_id for one in variants},
            mode__in={one.mode_id for one in variants},
        )
    )
    plain = {_subject(one): one for one in alike}
    return {one.pk: plain[_subject(one)] for one in variants if _subject(one) in plain}


def _subject(series: Series) -> tuple[int, int, int, int]:
    return series.tree_id, series.hardware_id, series.mode_id, series.metric_id


def _facts(
    series: Series,
    workload: str,
    noise: dict[str, Any] | None,
    margin: float | None,
    beliefs: Beliefs,
) -> SeriesFacts:
    return SeriesFacts(
        better=series.better,
        margin_pct=SeriesSettings.DEFAULT_MARGIN_PCT if margin is None else margin,
        build_noise=noise_of(noise),
        belief=beliefs.of((series.tree_id, series.metric_id), series.hardware_id, workload),
    )


def build_noise_of(summary: dict[str, Any]) -> BuildNoise | None:
    """`noise_of` the summary of a series' analysis."""
    return noise_of(summary.get("noise"))


def noise_of(noise: dict[str, Any] | None) -> BuildNoise | None:
    """The noise between builds that the series itself measured, None where it did not yet.

    The guess that the detector starts with counts for nothing here: a comparison that rested on it
    would call equal builds different in 15 and 29 of 100 cases where they scatter twice and four
    times as much as runs do (`python -m benchmarks.worlds`, histories of eight revisions).
    """
    noise = noise or {}
    return noise_from(noise.get("measured_build_pct"), noise.get("measured_freedom"))


def noise_from(percent: float | str | None, freedom: float | str | None) -> BuildNoise | None:
    """`build_noise_of` of the two figures that it rests on, as numbers or their text."""
    if percent is None or freedom is None or float(freedom) < 1:
        return None
    return BuildNoise(float(percent), float(freedom))


LEAST_LEVELS = 2
"""Of a series with fewer nothing can be lost, or won back."""

TODAY = """
    (SELECT jsonb_build_object(
                'stands', analysis.summary -> 'net_loss',
                'levels', jsonb_array_length(analysis.summary -> 'segments'),
                'newest', (SELECT point.mean FROM results_point AS point
                            WHERE point.series_id = analysis.series_id
                            ORDER BY point.position DESC LIMIT 1))
       FROM analysis_seriesanalysis AS analysis WHERE analysis.series_id = series.id)
"""
"""`FindingQuerySet.with_today` for statements that are written out; ``series`` is at hand."""


def stands_in(summary: Mapping[str, Any], last: Any) -> Mapping[str, Any] | None:
    """What stands lost in a series by its ``summary``; of one too young to have two levels the loss
    that its ``last`` proven change of level is, if it is one.
    """
    if summary.get("net_loss") or len(summary.get("segments", ())) >= LEAST_LEVELS:
        stands: Mapping[str, Any] | None = summary.get("net_loss")
        return stands
    if last is None or (last.verdict, last.state) != (Verdict.WORSE, Finding.State.CONFIRMED):
        return None
    return {
        "since": {"label": str(last.revision)},
        "is_slow": False,
        **{name: getattr(last, name) for name in ("level_before", "level")},
        **{name: getattr(last, name) for name in ("change_pct", "low_pct", "high_pct")},
    }


def stands_of(row: Finding) -> Mapping[str, Any] | None:
    """What stands lost in the series of ``row`` (read `with_today`); None: nothing."""
    found: Mapping[str, Any] | None = (getattr(row, "today", None) or {}).get("stands")
    return found


def stands_by_series(series: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """What stands lost today in those of ``series`` where something does, but for what an option
    costs; one statement.
    """
    return {one: json.loads(stands) for one, stands in rows_of(STANDS, [list(set(series))])}


class Placed(Protocol):
    """A point, or samples, of a series at a revision."""

    @property
    def series_id(self) -> int:
        """Of which series."""

    @property
    def revision(self) -> Revision:
        """At which revision."""


def lost_between(
    stands: Mapping[int, Mapping[str, Any]], a: Placed, b: Placed
) -> Mapping[str, Any] | None:
    """What of ``stands`` (`stands_by_series`) the series of both has lost today, where that loss
    begins between the two; None: nothing.
    """
    found = stands.get(a.series_id) if a.series_id == b.series_id else None
    if found is None:
        return None
    is_between = text.begins_between(found, a.revision.position, b.revision.position)
    return found if is_between else None


def lost_between_ranges(table: RangeTable) -> dict[int, Mapping[str, Any]]:
    """By series what has been lost today, where both ranges are of it and that loss begins between
    them; one statement.
    """
    ends = min(table.a.last.position, table.b.last.position)
    begins = max(table.a.first.position, table.b.first.position)
    its = [row.series.pk for row in table.rows if row.change and row.base.pk == row.series.pk]
    found = stands_by_series(its)
    return {pk: one for pk, one in found.items() if text.begins_between(one, ends, begins)}


def today_beside(row: Finding) -> str:
    """``today 13.0 % slower [−13.3, −12.8] than before r357934, newest value 981,204``; that it is
    as ``row`` has it, or that a loss is won back. Empty where nothing was lost, or a series is too
    young to have two levels.
    """
    stands, series = stands_of(row), row.series
    if stands is None:
        return _not_lost(row)
    return text.today_beside(
        _change(row),
        stands,
        row.today["newest"],  # type: ignore[attr-defined]
        better=series.better,
        unit=series.metric.unit,
        is_cost=series.is_cost,
        least=least_of(series.metric.unit),
    )


def end_levels(row: Finding) -> tuple[str, str] | None:
    """The levels before and after a change of which a percentage is no figure
    (`webapp.charts.text.end_levels`); None of others. Needs the series' metric loaded.
    """
    if row.series.is_cost:
        return None
    least = least_of(row.series.metric.unit)
    return text.end_levels(row.level_before, row.level, row.change_pct, least)


def levels_moved(row: Finding) -> str:
    """``rose from ≤ 1 to 29.95 packets`` of `end_levels`; empty where there are none."""
    levels, unit = end_levels(row), row.series.metric.unit
    grown = (row.change_pct or 0.0) > 0
    return text.levels_moved(levels, grown=grown, unit=unit) if levels else ""


def today_in_short(row: Finding) -> str:
    """The same in a row's few characters: ``today −13.0 % [−13.3, −12.8]``."""
    stands = stands_of(row)
    if stands is None:
        return _not_lost(row)
    return text.short_beside(_change(row), stands, is_cost=row.series.is_cost)


def _change(row: Finding) -> text.Change:
    """Its figures; none where what stands lost today began later: it is another loss."""
    stands = stands_of(row)
    if stands is not None and stands["since"]["position"] > row.position:
        return None, None, None
    return row.change_pct, row.low_pct, row.high_pct


def _not_lost(row: Finding) -> str:
    is_found = row.state in Finding.PROVEN and row.verdict == Verdict.WORSE
    levels = (getattr(row, "today", None) or {}).get("levels") or 0
    if not is_found or row.kind == Finding.Kind.EXCURSION:
        return ""
    return "" if levels < LEAST_LEVELS and row.kind == Finding.Kind.LEVEL else text.WON_BACK
