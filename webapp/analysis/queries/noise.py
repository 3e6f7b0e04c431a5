"""What the history of a series says of its noise, as comparisons and pages use it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from webapp.analysis.models import SeriesAnalysis, SeriesSettings
from webapp.results.models import Series
from webapp.stats.better import Better
from webapp.stats.compare import BuildNoise


class SeriesFacts(NamedTuple):
    """How to judge one series: its direction, its margin, and its noise between builds.

    ``build_noise`` is None where the history does not tell it. Percentages are of the level.
    """

    better: Better
    margin_pct: float
    build_noise: BuildNoise | None


def facts_of(series: Iterable[Series]) -> dict[int, SeriesFacts]:
    """The facts of each series (with its metric at hand), in two queries, in three where there are
    variants. A variant, which has no history of its own, is judged as the plain kernel is.
    """
    rows = {one.pk: one for one in series}
    asked = {pk: one for pk, one in rows.items() if one.is_plain} | _plain_twins(rows.values())
    known = {one.pk for one in asked.values()}
    noises = dict(
        SeriesAnalysis.objects.filter(series__in=known).values_list("series_id", "summary__noise")
    )
    settings = SeriesSettings.objects.in_bulk(list(known))
    found = {pk: asked.get(pk, one) for pk, one in rows.items()}
    return {
        pk: _facts(one, settings.get(one.pk), {"noise": noises.get(one.pk)})
        for pk, one in found.items()
    }


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


def _facts(series: Series, settings: SeriesSettings | None, summary: dict[str, Any]) -> SeriesFacts:
    margin = settings.margin_pct if settings else None
    return SeriesFacts(
        better=series.better,
        margin_pct=SeriesSettings.DEFAULT_MARGIN_PCT if margin is None else margin,
        build_noise=build_noise_of(summary),
    )


def build_noise_of(summary: dict[str, Any]) -> BuildNoise | None:
    """The noise between builds that the series itself measured, None where it did not yet.

    The guess that the detector starts with counts for nothing here: a comparison that rested on it
    would call equal builds different in 15 and 29 of 100 cases where they scatter twice and four
    times as much as runs do (`python -m benchmarks.worlds`, histories of eight revisions).
    """
    noise = summary.get("noise") or {}
    return noise_from(noise.get("measured_build_pct"), noise.get("measured_freedom"))


def noise_from(percent: float | str | None, freedom: float | str | None) -> BuildNoise | None:
    """`build_noise_of` of the two figures that it rests on, as numbers or their text."""
    if percent is None or freedom is None or float(freedom) < 1:
        return None
    return BuildNoise(float(percent), float(freedom))
