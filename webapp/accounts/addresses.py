"""Whose request it is, by the address that it came from: for counting. Pure."""

import ipaddress

HOME_PREFIX = 64
"""Bits of an IPv6 address that one subscriber shares (RFC 6177): whoever has one has 2⁶⁴."""


def client_address(peer: str, forwarded: str, *, proxies: int) -> str:
    """The address that the outermost of our ``proxies`` saw.

    Each proxy appends whom it was called by to ``forwarded`` (X-Forwarded-For): what stands left
    of the entries of ours is the client's own claim. Who came past the outer proxies has fewer
    entries, the first of them from one of ours. Without proxies, or without entries, the ``peer``.
    """
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    return hops[-min(proxies, len(hops))] if proxies and hops else peer


def counted_as(address: str) -> str:
    """One client's addresses as one: an IPv6 network of 64 bits, or the IPv4 address within.

    What is no address is given back, cut to 64 characters; empty: a Unix socket, nobody's.
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if known.version == 4:
        return str(known)
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, HOME_PREFIX), strict=False))
