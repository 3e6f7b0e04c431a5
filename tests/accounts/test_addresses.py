"""Whom a request counts for."""

import pytest

from webapp.accounts.limits import client_address, counted_as


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        ("", 1, "192.0.2.1"),
        ("203.0.113.7", 0, "192.0.2.1"),
        ("203.0.113.7", 1, "203.0.113.7"),
        ("1.1.1.1, 203.0.113.7", 1, "203.0.113.7"),
        ("1.1.1.1, 203.0.113.7, 10.0.0.1", 2, "203.0.113.7"),
        ("203.0.113.7", 2, "203.0.113.7"),
    ],
)
def test_the_client_is_whom_the_outermost_of_our_proxies_saw(
    forwarded: str, proxies: int, address: str
) -> None:
    assert client_address("192.0.2.1", forwarded, proxies=proxies) == address


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_a_subscriber_is_one_client_whatever_address_of_its_network_it_uses(
    address: str, counted: str
) -> None:
    assert counted_as(address) == counted
