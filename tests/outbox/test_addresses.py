"""A webhook reaches public addresses, and no other unless it is allowed."""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import example, given
from hypothesis import strategies as st

from webapp.config.environment import Environment
from webapp.outbox import http_post
from webapp.outbox.http_post import AddressError, check


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives names their addresses: DNS is not ours."""

    def resolve_to(*found: str) -> None:
        infos = [
            (socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 0))
            for ip in found
        ]
        monkeypatch.setattr(http_post.socket, "getaddrinfo", lambda *_, **__: infos)

    return resolve_to


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fc00::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[::127.0.0.1]",
        "[64:ff9b:1::1]",
        "[2001:0:1234::1]",
        "[2001:db8::1]",
        "192.0.0.192",  # metadata of a cloud, among the protocol assignments
        "192.0.0.9",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "192.175.48.1",
        "168.63.129.16",
        "[100::1]",
        "[2001:4:112::1]",
        "[2620:4f:8000::1]",
        "[3fff::1]",
        "[4000::1]",
        "[5f00::1]",
    ],
)
def test_an_address_that_is_not_public_is_refused(host: str) -> None:
    with pytest.raises(AddressError, match=r"not a public address|No address is known"):
        check(f"http://{host}/hook")


@given(st.ip_addresses(v=4).filter(lambda one: not http_post.is_public(one)))
@example(ip_address("127.0.0.1"))
@example(ip_address("10.0.0.1"))
@example(ip_address("192.0.0.192"))
def test_it_is_refused_however_it_is_written(address: IPv4Address) -> None:
    """As one number, in hexadecimal and octal, and where IPv6 wraps it."""
    number = int(address)
    octal = ".".join(f"0{byte:o}" for byte in address.packed)
    sixtofour = IPv6Address((0x2002 << 112) | (number << 80) | 1)
    wrapped = (f"[::ffff:{address}]", f"[64:ff9b::{address}]", f"[{sixtofour}]")
    for host in (str(number), f"{number:#x}", octal, *wrapped):
        with pytest.raises(AddressError, match=r"not a public address|No address is known"):
            check(f"http://{host}/hook")


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"]
)
def test_a_public_address_is_public_also_where_it_is_wrapped(address: str) -> None:
    assert http_post.is_public(ip_address(address))


def test_a_target_keeps_the_name_and_the_address_that_was_checked(names) -> None:
    names("1.1.1.1", "1.0.0.1")
    target = check("https://hooks.example:8443/a/b?c=d")
    assert (target.address, target.host_header) == ("1.1.1.1", "hooks.example:8443")
    assert target.path == "/a/b?c=d"


def test_one_private_address_among_public_ones_is_enough_to_refuse(names) -> None:
    names("1.1.1.1", "10.0.0.5")
    with pytest.raises(AddressError, match=r"hooks\.example is 10\.0\.0\.5"):
        check("https://hooks.example/")


def test_a_private_network_can_be_allowed(names) -> None:
    names("10.0.0.5")
    assert check("http://ci.lab/", allowed=[ip_network("10.0.0.0/24")]).address == "10.0.0.5"
    with pytest.raises(AddressError):
        check("http://ci.lab/", allowed=[ip_network("10.0.1.0/24")])


@pytest.mark.parametrize("port", [1, 22, 25, 79, 444, 5432, 6379, 7999, 9000, 65535])
def test_a_port_of_no_web_server_is_refused_with_the_setting_that_allows_it(names, port) -> None:
    names("1.1.1.1")
    with pytest.raises(AddressError, match=rf"Port {port} .* DRIFTLINE_WEBHOOKS_PORTS"):
        check(f"https://hooks.example:{port}/")
    allowed = Environment({"DRIFTLINE_WEBHOOKS_PORTS": f"9443, {port}-{port}"}).ports
    more = allowed("DRIFTLINE_WEBHOOKS_PORTS")
    assert check(f"https://hooks.example:{port}/", more_ports=more).port == port


@pytest.mark.parametrize("end", [":80", ":443", ":8000", ":8999", ""])
def test_the_ports_of_web_servers_are_open(names, end: str) -> None:
    names("1.1.1.1")
    assert check(f"http://hooks.example{end}/").address == "1.1.1.1"


@pytest.mark.parametrize("value", ["0", "65536", "90-80", "x", "80-", "-80", "1-2-3", "²", "9" * 9])
def test_ports_that_are_none_are_refused_with_an_example(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="9443,10000-10099"):
        Environment({"PORTS": value}).ports("PORTS")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://1.1.1.1/",
        "file:///etc/passwd",
        "https://",
        "1.1.1.1",
        "http://1.1.1.1:99999/",
        "http://[1.1.1.1/",
        "http://user:secret@1.1.1.1/",
        "http://1.1.1.1/a b",
        "http://1.1.1.1/\r\nX: y",
        "http://1.1.1.1:0/",
    ],
)
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(AddressError, match="URL"):
        check(url)


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("no.such.invalid", "No address is known for the name no.such.invalid: check the spelling"),
        ("a..b", "a..b cannot be a name: each of its parts has 1 to 63 characters."),
    ],
)
def test_a_name_without_address_is_named(host: str, reason: str) -> None:
    with pytest.raises(AddressError) as refused:
        check(f"https://{host}/")
    assert str(refused.value).startswith(reason)


def test_a_name_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unanswered(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(http_post.socket, "getaddrinfo", unanswered)
    with pytest.raises(AddressError, match=r"No name server answers for ci\.example: check the"):
        check("https://ci.example/")
