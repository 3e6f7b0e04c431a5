"""Whether every commit between two places of a tree is known: a condition in SQL.

A revision that nobody imported may stand for any number of commits. None lies between two where
imported history goes from parent to child across them (`Revision.parent_known`), or where their ids
are numbers along the tree (`r303643`, `n302145`) and every number between is known. Places alone
prove nothing: operators number what was measured as they like.
"""

from typing import NamedTuple

from webapp.results.revision_ids import GIT_COUNT_OFFSET

_DETAILED = "(one.committed_at IS NOT NULL OR one.author_name <> '' OR one.subject <> '')"

# Revisions that uploads made among imported ones break nothing: the imported one that follows the
# end of the range decides for it.
_WHOLE = """(
    EXISTS (
        SELECT FROM (SELECT one.position FROM results_revision AS one
                      WHERE one.tree_id = {tree} AND one.position >= {last} AND one.parent_known
                      ORDER BY one.position LIMIT 1) AS upto
         WHERE NOT EXISTS (
               SELECT FROM results_revision AS one
                WHERE one.tree_id = {tree} AND one.position > {after}
                  AND one.position <= upto.position AND NOT one.parent_known AND {detailed}))
    OR {last} - {after} = (
        SELECT count(*) FROM results_revision AS one
         WHERE one.tree_id = {tree} AND one.position > {after} AND one.position <= {last})
       AND 2 = (
        SELECT count(DISTINCT one.position) FROM results_revision AS one
          JOIN results_revisionalias AS alias ON alias.revision_id = one.id
         WHERE one.tree_id = {tree} AND one.position IN ({after}, {last})
           AND alias.name IN ('r' || one.position, 'n' || (one.position - {offset}))))"""


class Span(NamedTuple):
    """How many revisions are ``known`` in a range of a tree; ``is_whole``: it has no others."""

    known: int
    is_whole: bool


def whole_history_sql(*, tree: str, after: str, last: str) -> str:
    """Whether every commit later than position ``after`` up to ``last`` is known, as an expression
    of the columns given.
    """
    return _WHOLE.format(
        tree=tree, after=after, last=last, detailed=_DETAILED, offset=GIT_COUNT_OFFSET
    )
