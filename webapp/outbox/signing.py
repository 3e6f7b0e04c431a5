"""Signatures of webhooks: a receiver proves with the secret that it was us, and when.

``X-Driftline-Signature: t=1790000000,v1=5257a8…``, where v1 is the HMAC-SHA256 in hexadecimal of
``t``, a full stop and the body. The time is signed too, so that a recorded delivery grows old.
"""

import hashlib
import hmac

HEADER = "X-Driftline-Signature"


def signature(secret: str, body: bytes, *, at: int) -> str:
    """The header's value for ``body`` sent ``at`` (seconds since 1970)."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"
