"""Series and revisions as pages name them, each tree, machine, mode, metric and variant made once.

A commit of twenty machines has hundreds of series, whose subjects are few: ``select_related`` makes
them anew in every row, which takes longer than everything else that a page does with them. Other
statements take `SERIES_COLUMNS` and `SERIES_JOINS` in, and read their rows with `SeriesReader`.

The pages of alerts are read every morning by everybody. Django composing their queries took more
processor time than PostgreSQL answering them, so the reads of these pages are written out, a
statement for each thing that a page shows, and models are made of their rows.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import Model
from django.db.models.base import ModelState

from webapp.labs.models import Lab
from webapp.results.models import Hardware, Metric, Mode, Revision, Series, Tree, Variant
from webapp.results.models.series import USUAL_METRIC, better_of, subject_text
from webapp.stats.metrics import Better

PARENTS = """
SELECT cost.id, with_it.id, without.id
  FROM results_series AS cost
  JOIN results_metric AS metric ON metric.id = cost.metric_id
  JOIN results_mode AS mode ON mode.id = cost.mode_id
  JOIN results_series AS with_it
    ON with_it.tree_id = cost.tree_id AND with_it.hardware_id = cost.hardware_id
   AND with_it.mode_id = cost.mode_id AND with_it.metric_id = metric.of_id
   AND with_it.variant_id IS NULL
  JOIN results_mode AS plainer
    ON plainer.workload = mode.workload AND plainer.traffic = mode.traffic
   AND plainer.options = array_remove(mode.options, metric.option)
  JOIN results_series AS without
    ON without.tree_id = cost.tree_id AND without.hardware_id = cost.hardware_id
   AND without.mode_id = plainer.id AND without.metric_id = metric.of_id
   AND without.variant_id IS NULL
 WHERE cost.id = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Parents:
    """The series (ids) that were measured with and without the option."""

    with_it: int
    without: int


SERIES_COLUMNS = """
       series.id, series.own_better, series.tree_id, tree.name, series.hardware_id, hardware.name,
       hardware.display_name, hardware.cpu, hardware.nic, hardware.agreed_cpu, hardware.agreed_nic,
       lab.id, lab.name, lab.simulated,
       series.mode_id, mode.name, mode.workload, mode.traffic, mode.options,
       series.metric_id, metric.name, metric.unit, metric.better,
       series.variant_id, variant.name, metric.of_id, metric.option"""

SERIES_WIDTH = 27
"""How many columns these are."""

SERIES_JOINS = """
  JOIN results_tree AS tree ON tree.id = series.tree_id
  JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  LEFT JOIN results_variant AS variant ON variant.id = series.variant_id"""

SERIES = f"""
SELECT {SERIES_COLUMNS}
  FROM results_series AS series {SERIES_JOINS}
 WHERE series.id = ANY(%s)
"""  # noqa: S608 (names of columns and tables; no value of a request is in this text)

MACHINES = """
SELECT id, name, display_name, cpu, nic, agreed_cpu, agreed_nic
  FROM results_hardware WHERE name = ANY(%s)
"""

VARIANTS = """
SELECT DISTINCT point.position, variant.name COLLATE "C", point.revision_id
  FROM results_variant AS variant
  JOIN results_series AS series ON series.variant_id = variant.id
  JOIN results_point AS point ON point.series_id = series.id
 WHERE series.variant_id IS NOT NULL AND point.revision_id = ANY(%s)
 ORDER BY 1, 2, 3
 LIMIT %s
"""

SUBJECT = f"""
CASE WHEN metric.of_id IS NULL AND metric.name = '{USUAL_METRIC}' THEN mode.name
     WHEN metric.of_id IS NULL THEN metric.name || ' of ' || mode.name
     ELSE 'cost of ' || metric.option || ' in ' || mode.workload
          || CASE WHEN mode.traffic = '' THEN '' ELSE '@' || mode.traffic END
          || array_to_string(
                 ARRAY(SELECT '+' || kept
                         FROM unnest(array_remove(mode.options, metric.option)) AS kept), '')
     END
"""  # noqa: S608 (a constant; no value of a request is in this text)


