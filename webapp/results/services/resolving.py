"""From the names in run documents to rows: trees, revisions, hardware, modes, metrics, series.

Each kind costs one query when everything is known, whatever the number of runs. What may be made
on the way (trees, numbered revisions, modes, metrics, series) is inserted with "on conflict do
nothing" and read again, so that two uploads at once make it once.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from webapp.labs.models import Lab
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.errors import Forbidden, Problem, Unprocessable
from webapp.results.models import (
    Hardware,
    HardwareAlias,
    Metric,
    Mode,
    ModeAlias,
    Series,
    Tree,
)
from webapp.results.modes import ModeName
from webapp.results.services.bulk import fetch_rows
from webapp.results.services.names import Remembered
from webapp.results.services.placing import Placed, place_revisions

NEAREST_SHOWN = 3
# In the order of ids, like everybody who locks series
LOCK_SERIES = """
SELECT tree_id, hardware_id, mode_id, metric_id, id
  FROM results_series
 WHERE tree_id = ANY(%s) AND hardware_id = ANY(%s) AND mode_id = ANY(%s) AND metric_id = ANY(%s)
 ORDER BY id
   FOR NO KEY UPDATE
"""
SeriesKey = tuple[int, int, int, int]
TREES: Remembered[Tree] = Remembered()
HARDWARE: Remembered[Hardware] = Remembered()
MODES: Remembered[Mode] = Remembered()
METRICS: Remembered[Metric] = Remembered()


@dataclass(frozen=True)
class Subjects:
    """The rows that a batch of documents names."""

    trees: Mapping[str, Tree]
    revisions: Mapping[tuple[str, str], Placed]
    hardware: Mapping[str, Hardware]
    modes: Mapping[str, Mode]
    metrics: Mapping[str, Metric]

    def series_key(self, run: RunDocument, metric: MetricDocument) -> SeriesKey:
        return (
            self.trees[run.tree].pk,
            self.hardware[run.hardware].pk,
            self.modes[str(run.mode)].pk,
            self.metrics[metric.name].pk,
        )

    def revision_of(self, run: RunDocument) -> Placed:
        return self.revisions[run.tree, run.revision]


def resolve(*, runs: Sequence[RunDocument], lab: Lab, register: bool) -> Subjects:
    """The rows that ``runs`` name. Raises with every problem that it found, not the first.

    Raises:
        Unprocessable: hardware that nobody registered, a revision without a place on its tree,
            a metric with another unit or direction than it is known with.
        Forbidden: hardware of another lab.
    """
    problems: list[Problem] = []
    hardware = _hardware(runs, lab, problems, register=register)
    trees = TREES.get({run.tree for run in runs}, _find_trees)
    revisions = place_revisions(runs, trees, problems)
    metrics = _metrics(runs, problems)
    if problems:
        raise Unprocessable(problems)
    _refuse_foreign(runs, hardware, lab)
    return Subjects(trees, revisions, hardware, _modes(runs), metrics)


def lock_series(keys: Iterable[SeriesKey]) -> dict[SeriesKey, int]:
    """The ids of the series of ``keys``, made when new, locked in their order (no deadlock).

    The lock leaves foreign keys alone: a worker that commits comparisons need not wait for it.
    """
    wanted = set(keys)
    found = _locked(wanted)
    missing = wanted - found.keys()
    if missing:
        Series.objects.bulk_create(
            [
                Series(tree_id=tree, hardware_id=hardware, mode_id=mode, metric_id=metric)
                for tree, hardware, mode, metric in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        found = _locked(wanted)
    return found


def _locked(keys: set[SeriesKey]) -> dict[SeriesKey, int]:
    rows = fetch_rows(LOCK_SERIES, *(sorted(set(column)) for column in zip(*keys, strict=True)))
    found = {(tree, hardware, mode, metric): pk for tree, hardware, mode, metric, pk in rows}
    return {key: found[key] for key in keys if key in found}


def _hardware(
    runs: Sequence[RunDocument], lab: Lab, problems: list[Problem], *, register: bool
) -> dict[str, Hardware]:
    names = {run.hardware for run in runs}
    found = HARDWARE.get(names, partial(_find_hardware, register_for=lab if register else None))
    missing = names - found.keys()
    if missing:
        known = list(Hardware.objects.values_list("name", flat=True))
        problems += [
            Problem(f"runs[{i}].hardware", unknown_hardware(run.hardware, known))
            for i, run in enumerate(runs)
            if run.hardware in missing
        ]
    return found


def _find_hardware(names: set[str], register_for: Lab | None) -> dict[str, Hardware]:
    """By present name, then by former one; the rest is registered where that is wanted."""
    found = {row.name: row for row in Hardware.objects.filter(name__in=names)}
    missing = names - found.keys()
    if not missing:
        return found
    for alias in HardwareAlias.objects.filter(name__in=missing).select_related("hardware"):
        found[alias.name] = alias.hardware
    missing -= found.keys()
    if missing and register_for is not None:
        Hardware.objects.bulk_create(
            [Hardware(name=name, lab=register_for) for name in sorted(missing)],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in Hardware.objects.filter(name__in=missing)}
    return found


def unknown_hardware(name: str, known: Sequence[str]) -> str:
    """What to tell somebody who named hardware that is not registered."""
    near = difflib.get_close_matches(name, known, NEAREST_SHOWN, cutoff=0.3)
    hint = f"; the nearest known: {', '.join(near)}" if near else ""
    return (
        f"{name!r} is not registered{hint}. Register it with `labagent hardware add {name}`, "
        "or send with --register"
    )


def _refuse_foreign(runs: Sequence[RunDocument], hardware: dict[str, Hardware], lab: Lab) -> None:
    foreign = [
        Problem(f"runs[{i}].hardware", f"{run.hardware!r} belongs to another lab than this token")
        for i, run in enumerate(runs)
        if hardware[run.hardware].lab_id != lab.pk
    ]
    if foreign:
        raise Forbidden(foreign)


def _find_trees(names: set[str]) -> dict[str, Tree]:
    found = {row.name: row for row in Tree.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        Tree.objects.bulk_create(
            [Tree(name=name) for name in sorted(missing)], ignore_conflicts=True
        )
        found |= {row.name: row for row in Tree.objects.filter(name__in=missing)}
    return found


def _modes(runs: Sequence[RunDocument]) -> dict[str, Mode]:
    names = {str(run.mode): run.mode for run in runs}
    return MODES.get(names, partial(_find_modes, parts=names))


def _find_modes(names: set[str], parts: Mapping[str, ModeName]) -> dict[str, Mode]:
    found = {row.name: row for row in Mode.objects.filter(name__in=names)}
    missing = names - found.keys()
    if not missing:
        return found
    for alias in ModeAlias.objects.filter(name__in=missing).select_related("mode"):
        found[alias.name] = alias.mode
    missing -= found.keys()
    if missing:
        Mode.objects.bulk_create(
            [Mode.from_name(parts[name]) for name in sorted(missing)], ignore_conflicts=True
        )
        found |= {row.name: row for row in Mode.objects.filter(name__in=missing)}
    return found


def _metrics(runs: Sequence[RunDocument], problems: list[Problem]) -> dict[str, Metric]:
    first = {metric.name: metric for run in reversed(runs) for metric in run.metrics}
    found = METRICS.get(first, partial(_find_metrics, documents=first))
    for i, run in enumerate(runs):
        for metric in run.metrics:
            known = found[metric.name]
            if metric.unit != known.unit:
                problems.append(_unlike(i, metric.name, "unit", metric.unit, known.unit))
            if metric.better != known.better:
                problems.append(_unlike(i, metric.name, "better", metric.better, known.better))
    return found


def _find_metrics(names: set[str], documents: Mapping[str, MetricDocument]) -> dict[str, Metric]:
    found = {row.name: row for row in Metric.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        Metric.objects.bulk_create(
            [
                Metric(name=name, unit=documents[name].unit, better=documents[name].better)
                for name in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in Metric.objects.filter(name__in=missing)}
    return found


def _unlike(index: int, metric: str, field: str, sent: str, held: str) -> Problem:
    return Problem(
        f"runs[{index}].metrics.{metric}.{field}",
        f"{metric} has {field} {held!r} here, not {sent!r}; "
        "send it under another metric name or as it is known",
    )
