"""Addresses of pages whose state is their query, and comparisons that lie at hand: the newest pair
of each tree, and names to choose from.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import quote_plus

from django.urls import reverse

from webapp.analysis.models import Finding
from webapp.analysis.queries.sides import Side, written_part, written_revision
from webapp.results.models import Revision, Series
from webapp.results.queries import NamedSeries, rows_of

PAIR_MARK = "..."
"""Between the names of two releases."""

READABLE = "/@:"
"""Characters that may stand in a query as they are; people read and paste these addresses."""

Pairs = Iterable[tuple[str, str]]


# A commit of twenty machines has a thousand links, which name the same few things again and again.
QUOTED_MOST = 8192


def with_query(path: str, pairs: Pairs) -> str:
    """``path?…`` with every pair, in order."""
    query = "&".join([f"{_quoted(name)}={_quoted(value)}" for name, value in pairs])
    return f"{path}?{query}" if query else path


@lru_cache(maxsize=QUOTED_MOST)
def _quoted(text: str) -> str:
    return quote_plus(text, safe=READABLE)


@cache
def _path(page: str) -> str:
    """Of a page without arguments: it stays where it is while the process runs."""
    return reverse(page)


def trend_link(series: Series | NamedSeries, **more: str) -> str:
    """The trend chart of one series. Needs its parts loaded."""
    parts = {
        "tree": series.tree.name,
        "metric": series.metric.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
    }
    return with_query(_path("trends"), [*parts.items(), *more.items()])


def side_of(series: Series | NamedSeries, revision: Revision) -> Side:
    """The side of a comparison that is one point. Needs the parts of the series loaded."""
    return Side(
        tree=series.tree.name,
        revision=revision.name,
        hardware=series.hardware.name,
        mode=series.mode.name,
        metric=series.metric.name,
        variant=series.variant.name if series.variant else "",
    )


def sides_of(finding: Finding) -> tuple[Side, Side]:
    """The two points around a finding: the last at the old level, the first at the new."""
    series = finding.series
    return side_of(series, finding.previous), side_of(series, finding.revision)


def compare_link(base: Side, *others: Side, page: str = "compare", more: Pairs = ()) -> str:
    """The compare page of two or more sides, or what else is made of them (``compare_text``), with
    ``more`` behind them.
    """
    pairs = [("a", str(base)), *(("b", str(other)) for other in others), *more]
    return with_query(_path(page), pairs)


def releases_link(a: str, b: str, asof: datetime | None = None, page: str = "releases") -> str:
    """The page of release ``b`` against ``a``, or what else is made of it, as of a time."""
    pairs = [("asof", asof.isoformat().replace("+00:00", "Z"))] if asof else []
    return with_query(reverse(page, args=[f"{a}{PAIR_MARK}{b}"]), pairs)


class TableLinks:
    """The addresses of the cells of one table: plain series of one tree and metric.

    Those of `trend_link` and `compare_link`, but of the parts that rows and columns share each is
    quoted once, not once a cell.
    """

    def __init__(self, tree: str, metric: str) -> None:
        self._trends = with_query(_path("trends"), [("tree", tree), ("metric", metric)])
        self._compare = _path("compare")
        self._tree = _quoted(written_part(tree))
        self._metric = _quoted(written_part(metric))

    def trend(self, hardware: str, mode: str) -> str:
        """As `trend_link` of the series."""
        return f"{self._trends}&hardware={_quoted(hardware)}&mode={_quoted(mode)}"

    def compare(self, base: str, other: str, *, hardware: str, mode: str) -> str:
        """As `compare_link` of two revisions of the series, by their names."""
        behind = f":{_quoted_part(hardware)}:{_quoted_part(mode)}:{self._metric}"
        a, b = (f"{self._tree}:{_quoted_revision(one)}{behind}" for one in (base, other))
        return f"{self._compare}?a={a}&b={b}"


@lru_cache(maxsize=QUOTED_MOST)
def _quoted_part(part: str) -> str:
    return _quoted(written_part(part))


@lru_cache(maxsize=QUOTED_MOST)
def _quoted_revision(revision: str) -> str:
    return _quoted(written_revision(revision))


# The two newest points of each series, a step along its index; of the pairs of a tree the newest
# that most series have.
NEWEST_PAIRS = """
SELECT DISTINCT ON (tree.name) tree.name, older.name, newer.name, count(*)
  FROM results_series AS series
  JOIN results_tree AS tree ON tree.id = series.tree_id
  JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
 CROSS JOIN LATERAL (
       SELECT (array_agg(two.revision_id ORDER BY two.position))[1] AS older_id,
              (array_agg(two.revision_id ORDER BY two.position))[2] AS newer_id
         FROM (SELECT point.revision_id, point.position FROM results_point AS point
                WHERE point.series_id = series.id
                ORDER BY point.position DESC LIMIT 2) AS two) AS pair
  JOIN results_revision AS older ON older.id = pair.older_id
  JOIN results_revision AS newer ON newer.id = pair.newer_id
 WHERE series.variant_id IS NULL AND (%s OR NOT lab.simulated)
   AND position('..' IN older.name || ' ' || newer.name) = 0
 GROUP BY tree.name, older.name, newer.name, older.position, newer.position
 ORDER BY tree.name, newer.position DESC, count(*) DESC, older.position DESC
