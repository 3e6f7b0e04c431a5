"""`/labs/`: what labs have, and how much they may."""

import re

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted
from tests.results.steps import measured, upload
from webapp.accounts.models import AuditEntry
from webapp.labs.models import LabQuota
from webapp.results.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make.user("op", is_staff=True))
    return client


def fields(page: str, name: str) -> dict[str, str]:
    """What the form of the only lab holds, as rendered."""
    form = re.search(r'<form[^>]*action="(/labs/[^"]*)".*?</form>', page, re.DOTALL)
    assert form is not None
    inputs = re.findall(r"<input[^>]*>", form[0])
    values = {
        re.findall(r'name="([^"]*)"', one)[0]: (re.findall(r'value="([^"]*)"', one) or [""])[0]
        for one in inputs
    }
    return {"action": form[1], **values} | ({} if name == "" else {"runs": name})


def test_an_operator_sees_the_use_of_a_lab_and_sets_its_quota(
    operator: Client, approved: Approvals
) -> None:
    upload(measured("r300001"))
    text = " ".join(operator.get("/labs/").content.decode().split())
    assert "1 of 100,000" in text
    assert "1 of 50,000" in text
    given = fields(operator.get("/labs/").content.decode(), "1")
    page = operator.post(given.pop("action"), given, follow=True)
    approved("pages/labs/an-operator-sees-the-use-of-a-lab", page)
    after = page.content.decode()
    assert LabQuota.objects.get().most_runs == 1
    assert AuditEntry.objects.get(subject="labs_labquota").action == "lab_quota"
    given = fields(after, "")
    assert given["runs"] == "1"
    operator.post(given.pop("action"), given | {"runs": ""})
    assert LabQuota.objects.get().most_runs is None
    assert LabQuota.objects.get().runs == Run.objects.count() == 1


@pytest.mark.parametrize("bad", ["-1", "many", "1.5", "1" * 12, "\u0662", "9" * 5000])
def test_a_quota_that_is_no_number_is_refused_with_its_field(operator: Client, bad: str) -> None:
    lab = make.lab()
    sent = operator.post(f"/labs/{lab.pk}/quota/", {"trees": "5", "series": bad}, follow=True)
    assert "series: a whole number up to 1000000000 is needed" in sent.content.decode()
    assert not LabQuota.objects.exists()


def test_an_instance_without_labs_states_how_one_is_made(operator: Client) -> None:
    assert "create_agent" in operator.get("/labs/").content.decode()


def test_the_agents_page_leads_operators_there_and_nobody_else(client: Client) -> None:
    assert "/labs/" not in client.get("/agents/").content.decode()
    client.force_login(make.user("op", is_staff=True))
    assert "/labs/" in client.get("/agents/").content.decode()


@pytest.mark.usefixtures("operator")
def test_statements_do_not_grow_with_labs(queries: Counted) -> None:
    make.lab("one")
    before = queries("/labs/")
    for number in range(6):
        make.lab(f"lab{number}")
    assert queries("/labs/") == before
