"""One web server with Caddy before it, for all tests that leave it running."""

from collections.abc import Iterator

import pytest

from tests.config.front.server import Server, serving


@pytest.fixture(scope="session")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("front") / "web.log") as running:
        yield running
