"""A real provider of OpenID Connect, on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import oidc_provider_mock
from django.test import Client

ADA = {"email": "ada@example.org", "email_verified": True, "preferred_username": "ada.l"}


@contextmanager
def provider(settings: Any, **people: dict[str, Any]) -> Iterator[str]:
    """The address of a provider that the instance uses; it knows ``people`` by their subjects."""
    known = [oidc_provider_mock.User(sub=sub, claims=claims) for sub, claims in people.items()]
    with oidc_provider_mock.run_server_in_thread(user_claims=known) as server:
        settings.OIDC_URL = f"http://localhost:{server.server_port}"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = "driftline", "a secret"
        settings.OIDC_NAME = "Lab accounts"
        yield settings.OIDC_URL


def asked_at(client: Client, **form: str) -> str:
    """Where the browser is led when the button is pressed."""
    page = client.post("/sign-in/oidc/", form)
    assert page.status_code == 200, page["Location"]
    to: str = page.context["to"]
    return to


def sent_back(to: str, sub: str, **more: str) -> str:
    """What the provider opens then, by path and query, where ``sub`` is signed in."""
    answer = httpx.post(to, data={"sub": sub, **more}, follow_redirects=False)
    back = urlsplit(answer.headers["Location"])
    return f"{back.path}?{back.query}"


def sign_on(client: Client, sub: str, **form: str) -> Any:
    """The answer to who comes back from the provider as ``sub``."""
    return client.get(sent_back(asked_at(client, **form), sub))
