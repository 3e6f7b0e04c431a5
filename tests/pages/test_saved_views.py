"""`/views/`: a page with a query is named, listed, shared and taken back."""

import pytest
from django.test import Client

from tests import make
from webapp.accounts.models import SavedView, User
from webapp.accounts.services.people import MOST_VIEWS

pytestmark = pytest.mark.django_db
ADDRESS = "/alerts/?state=new&hardware=bench/nic"


@pytest.fixture
def ada(client: Client) -> User:
    user = make.user("ada")
    client.force_login(user)
    return user


def save(client: Client, name: str = "mine", address: str = ADDRESS) -> str:
    given = {"name": name, "address": address}
    return client.post("/views/", given, follow=True).content.decode()


def test_a_page_with_a_query_offers_to_be_saved(client: Client, ada: User) -> None:
    assert f'value="{ADDRESS.replace("&", "&amp;")}"' in client.get(ADDRESS).content.decode()
    assert "Save this view" not in client.get("/alerts/").content.decode()
    assert "Saved as “mine”." in save(client)
    assert f'href="{ADDRESS.replace("&", "&amp;")}">mine<' in client.get("/views/").content.decode()
    assert ada.saved_views.get().address == ADDRESS


def test_a_name_moves_to_another_page(client: Client, ada: User) -> None:
    save(client)
    save(client, address="/trends/?tree=head")
    assert ada.saved_views.get().address == "/trends/?tree=head"


@pytest.mark.parametrize(
    ("name", "address", "reason"),
    [
        (" ", ADDRESS, "Name: give one"),
        ("x" * 101, ADDRESS, "Name: give one"),
        ("x", "/alerts/", "no query"),
        ("x", "//evil.example/?a=b", "only pages of this site"),
        ("x", "https://evil.example/?a=b", "only pages of this site"),
        ("x", "javascript:alert(1)//?a", "only pages of this site"),
        ("x", f"/alerts/?q={'x' * 8000}", "up to 8,000"),
    ],
)
def test_what_is_no_view_is_refused_with_the_remedy(
    client: Client, ada: User, name: str, address: str, reason: str
) -> None:
    assert reason in save(client, name, address)
    assert not ada.saved_views.exists()


def test_there_is_an_end_of_them(client: Client, ada: User) -> None:
    SavedView.objects.bulk_create(
        SavedView(owner=ada, name=str(number), address=ADDRESS) for number in range(MOST_VIEWS)
    )
    assert "delete one first" in save(client)
    assert "Saved as" in save(client, "7")


def test_a_view_is_shared_and_taken_back_by_its_owner_alone(client: Client, ada: User) -> None:
    save(client)
    view = ada.saved_views.get()
    other = Client()
    other.force_login(make.user("bob"))
    assert "mine" not in other.get("/views/").content.decode()
    client.post(f"/views/{view.pk}/act/", {"act": "share"})
    shown = other.get("/views/").content.decode()
    assert "mine" in shown
    assert "Delete" not in shown
    for wanted in ("delete", "keep"):
        answer = other.post(f"/views/{view.pk}/act/", {"act": wanted}, follow=True)
        assert "You have no such view" in answer.content.decode()
    client.post(f"/views/{view.pk}/act/", {"act": "keep"})
    assert "mine" not in other.get("/views/").content.decode()
    assert (
        "Choose what"
        in client.post(f"/views/{view.pk}/act/", {"act": "x"}, follow=True).content.decode()
    )
    client.post(f"/views/{view.pk}/act/", {"act": "delete"})
    assert not SavedView.objects.exists()


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/views/").status_code == 302
    assert client.post("/views/", {"name": "x", "address": ADDRESS}).status_code == 302
    assert not SavedView.objects.exists()
