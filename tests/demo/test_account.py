"""The account whose password everybody knows."""

import pytest
from django.test import Client

from webapp.accounts.models import User
from webapp.demo.links import NAME, PASSWORD, ensure_account, is_local

HERE = "http://127.0.0.1:8000/"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        (HERE, True),
        ("http://127.9.9.9/", True),
        ("http://[::1]:8000/", True),
        ("http://localhost:8000/", True),
        ("http://driftline.localhost/", True),
        ("http://0.0.0.0:8000/", False),
        ("http://192.168.1.4:8000/", False),
        ("https://driftline.example.org/", False),
        ("https://localhost.example.org/", False),
    ],
)
def test_only_an_address_of_this_machine_is_local(url: str, local: bool) -> None:
    assert is_local(url) is local


@pytest.mark.django_db
class TestAccount:
    def test_it_signs_in_to_the_admin_with_what_was_printed(self) -> None:
        line = ensure_account(HERE)
        assert NAME in line
        assert PASSWORD in line
        client = Client()
        assert client.login(username=NAME, password=PASSWORD)
        assert client.get("/admin/").status_code == 200

    def test_it_is_made_once(self) -> None:
        assert ensure_account(HERE) == ensure_account(HERE)
        assert User.objects.count() == 1

    def test_a_changed_password_stays_and_is_not_printed(self) -> None:
        ensure_account(HERE)
        account = User.objects.get(username=NAME)
        account.set_password("another one")
        account.save()
        assert PASSWORD not in ensure_account(HERE)
        account.refresh_from_db()
        assert account.check_password("another one")

    def test_it_is_not_made_where_others_can_reach_it(self) -> None:
        assert "createsuperuser" in ensure_account("https://driftline.example.org/")
        assert not User.objects.exists()
