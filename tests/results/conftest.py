import pytest

from webapp.results.services import forget_names


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    """Rows of another test's database state must not be found by their names."""
    forget_names()
