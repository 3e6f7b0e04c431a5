"""PostgreSQL plans what is asked again and again once, unless a pooler stands before it."""

import subprocess
import sys

import pytest

from tests.conftest import PROJECT, environment_of_the_database

ASK = """
import django; django.setup()
from django.db import connection
from webapp.results.models import Hardware
for number in range(5):
    list(Hardware.objects.filter(name=f"machine-{number}"))
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%hardw%%'")
    print(cursor.fetchone()[0])
"""


@pytest.mark.django_db
@pytest.mark.parametrize(("wanted", "plans"), [("true", 1), ("false", 0)])
def test_a_plan_is_kept_where_that_is_wanted(wanted: str, plans: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=PROJECT,
        env=environment_of_the_database()
        | {"DJANGO_SETTINGS_MODULE": "webapp.config.settings"}
        | {"DRIFTLINE_PREPARED_STATEMENTS": wanted},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == plans
