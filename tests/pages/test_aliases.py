"""`/aliases/`: looking at aliases, making one after a look at what it moves, taking it back."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted, words
from tests.results.steps import measured, mode, upload
from webapp.accounts.models import User
from webapp.pages.lab import aliases
from webapp.results.models import NameAlias, Run
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
FORM = {"lab": "netlab", "kind": "workload", "name": "fastforwarding", "means": "forwarding"}
NEW = "/aliases/new/"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_names()


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(make.user("root", role=User.Role.OPERATOR))
    return client


def measure(name: str = "fastforwarding", revision: str = "r1", factor: float = 1.0) -> None:
    upload(measured(revision, factor, mode=mode(name)))


def modes() -> set[str]:
    return set(Run.objects.values_list("mode__name", flat=True))


def post(client: Client, **form: str) -> str:
    return words(client.post(NEW, FORM | form, follow=True).content.decode())


def test_without_aliases_the_page_states_it_and_who_may_make_one(
    client: Client, approved: Approvals
) -> None:
    approved(
        "pages/aliases/without-aliases-the-page-states-it-and-who-may", client.get("/aliases/")
    )


def test_an_operator_looks_makes_and_takes_back(root: Client) -> None:
    measure()
    assert 'value="fastforwarding"' in root.get(f"{NEW}?name=fastforwarding").content.decode()
    looked = post(root, act="preview")
    assert "1 stored run would be filed under another name" in looked
    assert "1 of fastforwarding on bench nic to forwarding on bench nic" in looked
    assert modes() == {"fastforwarding"}
    made = post(root, act="make")
    assert "fastforwarding stands for forwarding: 1 stored run was filed so." in made
    assert modes() == {"forwarding"}
    undone = root.post(f"/aliases/{NameAlias.objects.get().pk}/undo/", follow=True)
    assert "Taken back" in words(undone.content.decode())
    assert modes() == {"fastforwarding"}
    page = words(root.get("/aliases/").content.decode())
    assert "taken back now by root" in page


def test_two_things_measured_at_one_revision_are_pointed_out(root: Client) -> None:
    measure()
    measure("forwarding", factor=1.919)
    page = post(root, act="preview")
    assert "Both names were measured at the same revisions of one machine" in page
    assert "1 revision was measured under both: up to -47.9 % apart" in page


def test_the_scope_is_shown(root: Client, visit: Visit) -> None:
    measure()
    post(root, act="make", tree="freebsd-head", first="r1", directory="seed-*")
    assert "freebsd-head, from r1 in seed-*" in visit("/aliases/")
    assert modes() == {"fastforwarding"}


@pytest.mark.parametrize("act", ["preview", "make"])
def test_what_is_wrong_stands_beside_its_field_and_is_kept(root: Client, act: str) -> None:
    measure()
    answer = root.post(NEW, FORM | {"act": act, "first": "r1", "name": "<b>"})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert "name the tree of the revisions" in page
    assert "&lt;b&gt;" in page
    assert not NameAlias.objects.exists()


def test_only_operators_make_and_take_back(tess: Client) -> None:
    measure()
    assert Client().get(NEW).status_code == 302
    assert tess.get(NEW).status_code == 403
    assert tess.post(NEW, FORM | {"act": "make"}).status_code == 403
    assert tess.post("/aliases/1/undo/").status_code == 403
    assert modes() == {"fastforwarding"}


def test_the_list_is_filtered_paged_and_takes_few_statements(
    root: Client, visit: Visit, queries: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure()
    post(root, act="make")
    few = queries("/aliases/")
    for name in ("a", "b", "c"):
        post(root, act="make", name=name, means=f"{name}{name}", tree="freebsd-head", first="r1")
    assert queries("/aliases/") == few
    assert "No name stands for another one here." in visit("/aliases/?lab=other")
    monkeypatch.setattr(aliases, "ROWS", 1)
    assert "fastforwarding" not in visit("/aliases/")
    page = root.get("/aliases/?lab=netlab").content.decode()
    newest = NameAlias.objects.order_by("-pk")[0].pk
    assert f"/aliases/?lab=netlab&amp;before={newest}" in page
