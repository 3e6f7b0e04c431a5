"""Migrations run in the tests' process, on databases of their own."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker


@pytest.fixture(scope="module", autouse=True)
def any_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let the process ask any database, also before a test asks for its own."""
    with django_db_blocker.unblock():
        yield
