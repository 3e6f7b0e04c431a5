"""From the names in run documents to rows: trees, revisions, hardware, modes, metrics, series.

Each kind costs one query when everything is known, whatever the number of runs. What may be made
on the way (trees, numbered revisions, modes, metrics, series) is inserted with "on conflict do
nothing" and read again, so that two uploads at once make it once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any
from uuid import UUID

from webapp.labs.models import Agent, Lab
from webapp.labs.services import Stored
from webapp.results.aliases import Alias, Filing, meant
from webapp.results.documents import MetricDocument, RunDocument
from webapp.results.errors import Forbidden, Problem, Unprocessable
from webapp.results.label_parts import VariantPart
from webapp.results.models import (
    Hardware,
    Metric,
    Mode,
    ModeAlias,
    Series,
    Tree,
    Variant,
)
from webapp.results.modes import ModeName
from webapp.results.services.aliased_runs import Named
from webapp.results.services.bulk import fetch_rows
from webapp.results.services.hardware_names import (
    foreign_hardware,
    hardware_named,
    unknown_hardware,
)
from webapp.results.services.names import Remembered
from webapp.results.services.names_in_force import aliases_in_force
from webapp.results.services.placing import Placed, Remarks, place_revisions

# In the order of ids, like everybody who locks series
LOCK_SERIES = """
SELECT tree_id, hardware_id, mode_id, metric_id, COALESCE(variant_id, 0), id
  FROM results_series
 WHERE tree_id = ANY(%s) AND hardware_id = ANY(%s) AND mode_id = ANY(%s) AND metric_id = ANY(%s)
   AND COALESCE(variant_id, 0) = ANY(%s)
 ORDER BY id
   FOR NO KEY UPDATE
"""
FIND_SERIES = LOCK_SERIES.partition(" ORDER BY")[0]
LOCK_SERIES_BESIDES = """
SELECT tree_id, hardware_id, mode_id, metric_id, COALESCE(variant_id, 0), id
  FROM results_series
 WHERE tree_id = ANY(%s) AND hardware_id = ANY(%s) AND mode_id = ANY(%s) AND metric_id = ANY(%s)
   AND COALESCE(variant_id, 0) = ANY(%s)
    OR id = ANY(%s)
 ORDER BY id
   FOR NO KEY UPDATE
"""
SeriesKey = tuple[int, int, int, int, int]
"""The ids of tree, hardware, mode, metric and variant, 0 for the plain kernel."""

PLAIN = 0
TREES: Remembered[Tree] = Remembered()
HARDWARE: Remembered[Hardware] = Remembered()
MODES: Remembered[Mode] = Remembered()
METRICS: Remembered[Metric] = Remembered()
VARIANTS: Remembered[Variant] = Remembered()


@dataclass(frozen=True)
class Subjects:
    """The rows that a batch of documents names, and the modes that these stand for. ``aliased``:
    what the names of runs stand for, where aliases of the lab have them filed under other ones.
    """

    trees: Mapping[str, Tree]
    revisions: Mapping[tuple[str, str], Placed]
    hardware: Mapping[str, Hardware]
    modes: Mapping[str, Mode]
    metrics: Mapping[str, Metric]
    variants: Mapping[str, Variant]
    aliased: Mapping[UUID, Named]
    warnings: Mapping[UUID, list[str]]
    made: Stored

    def series_key(self, run: RunDocument, metric: MetricDocument) -> SeriesKey:
        """The ids of what a metric of the run is about."""
        names = self.names_of(run)
        variant = self.variant_of(run) or PLAIN
        return (self.trees[run.tree].pk, *names, self.metrics[metric.name].pk, variant)

    def names_of(self, run: RunDocument) -> Named:
        """Under which hardware and mode the run is filed."""
        return self.aliased.get(run.uuid) or self.sent_names_of(run)

    def sent_names_of(self, run: RunDocument) -> Named:
        """Under which it was sent."""
        return Named(self.hardware[run.hardware].pk, self.modes[str(run.mode)].pk)

    def options_of(self, run: RunDocument) -> Collection[str]:
        """The options of the mode under which it is filed."""
        return self._options[self.names_of(run).mode]

    @cached_property
    def _options(self) -> dict[int, list[str]]:
        return {mode.pk: mode.options for mode in self.modes.values()}

    def variant_of(self, run: RunDocument) -> int | None:
        """The id of the run's variant; None: the plain kernel."""
        return self.variants[run.variant_name].pk if run.variant else None

    def revision_of(self, run: RunDocument) -> Placed:
        """The revision that the run measured."""
        return self.revisions[run.tree, run.revision]


