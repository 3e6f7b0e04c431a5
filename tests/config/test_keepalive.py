"""How a connection notices that the other machine is gone; `tests.faults.test_machines` cuts it."""

import pytest
from django.db import connection

from tests.config.conftest import Read, connected_by
from webapp.config import connections


@pytest.mark.parametrize("seconds", [5, 7, 25, 7200])
def test_probes_begin_and_end_within_the_seconds_asked_for(seconds: int) -> None:
    options = connections.of_client(seconds)
    probing = options["keepalives_interval"] * options["keepalives_count"]
    assert options["keepalives_idle"] + probing == seconds
    assert options["keepalives_idle"] >= options["keepalives_interval"] >= 1
    assert options["tcp_user_timeout"] == seconds * 1000


def test_every_connection_over_tcp_has_them(read: Read) -> None:
    there = {
        "DATABASE_URL": "postgresql://db/driftline",
        "DATABASE_REPLICA_URL": "postgresql://replica/driftline",
        "REDIS_URL": "redis://db/0",
        "SECRET_KEY": "k" * 50,
    }
    settings = read(**there, DRIFTLINE_SILENCE_SECONDS="50")
    for database in settings["DATABASES"].values():
        assert database["OPTIONS"].items() >= connections.of_client(50).items()
    for options in (
        settings["CACHES"]["default"]["OPTIONS"],
        settings["CELERY_BROKER_TRANSPORT_OPTIONS"],
    ):
        assert options.items() >= connections.of_redis(50).items()


@pytest.mark.django_db(transaction=True)
def test_a_session_of_the_server_has_them_but_where_a_pooler_takes_no_options(
    read_here: Read,
) -> None:
    no_limits = ("DRIFTLINE_STATEMENT_SECONDS", "DRIFTLINE_IDLE_TRANSACTION_SECONDS")
    settings = read_here(**dict.fromkeys(no_limits, "0"))
    assert "options" not in settings["DATABASES"]["default"]["OPTIONS"]
    with connected_by(read_here(DRIFTLINE_SILENCE_SECONDS="50")), connection.cursor() as cursor:
        cursor.execute("SHOW client_connection_check_interval")
        assert cursor.fetchone() == ("10s",)
