"""PostgreSQL plans what is asked again and again once, unless a pooler stands before it."""

import pytest
from django.db import connection

from tests.config.conftest import Read, connected_by
from webapp.results.models import Hardware


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("wanted", "plans"), [("true", 1), ("false", 0)])
def test_a_plan_is_kept_where_that_is_wanted(read_here: Read, wanted: str, plans: int) -> None:
    with connected_by(read_here(DRIFTLINE_PREPARED_STATEMENTS=wanted)):
        for number in range(5):
            list(Hardware.objects.filter(name=f"machine-{number}"))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%hardw%%'"
            )
            assert cursor.fetchone() == (plans,)
