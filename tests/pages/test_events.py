"""`/events/`, and where other pages show events and releases."""

from collections.abc import Callable
from datetime import date, timedelta
from html import unescape
from urllib.parse import parse_qsl

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.events.steps import event, release
from tests.pages.conftest import Counted
from tests.pages.trends import figure, whole_figure
from webapp.events.models import LabEvent
from webapp.pages.lab import events

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
WALL = "/hardware/Atom_C2758/T540-CR/"
FORM = {"kind": "firmware", "text": "BIOS 2.1", "hardware": "Atom_C2758/T540-CR"} | {
    "happened_at": "2026-01-05T10:00"
}


def test_without_events_the_list_states_it_and_who_may_record(
    client: Client, approved: Approvals
) -> None:
    approved("pages/events/without-events-the-list-states-it-and-who-may", client.get("/events/"))


def test_the_list_names_what_when_of_what_and_who(visit: Visit) -> None:
    event("BIOS 2.1", kind="firmware", begins_epoch=True, created_by=make.user("ada"))
    page = visit("/events/")
    assert "2026-01-02 12:00 UTC BIOS 2.1 epoch BIOS or firmware Atom C2758 T540-CR all ada" in page


def test_the_list_is_filtered_and_paged(
    client: Client, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    event("on the atom")
    event("on the xeon", hardware=make.hardware("Xeon/T580", of=make.lab("other")))
    assert "on the xeon" not in visit("/events/?hardware=Atom_C2758/T540-CR")
    assert "No event is recorded here." in visit("/events/?hardware=nothing")
    monkeypatch.setattr(events, "ROWS", 1)
    page = client.get("/events/").content.decode()
    assert "on the atom" not in page
    older = LabEvent.objects.get(text="on the xeon").pk
    assert f'href="/events/?before={older}"' in page
    assert "on the atom" in visit(f"/events/?before={older}")


def test_a_triager_records_edits_and_withdraws(tess: Client) -> None:
    make.hardware()
    assert (
        'value="Atom_C2758/T540-CR" selected'
        in tess.get("/events/new/?hardware=Atom_C2758/T540-CR").content.decode()
    )
    answer = tess.post("/events/new/", FORM)
    made = LabEvent.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/events/{made.pk}/")
    assert (made.source, made.author, made.text) == ("person", "tess", "BIOS 2.1")
    assert f"{made.happened_at:%Y-%m-%d %H:%M}" == "2026-01-05 10:00"
    page = tess.get(made.get_absolute_url()).content.decode()
    assert 'value="2026-01-05T10:00:00"' in page
    tess.post(made.get_absolute_url(), FORM | {"text": "BIOS 2.2"})
    made.refresh_from_db()
    assert made.text == "BIOS 2.2"
    tess.post(f"{made.get_absolute_url()}withdraw/", {"reason": "it was another one"})
    page = tess.get(made.get_absolute_url()).content.decode()
    assert "it was another one" in page
    assert "<textarea" not in page


def test_what_is_wrong_with_a_form_stands_beside_its_field_and_is_kept(tess: Client) -> None:
    make.hardware()
    make.tree()
    answer = tess.post("/events/new/", FORM | {"tree": "freebsd-head", "first": "r77"})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert "no revision &#x27;r77&#x27; is known in freebsd-head" in page
    assert "BIOS 2.1</textarea>" in page
    assert tess.post("/events/new/", FORM | {"happened_at": "soon"}).status_code == 400
    assert not LabEvent.objects.exists()


def test_a_range_is_entered_by_names(tess: Client) -> None:
    make.hardware()
    make.revision("r100")
    make.revision("r110")
    form = FORM | {"happened_at": "", "tree": "freebsd-head", "first": "r100"}
    tess.post("/events/new/", form)
    tess.post("/events/new/", form | {"last": "r110"})
    found = LabEvent.objects.order_by("pk").values_list("first__name", "last__name")
    assert list(found) == [("r100", "r100"), ("r100", "r110")]


def test_a_viewer_neither_records_nor_edits(client: Client) -> None:
    made = event()
    client.force_login(make.user("vic"))
    assert client.get("/events/new/").status_code == 403
    assert client.post(made.get_absolute_url(), FORM).status_code == 403
    assert client.post(f"{made.get_absolute_url()}withdraw/", {"reason": "x"}).status_code == 403
    made.refresh_from_db()
    assert made.text == "new NIC"
    assert "<textarea" not in client.get(made.get_absolute_url()).content.decode()


def test_an_event_that_is_not_there_is_not_found(client: Client) -> None:
    assert client.get("/events/1/").status_code == 404
    assert client.get(f"/events/{'9' * 30}/").status_code == 404


def test_texts_are_escaped(client: Client) -> None:
    made = event("<script>alert(1)</script>", hardware=make.hardware())
    for address in ("/events/", made.get_absolute_url(), WALL):
        assert "<script>alert" not in client.get(address).content.decode()


def test_the_page_of_hardware_shows_its_events_and_those_of_its_lab(visit: Visit) -> None:
    make.hardware()
    assert "Nothing is recorded of this machine or its lab." in visit(WALL)
    event("a new NIC")
    event("a new switch", lab=make.lab())
    event("elsewhere", hardware=make.hardware("Xeon/T580", of=make.lab("other")))
    page = visit(WALL)
    assert "a new NIC" in page
    assert "a new switch" in page
    assert "elsewhere" not in page


def test_the_page_of_a_commit_shows_ranges_that_hold_it_and_its_releases(
    visit: Visit,
) -> None:
    one, two, three = (make.revision(f"r{number}") for number in (100, 110, 120))
    event("bad switch", tree=make.tree(), first=one, last=two)
    release("11.0", two, released_on=date(2016, 10, 10))
    page = visit(two.get_absolute_url())
    assert "An event shows here: bad switch (hardware change, all of freebsd-head)." in page
    assert "Release 11.0 , 2016-10-10." in page
    assert "bad switch" not in visit(three.get_absolute_url())


def test_the_commits_of_a_tree_have_their_releases_the_newest_first(visit: Visit) -> None:
    release("11.0", make.revision("r100"))
    release("stable/11", make.revision("r90"), kind="branch point")
    assert "Releases and branch points: 11.0 · stable/11" in visit("/commits/freebsd-head/")


def chart(client: Client) -> str:
    """A trend with an event between its revisions and a release at the second."""
    along = make.revisions(3)
    make.history(make.series(), along, [100, 100, 100])
    for number, at in enumerate(along):
        make.run(at, measured_at=make.DAY_ONE + timedelta(days=number))
    event("new NIC", happened_at=make.DAY_ONE + timedelta(days=1, hours=1))
    release("11.0", along[1])
    return client.get("/trends/").content.decode()


def test_the_trend_chart_draws_events_and_releases_and_repeats_them_in_a_table(
    client: Client,
) -> None:
    page = chart(client)
    lines = [one for one in whole_figure(client)["layout"]["shapes"] if one["yref"] == "paper"]
    assert [(one["x0"], one["line"]["dash"]) for one in lines] == [(1, "solid"), (1.5, "3px,3px")]
    assert '<table class="wide stacked" id="markers">' in page
    assert figure(client)["labels"] == [("11.0", 1), ("new NIC", 1.5)]


def test_on_the_axis_of_time_an_event_stands_between_the_commits_around_it(client: Client) -> None:
    chart(client)
    shown = whole_figure(client, "x=time")
    (event_line,) = [
        one
        for one in shown["layout"]["shapes"]
        if one["yref"] == "paper" and one["line"]["dash"] != "solid"
    ]
    _, second, third = next(one["x"] for one in shown["data"] if one["mode"] == "markers")
    assert second < event_line["x0"] < third
    assert event_line["x0"] == pytest.approx((second + third) / 2)


def test_what_lies_outside_the_shown_revisions_is_not_drawn(client: Client) -> None:
    chart(client)
    release("10.0", make.revision("r1"))
    release("12.0", make.revision("r999999"))
    event("early", tree=make.tree(), first=make.revision("r2"), last=make.revision("r3"))
    assert [text for text, _ in figure(client)["labels"]] == ["11.0", "new NIC"]


def test_the_number_of_queries_does_not_grow_with_events(queries: Counted, client: Client) -> None:
    chart(client)
    addresses = ("/events/", WALL, "/trends/", "/commits/freebsd-head/")
    few = [queries(address) for address in addresses]
    for number in range(4):
        event(f"event {number}", happened_at=make.DAY_ONE + timedelta(days=1, hours=number))
        release(f"11.{number + 1}", make.revision("r300003"))
    assert [queries(address) for address in addresses] == few
    assert few[0] <= 5


def test_a_note_is_left_at_a_revision_of_the_chart(tess: Client) -> None:
    along = make.revisions(3)
    make.history(make.series(), along, [100.0] * 3)
    b = f"/trends/chosen/?b={make.series().pk}@{along[1].name}"
    filled = "kind=note&tree=freebsd-head&hardware=Atom_C2758/T540-CR&first=r300003"
    assert f"/events/new/?{filled}" in unescape(tess.get(b).content.decode())
    form = tess.get(f"/events/new/?{filled}").content.decode()
    assert 'value="note" selected' in form
    assert 'value="r300003"' in form
    tess.post("/events/new/", {**dict(parse_qsl(filled)), "text": "See the thread of May."})
    assert [text for text, _ in figure(tess)["labels"]] == ["See the thread of May."]
    symbols = [one["marker"]["symbol"] for one in whole_figure(tess)["data"] if "text" in one]
    assert symbols == [["square"]]
    assert "/events/new/" not in Client().get(b).content.decode()
