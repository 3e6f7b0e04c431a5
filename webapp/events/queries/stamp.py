"""Whether what charts show beside points and findings is still the same."""

from hashlib import sha256

from django.db import connection

# Whole rows of the small tables. Of series the version is enough: each change of one, and of what
# is shown of it, raises it.
STAMP = """
SELECT (SELECT string_agg(tree::text, E'\\n' ORDER BY tree.id) FROM results_tree AS tree),
       (SELECT string_agg(metric::text, E'\\n' ORDER BY metric.id) FROM results_metric AS metric),
       (SELECT string_agg(lab::text, E'\\n' ORDER BY lab.id) FROM labs_lab AS lab),
       (SELECT string_agg(release::text, E'\\n' ORDER BY release.id)
          FROM events_release AS release),
       (SELECT string_agg(event::text, E'\\n' ORDER BY event.id) FROM events_labevent AS event),
       (SELECT (count(*), max(id), sum(version))::text FROM results_series)
"""


def chart_stamp() -> str:
    """A digest of all trees, metrics, labs, releases, lab events and series, in one statement: what
    was made of them holds as long as it is the same.
    """
    with connection.cursor() as cursor:
        cursor.execute(STAMP)
        return sha256(repr(cursor.fetchone()).encode()).hexdigest()
