"""Odd addresses are answered."""

import pytest
from django.test import Client


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    [
        "/commits/%00/",
        "/commits/head/%00/",
        "/hardware/%00/",
        "/feeds/%00.atom",
        "/feeds/hardware/%00.atom",
        "/feeds/subscription/%00.atom",
        "/unsubscribe/%00/",
    ],
)
def test_an_address_with_a_nul_leads_nowhere(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404
