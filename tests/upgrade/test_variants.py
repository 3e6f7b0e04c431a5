"""A database from before variants: its runs are filed by the rules, and their series go along."""

import json
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from tests.upgrade.databases import A_LAB, Database, new_database

pytestmark = pytest.mark.long
FORMER = "0003"
ROWS = (
    A_LAB
    + """
INSERT INTO results_revision
       (id, tree_id, name, position, decided, author_name, author_email, subject, message)
VALUES (1, 1, 'r303643', 303643, true, '', '', '', '');
INSERT INTO results_mode (id, name, workload, traffic, options)
VALUES (1, 'pf', 'pf', '', '{}'), (2, 'pf+D12685+yandex', 'pf', '', '{D12685,yandex}'),
       (3, 'pf+mbuf', 'pf', '', '{mbuf}'), (4, 'pf+VIMAGE', 'pf', '', '{VIMAGE}'),
       (5, 'pf+13-r354862', 'pf', '', '{13-r354862}');
INSERT INTO results_series (id, tree_id, hardware_id, mode_id, metric_id, own_better, version)
SELECT id, 1, 1, id, 1, CASE id WHEN 3 THEN 'less' ELSE '' END, 1 FROM results_mode;
INSERT INTO results_run
       (id, uuid, agent_id, hardware_id, revision_id, mode_id, digest, build_id, kernel_ident,
        received_at, history, session, evidence, facts, sources, warnings, withdrawn_reason)
SELECT id, gen_random_uuid(), 1, 1, 1, id, repeat('0', 64), 'build', '', now(), false, '',
       CASE id WHEN 3 THEN '{"image": "303643mbuf"}'::jsonb END, '{}', '[]', '[]', ''
  FROM results_mode;
INSERT INTO results_measurement (run_id, series_id, samples) SELECT id, id, '{1, 2, 3}'
  FROM results_series;
INSERT INTO results_point
       (series_id, revision_id, position, n, runs, builds, mean, median, variance, minimum, maximum,
        levels)
SELECT id, 1, 303643, 3, 1, 1, 2, 2, 1, 1, 3, '{}' FROM results_series;
"""
)
FILED = """
SELECT series.id, mode.name, COALESCE(variant.name, ''), point.n, series.own_better
  FROM results_series AS series JOIN results_mode AS mode ON mode.id = series.mode_id
  LEFT JOIN results_variant AS variant ON variant.id = series.variant_id
  JOIN results_point AS point ON point.series_id = series.id
 ORDER BY series.id
"""


@pytest.fixture(scope="module")
def upgraded(django_db_setup: None) -> Iterator[Database]:
    """A database of the former tables with five runs, migrated."""
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"]) as database:
        database.migrate("readiness")  # asked after every migration
        database.migrate("results", FORMER)
        database.execute(ROWS)
        database.migrate()
        yield database


def test_stored_runs_whose_options_are_variants_are_filed_anew(upgraded: Database) -> None:
    assert _rows(upgraded, FILED) == [
        (1, "pf", "", 6, ""),
        (2, "pf", "yandex+D12685", 3, ""),
        (3, "pf", "mbuf", 3, "less"),
        (4, "pf+VIMAGE", "", 3, ""),
    ]
    sent = "SELECT id, as_sent FROM results_run WHERE as_sent IS NOT NULL ORDER BY id"
    assert [(pk, data["mode"]) for pk, data in _rows(upgraded, sent)] == [
        (2, "pf+D12685+yandex"),
        (3, "pf+mbuf"),
        (5, "pf+13-r354862"),
    ]
    parts = dict(_rows(upgraded, "SELECT name, parts::text FROM results_variant"))
    assert [one["kind"] for one in json.loads(parts["yandex+D12685"])] == ["vendor", "patch"]
    assert _rows(upgraded, "SELECT name FROM results_mode ORDER BY name") == [
        ("pf",),
        ("pf+VIMAGE",),
    ]


def test_migrating_once_more_changes_nothing_and_leaves_edited_rules_alone(
    upgraded: Database,
) -> None:
    upgraded.execute("UPDATE results_labelrule SET kind = 'vendor' WHERE pattern = 'VIMAGE'")
    filed, rules = _rows(upgraded, FILED), _rows(upgraded, "SELECT * FROM results_labelrule")
    upgraded.migrate()
    assert _rows(upgraded, FILED) == filed
    assert sorted(_rows(upgraded, "SELECT * FROM results_labelrule")) == sorted(rules)


def _rows(database: Database, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(host=database.host, user=database.user, dbname=database.name) as connected:
        return connected.execute(statement.encode()).fetchall()
