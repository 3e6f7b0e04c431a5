"""Comparisons that lie at hand: the newest pair of each tree, and names to choose from."""

from typing import NamedTuple

from django.db import connection

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
 GROUP BY tree.name, older.name, newer.name, older.position, newer.position
 ORDER BY tree.name, newer.position DESC, count(*) DESC, older.position DESC
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
    with connection.cursor() as cursor:
        cursor.execute(REAL)
        row = cursor.fetchone()
    return bool(row and row[0])


def newest_pairs(*, simulated: bool) -> list[NewestPair]:
    """The newest pair of each tree; of ``simulated`` machines too. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_PAIRS, [simulated])
        return [NewestPair._make(row) for row in cursor.fetchall()]


def known_revisions(*, tree: str = "", most: int) -> list[KnownRevision]:
    """At most so many names to choose from, releases first, then the newest. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(REVISIONS, {"tree": tree, "most": most})
        return [KnownRevision._make(row) for row in cursor.fetchall()]
