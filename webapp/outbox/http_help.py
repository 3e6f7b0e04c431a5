"""What an operator can do about a webhook or a channel that cannot be reached."""

import errno
import http.client
import socket
import ssl

NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
UNANSWERED = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


REASONS: tuple[tuple[type[Exception], str], ...] = (
    (
        TimeoutError,
        (
            "{where}, did not answer in time: check whether the server runs, and whether a "
            "firewall drops the connection."
        ),
    ),
    (
        ConnectionRefusedError,
        "Nothing listens at {where}: check the port in the URL, and whether the server runs.",
    ),
    (
        ConnectionError,
        (
            "{where}, hung up without an answer: check whether the URL is to begin with https://; "
            "the log of the server may have the reason."
        ),
    ),
    (
        ssl.SSLCertVerificationError,
        (
            "The certificate of {where}, is not trusted ({why}): use the name in the certificate, "
            "renew it, or add its authority to those of this machine."
        ),
    ),
    (
        ssl.SSLError,
        (
            "{where}, does not speak TLS as expected: check the port, and whether the URL is to "
            "begin with http://."
        ),
    ),
    (
        http.client.HTTPException,
        "{where}, does not answer in HTTP: check the port, and whether https:// is needed.",
    ),
)
"""The first that fits."""

NO_NETWORK = "No network leads to {where}: check the network and the firewall of this machine."
OTHERWISE = "{where}, cannot be reached ({why}): check the URL and the network of this machine."


def unknown_name(host: str, error: OSError | UnicodeError) -> str:
    """Why a name has no address, and the remedy."""
    if isinstance(error, UnicodeError):
        return f"{host[:80]} cannot be a name: each of its parts has 1 to 63 characters."
    if error.errno in UNANSWERED:
        return (
            f"No name server answers for {host}: check the network and the name server of this "
            "machine."
        )
    return f"No address is known for the name {host}: check the spelling in the URL."


def explain(error: Exception, host: str, port: int) -> str:
    """Why a request to ``host`` got no answer, and the remedy, in plain sentences."""
    where = f"{host}, port {port}"
    for kind, form in REASONS:
        if isinstance(error, kind):
            return form.format(where=where, why=getattr(error, "verify_message", ""))
    if isinstance(error, OSError) and error.errno in NO_WAY:
        return NO_NETWORK.format(where=where)
    reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    return OTHERWISE.format(where=where, why=reason)
