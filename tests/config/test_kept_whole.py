"""What a stranger puts into a page must not reveal the rest of it by the size of the answer."""

import re

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.mark.parametrize(
    "address", ["/admin/login/", "/sign-in/", "/account/", "/account/factors/", "/outbox/"]
)
def test_a_page_of_a_person_may_not_be_compressed(address: str) -> None:
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