def subject_sql(mode: str, metric: str) -> str:
    """What a sentence calls a series (`Series.subject`), of the aliases of its mode and metric."""
    return SUBJECT.replace("mode.", f"{mode}.").replace("metric.", f"{metric}.")


# One step along an index for each series, however long its history is.
IN_WINDOWS = f"""
SELECT {SERIES_COLUMNS}, series.version, series.session_starts,
       (SELECT position FROM results_point AS point WHERE point.series_id = series.id
         ORDER BY position DESC LIMIT 1 OFFSET %(before)s)
  FROM results_series AS series {SERIES_JOINS}
 WHERE series.id = ANY(%(series)s)
"""  # noqa: S608 (names of columns and tables; no value of a request is in this text)


class NamedSeries(NamedTuple):
    """A series with everything a label names. What is not named in one (descriptions, versions,
    when it was made) is not read. No model: one takes forty times as long to make.
    """

    pk: int
    own_better: str
    tree: Tree
    hardware: Hardware
    mode: Mode
    metric: Metric
    variant: Variant | None

    @property
    def is_plain(self) -> bool:
        """Whether it is of the kernel as its tree has it."""
        return self.variant is None

    @property
    def is_cost(self) -> bool:
        """As `Series.is_cost`."""
        return self.metric.is_cost

    @property
    def subject(self) -> str:
        """As `Series.subject`."""
        return subject_text(self.mode, self.metric)

    @property
    def mode_text(self) -> str:
        """As `Series.mode_text`."""
        return self.subject if self.is_cost else str(self.mode)

    @property
    def better(self) -> Better:
        """As `Series.better`."""
        return better_of(self.own_better, self.metric)


class SeriesReader:
    """Makes series of rows of `SERIES_COLUMNS`: one reader for the rows of one statement."""

    def __init__(self) -> None:
        self._trees: dict[int, Tree] = {}
        self._machines: dict[int, Hardware] = {}
        self._modes: dict[int, Mode] = {}
        self._metrics: dict[int, Metric] = {}
        self._variants: dict[int | None, Variant | None] = {None: None}

    def read(self, row: Sequence[Any]) -> NamedSeries:
        """The series of the first `SERIES_WIDTH` columns of ``row``."""
        tree, machine, mode, metric, variant = row[2], row[4], row[14], row[19], row[23]
        if tree not in self._trees:
            self._trees[tree] = Tree(pk=tree, name=row[3])
        if machine not in self._machines:
            self._machines[machine] = _machine(row)
        if mode not in self._modes:
            self._modes[mode] = Mode(
                pk=mode, name=row[15], workload=row[16], traffic=row[17], options=row[18]
            )
        if metric not in self._metrics:
            self._metrics[metric] = Metric(
                pk=metric, name=row[20], unit=row[21], better=row[22], of_id=row[25], option=row[26]
            )
        if variant not in self._variants:
            self._variants[variant] = Variant(pk=variant, name=row[24])
        return NamedSeries(
            row[0],
            row[1],
            self._trees[tree],
            self._machines[machine],
            self._modes[mode],
            self._metrics[metric],
            self._variants[variant],
        )


def _machine(row: Sequence[Any]) -> Hardware:
    machine = machine_of(row[4:11])
    machine.lab = Lab(pk=row[11], name=row[12], simulated=row[13])
    return machine


def machine_of(row: Sequence[Any]) -> Hardware:
    """A machine by its id and what it is called by: ``name``, ``display_name``, ``cpu``, ``nic``,
    ``agreed_cpu``, ``agreed_nic``.
    """
    pk, name, display_name, cpu, nic, agreed_cpu, agreed_nic = row
    agreed = {"agreed_cpu": agreed_cpu, "agreed_nic": agreed_nic}
    return Hardware(pk=pk, name=name, display_name=display_name, cpu=cpu, nic=nic, **agreed)


def called(names: Collection[str]) -> dict[str, str]:
    """What people call the machines of these ``names``, by name. One query, none without names."""
    if not names:
        return {}
    return {one.name: str(one) for one in map(machine_of, rows_of(MACHINES, [list(names)]))}


