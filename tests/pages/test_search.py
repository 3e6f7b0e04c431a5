"""The search box."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import Counted
from webapp.results.models import RevisionAlias

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def test_a_revision_is_opened_at_once(client: Client) -> None:
    at = make.revision("r303643")
    assert client.get("/search/?q=r303643")["Location"] == at.get_absolute_url()


def test_the_start_of_a_hash_is_enough(client: Client) -> None:
    at = make.revision("r303643")
    RevisionAlias.objects.create(tree=at.tree, revision=at, name="9f3ac1e02b11")
    assert client.get("/search/?q=9f3ac1e")["Location"] == at.get_absolute_url()


def test_a_revision_of_two_trees_is_asked_about(visit: Visit) -> None:
    make.revision("r303643")
    make.revision("r303643", of=make.tree("freebsd-stable-11"))
    text = visit("/search/?q=r303643")
    assert "2 found" in text
    assert "freebsd-stable-11" in text


def test_hardware_is_found_by_a_part_of_its_name(client: Client) -> None:
    machine = make.hardware()
    assert client.get("/search/?q=c2758")["Location"] == machine.get_absolute_url()


def test_a_whole_mode_name_wins_over_longer_ones(client: Client) -> None:
    make.mode("pf")
    make.mode("pf-statefull")
    assert client.get("/search/?q=pf")["Location"] == "/trends/?mode=pf"


def test_a_mode_with_the_value_of_a_knob_is_found_and_its_link_leads_to_it(client: Client) -> None:
    name = "forwarding@inet4+hw.cxgbe.nXxq=5"
    make.point(make.series(in_mode=name), make.revision("r1"))
    make.mode("forwarding")
    address = client.get("/search/", {"q": "nXxq=5"})["Location"]
    assert address == "/trends/?mode=forwarding@inet4%2Bhw.cxgbe.nXxq%3D5"
    assert name in client.get(address).content.decode()


def test_nothing_found_says_what_can_be_searched(visit: Visit) -> None:
    assert "import_revisions" in visit("/search/?q=nothing-like-it")


@pytest.mark.parametrize("wanted", ["", " ", "%", "_", "\0", "x" * 5000, "<b>"])
def test_odd_searches_are_survived(client: Client, wanted: str) -> None:
    make.revision("r1")
    make.hardware()
    assert client.get("/search/", {"q": wanted}).status_code in {200, 302}
    assert client.get("/search/suggestions/", {"q": wanted}).status_code == 200


def test_suggestions_are_links(client: Client) -> None:
    make.mode("pf-statefull")
    assert b'href="/trends/?mode=pf-statefull"' in client.get("/search/suggestions/?q=pf").content


def test_the_number_of_queries_does_not_grow_with_hits(queries: Counted) -> None:
    make.mode("pf-a")
    make.mode("pf-b")
    few = queries("/search/?q=pf")
    for number in range(9):
        make.mode(f"pf-{number}")
    assert queries("/search/?q=pf") == few