"""
SHARED = """
SELECT one.name, other.name, count(*)
  FROM unnest(%s::text[], %s::text[]) AS pair (one, other)
  JOIN results_tree AS one ON one.name = pair.one
  JOIN results_tree AS other ON other.name = pair.other
  JOIN results_series AS its ON its.tree_id = one.id AND its.variant_id IS NULL
  JOIN results_metric AS metric ON metric.id = its.metric_id AND metric.of_id IS NULL
  JOIN results_series AS like_it
    ON like_it.tree_id = other.id AND like_it.variant_id IS NULL
   AND (like_it.hardware_id, like_it.mode_id, like_it.metric_id)
     = (its.hardware_id, its.mode_id, its.metric_id)
 GROUP BY one.name, other.name
"""
REAL = """
SELECT EXISTS (
    SELECT 1 FROM results_series AS series
      JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
      JOIN labs_lab AS lab ON lab.id = hardware.lab_id
     WHERE NOT lab.simulated)
"""
# Revisions that newest points are of, and those that releases name
REVISIONS = """
SELECT name, tree, note FROM (
    SELECT revision.name, tree.name AS tree, revision.subject AS note, revision.position,
           1 AS rank
      FROM results_revision AS revision JOIN results_tree AS tree ON tree.id = revision.tree_id
     WHERE revision.id IN (
           SELECT newest.revision_id
             FROM results_series AS series
            CROSS JOIN LATERAL (
                  SELECT point.revision_id FROM results_point AS point
                   WHERE point.series_id = series.id
                   ORDER BY point.position DESC LIMIT 20) AS newest)
       AND (%(tree)s = '' OR tree.name = %(tree)s)
    UNION ALL
    SELECT release.name, tree.name, release.kind || ' at ' || revision.name, revision.position, 0
      FROM events_release AS release
      JOIN results_revision AS revision ON revision.id = release.revision_id
      JOIN results_tree AS tree ON tree.id = release.tree_id
     WHERE %(tree)s = '' OR tree.name = %(tree)s) AS known
 ORDER BY rank, position DESC, name LIMIT %(most)s
"""


class NewestPair(NamedTuple):
    """The two revisions, by name, that most series of ``tree`` were measured at last."""

    tree: str
    older: str
    newer: str
    series: int


class KnownRevision(NamedTuple):
    """A revision that was measured lately, or what a release calls one; with a note on it."""

    name: str
    tree: str
    note: str


def has_real_data() -> bool:
    """Whether anything was measured on a machine that exists. One statement."""
    return rows_of(REAL) == [(True,)]


def newest_pairs(*, simulated: bool) -> list[NewestPair]:
    """The newest pair of each tree; of ``simulated`` machines too. One statement."""
    return [NewestPair._make(row) for row in rows_of(NEWEST_PAIRS, [simulated])]


def series_in_both(pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """How many series of the plain kernel both trees of a pair have, of pairs with any. One
    statement.
    """
    asked = [[pair[at] for pair in pairs] for at in (0, 1)]
    return {(one, other): count for one, other, count in rows_of(SHARED, asked)}


def known_revisions(*, tree: str = "", most: int) -> list[KnownRevision]:
    """At most so many names to choose from, releases first, then the newest. One statement."""
    return [KnownRevision._make(row) for row in rows_of(REVISIONS, {"tree": tree, "most": most})]
