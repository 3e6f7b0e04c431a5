"""Every released version upgrades: its schema becomes the present one, its content stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.upgrade.databases import Database, new_database
from tests.upgrade.store import STORED, store
from webapp.alerts.models import Alert
from webapp.results.services import forget_names

FIXTURES = sorted(STORED.glob("*.sql"))
"""None before 0.1.0 is released: then what is tried is the harness alone."""


@pytest.fixture(scope="module")
def fresh(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of the present schema."""
    settings = connection.settings_dict
    with new_database(settings["HOST"], settings["USER"]) as database:
        database.manage("migrate", "--verbosity", "0")
        yield database


def differences(dump: Path, fresh: Database) -> list[str]:
    """What an upgrade of a stored fixture gets wrong: lines of schema, and parts of content."""
    with new_database(fresh.host, fresh.user) as database:
        database.load(dump)
        database.manage("migrate", "--verbosity", "0")
        schema = database.schema() ^ fresh.schema()
        stored = dump.with_suffix(".digest").read_text(encoding="utf-8").splitlines()
        content = database.digest()
        changed = [line for line in stored if content.get(line.split()[0]) != line]
        return [*sorted(schema), *changed]


@pytest.mark.parametrize("dump", FIXTURES, ids=lambda path: path.stem)
def test_a_released_version_upgrades(dump: Path, fresh: Database) -> None:
    assert differences(dump, fresh) == []


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


def test_what_is_stored_today_needs_no_change(stored: Path, fresh: Database) -> None:
    assert differences(stored, fresh) == []


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("ALTER TABLE public.results_tree ADD COLUMN left_over integer", "left_over integer"),
        ("ALTER TABLE public.alerts_alert DROP CONSTRAINT {constraint}", "CHECK"),
        ("UPDATE public.results_measurement SET samples[1] = samples[1] + 1", "samples"),
        ("UPDATE public.accounts_user SET username = 'eve'", "people"),
    ],
)
def test_an_upgrade_that_leaves_something_behind_is_seen(
    stored: Path, fresh: Database, change: str, seen: str
) -> None:
    statement = change.format(constraint=_a_check_of("alerts_alert"))
    stored.write_text(f"{stored.read_text(encoding='utf-8')}\n{statement};\n", encoding="utf-8")
    assert any(seen in line for line in differences(stored, fresh))


def _a_check_of(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'"
            " ORDER BY conname LIMIT 1",
            [table],
        )
        return str(cursor.fetchone()[0])