def variants_at(revisions: Collection[int], most: int) -> list[tuple[int, str, int]]:
    """The first ``most`` variants at ``revisions`` (ids): position, name, revision; one query."""
    return rows_of(VARIANTS, [list(revisions), most])


def series_by_id(ids: Collection[int]) -> dict[int, NamedSeries]:
    """The series of these ids with everything a label names, by id. One query, none without ids."""
    if not ids:
        return {}
    reader = SeriesReader()
    return {row[0]: reader.read(row) for row in rows_of(SERIES, [list(ids)])}


def series_in_windows(ids: Collection[int], last: int) -> dict[int, Series]:
    """Series by id, with all that a label names, their version and the sessions that begin in them;
    and ``window_start``: the position of the ``last``-th newest point (None: it has fewer). One
    query.
    """
    reader, found = SeriesReader(), {}
    for row in rows_of(IN_WINDOWS, {"series": list(ids), "before": last - 1}):
        pk, own_better, *subject = reader.read(row)
        version, begun, start = row[SERIES_WIDTH:]
        named = dict(zip(("tree", "hardware", "mode", "metric", "variant"), subject, strict=True))
        one = Series(pk=pk, own_better=own_better, version=version, **named)
        one.session_starts = json.loads(begun) if begun else None
        one.window_start = start  # type: ignore[attr-defined]
        found[pk] = one
    return found


def parents_of(series: Iterable[Series]) -> dict[int, Parents]:
    """Of those of ``series`` that are costs and have both parents, by id; one query at most."""
    costs = [one.pk for one in series if one.is_cost]
    if not costs:
        return {}
    return {pk: Parents(with_it, without) for pk, with_it, without in rows_of(PARENTS, [costs])}


Row = TypeVar("Row", bound=Model)

REVISION = ("id", "tree_id", "name", "position", "author_name", "author_email", "committed_at")
REVISION_NAMES = (*REVISION, "subject")
"""The columns of a revision that a page names; its message and its paths stay where they are."""

REVISIONS = f"SELECT {', '.join(REVISION_NAMES)} FROM results_revision WHERE id = ANY(%s)"  # noqa: S608


BETWEEN = f"""
SELECT {", ".join(REVISION_NAMES)} FROM results_revision
 WHERE tree_id = %s AND position > %s AND position < %s
 ORDER BY position LIMIT %s
"""  # noqa: S608 (names of columns; no value of a request is in this text)


def rows_of(
    statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[tuple[Any, ...]]:
    """The rows that a statement gives.

    Where a page or an upload reads a few things, composing a query from a QuerySet takes longer
    than PostgreSQL takes to answer it, so such reads are written out.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def revisions_of(ids: Iterable[int | None]) -> dict[int, Revision]:
    """Revisions by id, in one statement; ids that are None are passed over."""
    wanted = list({pk for pk in ids if pk is not None})
    if not wanted:
        return {}
    return {row[0]: revision_from(row) for row in rows_of(REVISIONS, [wanted])}


def commits_between(earlier: Revision, later: Revision, *, most: int) -> list[Revision]:
    """The first ``most`` revisions strictly between two of one tree; one statement."""
    ends = [earlier.tree_id, earlier.position, later.position]
    return [revision_from(row) for row in rows_of(BETWEEN, [*ends, most])]


def revision_from(row: Sequence[Any]) -> Revision:
    """A revision of the columns `REVISION_NAMES`."""
    return made_of(Revision, REVISION_NAMES, row)


def made_of(model: type[Row], names: Sequence[str], values: Sequence[Any]) -> Row:
    """``values`` of the attributes ``names`` as a model, as `Model.from_db` makes it; the others
    are read when they are asked for.

    Without ``__init__``, which for hundreds of findings takes longer than all that a page shows of
    them: it looks at each field for a default and sends two signals that nobody here receives.
    """
    row = model.__new__(model)
    row.__dict__.update(zip(names, values, strict=True))
    state = ModelState()
    state.db, state.adding = "default", False
    row._state = state  # noqa: SLF001 (what Model.from_db fills)
    return row
