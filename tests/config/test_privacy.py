"""A private instance shows a stranger nothing of what was measured."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.operators import text_of
from webapp.accounts.models import Readers
from webapp.accounts.services import open_to_everybody, people
from webapp.demo.loading import Loading
from webapp.labs import services
from webapp.labs.models import Lab, Token

keep_public = importlib.import_module("migrations.accounts.0007_readers").keep_public

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


def test_what_stays_open_is_open_to_whoever_sends_a_bad_token() -> None:
    program = Client(headers={"Authorization": "Bearer nonsense"})
    found = [program.get(address).status_code for address in ("/healthz", "/metrics", "/sign-in/")]
    assert found == [200, 200, 200]


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


@pytest.fixture
def unset(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """DRIFTLINE_PUBLIC is not set, and the process did not ask yet."""
    settings.PUBLIC = None
    monkeypatch.setattr(people, "_is_public", False)


def status_for_a_stranger() -> int:
    return Client().get("/alerts/").status_code


def test_without_the_variable_a_new_instance_is_private(unset: None) -> None:
    keep_public(apps, None)
    assert status_for_a_stranger() == 302


@pytest.mark.parametrize("used_by", ["a person", "an agent"])
def test_an_instance_that_was_in_use_stays_public(unset: None, used_by: str) -> None:
    if used_by == "a person":
        make.user()
    else:
        make.agent()
    keep_public(apps, None)
    assert status_for_a_stranger() == 200


@pytest.mark.parametrize("stored", [False, True])
def test_the_variable_overrules_what_is_stored(settings: Any, stored: bool) -> None:
    Readers.objects.create(pk=1, everybody=stored)
    settings.PUBLIC = not stored
    assert status_for_a_stranger() == (302 if stored else 200)


def test_no_shared_cache_keeps_a_page_of_a_private_instance_and_only_of_that(unset: None) -> None:
    assert "private" in Client().get("/sign-in/")["Cache-Control"]
    open_to_everybody()
    assert "private" not in Client().get("/alerts/").get("Cache-Control", "")


def test_a_demonstration_opens_itself_but_no_lab_beside_it(unset: None, tmp_path: Path) -> None:
    loading = Loading("", "http://127.0.0.1:8000/", tmp_path, tmp_path, 5, print, parts=())
    make.lab("mine")
    loading.load()
    assert status_for_a_stranger() == 302
    Lab.objects.all().delete()
    loading.load()
    assert status_for_a_stranger() == 200


def test_the_first_steps_name_who_may_read_and_the_variable(unset: None) -> None:
    reader = Client()
    reader.force_login(make.user())
    assert "DRIFTLINE_PUBLIC=true" in text_of(reader.get("/"))  # type: ignore[arg-type]
    open_to_everybody()
    assert "DRIFTLINE_PUBLIC=false" in text_of(Client().get("/"))  # type: ignore[arg-type]
