"""A private instance shows a stranger nothing of what was measured."""

from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.operators import text_of
from webapp.labs import services
from webapp.labs.models import Token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def private(settings: Any) -> None:
    settings.PUBLIC = False


@pytest.fixture
def token() -> str:
    return services.issue_token(agent=make.agent()).text


def test_a_stranger_is_sent_to_sign_in_and_comes_back() -> None:
    response = Client().get("/alerts/?state=all")
    assert (response.status_code, response["Location"]) == (
        302,
        "/sign-in/?next=/alerts/%3Fstate%3Dall",
    )


def test_whoever_has_an_account_reads(client: Client) -> None:
    client.force_login(make.user())
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/hardware").status_code == 200


def test_the_page_to_sign_in_names_nothing_of_the_instance() -> None:
    make.tree("secret-project")
    text = text_of(Client().get("/sign-in/"))  # type: ignore[arg-type]
    assert "secret-project" not in text
    assert "can be read without an account" not in text


def test_supervisors_and_styles_stay_open() -> None:
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/metrics").status_code == 200
    assert finders.find("css/theme.css")


def test_the_api_answers_a_stranger_in_its_own_shape() -> None:
    response = Client().get("/api/v1/hardware")
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "unauthenticated"


def test_an_agents_token_reads_until_it_is_revoked(token: str) -> None:
    program = Client(headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/v1/hardware").status_code == 200
    services.revoke_token(token=Token.objects.get())
    assert program.get("/api/v1/hardware").status_code == 401


READ = ["/", "/alerts/", "/feeds/freebsd-head.atom", "/badge.svg?tree=freebsd-head"]


def test_a_token_reads_pages_pictures_and_feeds_and_writes_nothing(token: str) -> None:
    make.tree("freebsd-head")
    program = Client(headers={"Authorization": f"Bearer {token}"})
    assert [program.get(address).status_code for address in READ] == [200] * len(READ)
    for address in ("/account/", "/admin/", "/outbox/"):
        assert program.get(address).status_code == 302
    assert program.post("/alerts/act/", {"act": "acknowledge"}).status_code == 302


@pytest.mark.parametrize("kind", ["Bearer nonsense", "Bearer upload"])
def test_another_token_reads_no_page(kind: str) -> None:
    text = services.issue_token(agent=make.agent(), scopes=["upload"]).text
    program = Client(headers={"Authorization": kind.replace("upload", text)})
    wanted = 403 if "upload" in kind else 401
    assert [program.get(address).status_code for address in READ] == [wanted] * len(READ)


def test_the_password_of_a_proxy_is_no_token() -> None:
    client = Client(headers={"Authorization": "Basic YTpi"})
    assert client.get("/alerts/")["Location"].startswith("/sign-in/")


def test_the_token_is_looked_up_once_though_it_is_asked_for_twice(token: str) -> None:
    program = Client(headers={"Authorization": f"Bearer {token}"})
    with CaptureQueriesContext(connection) as captured:
        assert program.get("/api/v1/runs").status_code == 405
        program.post("/api/v1/runs", "[]", content_type="application/json")
    looked_up = [one for one in captured if "FROM labs_token" in one["sql"]]
    assert len(looked_up) == 2


@pytest.mark.parametrize(
    ("scope", "refused"),
    [
        ("upload", {"GET hardware": "read", "POST jobs/poll": "jobs"}),
        ("jobs", {"GET hardware": "read", "POST runs": "upload"}),
        ("read", {"POST runs": "upload", "POST jobs/poll": "jobs"}),
    ],
)
def test_a_token_does_what_its_scope_names_alone(scope: str, refused: dict[str, str]) -> None:
    text = services.issue_token(agent=make.agent(), scopes=[scope]).text
    program = Client(headers={"Authorization": f"Bearer {text}"})
    for name in ("GET hardware", "POST runs", "POST jobs/poll"):
        method, path = name.split()
        answer = program.generic(method, f"/api/v1/{path}", "{}", content_type="application/json")
        if name in refused:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (403, "scope_missing")
            assert f"“{refused[name]}”" in error["message"]
        else:
            assert answer.status_code in (200, 422)
