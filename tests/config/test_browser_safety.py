"""What a page of somebody else can do with a visitor's browser: nothing."""

from typing import Any

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db
PAGES = [
    "/",
    "/sign-in/",
    "/sign-in/forgotten/",
    "/api/docs",
    "/nothing/",
    "/healthz",
    "/alerts/99/",
]
ELSEWHERE = [
    "https://evil.example/",
    "http://localhost:9/",
    "//evil.example/",
    "/\\evil.example/",
    "javascript:alert(1)",
]
FORM = {"username": "ada", "password": "a long password"}


@pytest.mark.parametrize("address", PAGES)
def test_every_answer_forbids_frames_foreign_scripts_and_guesses_of_its_type(address: str) -> None:
    headers = Client().get(address).headers
    policy = headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize("next_page", ELSEWHERE)
def test_signing_in_leads_to_no_other_site(next_page: str) -> None:
    make.user(role="operator")
    client = Client(REMOTE_ADDR="192.0.2.201")
    asked = client.get("/admin/login/", {"next": next_page})
    assert asked["Location"] == "/sign-in/?next=/admin/"
    response = client.post(f"/sign-in/?next={next_page}", {**FORM, "next": next_page})
    assert (response.status_code, response["Location"]) == (302, "/")


@pytest.mark.parametrize(
    "host", ["evil.example", "perf.example.org@evil.example", "evil.example:80"]
)
def test_a_host_that_is_not_ours_is_refused(host: str) -> None:
    assert Client().get("/", headers={"host": host}).status_code == 400


def test_signing_in_makes_a_new_session_and_signing_out_ends_it() -> None:
    make.user()
    client = Client(REMOTE_ADDR="192.0.2.202")
    session = client.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    client.post("/sign-in/", FORM)
    assert client.session.session_key != planted
    assert not Client().session.exists(planted)
    stolen = client.session.session_key
    client.post("/sign-out/")
    assert not Client().session.exists(stolen)


def test_a_changed_password_ends_the_other_sessions() -> None:
    make.user()
    here, there = (Client(REMOTE_ADDR="192.0.2.203") for _ in range(2))
    for client in (here, there):
        client.post("/sign-in/", FORM)
    new = "quite another one 7"
    form = {"old_password": FORM["password"], "new_password1": new, "new_password2": new}
    assert here.post("/account/password/", form).status_code == 302
    assert here.get("/account/").status_code == 200
    assert there.get("/account/")["Location"].startswith("/sign-in/")


def test_cookies_are_closed_to_scripts_and_to_other_sites(settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    make.user()
    client = Client(REMOTE_ADDR="192.0.2.204")
    client.get("/sign-in/")
    client.post("/sign-in/", FORM)
    assert len(client.cookies) == 3
    for name, cookie in client.cookies.items():
        assert cookie["secure"], name
        assert cookie["samesite"] == "Lax", name
        assert cookie["httponly"] or "csrf" in name