def resolve(*, runs: Sequence[RunDocument], agent: Agent, register: bool) -> Subjects:
    """The rows that ``runs`` name. Raises with every problem that it found, not the first.

    Raises:
        Unprocessable: hardware that nobody registered, a revision without a place on its tree,
            a metric with another unit than it is known with.
        Forbidden: hardware of another lab.
    """
    remarks, lab = Remarks(), agent.lab
    problems = remarks.problems
    hardware = _hardware(runs, problems, lab if register else None)
    made = Stored()
    trees = TREES.get({run.tree for run in runs}, partial(_find_trees, made=made))
    metrics = _metrics(runs, remarks)
    revisions = place_revisions(runs, trees, agent, remarks)
    if problems:
        raise Unprocessable(problems)
    if foreign := foreign_hardware(_named(runs), hardware, lab.pk):
        raise Forbidden(foreign)
    modes = modes_named(run.mode for run in runs)
    variants = variants_of(run.variant for run in runs if run.variant)
    named = Subjects(
        trees, revisions, hardware, modes, metrics, variants, {}, remarks.warnings, made
    )
    aliases = aliases_in_force(lab.pk)
    return _with_aliased(runs, named, aliases) if aliases else named


def lock_series(
    keys: Iterable[SeriesKey], besides: Collection[int] = (), made: Stored | None = None
) -> dict[SeriesKey, int]:
    """The ids of the series of ``keys``, made when new, locked in their order (no deadlock).

    ``besides``: ids of further ones to lock with them. ``made`` counts the new ones. The lock
    leaves foreign keys alone: a worker that commits comparisons need not wait for it.
    """
    wanted = set(keys)
    if besides:
        # All in one order: first make what is missing, without a lock.
        _make_series(wanted - _locked(wanted, FIND_SERIES).keys(), made)
        return _locked(wanted, LOCK_SERIES_BESIDES, sorted(besides))
    found = _locked(wanted)
    if missing := wanted - found.keys():
        _make_series(missing, made)
        found = _locked(wanted)
    return found


def _make_series(keys: set[SeriesKey], made: Stored | None) -> None:
    """Those of ``keys``, which are new."""
    if made is not None:
        made.series += len(keys)
    Series.objects.bulk_create(
        [
            Series(
                tree_id=tree,
                hardware_id=hardware,
                mode_id=mode,
                metric_id=metric,
                variant_id=variant or None,
            )
            for tree, hardware, mode, metric, variant in sorted(keys)
        ],
        ignore_conflicts=True,
    )


def _locked(
    keys: set[SeriesKey], statement: str = LOCK_SERIES, *parameters: Any
) -> dict[SeriesKey, int]:
    columns = (sorted(set(column)) for column in zip(*keys, strict=True))
    rows = fetch_rows(statement, *columns, *parameters)
    found: dict[Any, int] = {tuple(key): pk for *key, pk in rows}
    return {key: found[key] for key in keys if key in found}


def _hardware(
    runs: Sequence[RunDocument], problems: list[Problem], register_for: Lab | None
) -> dict[str, Hardware]:
    names = {run.hardware for run in runs}
    found = HARDWARE.get(names, partial(_find_hardware, register_for=register_for))
    problems += unknown_hardware(_named(runs), found)
    return found


def _find_hardware(names: set[str], register_for: Lab | None) -> dict[str, Hardware]:
    """What is not known is registered where that is wanted."""
    found = hardware_named(names)
    missing = names - found.keys()
    if missing and register_for is not None:
        Hardware.objects.bulk_create(
            [Hardware(name=name, lab=register_for) for name in sorted(missing)],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in Hardware.objects.filter(name__in=missing)}
    return found


