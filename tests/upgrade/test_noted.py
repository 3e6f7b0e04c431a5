"""A database from before comparisons were computed: what they state is noted, and goes back."""

from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.upgrade.databases import A_LAB, new_database

pytestmark = pytest.mark.long
FORMER, PRESENT = "0011", "0012"
ROWS = (
    A_LAB
    + """
INSERT INTO results_mode (id, name, workload, traffic, options)
SELECT id, id, id, '', '{}' FROM generate_series(1, 2) AS id;
INSERT INTO results_series (id, tree_id, hardware_id, mode_id, metric_id, own_better, version)
SELECT id, 1, 1, id, 1, '', 1 FROM results_mode;
INSERT INTO analysis_seriesanalysis (series_id, version, detector, summary, epochs)
VALUES (1, 1, 1, '{}', '{}'), (2, 1, 1, '{}', '{3}');
INSERT INTO results_revision
       (id, tree_id, name, position, decided, author_name, author_email, subject, message)
SELECT id, 1, id, id, true, '', '', '', '' FROM generate_series(1, 3) AS id;
INSERT INTO results_point
       (series_id, revision_id, position, n, runs, builds, mean, median, variance, minimum, maximum,
        levels)
SELECT series.id, revision.id, revision.id, 3, 1, 1, 2, 2, 1, 1, 3, ''
  FROM results_series AS series, results_revision AS revision;
INSERT INTO analysis_comparison
       (series_id, revision_id, previous_id, position, delta, verdict, flag)
VALUES (1, 2, 1, 2, 0, 'cannot tell', ''), (1, 3, 2, 3, 1, 'better', 'improved'),
       (2, 2, 1, 2, 0, 'worse', '');
"""
)
NOTED = """
SELECT series_id, position, is_compared FROM analysis_notedpoint ORDER BY series_id, position"""
DIRTY = "SELECT id, dirty_from, dirty_since IS NULL FROM results_series ORDER BY id"


@pytest.mark.usefixtures("django_db_setup")
def test_what_comparisons_state_is_noted_and_is_found_anew_on_the_way_back() -> None:
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"]) as database:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            with psycopg.connect(
                host=database.host, user=database.user, dbname=database.name
            ) as connected:
                return connected.execute(statement.encode()).fetchall()

        database.migrate("readiness")  # asked after every migration
        database.migrate("results")
        database.migrate("analysis", FORMER)
        database.execute(ROWS)
        database.migrate("analysis", PRESENT)
        noted = [(1, 1, False), (1, 3, True), (2, 1, False), (2, 2, True), (2, 3, False)]
        assert rows(NOTED) == noted
        assert rows(DIRTY) == [(1, None, True), (2, 0, False)]
        database.migrate("analysis", FORMER)
        assert rows("SELECT count(*) FROM analysis_comparison") == [(0,)]
        assert rows(DIRTY) == [(1, 0, False), (2, 0, False)]
        database.migrate("analysis", PRESENT)
        assert {row[2] for row in rows(NOTED)} == {False}
