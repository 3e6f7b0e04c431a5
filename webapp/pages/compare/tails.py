"""The histograms behind a row about one of their quantiles: curves, map, power."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from math import log, sqrt
from statistics import fmean, variance

from webapp.analysis.queries import ComparedRow, ComparedSet, Side, compare_link
from webapp.charts import quantiles
from webapp.charts.quantiles import Curve
from webapp.charts.text import half_width
from webapp.pages.parts.figures import Drawn, OverRevisions, as_json, over_revisions
from webapp.results.models import Histograms, derived_name, histogram_name
from webapp.results.queries import histograms_at
from webapp.stats.histograms import DERIVED, Histogram, least_values
from webapp.stats.limits import worth_telling
from webapp.stats.power import NoiseLevels, Plan, provable_change

PERCENT = 100


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of each set, the mean of its boots; None where none has enough values. ``power``
    is what the scatter of the boots lets a comparison detect, ``link`` the comparison in it."""

    quantile: str
    means: Sequence[float | None]
    power: str
    link: str


@dataclass(frozen=True, slots=True)
class Tails:
    """What a page shows of histograms. ``over_revisions`` is None where few revisions have any."""

    name: str
    labels: Sequence[str]
    curves: Drawn
    rows: Sequence[Quantile]
    over_revisions: OverRevisions | None


def tails_of(sides: Sequence[Side], row: ComparedRow, asof: datetime | None) -> Tails | None:
    """The histograms of a row in a metric that is derived of some; None: its metric is not."""
    name = histogram_name(row.metric.name)
    if name is None:
        return None
    found = _stored(name, row.sets, asof)
    if not all(found):
        return None
    boots = [[one for each in side for one in each.histograms] for side in found]
    unit_of = "boots" if all(each.boots for side in found for each in side) else "runs"
    labels = [one.label for one in row.sets]
    unit = row.metric.unit
    base = row.sets[0]
    newest = max(one.revision.position for one in row.sets if one.series_id == base.series_id)
    curves = list(map(partial(_curve, unit_of), labels, boots))
    return Tails(
        name=name,
        labels=labels,
        curves=Drawn(
            quantiles.curves(curves, unit=unit), as_json(quantiles.curves_figure(curves, unit=unit))
        ),
        rows=[_quantile(one, name, sides, boots, unit_of) for one in DERIVED],
        over_revisions=over_revisions(name, base.series_id, newest, asof, unit=unit),
    )


def _stored(
    name: str, sets: Sequence[ComparedSet], asof: datetime | None
) -> list[list[Histograms]]:
    """The histograms of the runs of each set."""
    series, revisions = {one.series_id for one in sets}, {one.revision.pk for one in sets}
    found = histograms_at(name, series, revisions, asof)
    return [
        [
            each.of_run
            for each in found
            if (each.series, each.revision) == (one.series_id, one.revision.pk)
            and each.session in one.sessions
        ]
        for one in sets
    ]


def _curve(unit_of: str, label: str, boots: Sequence[Histogram]) -> Curve:
    label = f"{label}, {len(boots)} {unit_of if len(boots) > 1 else unit_of[:-1]}"
    whole = Histogram.together(boots)
    return Curve(label, whole.total, whole.curve(), [one.curve() for one in boots])


def _quantile(
    quantile: str,
    name: str,
    sides: Sequence[Side],
    boots: Sequence[Sequence[Histogram]],
    unit_of: str,
) -> Quantile:
    derived = [[one.derived().get(quantile) for one in side] for side in boots]
    values = [[one for one in side if one is not None] for side in derived]
    metric = derived_name(name, quantile)
    return Quantile(
        quantile,
        [fmean(side) if side else None for side in values],
        _power(quantile, values, unit_of),
        compare_link(*(replace(side, metric=metric) for side in sides)),
    )


def _power(quantile: str, sides: Sequence[Sequence[float]], unit_of: str) -> str:
    """The change that is detected in 80 of 100 cases by the boots or runs there are, or why none
    is."""
    if not all(sides):
        return f"needs {least_values(quantile):,} values in each of the {unit_of}"
    fewest = min(map(len, sides))
    if fewest == 1 or min(chain.from_iterable(sides)) <= 0:
        return f"needs two {unit_of} a side" if fewest == 1 else "not known: some are 0"
    logs = [[log(value) for value in side] for side in sides]
    df = sum(len(side) - 1 for side in logs)
    scatter = sqrt(sum(variance(side) * (len(side) - 1) for side in logs) / df)
    noise = NoiseLevels(run=0.0, boot=PERCENT * scatter, df=df)
    percent = worth_telling(provable_change(Plan(1, fewest, 1), noise))
    with_boots = f"with {fewest} {unit_of} a side"
    return f"≥ {half_width(percent)} % {with_boots}" if percent else f"nothing {with_boots}"
