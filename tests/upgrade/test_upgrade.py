"""Every released version upgrades: its schema becomes the present one, its content stays."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connection

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.places import TEMPLATE
from tests.upgrade.databases import Database, new_database
from tests.upgrade.store import STORED, store
from webapp.alerts.models import Alert
from webapp.results.services import forget_names

pytestmark = pytest.mark.long
FIXTURES = sorted(STORED.glob("*.sql"))
"""None before 0.1.0 is released: then what is tried is the harness alone."""


PLANTED = {
    "ALTER TABLE public.results_tree ADD COLUMN left_over integer": "left_over integer",
    "ALTER TABLE public.alerts_alert DROP CONSTRAINT {check}": "CHECK",
    "UPDATE public.results_measurement SET samples = set_byte(samples, 2, 1)": "samples",
    "UPDATE public.accounts_user SET username = 'eve'": "people",
}
"""What an upgrade may leave behind, and by what it is known."""


@dataclass(frozen=True)
class Present:
    """Where databases are made, and the schema of the present migrations."""

    host: str
    user: str
    schema: set[str]


@pytest.fixture(scope="module")
def present(django_db_setup: None) -> Present:
    """The schema of the database that the present migrations made for all tests."""
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"], TEMPLATE) as database:
        return Present(settings["HOST"], settings["USER"], database.schema())


def differences(dump: Path, present: Present) -> list[str]:
    """What an upgrade of a stored fixture gets wrong: lines of schema, and parts of content."""
    with new_database(present.host, present.user) as database:
        database.load(dump)
        database.migrate()
        schema = database.schema() ^ present.schema
        stored = dump.with_suffix(".digest").read_text(encoding="utf-8").splitlines()
        content = database.digest()
        changed = [line for line in stored if content.get(line.split()[0]) != line]
        return [*sorted(schema), *changed]


@pytest.mark.parametrize("dump", FIXTURES, ids=lambda path: path.stem)
def test_a_released_version_upgrades(dump: Path, present: Present) -> None:
    assert differences(dump, present) == []


@pytest.fixture
def stored(transactional_db: None, tmp_path: Path) -> Path:
    """A fixture as a release of today would store it, with an alert."""
    forget_names()
    make.user("ada")
    arrive(runs_of({("Atom/T540", "pf"): {12: 0.88}}))
    assert Alert.objects.count() == 1
    settings = connection.settings_dict
    database = Database(settings["HOST"], settings["USER"], settings["NAME"])
    dump, _ = store(database, tmp_path / "0.0.0")
    return dump


def test_what_is_stored_today_needs_no_change_and_whatever_is_left_behind_is_seen(
    stored: Path, present: Present
) -> None:
    assert differences(stored, present) == []
    sql = stored.read_text(encoding="utf-8")
    planted = "".join(f"{statement};\n" for statement in PLANTED)
    stored.write_text(f"{sql}\n{planted.format(check=_a_check_of('alerts_alert', sql))}")
    found = differences(stored, present)
    assert [seen for seen in PLANTED.values() if not any(seen in line for line in found)] == []


def _a_check_of(table: str, sql: str) -> str:
    """The first of its check constraints that a dump names."""
    found = re.search(rf"CREATE TABLE public\.{table} \(.*?CONSTRAINT (\w+) CHECK", sql, re.DOTALL)
    assert found
    return found[1]
