"""The search box, its page, and the API's search."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import Counted
from webapp.results.models import Hardware, RevisionAlias

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def first(client: Client, text: str) -> str:
    """Where Enter leads."""
    return client.get("/search/", {"q": text, "go": "first"}).headers.get("Location", "")


def groups(client: Client, text: str) -> dict[str, list[str]]:
    """The labels of the hits by the name of their group, as the API lists them."""
    answer = client.get("/api/v1/search", {"q": text})
    assert answer.status_code == 200, answer.content
    return {
        group["name"]: [hit["label"] for hit in group["hits"]] for group in answer.json()["groups"]
    }


@pytest.mark.parametrize("text", ["r303643", "R303643", "303643", " r303643 ", "30364"])
def test_enter_opens_a_revision_with_or_without_its_letter(client: Client, text: str) -> None:
    at = make.revision("r303643")
    make.revision("r288000")
    assert first(client, text) == at.get_absolute_url()


@pytest.mark.parametrize("text", ["9f3ac1e", "9f3a", "9F3AC1E"])
def test_the_start_of_a_hash_is_enough(client: Client, text: str) -> None:
    at = make.revision("r303643")
    RevisionAlias.objects.create(tree=at.tree, revision=at, name="9f3ac1e02b11")
    assert first(client, text) == at.get_absolute_url()


def test_a_whole_name_comes_before_those_that_begin_so(client: Client) -> None:
    for name in ("r303643", "r3036431", "r3036439"):
        make.revision(name)
    assert groups(client, "303643")["Revisions"] == ["r303643", "r3036439", "r3036431"]


def test_a_revision_of_two_trees_is_listed_for_both(visit: Visit) -> None:
    make.revision("r303643")
    make.revision("r303643", of=make.tree("freebsd-stable-11"))
    text = visit("/search/?q=r303643")
    assert "2 found" in text
    assert "freebsd-stable-11" in text


def test_a_place_as_addresses_have_it_is_that_of_its_tree(client: Client) -> None:
    make.revision("r303643")
    stable = make.revision("r303643", of=make.tree("freebsd-stable-11"))
    assert first(client, "freebsd-stable-11:r303643") == stable.get_absolute_url()
    assert groups(client, "freebsd-stable-11:r303643")["Revisions"] == ["r303643"]
    assert groups(client, "no-such-tree:r303643") == {}


def test_metrics_are_found_and_lead_to_their_trends(client: Client) -> None:
    machine = make.hardware("bench/nvme")
    for name in ("read_latency", "iops"):
        make.series(on=machine, in_mode="randread", of_metric=make.metric(name))
    make.metric("unmeasured_latency")
    assert groups(client, "latency") == {"Metrics": ["read_latency"]}
    assert first(client, "read_latency") == "/trends/?metric=read_latency"
    assert groups(client, "iops nvme") == {"Series": ["randread on bench nvme"]}


def test_a_version_is_one_word_of_a_subject(client: Client) -> None:
    make.revision("r1", subject="Commit 119 of 120")
    assert first(client, "11.1") == ""
    named = make.revision("r2", subject="Merge to releng, for 11.1 (and 12.0.1)")
    assert first(client, "11.1") == first(client, "12.0.1") == named.get_absolute_url()


def test_two_letters_are_a_word_of_a_subject_and_one_is_none(client: Client) -> None:
    at = make.revision("r1", subject="pf: drop")
    make.revision("r2", subject="a drop")
    assert first(client, "pf") == at.get_absolute_url()
    assert groups(client, "a drop")["Commits"] == ["r2", "r1"]


def test_commits_are_found_by_words_of_subject_and_author(client: Client) -> None:
    make.revision("r1", subject="Implement trivial backoff for locks", author_name="Mateusz Guzik")
    make.revision("r2", subject="Implement if_bridge(4) spans", author_name="Kristof Provost")
    assert groups(client, "implement")["Commits"] == ["r2", "r1"]
    assert groups(client, "guzik backoff")["Commits"] == ["r1"]
    assert groups(client, "BACK")["Commits"] == ["r1"]
    assert groups(client, "if_bridge")["Commits"] == ["r2"]
    assert groups(client, "backoff provost") == {}


def test_hardware_is_found_by_a_part_of_its_name(client: Client) -> None:
    machine = make.hardware()
    Hardware.objects.update(display_name="The rack")
    other = make.hardware("Xeon/T580")
    for text in ("c2758", "rack", "the rack"):
        assert first(client, text) == machine.get_absolute_url()
    assert first(client, "xeon t580") == other.get_absolute_url()


def test_a_whole_mode_name_wins_over_longer_ones(client: Client) -> None:
    make.mode("pf-statefull")
    make.mode("pf")
    assert first(client, "pf") == "/trends/?mode=pf"


@pytest.mark.parametrize("text", ["c2758 pf", "PF C2758", "statefull t540 atom"])
def test_a_series_is_found_by_parts_of_machine_and_mode_in_any_order(
    client: Client, text: str
) -> None:
    make.series(in_mode="pf-statefull")
    make.series(in_mode="ipfw-statefull", on=make.hardware("Xeon/igb"))
    assert groups(client, text) == {"Series": ["pf-statefull on Atom C2758 T540-CR"]}
    assert first(client, text).startswith("/trends/?tree=freebsd-head")


def test_alerts_are_found_by_number_and_by_their_commit(client: Client) -> None:
    alert = make.alert(make.revision("r303643"), after=make.revision("r303642"))
    label = f"alert {alert.pk}"
    assert groups(client, str(alert.pk))["Alerts"] == [label]
    assert groups(client, f"#{alert.pk}")["Alerts"] == [label]
    assert groups(client, f"Alert {alert.pk}") == {"Alerts": [label]}
    assert groups(client, f"bisect {alert.pk}").get("Alerts") is None
    assert groups(client, alert.revision.name)["Alerts"] == [label]
    assert groups(client, "99999") == {}


def test_a_mode_with_the_value_of_a_knob_is_found_and_its_link_leads_to_it(client: Client) -> None:
    name = "forwarding@inet4+hw.cxgbe.nXxq=5"
    make.point(make.series(in_mode=name), make.revision("r1"))
    make.mode("forwarding")
    address = first(client, "nXxq=5")
    assert address == "/trends/?mode=forwarding@inet4%2Bhw.cxgbe.nXxq%3D5"
    assert name in client.get(address).content.decode()


def test_nothing_found_states_what_can_be_searched_and_what_is_nearest(client: Client) -> None:
    make.hardware()
    assert b"import_revisions" in client.get("/search/?q=nothing-like-it").content
    text = client.get("/search/?q=C2578&go=first").content.decode()
    assert "Did you mean" in text
    assert "/hardware/Atom_C2758/T540-CR/" in text


def test_a_list_that_was_cut_leads_to_the_whole(client: Client) -> None:
    for number in range(7):
        make.mode(f"pf-{number}")
    assert b'href="/search/?q=pf"' in client.get("/search/suggestions/?q=pf").content
    page = client.get("/search/?q=pf").content
    assert b"pf-6" in page
    assert b"There are more" not in page


ODD = ["", " ", "%", "_", "\0", "x" * 5000, "<b>", "' | (", "a:* & !b", "\\", "é ü", "#", "alert"]


@pytest.mark.parametrize("wanted", ODD)
def test_odd_searches_are_survived(client: Client, wanted: str) -> None:
    make.revision("r1", subject="A subject")
    make.hardware()
    assert client.get("/search/", {"q": wanted}).status_code in {200, 302}
    assert client.get("/search/", {"q": wanted, "go": "first"}).status_code in {200, 302}
    assert client.get("/search/suggestions/", {"q": wanted}).status_code == 200
    assert client.get("/api/v1/search", {"q": wanted}).status_code in {200, 422}


def test_wildcards_are_characters(client: Client) -> None:
    make.hardware()
    make.mode("pf")
    assert groups(client, "%") == groups(client, "a_o%") == {}


def test_suggestions_are_links_in_groups(client: Client) -> None:
    make.mode("pf-statefull")
    text = client.get("/search/suggestions/?q=pf").content.decode()
    assert 'href="/trends/?mode=pf-statefull"' in text
    assert "<h2>Modes</h2>" in text


def test_the_number_of_queries_does_not_grow_with_hits(queries: Counted) -> None:
    def some(first: int, count: int) -> None:
        for number in range(first, first + count):
            make.mode(f"pf-{number}")
            make.revision(f"r{9000 + number}", subject="about pf")

    some(0, 2)
    few = queries("/search/?q=pf")
    some(2, 9)
    assert queries("/search/?q=pf") == few <= 10
