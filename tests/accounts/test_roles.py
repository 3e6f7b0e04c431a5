"""What a role lets a person do, and how it is given."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from tests import make
from tests.operators import operator, text_of, url
from webapp.accounts.models import User
from webapp.accounts.roles import (
    NOT_DONE,
    RoleNeeded,
    is_operator,
    is_triager,
    operator_required,
    signed_in_required,
    triager_required,
)
from webapp.accounts.services.people import RoleError, remove_people

pytestmark = pytest.mark.django_db
NAMES = ["viewer", "triager", "operator"]
GUARDS = {
    "viewer": signed_in_required,
    "triager": triager_required,
    "operator": operator_required,
}


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("done")


@pytest.mark.parametrize("needed", NAMES)
@pytest.mark.parametrize("role", NAMES)
def test_a_role_includes_those_below_it(role: str, needed: str) -> None:
    request = RequestFactory().get("/page/")
    request.user = make.user(role=role)
    if NAMES.index(role) >= NAMES.index(needed):
        assert GUARDS[needed](page)(request).status_code == 200
        return
    with pytest.raises(RoleNeeded, match=f"needs the role {needed}; the role of ada is {role}"):
        GUARDS[needed](page)(request)


def test_a_new_account_is_a_viewer_and_a_superuser_an_operator() -> None:
    ada, root = make.user(), User.objects.create_superuser("root")
    assert (ada.role, is_triager(ada), is_operator(ada)) == ("viewer", False, False)
    assert (root.role, is_triager(root), is_operator(root)) == ("operator", True, True)


def test_who_was_locked_out_has_no_role() -> None:
    gone = make.user(role="operator", is_active=False)
    assert not is_triager(gone)
    assert not is_operator(gone)


def test_after_signing_in_one_is_back_at_the_page_of_the_form(settings: Any) -> None:
    def location(**headers: str) -> str:
        address = "/alerts/act/?state=all"
        return str(Client().post(address, headers=headers)["Location"])  # type: ignore[arg-type]

    here = "http://testserver/alerts/7/?a=b"
    assert location(referer=here) == "/sign-in/?next=/alerts/7/%3Fa%3Db"
    assert location(referer="https://elsewhere.example/") == "/sign-in/?next=/"
    settings.PUBLIC = False
    assert location(referer=here) == "/sign-in/?next=/alerts/7/%3Fa%3Db"


def test_who_sends_a_form_without_being_signed_in_any_more_reads_that_nothing_was_done() -> None:
    browser = Client()
    by_script = browser.post("/alerts/act/", headers={"hx-request": "true"})
    assert by_script["HX-Redirect"] == "/sign-in/?next=/"
    assert NOT_DONE in text_of(browser.get("/sign-in/"))  # type: ignore[arg-type]
    assert NOT_DONE not in text_of(browser.get("/sign-in/"))  # type: ignore[arg-type]


def test_the_refusal_names_the_role_that_is_needed_and_who_gives_it(client: Client) -> None:
    client.force_login(make.user())
    response = client.post("/alerts/act/")
    assert response.status_code == 403
    assert "needs the role triager; the role of ada is viewer" in text_of(response)
    assert "An operator of this instance gives roles." in text_of(response)


def test_a_role_is_given_by_a_command_and_the_admin_opens_with_it(client: Client) -> None:
    ada = make.user()
    client.force_login(ada)
    for role, status in (("operator", 200), ("triager", 302)):
        make.user(f"other-{role}", role="operator")
        call_command("set_role", "ada", role)
        assert client.get("/admin/").status_code == status
        ada.refresh_from_db()
        assert ada.role == role


def test_a_role_is_given_in_the_admin() -> None:
    root, ada = operator(), make.user()
    fields = {
        "username": "ada",
        "role": "operator",
        "is_active": "on",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "12:00:00",
    }
    root.post(url(User, "change", ada.pk), fields)
    ada.refresh_from_db()
    assert (ada.role, ada.is_superuser) == ("operator", True)


def test_an_operator_adds_people(client: Client) -> None:
    fields = {
        "username": "grace",
        "email": "grace@bsd.example",
        "role": "triager",
        "usable_password": "true",
        "password1": "a rather long word",
        "password2": "a rather long word",
    }
    operator().post(url(User, "add"), fields)
    assert User.objects.get(username="grace").is_triager
    assert client.login(username="grace", password="a rather long word")


def test_the_only_operator_stays_one() -> None:
    client = operator()
    root = User.objects.get(username="root")
    with pytest.raises(CommandError, match="only operator"):
        call_command("set_role", "root", "viewer")
    response = client.post(url(User, "change", root.pk), {"username": "root", "role": "viewer"})
    assert "root is the only operator; make another one first." in text_of(response)
    root.refresh_from_db()
    assert root.is_operator


def test_the_only_operator_is_not_deleted() -> None:
    client = operator()
    root = User.objects.get(username="root")
    chosen = {"action": "delete_selected", "_selected_action": [root.pk], "post": "yes"}
    for page, fields in (("delete", {"post": "yes"}), ("changelist", chosen)):
        place = url(User, page, root.pk) if page == "delete" else url(User)
        assert "the only operators: make another one first" in text_of(client.post(place, fields))
    assert User.objects.filter(pk=root.pk).exists()
    make.user("ada", role="operator")
    client.post(url(User, "delete", root.pk), {"post": "yes"})
    root.refresh_from_db()
    assert (root.username, root.is_active) == (f"removed-{root.pk}", False)


def test_operators_who_delete_one_another_do_not_both_succeed() -> None:
    """Both were asked whether to, before either was deleted."""
    people = [make.user(name, role="operator") for name in ("ada", "bob")]
    remove_people(people=User.objects.filter(pk=people[0].pk))
    with pytest.raises(RoleError, match="make another one first"):
        remove_people(people=User.objects.filter(pk=people[1].pk))
    assert list(User.objects.operators()) == [people[1]]


@pytest.mark.parametrize(("name", "role"), [("nobody", "viewer"), ("ada", "king")])
def test_an_unknown_name_or_role_is_refused(name: str, role: str) -> None:
    make.user()
    with pytest.raises(CommandError, match=name if name == "nobody" else role):
        call_command("set_role", name, role)


NEW_PASSWORD = ("new_password1", "new_password2")


def test_people_change_their_own_password(client: Client) -> None:
    ada = User.objects.create_user("ada", password="a rather long word")
    client.force_login(ada)
    fields = {"old_password": "a rather long word", "new_password1": "another rather long word"}
    wrong = client.post("/account/password/", fields | {"new_password2": "something else"})
    assert "didn’t match" in text_of(wrong)
    weak = client.post("/account/password/", fields | dict.fromkeys(NEW_PASSWORD, "12345"))
    assert "too short" in text_of(weak)
    done = client.post(
        "/account/password/", fields | {"new_password2": "another rather long word"}, follow=True
    )
    assert "Your password is changed." in text_of(done)
    assert client.login(username="ada", password="another rather long word")
