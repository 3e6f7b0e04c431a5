from typing import Any

import pytest


@pytest.fixture
def quick_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["tests.accounts.signing_in.hashers.QuickHasher"]