def _named(runs: Sequence[RunDocument]) -> list[tuple[str, str]]:
    return [(f"runs[{i}].hardware", run.hardware) for i, run in enumerate(runs)]


def _find_trees(names: set[str], made: Stored) -> dict[str, Tree]:
    found = {row.name: row for row in Tree.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        made.trees += len(missing)
        Tree.objects.bulk_create(
            [Tree(name=name) for name in sorted(missing)], ignore_conflicts=True
        )
        found |= {row.name: row for row in Tree.objects.filter(name__in=missing)}
    return found


def modes_named(modes: Iterable[ModeName]) -> dict[str, Mode]:
    """By their names, present or former; those that are new are made."""
    names = {str(mode): mode for mode in modes}
    return MODES.get(names, partial(_find_modes, parts=names))


def variants_of(variants: Iterable[tuple[VariantPart, ...]]) -> dict[str, Variant]:
    """The variants of these parts by their names, made where they are new."""
    parts = {"+".join(map(str, one)): one for one in variants}
    return VARIANTS.get(parts, partial(_find_variants, parts=parts)) if parts else {}


def _find_variants(
    names: set[str], parts: Mapping[str, tuple[VariantPart, ...]]
) -> dict[str, Variant]:
    found = {row.name: row for row in Variant.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        Variant.objects.bulk_create(
            [
                Variant(name=name, parts=[part.to_data() for part in parts[name]])
                for name in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in Variant.objects.filter(name__in=missing)}
    return found


def _with_aliased(
    runs: Sequence[RunDocument], subjects: Subjects, aliases: Sequence[Alias]
) -> Subjects:
    """``subjects`` with what the names of ``runs`` stand for, of those where that is something
    else."""
    sent = {run.uuid: subjects.sent_names_of(run) for run in runs}
    found = {}
    for run in runs:
        mode = subjects.modes[str(run.mode)].parts
        names = meant(sent[run.uuid].hardware, mode, _filing(run, subjects), aliases)
        if names != (sent[run.uuid].hardware, mode):
            found[run.uuid] = names
    modes = modes_named(mode for _, mode in found.values()) if found else {}
    named = {uuid: Named(pk, modes[str(mode)].pk) for uuid, (pk, mode) in found.items()}
    aliased = {uuid: names for uuid, names in named.items() if names != sent[uuid]}
    return replace(subjects, aliased=aliased, modes={**subjects.modes, **modes})


def _filing(run: RunDocument, subjects: Subjects) -> Filing:
    """Where the run lies, as `filing_of` tells it of a stored one."""
    place = subjects.revision_of(run)
    seen = run.evidence
    called = (seen.directory, seen.label, seen.session_name) if seen else ()
    tree = subjects.trees[run.tree].pk
    return Filing(tree, None if place.is_waiting else place.position, called)


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


def _metrics(runs: Sequence[RunDocument], remarks: Remarks) -> dict[str, Metric]:
    """The first upload proposes unit and direction. Numbers in another unit cannot be pooled; which
    direction is better changes no number, and is an operator's to decide.
    """
    first = {metric.name: metric for run in reversed(runs) for metric in run.metrics}
    found = METRICS.get(first, partial(_find_metrics, documents=first))
    for i, run in enumerate(runs):
        for metric in run.metrics:
            known = found[metric.name]
            if metric.unit != known.unit:
                remarks.problems.append(_other_unit(i, metric, known))
            elif metric.better != known.better:
                remarks.warnings[run.uuid].append(_other_direction(metric, known))
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


def _other_unit(index: int, metric: MetricDocument, known: Metric) -> Problem:
    return Problem(
        f"runs[{index}].metrics.{metric.name}.unit",
        f"{metric.name} has unit {known.unit!r} here, not {metric.unit!r}; send it under another "
        "metric name or as it is known (an operator may correct the unit of a metric)",
    )


def _other_direction(metric: MetricDocument, known: Metric) -> str:
    return (
        f"of {metric.name}, {known.better} is better here, not {metric.better}: the run is stored "
        "and judged so until an operator changes the metric"
    )
