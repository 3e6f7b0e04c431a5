"""Revisions by their names, and commits by the words of their subjects and authors."""

from collections.abc import Sequence

from django.db import connection
from django.db.models import Case, Q, Value, When

from webapp.results.models import Revision, RevisionAlias, Tree
from webapp.search.asked import Asked

RECENT = 30_000
"""Positions back from the end of each tree where words are looked for first. A word of every tenth
commit stands there often enough; to sort all that have it would take longer than a page may."""

# The expression of the index commits_by_words
WORDED = """
SELECT found.id
  FROM results_tree AS tree
 CROSS JOIN LATERAL (
       SELECT id, position FROM results_revision
        WHERE tree_id = tree.id
          AND to_tsvector('simple', subject || ' ' || author_name)
              @@ to_tsquery('simple', %(words)s)
          AND position < 4611686018427387904
          AND position >= %(back)s + (
              SELECT max(last.position) FROM results_revision AS last
               WHERE last.tree_id = tree.id AND last.position < 4611686018427387904)
        ORDER BY position DESC LIMIT %(limit)s) AS found
 LIMIT %(limit)s
"""
EVER = -(2**62)


def revisions_named(asked: Asked, limit: int) -> Sequence[Revision]:
    """Revisions of this name, with or without its letter, then those whose name or hash begins so;
    of each the newest first.
    """
    if not asked.names:
        return []
    exact = Q(name__in=asked.names)
    for start in asked.beginnings:
        exact |= Q(name__startswith=start)
    # The index of names begins with the tree.
    trees = list(Tree.objects.values_list("pk", flat=True))
    named = RevisionAlias.objects.filter(exact, tree__in=trees)
    whole = Case(When(name__in=asked.names, then=Value(0)), default=Value(1))
    rows = (
        named.annotate(whole=whole)
        .order_by("whole", "-revision__position")
        .values_list("revision", flat=True)[: 2 * limit]  # a revision may have two such names
    )
    return _in_order(list(dict.fromkeys(rows))[:limit])


def commits_worded(asked: Asked, limit: int) -> Sequence[Revision]:
    """Commits with every word, or one that begins so, in subject or author; the newest first."""
    words = asked.tsquery
    if not words or asked.number:
        return []
    for back in (-RECENT, EVER):
        with connection.cursor() as cursor:
            cursor.execute(WORDED, {"words": words, "limit": limit, "back": back})
            found = [pk for (pk,) in cursor.fetchall()]
        if len(found) == limit:
            break
    return _in_order(found)


def _in_order(found: Sequence[int]) -> Sequence[Revision]:
    if not found:
        return []
    rows = Revision.objects.select_related("tree").defer("message", "paths").in_bulk(found)
    return [rows[pk] for pk in found]
