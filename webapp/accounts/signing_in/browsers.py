"""Browsers in which a person signed in before.

Such a browser keeps a signed cookie that names the person and nothing else. It opens nothing: it
only gives the browser a count of wrong passwords of its own, so that somebody who tries that
person's password from the same address does not delay the person. (OWASP: "device cookies".)
"""

import hashlib
import secrets
import unicodedata
from datetime import timedelta

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponseBase

LASTS = timedelta(days=365)
_signer = TimestampSigner(salt="driftline.browser")


def digest_of(name: str) -> str:
    """``name`` for counting: bounded, and nothing that somebody typed is kept."""
    return hashlib.sha256(unicodedata.normalize("NFKC", name).encode()).hexdigest()


def known_for(request: HttpRequest, name: str) -> str:
    """The id of the request's browser if ``name`` signed in there before, else empty."""
    try:
        value = _signer.unsign(request.COOKIES.get(settings.BROWSER_COOKIE_NAME, ""), LASTS)
    except BadSignature:
        return ""
    browser, _, digest = value.partition(".")
    return browser if secrets.compare_digest(digest, digest_of(name)) else ""


def remember(response: HttpResponseBase, name: str) -> None:
    """Have the browser that gets ``response`` known for ``name``."""
    response.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        _signer.sign(f"{secrets.token_hex(16)}.{digest_of(name)}"),
        max_age=LASTS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
