"""What every page has: the bar, sign-in, errors, safety."""

import re
from collections.abc import Callable

import pytest
from django.template.loader import render_to_string
from django.test import Client

from tests import make
from tests.kept import kept
from tests.pages.conftest import words
from webapp.results.models import WaitingRun

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PAGES = [
    "/",
    "/lately/",
    "/hardware/",
    "/hardware/Atom_C2758/T540-CR/",
    "/trends/",
    "/commits/freebsd-head/",
    "/commits/freebsd-head/r300003/",
    "/compare/?a=freebsd-head:r300000&b=freebsd-head:r300003",
    "/alerts/",
    "/search/",
    "/sign-in/",
]


@pytest.fixture(autouse=True)
@kept
def content() -> None:
    along = make.revisions(2)
    make.history(make.series(), along, [100.0, 90.0])
    for revision in along:
        make.run(revision)


@pytest.mark.parametrize("address", PAGES)
def test_a_stranger_reads_every_page_and_it_needs_no_style_nor_script_of_its_own(
    client: Client, address: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    html = answer.content.decode()
    assert "<style" not in html
    assert " style=" not in html
    assert " onclick=" not in html
    assert all(part.startswith(" src=") for part in html.split("<script")[1:])
    assert not {"nan", "none", "inf", "null"} & set(words(html).lower().split())
    assert re.search(r'<meta name="ahead"\s+content="/static/plotly.min.\w+.js">', html)
    assert not re.search(r"<script[^>]*plotly", html)
    policy = answer["Content-Security-Policy"]
    assert ("style-src-attr" in policy) == address.startswith("/trends/")
    assert "script-src 'self';" in f"{policy};"
    assert "unsafe-eval" not in policy
    if address != "/sign-in/":
        assert client.post(address).status_code == 405


def test_names_from_outside_are_escaped(client: Client) -> None:
    at = make.revision("r9", subject="<script>alert(1)</script>")
    make.run(at, withdrawn_at=make.DAY_ONE, withdrawn_reason="<img src=x>")
    html = client.get(at.get_absolute_url()).content.decode()
    assert "<script>alert" not in html
    assert "<img" not in html


def test_one_signs_in_and_out(client: Client) -> None:
    make.user("ada")
    wrong = client.post("/sign-in/", {"username": "ada", "password": "guess"})
    assert "Wrong username or password" in words(wrong.content.decode())
    right = client.post(
        "/sign-in/?next=/hardware/", {"username": "ada", "password": "a long password"}
    )
    assert right["Location"] == "/hardware/"
    assert "Signed in as ada" in words(client.get("/").content.decode())
    assert client.post("/sign-out/")["Location"] == "/"
    assert "Sign in" in words(client.get("/").content.decode())


def test_the_bar_has_six_entries_and_operators_see_what_waits_for_them(client: Client) -> None:
    bar = re.compile(r'<nav aria-label="Pages">(.*?)</nav>', re.DOTALL)
    (stranger,) = bar.findall(client.get("/alerts/").content.decode())
    assert len(re.findall("<a ", stranger.split("<details")[0])) == 6
    assert "Operate" not in stranger
    client.force_login(make.user("ada", role="operator"))
    (quiet,) = bar.findall(client.get("/alerts/").content.decode())
    assert "badge" not in quiet
    waiting = make.run(make.revision("r9"))
    WaitingRun.objects.create(run=waiting, candidates=[], since=make.DAY_ONE)
    (found,) = bar.findall(client.get("/alerts/").content.decode())
    operate, narrow = found.split("<details")[1:]
    assert 'Operate <span class="badge">1</span>' in operate
    for address in ("/outbox/", "/webhooks/", "/labs/", "/admin/", "/runs/waiting/"):
        assert f'href="{address}"' in operate
        assert f'href="{address}"' in narrow


def test_signing_in_never_leads_to_another_site(client: Client) -> None:
    make.user("ada")
    response = client.post(
        "/sign-in/?next=https://elsewhere.example/",
        {"username": "ada", "password": "a long password"},
    )
    assert response["Location"] == "/"


def test_a_missing_page_offers_the_search(client: Client) -> None:
    response = client.get("/no/such/page/")
    assert response.status_code == 404
    assert "There is no page at /no/such/page/" in words(response.content.decode())
    assert b'name="q"' in response.content


def test_a_missing_thing_is_named(client: Client) -> None:
    text = words(client.get("/commits/freebsd-head/r9/").content.decode())
    assert "No revision r9 is known in freebsd-head" in text


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "500"])
def test_error_pages_need_neither_request_nor_database(
    name: str, django_assert_num_queries: Callable[[int], object]
) -> None:
    with django_assert_num_queries(0):  # type: ignore[attr-defined]
        assert "Driftline" in render_to_string(f"{name}.html")


def test_a_page_that_fails_names_what_was_asked_and_nothing_of_the_fault(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise ValueError("a secret detail")

    monkeypatch.setattr("webapp.pages.overview.overview.machines", fail)
    client.raise_request_exception = False
    answer = client.get("/?show=<b>")
    text = words(answer.content.decode())
    assert answer.status_code == 500
    assert "Something went wrong here" in text
    assert "Asked for: / ." in text
    assert "secret" not in text


def test_what_is_not_allowed_names_what_was_asked(client: Client) -> None:
    client.force_login(make.user("ada"))
    answer = client.get("/outbox/")
    text = words(answer.content.decode())
    assert answer.status_code == 403
    assert "Not allowed" in text
    assert "Asked for: /outbox/" in text


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/jobs/new/", "There is no such series: /jobs/new/"),
        ("/feeds/gittree.atom", "There is no such tree: /feeds/gittree.atom"),
        ("/events/7/", "There is no such lab event: /events/7/"),
        ("/nowhere/", "There is no page at /nowhere/"),
        ("/a%00b/", "There is no page at /a%00b/"),
    ],
)
def test_a_page_that_is_missing_names_what_is(client: Client, address: str, sentence: str) -> None:
    client.force_login(make.user("tess", role="triager"))
    response = client.get(address)
    assert response.status_code == 404
    assert sentence in words(response.content.decode())
