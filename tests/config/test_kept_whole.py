"""What a stranger puts into a page must not tell the rest of it by the size of the answer."""

import re

import pytest
from django.test import Client

from tests import make, whole_site
from webapp.outbox.models import Endpoint

pytestmark = pytest.mark.django_db
SECRET_LINK = re.compile(r"/(?:feeds/subscription|unsubscribe)/[\w:-]{8,}")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


def test_no_page_with_a_lasting_secret_may_be_compressed() -> None:
    operator = whole_site.fill()
    reader = Client()
    reader.force_login(operator)
    keys = [endpoint.secret for endpoint in Endpoint.objects.all()]
    holding = set[str]()
    for address, page in whole_site.pages_from(reader, "/", of_each=1).items():
        if SECRET_LINK.search(page) or any(key in page for key in keys):
            holding.add(address)
            assert "no-transform" in reader.get(address).headers.get("Cache-Control", ""), address
    assert {"/subscriptions/"} <= holding


@pytest.mark.parametrize(
    "address", ["/admin/login/", "/sign-in/", "/account/", "/account/factors/", "/outbox/"]
)
def test_whatever_else_is_personal_may_not_either(address: str) -> None:
    reader = Client()
    if "in/" not in address:
        reader.force_login(make.user(role="operator"))
    assert "no-transform" in reader.get(address).headers["Cache-Control"]


def test_pages_for_everybody_may_and_the_token_of_a_form_is_another_each_time() -> None:
    reader = Client()
    reader.force_login(make.user(role="operator"))
    assert "no-transform" not in reader.get("/trends/").headers.get("Cache-Control", "")
    tokens = {match for _ in range(3) for match in TOKEN.findall(reader.get("/").content.decode())}
    assert len(tokens) >= 3
