"""Reads about what was measured that are more than a QuerySet's."""

from webapp.results.queries.around import (
    Neighbour,
    Neighbours,
    Session,
    neighbours_of,
    newest_sessions,
    received_by,
    tested_near,
)
from webapp.results.queries.profiles import (
    PACKETS,
    Newest,
    call_tree_reader,
    call_trees,
    fitting,
    histograms_at,
    histograms_until,
    newest,
    profiles_of_runs,
    rates_of_runs,
)
from webapp.results.queries.subjects import (
    REVISION_NAMES,
    SERIES_COLUMNS,
    SERIES_JOINS,
    SERIES_WIDTH,
    NamedSeries,
    Parents,
    SeriesReader,
    called,
    commits_between,
    machine_of,
    made_of,
    parents_of,
    revision_from,
    revisions_of,
    rows_of,
    series_by_id,
    series_in_windows,
    subject_sql,
    variants_at,
)
from webapp.results.spellings import whole_history_sql
