"""The audit log as operators read and export it."""

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests import make
from tests.accounts.test_audit import by
from tests.approved import Approvals
from tests.pages.conftest import Counted
from webapp.accounts.models import User
from webapp.labs.models import Lab

pytestmark = pytest.mark.django_db


def test_the_page_shows_what_changed_and_finds_by_each_filter(
    client: Client, visit: Callable[[str], str], queries: Counted, approved: Approvals
) -> None:
    user = make.user("op", role=User.Role.OPERATOR)
    with by("create_agent"):
        lab = Lab.objects.create(name="netlab")
    client.force_login(user)
    client.post(f"/labs/{lab.pk}/quota/", {"runs": "7"}, REMOTE_ADDR="192.0.2.7")
    approved("pages/audit", client.get("/audit/"))
    for query, found, missing in (
        ("who=op", "most_runs 7", "create_agent"),
        (f"who={user.pk}", "most_runs 7", "create_agent"),
        ("who=create", "create_agent", "most_runs"),
        ("action=lab_quota", "most_runs 7", "create_agent"),
        (f"table=labs_lab&row={lab.pk}", "create_agent", "most_runs"),
        ("until=2020-01-01", "No entry fits.", "most_runs"),
        ("since=2020-01-01&until=2099-01-01", "most_runs 7", "No entry fits."),
        ("who=99999999999999999999", "most_runs 7", "No entry fits."),
    ):
        text = visit(f"/audit/?{query}")
        assert found in text, query
        assert missing not in text, query
    before = queries("/audit/")
    with by("many"):
        for number in range(60):
            Lab.objects.create(name=f"lab {number}")
    assert queries("/audit/") == before
    assert "lab 59" in visit("/audit/")
    older = re.search(r'href="([^"]*before=[^"]*)"', client.get("/audit/").content.decode())
    assert older
    assert "lab 0" in visit(unescape(older[1]))


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("since=yesterday", "From: “yesterday” is no day; one is 2026-11-26."),
        ("since=2026-01-01&until=2026-02-30", "To: “2026-02-30” is no day; one is 2026-11-26."),
    ],
)
def test_what_is_no_day_is_named_and_shows_and_exports_nothing(
    client: Client, query: str, problem: str
) -> None:
    client.force_login(make.user("op", role=User.Role.OPERATOR))
    page = client.get(f"/audit/?{query}")
    assert page.status_code == 400
    assert problem in page.content.decode()
    assert "signed in" not in page.content.decode()
    export = client.get(f"/audit.csv?{query}")
    assert (export.status_code, export.content.decode()) == (400, f"{problem}\n")


def test_page_and_command_export_the_same_lines(client: Client) -> None:
    client.force_login(make.user("=1+1", role=User.Role.OPERATOR))
    with by("create_agent"):
        Lab.objects.create(name="netlab")
    for form in ("csv", "jsonl"):
        out = io.StringIO()
        call_command("export_audit", format=form, stdout=out)
        assert out.getvalue() == client.get(f"/audit.{form}").content.decode()
    entry, signing_in = (json.loads(line) for line in out.getvalue().splitlines())
    assert (entry["who"], entry["table"], entry["after"]["name"]) == (
        "create_agent",
        "labs_lab",
        "netlab",
    )
    assert (signing_in["who"], signing_in["action"]) == ("=1+1", "signed in")
    rows = list(csv.DictReader(io.StringIO(client.get("/audit.csv").content.decode())))
    assert [row["who"] for row in rows] == ["create_agent", "'=1+1"]
    with pytest.raises(CommandError, match="--since May: a day such as"):
        call_command("export_audit", since="May")
