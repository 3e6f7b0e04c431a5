"""With and without an option: modes are matched by themselves, at the newest revision of both."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import words

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
BASE = (100.0, 101.0, 99.0, 100.5, 99.5)
LOSS = tuple(value * 0.9 for value in BASE)
MODES = ("forwarding", "ipfw-statefull", "pf-statefull")
MACHINES = ("Atom_C2558/i350", "Atom_C2758/T540-CR")


@pytest.fixture
@kept
def vimage() -> None:
    """Three modes on two machines at r317849, one of them at r317900 without the option alone."""
    at, later = make.revision("r317849"), make.revision("r317900")
    for machine in MACHINES:
        on = make.hardware(machine)
        for mode in MODES:
            changed = LOSS if mode == "pf-statefull" else BASE
            for name, samples in ((mode, BASE), (f"{mode}+VIMAGE", changed)):
                series = make.series(on=on, in_mode=name)
                make.run(at, on=on, in_mode=name, samples=samples)
                make.point(series, at, samples)
                make.known_builds(series)
    make.point(make.series(on=make.hardware(MACHINES[0]), in_mode=MODES[0]), later, BASE)


ADDRESS = "/compare/?a=freebsd-head:r317849&b=freebsd-head:r317849::%2BVIMAGE"


@pytest.mark.usefixtures("vimage")
def test_pairs_are_matched_by_themselves_over_all_machines_and_modes(client: Client) -> None:
    table = client.get(ADDRESS).context["table"]
    assert len(table.rows) == len(MACHINES) * len(MODES)
    assert not table.unmatched
    for row in table.rows:
        assert row.points[0].mode == row.mode
        assert row.points[1].mode == f"{row.mode}+VIMAGE"
        assert row.points[0].hardware == row.points[1].hardware


@pytest.mark.usefixtures("vimage")
def test_the_headline_states_what_the_option_does(client: Client, approved: Approvals) -> None:
    approved("pages/compare-option/the-headline-states-what-the-option-does", client.get(ADDRESS))


@pytest.mark.usefixtures("vimage")
def test_the_revision_defaults_to_the_newest_that_has_both(client: Client) -> None:
    response = client.get("/compare/?pick=option&option=VIMAGE")
    assert response.status_code == 302
    assert parse_qs(urlsplit(response["Location"]).query) == {
        "a": ["freebsd-head:r317849"],
        "b": ["freebsd-head:r317849::+VIMAGE"],
    }


@pytest.mark.usefixtures("vimage")
def test_with_and_without_vimage_for_three_modes_is_two_clicks_from_the_front_page(
    client: Client,
) -> None:
    front = client.get("/").content.decode()
    assert 'href="/compare/"' in front
    (option,) = client.get("/compare/").context["ready"]["options"]
    assert option.label == "with and without VIMAGE"
    assert option.over == "freebsd-head: 3 modes, 2 machines"
    page = client.get(option.link, follow=True)
    assert {row.mode for row in page.context["table"].rows} == set(MODES)


@pytest.mark.usefixtures("vimage")
def test_a_row_opens_to_the_two_modes_it_is_made_of(client: Client) -> None:
    html = client.get(ADDRESS).content.decode()
    assert "b=freebsd-head:r317849:Atom_C2558/i350:pf-statefull%2BVIMAGE:pps" in html
    alone = "a=freebsd-head:r317849:Atom_C2558/i350:pf-statefull:pps&b=freebsd-head:r317849:"
    row = client.get(f"/compare/row/?{alone}Atom_C2558/i350:pf-statefull%2BVIMAGE:pps")
    assert b"+ r317849 pf-statefull+VIMAGE" in row.content


@pytest.mark.usefixtures("vimage")
def test_text_report_and_data_know_the_option_too(client: Client) -> None:
    query = ADDRESS.partition("?")[2]
    assert client.get(f"/compare.txt?{query}").content.count(b"(Student's t, pooled s = ") == 2
    assert b"\n+ r317849 pf-statefull+VIMAGE\n" in client.get(f"/compare.md?{query}").content
    rows = client.get(f"/api/v1/compare?{query}").json()["rows"]
    assert [row["key"].split()[1] for row in rows] == [*MODES, *MODES]


@pytest.mark.usefixtures("vimage")
def test_an_option_within_one_mode_on_one_machine(client: Client) -> None:
    asked = {"pick": "option", "option": "VIMAGE", "mode": "pf-statefull", "hardware": MACHINES[0]}
    page = client.get("/compare/", asked, follow=True)
    (row,) = page.context["table"].rows
    assert row.points[1].mode == "pf-statefull+VIMAGE"


@pytest.mark.usefixtures("vimage")
def test_up_to_seven_sets_of_options(client: Client) -> None:
    at = make.revision("r317849")
    on = make.hardware(MACHINES[0])
    for option in ("RSS", "RSS+VIMAGE"):
        make.run(at, on=on, in_mode=f"pf-statefull+{option}", samples=BASE)
        make.point(make.series(on=on, in_mode=f"pf-statefull+{option}"), at, BASE)
    sides = [f"freebsd-head:r317849::+{one}" for one in ("RSS", "VIMAGE", "RSS+VIMAGE")]
    page = client.get("/compare/", {"a": "freebsd-head:r317849", "b": sides})
    (row,) = page.context["table"].rows
    assert [point.mode for point in row.points[1:]] == [
        *(f"pf-statefull+{one}" for one in ("RSS", "VIMAGE", "RSS+VIMAGE")),
    ]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("pick=option&option=", "option: name the option"),
        ("pick=option&option=NOSUCH", "nothing was measured with and without"),
        ("a=freebsd-head:r317849&b=freebsd-head:r317849::%2BNOSUCH", "nothing is measured for"),
        ("pick=sets&tree=freebsd-head&revision=", "revision: name the revision of A"),
        ("pick=sets&tree=&revision=r317849", "tree: name the tree of A"),
        ("pick=sets&tree=freebsd-head&revision=r317849", "name for B at least one thing"),
        (
            "pick=sets&tree=t&tree=&revision=r1&revision=&mode=%2B&mode=&option=&option=X",
            "is not a mode",
        ),
    ],
)
@pytest.mark.usefixtures("vimage")
def test_what_cannot_be_compared_is_reported_with_the_remedy(
    client: Client, query: str, reason: str
) -> None:
    response = client.get(f"/compare/?{query}")
    assert response.status_code == 400
    assert reason in words(response.content.decode())


@pytest.mark.parametrize(
    ("side", "remedy"),
    [
        ("r317849:Atom_C2557/i350", "no hardware is called 'Atom_C2557/i350' there, as Atom_C2558"),
        ("r317849::pf", "no mode is called 'pf' there, as forwarding or"),
        ("r317849:::bps", "no metric is called 'bps' there, as pps"),
        ("r317849::%2BRSS", "no option is called 'RSS' there, as VIMAGE"),
        ("r317849:::pps:night", "no session is called 'night' there"),
        ("r317900::pf-statefull", "; the nearest measured revision is r317849"),
    ],
)
@pytest.mark.usefixtures("vimage")
def test_what_is_not_measured_is_named_with_what_is(client: Client, side: str, remedy: str) -> None:
    sides = f"a=freebsd-head:{side}&b=freebsd-head:{side}".replace("r317900", "r317849", 1)
    answer = client.get(f"/compare/?{sides}")
    assert answer.status_code == 400
    assert remedy in words(answer.content.decode())


def test_simulated_data_are_offered_only_while_there_are_no_others(client: Client) -> None:
    simulated = make.hardware("Sim/x", of=make.lab("Simulation", simulated=True))
    at = make.revision("r1")
    for name in ("pf", "pf+VIMAGE"):
        make.point(make.series(on=simulated, in_mode=name), at)
    make.point(make.series(on=simulated, in_mode="pf"), make.revision("r2"))
    ready = client.get("/compare/").context["ready"]
    assert [len(ready["options"]), len(ready["pairs"])] == [1, 1]
    make.point(make.series(on=make.hardware("Real/y"), in_mode="pf"), at)
    ready = client.get("/compare/").context["ready"]
    assert [ready["options"], ready["pairs"]] == [[], []]
    assert client.get("/compare/?pick=option&option=VIMAGE").status_code == 400
