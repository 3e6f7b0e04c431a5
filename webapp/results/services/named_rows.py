"""Rows by the names that documents and people give: trees, hardware, modes, metrics, variants; and
the series about them. What may be made on the way is made once, whoever else makes it.

The names of an upload are nearly always those of the last one. Their rows are remembered in the
process for a short while. What another process changed meanwhile is seen late, but never stored
wrongly: a row that is gone fails its foreign key, and the upload is tried again after
``forget_names``.
"""

import difflib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import transaction

from webapp.labs.models import Lab
from webapp.labs.services import Stored
from webapp.results import models
from webapp.results.documents import MetricDocument, Problem
from webapp.results.queries import rows_of
from webapp.results.spellings import ModeName, VariantPart

SECONDS = 30.0
MOST_NAMES = 10_000
NEAREST_SHOWN = 3
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
PLAIN = 0
SeriesKey = tuple[int, int, int, int, int]
"""The ids of tree, hardware, mode, metric and variant, 0 for the plain kernel."""
InDocument = Collection[tuple[str, str]]
"""Where in a document a name stands, and the name."""
Row = TypeVar("Row")
_ALL: list["Remembered[Any]"] = []


class HardwareAndMode(NamedTuple):
    """Both by their ids."""

    hardware: int
    mode: int


