"""`/canaries/`, and what other pages show of them."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.events.steps import CALM, boots, canary
from tests.pages.conftest import Counted
from webapp.accounts.models import User
from webapp.events.models import Canary
from webapp.events.services.canaries import request_due

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def test_without_canaries_the_list_names_who_adds_them(visit: Visit) -> None:
    assert "No machine has one yet. An operator adds them" in visit("/canaries/")


def test_the_list_and_the_page_of_the_machine_state_where_each_stands(visit: Visit) -> None:
    boots(canary(), CALM[:3])
    out = canary(mode=make.mode("pf"))
    boots(out, [*CALM, 80.0, 80.0])
    boots(canary(mode=make.mode("ipfw"), is_active=False), CALM)
    for address in ("/canaries/", "/hardware/Atom_C2758/T540-CR/"):
        page = visit(address)
        assert "cannot tell yet: 3 of 8 boots" in page
        assert "lab? left its limits on 2026-01-12 12:00 UTC" in page
        assert "within its limits, 10 boots stopped" in page


def test_the_page_of_a_canary_has_its_chart_and_a_row_for_each_boot(
    client: Client, approved: Approvals
) -> None:
    made = canary()
    boots(made, [*CALM, 80.0, 80.0])
    html = client.get(made.get_absolute_url()).content.decode()
    assert html.count('class="outside"') == 2
    assert html.count('class="limit"') == 2
    approved(
        "pages/canaries/the-page-of-a-canary-has-its-chart", client.get(made.get_absolute_url())
    )


def test_a_canary_without_boots_states_what_it_waits_for(
    client: Client, approved: Approvals
) -> None:
    made = canary()
    request_due()
    approved(
        "pages/canaries/a-canary-without-boots-states-what-it-waits",
        client.get(made.get_absolute_url()),
    )


def test_operators_stop_and_start_a_canary_and_others_do_not(client: Client) -> None:
    made = canary()
    address = f"{made.get_absolute_url()}act/"
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    assert client.post(address, {"act": "stop"}).status_code == 403
    client.force_login(make.user("root", role=User.Role.OPERATOR))
    client.post(address, {"act": "stop"})
    assert not Canary.objects.get().is_active
    client.post(address, {"act": "start"})
    assert Canary.objects.get().is_active
    assert client.get("/canaries/2000000/").status_code == 404


def test_the_number_of_queries_does_not_grow_with_canaries(queries: Counted) -> None:
    boots(canary(), CALM)
    few = queries("/canaries/")
    for number in range(4):
        boots(canary(mode=make.mode(f"mode-{number}")), CALM)
    assert queries("/canaries/") == few <= 4
