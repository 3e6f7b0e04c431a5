"""`/compare/`: A against B over everything both have."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import Counted, words
from tests.results.steps import measured, upload
from webapp.results.models import Revision, RevisionAlias
from webapp.results.services import forget_names
from webapp.stats.compare import Verdict

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
TWO = "a=freebsd-head:r303642&b=freebsd-head:r303643"
OLD = (635734.0, 641688.0, 625167.0, 633000.0, 632950.0)
SCATTERED = (500_000.0, 700_000.0, 600_000.0, 650_000.0, 550_000.0)
NEW = tuple(value * 1.8 for value in OLD)


def row_of(mode: str) -> str:
    """The address of what opens under the row of a mode."""
    a, b = (f"freebsd-head:{name}:Atom_C2758/T540-CR:{mode}:pps" for name in ("r303642", "r303643"))
    return f"/compare/row/?a={a}&b={b}"


@pytest.fixture
@kept
def pair() -> tuple[Revision, Revision]:
    """forwarding gains 80 %, pf stays but scatters too much to judge."""
    before, after = make.revision("r303642"), make.revision("r303643")
    make.run(before, in_mode="forwarding", samples=OLD)
    make.run(after, in_mode="forwarding", samples=NEW)
    for revision in (before, after):
        make.run(revision, in_mode="pf", samples=SCATTERED)
    for mode in ("forwarding", "pf"):
        make.known_builds(make.series(in_mode=mode))
    return before, after


def test_without_sides_the_page_states_how_they_are_written(visit: Visit) -> None:
    assert "tree:revision~variant:hardware:mode:metric" in visit("/compare/")


def test_the_two_newest_tested_revisions_are_one_click_away(client: Client) -> None:
    along = make.revisions(3)
    make.history(make.series(), along, [100.0, 100.0, 100.0])
    (pair,) = client.get("/compare/").context["ready"]["pairs"]
    assert pair.link == "/compare/?a=freebsd-head:r300003&b=freebsd-head:r300006"
    assert pair.label == "r300006 against r300003"
    assert client.get(pair.link).context["together"].counts == {"cannot tell": 1}


def test_a_pair_whose_address_would_be_a_range_is_not_offered(client: Client) -> None:
    along = [make.revision("r300001"), make.revision("a..b", position=300_002)]
    make.history(make.series(), along, [100.0, 100.0])
    assert client.get("/compare/").context["ready"]["pairs"] == []


@pytest.mark.usefixtures("pair")
def test_proven_rows_come_first_and_the_unproven_are_folded_and_counted(client: Client) -> None:
    text = words(client.get(f"/compare/?{TWO}").content.decode())
    assert "+80.0 % [+77.5, +82.5] ▴ faster" in text
    assert "Proven over the whole table, largest loss first: 1" in text
    assert "Cannot tell: 1" in text
    assert text.index("▴ faster") < text.index("Cannot tell: 1") < text.index("? cannot tell")


@pytest.mark.usefixtures("pair")
def test_a_row_states_its_interval_why_and_what_would_prove_more(visit: Visit) -> None:
    assert "? cannot tell 30.9 %" in visit(f"/compare/?{TWO}")
    text = visit(row_of("forwarding"))
    assert "80.0 % faster" in text
    assert "Better: 80 % more, and the 95 % interval from" in text
    assert "To prove 1 % here in 80 of 100 cases: " in text
    assert "cannot tell; would see 30.9 %" in visit(row_of("pf"))


@pytest.mark.usefixtures("pair")
def test_the_noise_between_builds_of_the_history_counts(visit: Visit) -> None:
    make.analysis(make.series(in_mode="forwarding"), noise=make.noise(build_pct=60.0))
    text = visit(row_of("forwarding"))
    assert "60 % between builds from the history" in text
    assert "not by 10 builds a side, 20 runs of each, which would prove" in text


@pytest.mark.usefixtures("pair")
def test_one_build_a_side_of_unknown_noise_is_called_that(
    client: Client, approved: Approvals
) -> None:
    make.analysis(make.series(in_mode="forwarding"))
    page = client.get(f"/compare/?{TWO}")
    approved("pages/compare/one-build-a-side-of-unknown-noise-is-called", page)
    text = words(page.content.decode())
    assert "▴ faster one build a side" in text
    approved(
        "pages/compare/one-build-a-side-of-unknown-noise-is-called-2",
        client.get(row_of("forwarding")),
    )
    assert page.context["together"].counts == {"better": 1, "cannot tell": 1}
    judged = client.get(f"/api/v1/compare?{TWO}").json()["rows"][0]["judged"][0]
    assert (judged["verdict"], judged["one_build_a_side"]) == ("better", True)
    assert judged["low"] == pytest.approx(67.8, abs=0.1)


def test_what_is_different_for_sure_but_within_the_margin_is_called_negligible(
    visit: Visit,
) -> None:
    before, after = make.revision("r303642"), make.revision("r303643")
    make.run(before, samples=[100.0, 100.1, 99.9, 100.0])
    make.run(after, samples=[100.5, 100.6, 100.4, 100.5])
    make.analysis(make.series(), noise=make.noise(build_pct=0.0))
    assert "different, but negligible" in visit(f"/compare/?{TWO}")


@pytest.mark.usefixtures("pair")
def test_the_reports_state_why(client: Client) -> None:
    for path in ("/compare.txt", "/compare.md"):
        text = client.get(f"{path}?{TWO}").content.decode()
        assert "Better: 80 % more, and the 95 % interval from" in text
    assert "| +80.0 [+77.5, +82.5] | 80.0 % faster |" in text


@pytest.mark.usefixtures("pair")
def test_each_row_opens_to_its_ministat_block_and_its_samples(client: Client) -> None:
    html = client.get(f"/compare/?{TWO}").content.decode()
    addresses = [unescape(one) for one in re.findall(r'hx-get="(/compare/row/[^"]+)"', html)]
    assert len(addresses) == 2
    rows = [client.get(address).content.decode() for address in addresses]
    assert "Difference at 95.0% confidence" in rows[0]
    assert "No difference proven at 95.0% confidence" in rows[1]
    for row in rows:
        assert row.count('class="strip-chart"') == 1
        assert row.count('class="sample"') == 10


@pytest.mark.usefixtures("pair")
def test_a_row_has_an_address_of_its_own_where_it_is_open(client: Client) -> None:
    html = client.get(f"/compare/?{TWO}").content.decode()
    alone = (
        "/compare/?a=freebsd-head:r303642:Atom_C2758/T540-CR:pf:pps"
        "&amp;b=freebsd-head:r303643:Atom_C2758/T540-CR:pf:pps"
    )
    assert alone in html
    opened = client.get(alone.replace("&amp;", "&")).content.decode()
    assert '<details class="compared" open>' in opened
    assert "No difference proven at 95.0% confidence" in opened


def test_a_withdrawn_run_takes_no_part(client: Client, pair: tuple[Revision, Revision]) -> None:
    make.run(
        pair[0],
        in_mode="pf",
        samples=[1.0, 1.0, 1.0],
        withdrawn_at=make.DAY_ONE,
        withdrawn_reason="wrong cable",
    )
    assert client.get(f"/compare/?{TWO}").context["together"].counts == {
        "better": 1,
        "cannot tell": 1,
    }


def test_sets_too_small_for_ministat_are_called_so(visit: Visit) -> None:
    for name in ("r303642", "r303643"):
        make.run(make.revision(name), samples=[100.0, 101.0])
    text = visit(f"/compare/?{TWO}")
    assert "Cannot tell: 1" in text
    assert "fewer than 3 samples" in text


def test_seven_modes_of_one_revision_stand_side_by_side(client: Client) -> None:
    at = make.revision("r287531")
    modes = [f"mode-{number}" for number in range(7)]
    for mode in modes:
        make.run(at, in_mode=mode, samples=OLD)
    sides = [f"freebsd-head:r287531::{mode}" for mode in modes]
    response = client.get("/compare/", {"a": sides[0], "b": sides[1:]})
    judged = [one for row in response.context["table"].rows for one in row.judged]
    assert [one.verdict for one in judged] == [Verdict.EQUIVALENT] * 6
    assert sum(response.context["together"].counts.values()) == 6
    assert "mode-6" in words(response.content.decode())


@pytest.mark.parametrize(
    "query",
    [
        "a=nonsense&b=freebsd-head:r1",
        "a=freebsd-head:r303642",
        "a=freebsd-head:r303642&b=no:r1",
        "a=freebsd-head:r303642" + "&b=freebsd-head:r303643" * 7,
    ],
)
@pytest.mark.parametrize("path", ["/compare/", "/compare.txt", "/compare.md"])
@pytest.mark.usefixtures("pair")
def test_a_side_that_cannot_be_read_or_found_is_a_bad_request_with_its_reason(
    client: Client, path: str, query: str
) -> None:
    response = client.get(f"{path}?{query}")
    assert response.status_code == 400
    assert b"side" in response.content or b"no tree" in response.content


@pytest.mark.parametrize(
    "query",
    [
        "a=freebsd-head:r303643&b=freebsd-head:r303643",
        f"{TWO}&b=freebsd-head:r303642",
        "a=freebsd-head:r303643&b=freebsd-head:303643",
        *(
            f"a=freebsd-head:r303643:{machine}:{mode}:pps&b=freebsd-head:r303643:{machine}:{mode}:pps{session}"
            for machine, mode in [("Atom_C2758/T540-CR", "pf"), ("", "pf"), ("", "pf@")]
            for session in ("", ":morning")
        ),
    ],
)
@pytest.mark.parametrize("path", ["/compare/", "/compare.txt", "/api/v1/compare"])
def test_runs_are_not_compared_with_themselves(
    client: Client, pair: tuple[Revision, Revision], path: str, query: str
) -> None:
    """They would be judged as independent, and proven equivalent."""
    make.run(pair[1], in_mode="pf", samples=OLD, session="morning")
    RevisionAlias.objects.create(tree=pair[1].tree, revision=pair[1], name="303643")
    response = client.get(f"{path}?{query}")
    assert response.status_code == (422 if "api" in path else 400)
    assert "share their runs" in response.content.decode()


@pytest.mark.usefixtures("pair")
def test_the_text_is_the_ministat_block_of_every_row(client: Client) -> None:
    response = client.get(f"/compare.txt?{TWO}")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode().count("(Student's t, pooled s = ") == 1


@pytest.mark.usefixtures("pair")
def test_the_report_is_markdown_with_hardware_table_and_blocks(client: Client) -> None:
    response = client.get(f"/compare.md?{TWO}")
    text = response.content.decode()
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert text.startswith("# freebsd-head:r303642 against freebsd-head:r303643\n")
    assert "- Atom C2758 T540-CR" in text
    assert text.count("```") == 4


@pytest.mark.usefixtures("pair")
def test_the_text_names_every_mode_that_is_not_compared(client: Client) -> None:
    for mode in ("ipfw", "nat"):
        make.run(Revision.objects.get(name="r303642"), in_mode=mode, samples=OLD)
    lines = client.get(f"/compare.txt?{TWO}").content.decode().splitlines()
    assert "Not compared, only A was measured: Atom C2758 T540-CR: ipfw, nat." in lines


def test_a_simulated_comparison_states_it_in_every_form(client: Client) -> None:
    machine = make.hardware("Sim/x", of=make.lab("Simulation", simulated=True))
    for name in ("r303642", "r303643"):
        make.run(make.revision(name), on=machine)
    for path in ("/compare/", "/compare.md", "/compare.txt"):
        assert "simulat" in client.get(f"{path}?{TWO}").content.decode()


def test_the_number_of_queries_does_not_grow_with_rows(
    queries: Counted, pair: tuple[Revision, Revision]
) -> None:
    make.run(pair[0], in_mode="mode-0")
    make.run(pair[1], in_mode="mode-0")
    few = queries(f"/compare/?{TWO}")
    for number in range(1, 6):
        for revision in pair:
            make.run(revision, in_mode=f"mode-{number}")
    assert queries(f"/compare/?{TWO}") == few <= 11  # series once for all sides


def test_a_block_of_one_session_a_side_comes_again_when_a_second_is_measured(
    client: Client,
) -> None:
    """The address that a page gives is of these samples for good."""
    forget_names()
    for number, revision in enumerate(("r300000", "r300001")):
        found = {"label": f"fbsd12.{revision}", "session": "a:b 50%" if number else ""}
        upload(measured(revision, 1000 - 90 * number, evidence=found))
    page = client.get("/compare/?a=freebsd-head:r300000&b=freebsd-head:r300001").content.decode()
    (address,) = re.findall(r'href="([^"]+)">This block for good', page)
    before = client.get(unescape(address)).content
    sides = [f"freebsd-head:{one}:bench/nic:forwarding:pps" for one in ("r300000", "r300001")]
    assert before == client.get("/compare.txt", {"a": sides[0], "b": sides[1]}).content
    upload(measured("r300001", 700, build_id="second", evidence={"label": "fbsd12.again"}))
    assert client.get(unescape(address)).content == before
    pooled = client.get("/compare/?a=freebsd-head:r300000&b=freebsd-head:r300001")
    assert "sessions a:b 50%, fbsd12.again" in pooled.content.decode()
    assert "This block for good" not in pooled.content.decode()


def test_two_sessions_of_one_revision_can_be_compared(client: Client) -> None:
    forget_names()
    for session, factor in (("morning", 1000), ("evening", 900)):
        upload(measured("r300000", factor, build_id=session, evidence={"session": session}))
    side = "freebsd-head:r300000:bench/nic:forwarding:pps:"
    text = client.get(f"/compare.txt?a={side}morning&b={side}evening").content.decode()
    assert "morning" in text
    assert "Difference at 95.0% confidence" in text
    missing = client.get(f"/compare.txt?a={side}morning&b={side}night")
    assert missing.status_code == 400
    assert "nothing is measured for" in missing.content.decode()