class Remembered(Generic[Row]):
    """Name → row, each for ``SECONDS``. Threads may share it."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[float, Row]] = {}
        self._lock = Lock()
        _ALL.append(self)

    def get(
        self, names: Collection[str], look_up: Callable[[set[str]], dict[str, Row]]
    ) -> dict[str, Row]:
        """The rows of ``names``; those not remembered come from ``look_up``, which may lack some.

        Rows are remembered when the present transaction is committed: it may have made them.
        """
        oldest = time.monotonic() - SECONDS
        with self._lock:
            remembered = {
                name: kept[1]
                for name in names
                if (kept := self._rows.get(name)) is not None and kept[0] > oldest
            }
        missing = set(names) - remembered.keys()
        if not missing:
            return remembered
        found = look_up(missing)
        transaction.on_commit(partial(self._remember, found))
        return remembered | found

    def forget(self) -> None:
        """Drop all of it: a row that is remembered may be gone."""
        with self._lock:
            self._rows.clear()

    def _remember(self, rows: dict[str, Row]) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._rows) + len(rows) > MOST_NAMES:
                self._rows.clear()
            self._rows |= {name: (now, row) for name, row in rows.items()}


TREES: Remembered[models.Tree] = Remembered()
HARDWARE: Remembered[models.Hardware] = Remembered()
MODES: Remembered[models.Mode] = Remembered()
METRICS: Remembered[models.Metric] = Remembered()
VARIANTS: Remembered[models.Variant] = Remembered()


def forget_names() -> None:
    """Look everything up anew from now on."""
    for remembered in _ALL:
        remembered.forget()


def trees_named(names: Collection[str], made: Stored) -> dict[str, models.Tree]:
    """By their names; those that are new are made, and counted in ``made``."""
    return TREES.get(names, partial(_find_trees, made=made))


def remembered_hardware(
    names: Collection[str], register_for: Lab | None
) -> dict[str, models.Hardware]:
    """By their names; what is not known is registered where that is wanted."""
    return HARDWARE.get(names, partial(_find_hardware, register_for=register_for))


def hardware_named(names: Iterable[str]) -> dict[str, models.Hardware]:
    """By present name, then by former one, in two queries; without what nobody registered."""
    wanted = set(names)
    found = {row.name: row for row in models.Hardware.objects.filter(name__in=wanted)}
    if missing := wanted - found.keys():
        former = models.HardwareAlias.objects.filter(name__in=missing).select_related("hardware")
        found |= {alias.name: alias.hardware for alias in former}
    return found


def unknown_hardware(named: InDocument, found: Mapping[str, models.Hardware]) -> list[Problem]:
    """A problem for each name that is not among ``found``, with the nearest that are registered."""
    missing = [(path, name) for path, name in named if name not in found]
    if not missing:
        return []
    known = list(models.Hardware.objects.values_list("name", flat=True))
    return [Problem(path, _not_registered(name, known)) for path, name in missing]


def foreign_hardware(
    named: InDocument, found: Mapping[str, models.Hardware], lab: int
) -> list[Problem]:
    """A problem for each hardware that belongs to another lab than ``lab`` (an id)."""
    return [
        Problem(path, f"{name!r} belongs to another lab than this token")
        for path, name in named
        if found[name].lab_id != lab
    ]


def modes_named(modes: Iterable[ModeName]) -> dict[str, models.Mode]:
    """By their names, present or former; those that are new are made."""
    names = {str(mode): mode for mode in modes}
    return MODES.get(names, partial(_find_modes, parts=names))


def metrics_named(documents: Mapping[str, MetricDocument]) -> dict[str, models.Metric]:
    """By their names; those that are new have the unit and the direction of their documents."""
    return METRICS.get(documents, partial(_find_metrics, documents=documents))


def variants_of(variants: Iterable[tuple[VariantPart, ...]]) -> dict[str, models.Variant]:
    """The variants of these parts by their names, made where they are new."""
    parts = {"+".join(map(str, one)): one for one in variants}
    return VARIANTS.get(parts, partial(_find_variants, parts=parts)) if parts else {}


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
    models.Series.objects.bulk_create(
        [
            models.Series(
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
    rows = rows_of(statement, [*columns, *parameters])
    found: dict[Any, int] = {tuple(key): pk for *key, pk in rows}
    return {key: found[key] for key in keys if key in found}


def _find_trees(names: set[str], made: Stored) -> dict[str, models.Tree]:
    found = {row.name: row for row in models.Tree.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        made.trees += len(missing)
        models.Tree.objects.bulk_create(
            [models.Tree(name=name) for name in sorted(missing)], ignore_conflicts=True
        )
        found |= {row.name: row for row in models.Tree.objects.filter(name__in=missing)}
    return found


def _find_hardware(names: set[str], register_for: Lab | None) -> dict[str, models.Hardware]:
    found = hardware_named(names)
    missing = names - found.keys()
    if missing and register_for is not None:
        models.Hardware.objects.bulk_create(
            [models.Hardware(name=name, lab=register_for) for name in sorted(missing)],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in models.Hardware.objects.filter(name__in=missing)}
    return found


def _not_registered(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, NEAREST_SHOWN, cutoff=0.3)
    hint = f"; the nearest known: {', '.join(near)}" if near else ""
    return (
        f"{name!r} is not registered{hint}. Register it with `labagent hardware add {name}`, "
        "or send with --register"
    )


def _find_modes(names: set[str], parts: Mapping[str, ModeName]) -> dict[str, models.Mode]:
    found = {row.name: row for row in models.Mode.objects.filter(name__in=names)}
    missing = names - found.keys()
    if not missing:
        return found
    for alias in models.ModeAlias.objects.filter(name__in=missing).select_related("mode"):
        found[alias.name] = alias.mode
    missing -= found.keys()
    if missing:
        models.Mode.objects.bulk_create(
            [models.Mode.from_name(parts[name]) for name in sorted(missing)], ignore_conflicts=True
        )
        found |= {row.name: row for row in models.Mode.objects.filter(name__in=missing)}
    return found


def _find_metrics(
    names: set[str], documents: Mapping[str, MetricDocument]
) -> dict[str, models.Metric]:
    found = {row.name: row for row in models.Metric.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        models.Metric.objects.bulk_create(
            [
                models.Metric(name=name, unit=documents[name].unit, better=documents[name].better)
                for name in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in models.Metric.objects.filter(name__in=missing)}
    return found


def _find_variants(
    names: set[str], parts: Mapping[str, tuple[VariantPart, ...]]
) -> dict[str, models.Variant]:
    found = {row.name: row for row in models.Variant.objects.filter(name__in=names)}
    missing = names - found.keys()
    if missing:
        models.Variant.objects.bulk_create(
            [
                models.Variant(name=name, parts=[part.to_data() for part in parts[name]])
                for name in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        found |= {row.name: row for row in models.Variant.objects.filter(name__in=missing)}
    return found
