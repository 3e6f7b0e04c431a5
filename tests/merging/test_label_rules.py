"""Rules about parts of labels in the admin: who may, what is checked, and that runs are filed."""

from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.documents import run_document
from tests.results.steps import mode, upload
from webapp.accounts.models import User
from webapp.results.models import LabelRule, Run
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
RULES = "/admin/results/labelrule/"


@pytest.fixture
def operator(client: Client) -> Client:
    forget_names()
    client.force_login(make.user("olga", role=User.Role.OPERATOR))
    return client


def form(**fields: Any) -> dict[str, Any]:
    return {
        "pattern": "mylab",
        "kind": "vendor",
        "order": "0",
        "is_active": "on",
        "name": "",
        "lab": "",
    } | fields


def variants() -> set[str | None]:
    return set(Run.objects.values_list("variant__name", flat=True))


def test_a_rule_files_stored_runs_when_it_is_saved_and_when_it_goes(operator: Client) -> None:
    upload(run_document(mode=mode("pf", "mylab")))
    page = operator.post(f"{RULES}add/", form(), follow=True).content.decode()
    assert "Stored runs filed anew: 1" in page
    assert variants() == {"mylab"}
    number = LabelRule.objects.get(pattern="mylab").pk
    operator.post(f"{RULES}{number}/change/", form(is_active=""))
    assert variants() == {None}
    operator.post(f"{RULES}{number}/change/", form())
    operator.post(f"{RULES}{number}/delete/", {"post": "yes"})
    assert variants() == {None}


def test_rules_that_come_with_the_program_are_switched_off_and_not_deleted(
    operator: Client,
) -> None:
    upload(run_document(mode=mode("pf", "D12685")))
    rule = LabelRule.objects.get(kind="patch", pattern__startswith="D")
    assert operator.post(f"{RULES}{rule.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(
        RULES,
        {"action": "delete_selected", "_selected_action": [str(rule.pk)], "post": "yes"},
    )
    assert LabelRule.objects.filter(pk=rule.pk).exists()
    operator.post(f"{RULES}{rule.pk}/change/", form(kind="patch", is_active=""))
    rule.refresh_from_db()
    assert (rule.pattern[0], rule.is_active, rule.is_builtin) == ("D", False, True)
    assert variants() == {None}


def test_a_rule_that_could_not_be_asked_is_refused(operator: Client) -> None:
    page = operator.post(f"{RULES}add/", form(kind="knob", pattern="rx")).content.decode()
    assert "what * stands for" in page
    page = operator.post(f"{RULES}add/", form(pattern="VIMAGE")).content.decode()
    assert "already exists" in page
    assert not LabelRule.objects.filter(is_builtin=False).exists()


def test_a_triager_does_not_change_rules(client: Client) -> None:
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    assert client.post(f"{RULES}add/", form()).status_code in (302, 403)
    assert not LabelRule.objects.filter(is_builtin=False).exists()
