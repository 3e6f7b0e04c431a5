"""`/releases/A...B/`: release against release, by the nearest measured revision of each."""

import csv
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.approved import Approvals
from tests.events.steps import release
from tests.kept import kept
from tests.pages.conftest import Counted, words
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.events.models import Release
from webapp.results.models import Revision, Variant

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PAIR = "/releases/1.0...1.1/"
ATOM, XEON = "Atom_C2758/T540-CR", "Xeon_E5/T580"
LEVELS = {
    (ATOM, "forwarding"): 1.3,
    (ATOM, "pf"): 0.9,
    (XEON, "forwarding"): 1.0,
}
"""Of 1.1 against 1.0."""

NAME, MEASURED = "r300000", "r300015"
"""What 1.0 is of, and the nearest to 1.1 that was measured on both machines."""


def measure(at: Revision, hardware: str, mode: str, level: float, **fields: object) -> None:
    """A run and its point, of a series that knows how builds scatter."""
    samples = [level * value for value in make.FIVE_SAMPLES]
    on = make.hardware(hardware)
    make.run(at, on=on, in_mode=mode, samples=samples, **fields)
    series = make.series(of=at.tree, on=on, in_mode=mode)
    make.point(series, at, samples)
    make.known_builds(series)


def compared_rows(client: Client, address: str) -> list[str]:
    """The rows of a page, as they are drawn."""
    html = client.get(address).content.decode()
    return re.findall(r'<details class="compared">.*?</details>', html, re.DOTALL)


@pytest.fixture
@kept
def along() -> list[Revision]:
    """1.0 is the first of nine revisions, and 1.1 the seventh, which nobody measured; 1.0 lacks
    ipfw, both lack bridge. pf lost at the third; forwarding lost at the fourth and was back at the
    fifth.
    """
    revisions = make.revisions(9)
    first, nearest, seventh = revisions[0], revisions[5], revisions[6]
    release("1.0", first)
    release("1.1", seventh)
    release("stable/1", revisions[7], kind=Release.Kind.BRANCH_POINT)
    for (hardware, mode), level in LEVELS.items():
        measure(first, hardware, mode, 1.0)
        measure(nearest, hardware, mode, level)
    measure(nearest, ATOM, "ipfw", 1.0)
    measure(revisions[2], XEON, "bridge", 1.0)
    lost = make.alert(revisions[2], after=revisions[1])
    on = make.hardware(ATOM)
    make.finding(make.series(on=on, in_mode="pf"), revisions[1], revisions[2], alert=lost)
    bump = make.alert(revisions[3], after=revisions[2])
    make.finding(
        make.series(on=on),
        revisions[2],
        revisions[3],
        alert=bump,
        state=Finding.State.RECOVERED,
        recovered_by=revisions[4],
    )
    later = make.alert(revisions[8], after=revisions[7])
    make.finding(make.series(on=on), revisions[7], revisions[8], alert=later)
    return revisions


def test_the_page_and_its_markdown(
    client: Client, along: list[Revision], approved: Approvals
) -> None:
    approved("pages/releases/two-releases", client.get(PAIR))
    approved("pages/releases/two-releases-as-markdown", client.get("/releases/1.0...1.1.md"))


@pytest.mark.usefixtures("along")
def test_the_nearest_measured_revision_stands_for_a_release_that_was_not_measured(
    visit: Visit,
) -> None:
    text = visit(PAIR)
    assert "1.1 (r300018) was not measured: r300015 is the nearest measured revision" in text
    assert "1.0 (r300000) was not measured" not in text


def test_on_each_machine_its_nearest_measured_revision_stands_for_a_release(
    client: Client, along: list[Revision]
) -> None:
    """Of 1.1 the eighth on one machine, which the row names; what lies beyond 1.2 is no 1.1, and
    what is the nearest of both is the nearer one's.
    """
    release("1.2", along[8])
    for name, at in (("Celeron/NIC", 7), ("Opteron/NIC", 8)):
        measure(along[1], name, "forwarding", 1.0)
        measure(along[at], name, "forwarding", 1.2)
    measure(along[8], "Opteron/NIC", "pf", 1.0)
    measure(along[2], "Epyc/NIC", "forwarding", 1.0)
    measure(along[0], "Celeron/NIC", "bridge", 1.0)
    measure(along[4], "Celeron/NIC", "bridge", 1.1)
    # Measured also at the revision that stands for another mode of the machine, asked for after
    # and before their own.
    for mode in ("arp", "nat"):
        for at in (0, 6, 7):
            measure(along[at], "Celeron/NIC", mode, 1.0)

    answer = client.get("/api/v1/compare/releases?a=1.0&b=1.1").json()
    rows = {
        (row["hardware"], row["mode"]): (row["a_revision"], row["b_revision"])
        for row in answer["rows"]
    }
    nearest = str(along[1]), str(along[7])
    assert rows == {
        **dict.fromkeys(LEVELS, (NAME, MEASURED)),
        ("Celeron/NIC", "forwarding"): nearest,
        ("Celeron/NIC", "bridge"): (NAME, str(along[4])),
        ("Celeron/NIC", "arp"): (NAME, str(along[6])),
        ("Celeron/NIC", "nat"): (NAME, str(along[6])),
    }
    left = {(one["hardware"], one["mode"]): one["measured"] for one in answer["not_compared"]}
    assert left["Opteron/NIC", "forwarding"] == left["Epyc/NIC", "forwarding"] == [0]
    assert left["Opteron/NIC", "pf"] == []

    named = " → ".join(nearest)
    (row,) = (one for one in compared_rows(client, PAIR) if f"{nearest[1]}:Celeron" in one)
    assert named in row
    alone = (
        f"a=freebsd-head:{nearest[0]}:Celeron/NIC:forwarding:pps&amp;b=freebsd-head:{nearest[1]}"
    )
    assert alone in row
    assert named in client.get("/releases/1.0...1.1.svg").content.decode()
    assert f"| Celeron NIC | forwarding | 100 ({nearest[0]}) | 120 ({nearest[1]}) |" in (
        client.get("/releases/1.0...1.1.md").content.decode()
    )
    csv = client.get("/api/v1/compare/releases.csv?a=1.0&b=1.1").content.decode()
    assert f"Celeron/NIC,forwarding,pps,packets/s,more,{nearest[0]},{nearest[1]}," in csv


def test_a_report_states_which_rows_it_cannot_hold(along: list[Revision], tess: Client) -> None:
    """Its title does, for it has one revision a side; the page does where it is offered."""
    assert "one revision a side" not in words(tess.get(PAIR).content.decode())
    for at, level in ((1, 1.0), (7, 1.2)):
        measure(along[at], "Celeron/NIC", "forwarding", level)
    page = tess.get(PAIR).content.decode()
    assert "have one revision a side and leave out 1 comparison of other revisions" in words(page)
    form = page.partition(f'action="{reverse("experiment_keep")}"')[2].partition("</form>")[0]
    given = re.findall(r'name="(side|asof|question)" value="([^"]*)"', form)
    fields: dict[str, list[str]] = {}
    for name, value in given:
        fields.setdefault(name, []).append(unescape(value))
    report = tess.post(reverse("experiment_keep"), fields, follow=True).content.decode()
    assert "1.1 against 1.0, without 1 comparison of other revisions" in words(report)
    assert f"{len(LEVELS)} cells" in words(report)


@pytest.mark.usefixtures("along")
def test_it_is_the_comparison_of_these_two_revisions(client: Client) -> None:
    pair = "a=freebsd-head:r300000&b=freebsd-head:r300015"
    rows = compared_rows(client, PAIR)
    assert rows == compared_rows(client, f"/compare/?{pair}")
    answer = client.get("/api/v1/compare/releases?a=1.0&b=1.1").json()
    compared = client.get(f"/api/v1/compare?{pair}").json()
    assert answer["headline"] == compared["headline"]
    assert len(answer["rows"]) == len(compared["rows"]) == len(rows) == len(LEVELS)
    assert {row["proven"] for row in answer["rows"]} == {"better", "worse", "equivalent"}
    lines = client.get("/api/v1/compare/releases.csv?a=1.0&b=1.1").content.decode().splitlines()
    assert [row["proven"] for row in csv.DictReader(lines)] == ["better", "worse", "equivalent"]


@pytest.mark.usefixtures("along")
def test_alerts_between_are_listed_and_what_recovered_and_was_traded(visit: Visit) -> None:
    text = visit(PAIR)
    assert re.search(r"alert \d+, regression at r300006: pf on Atom C2758 T540-CR −11.4", text)
    assert "at r300009, back at r300012" in text
    assert "; 1 loss in between was won back." in text
    assert "r300024" not in text, "which came after 1.1"
    assert "Atom C2758 T540-CR: gained forwarding +30.0 %; lost pf −10.0 %" in text


@pytest.mark.usefixtures("along")
def test_what_is_not_compared_has_its_reason(visit: Visit) -> None:
    text = visit(PAIR)
    assert "1 only 1.1 was measured Atom C2758 T540-CR : ipfw" in text
    assert "1 only 1.0 was measured Xeon E5 T580 : bridge" in text
    assert "more combination" not in text


def test_another_machine_and_another_variant_are_reasons(client: Client) -> None:
    a, b = make.revisions(2)
    measure(a, ATOM, "pf", 1.0)
    measure(b, XEON, "pf", 1.0)
    measure(a, XEON, "ipfw", 1.0)
    patched = make.series(on=make.hardware(XEON), in_mode="ipfw")
    patched.pk, patched.variant = None, Variant.objects.create(name="D12685", parts=[])
    patched.save()
    make.point(patched, b)
    pair = f"a=freebsd-head:{a}&b=freebsd-head:{b}"
    answer = client.get(f"/api/v1/compare?{pair}").json()
    found = {(one["hardware"], one["mode"]): one["reason"] for one in answer["not_compared"]}
    assert found == {
        (ATOM, "pf"): "another machine",
        (XEON, "pf"): "another machine",
        (XEON, "ipfw"): "another variant",
    }
    text = words(client.get(f"/compare/?{pair}").content.decode())
    assert "1 B was measured as another variant: D12685" in text
    assert "1 A was measured on another machine: Atom C2758 T540-CR" in text
    assert "B was measured as another variant: D12685: Xeon E5 T580: ipfw" in (
        client.get(f"/compare.md?{pair}").content.decode().replace("\\", "")
    )


def test_releases_of_two_trees_of_which_nothing_can_be_compared(
    client: Client, approved: Approvals
) -> None:
    """The tree of each stands for its newest measured revision, whatever ends its name."""
    older, newer = (make.tree(f"freebsd-releng-{name}") for name in ("11.0", "11.1"))
    measure(make.revision("r306450", of=older), ATOM, "pf", 1.0)
    measure(make.revision("r322489", of=newer), XEON, "ipfw", 1.0)
    page = client.get("/releases/11.0...11.1/")
    approved("pages/releases/nothing-can-be-compared", page)
    assert page.context["no_alert"].startswith("The two are of different trees")
    answer = client.get("/api/v1/compare/releases?a=11.0&b=11.1").json()
    assert (answer["alerts"], answer["unmatched"], answer["rows"]) == (None, 2, [])
    assert answer["b"]["side"] == "freebsd-releng-11.1:r322489"


def test_releases_are_offered_where_both_were_measured_alike(client: Client) -> None:
    first, second, third = (
        make.tree(f"freebsd-releng-{name}") for name in ("11.0", "11.1", "11.2")
    )
    measure(make.revision("r306450", of=first), ATOM, "pf", 1.0)
    measure(make.revision("r322489", of=second), XEON, "pf", 1.0)
    for mode in ("pf", "ipfw"):
        measure(make.revision("r334402", of=third), XEON, mode, 1.0)

    (offered,) = client.get("/compare/").context["ready"]["releases"]

    assert offered.label == "freebsd-releng-11.2 against freebsd-releng-11.1"
    assert offered.over == "1 series, at the newest measured revision of each"


def test_releases_of_two_trees_are_compared(client: Client, along: list[Revision]) -> None:
    stable = make.tree("freebsd-stable-1")
    measure(make.revision("r310000", of=stable), ATOM, "forwarding", 0.8)
    page = client.get("/releases/1.1...freebsd-stable-1/")
    assert page.context["answer"].startswith(
        "freebsd-stable-1 against 1.1 (forwarding on Atom C2758 T540-CR): 38.5 % slower"
    )
    assert len(compared_rows(client, "/releases/1.1...freebsd-stable-1/")) == 1


def test_alerts_of_both_sides_of_a_branch_point_are_listed(
    client: Client, along: list[Revision]
) -> None:
    """stable/1 left at the eighth: of its own tree all, of the other those up to there."""
    stable = make.tree("freebsd-stable-1")
    before, newest = (make.revision(name, of=stable) for name in ("r310000", "r310003"))
    measure(newest, ATOM, "forwarding", 0.8)
    lost = make.alert(newest, after=before)
    series = make.series(of=stable, on=make.hardware(ATOM))
    make.finding(series, before, newest, alert=lost)

    page = client.get("/releases/1.0...freebsd-stable-1/")
    found = [re.sub(r"^alert \d+, (.*?):.*", r"\1", text) for text, _ in page.context["alerts"]]
    assert found == [
        f"regression at {along[2]} of freebsd-head",
        f"regression at {along[3]} of freebsd-head",
        "regression at r310003 of freebsd-stable-1",
    ]
    measure(along[8], ATOM, "forwarding", 1.3)
    from_newest = client.get(f"/releases/freebsd-head:{along[8]}...freebsd-stable-1/")
    texts = [text for text, _ in from_newest.context["alerts"]]
    found = [re.sub(r".* at (r\d+) of .*", r"\1", text) for text in texts]
    assert found == [str(along[8]), "r310003"]


def test_as_of_a_moment_the_page_stays_as_it_was(client: Client) -> None:
    """Runs of a nearer revision arrive, the loss is taken back, and the alert is closed."""
    documents = runs_of({("bench/nic", "pf"): {10: 0.9}}, count=24)
    arrive(documents[:19])
    release("1.0", Revision.objects.get(name="r105"))
    release("1.1", make.revision("r119", of=make.tree("freebsd-head")))
    good = client.get(PAIR).context["for_good"]
    then, rows = client.get(good), compared_rows(client, good)
    assert "regression at r110: pf on bench nic −10." in then.context["alerts"][0][0]
    arrive(documents[19:])
    Alert.objects.update(state=Alert.State.RESOLVED, resolution="expected", triaged=True)
    Finding.objects.update(change_pct=-50.0)
    again, now = client.get(good), client.get(PAIR)
    for part in ("answer", "sentence", "alerts", "recovered", "notes", "unmatched"):
        assert again.context[part] == then.context[part], part
    assert compared_rows(client, good) == rows != compared_rows(client, PAIR)
    assert now.context["notes"] == []
    assert now.context["alerts"] != then.context["alerts"]


@pytest.mark.usefixtures("along")
def test_the_page_links_to_itself_for_good(client: Client) -> None:
    page = client.get(PAIR)
    good = client.get(page.context["for_good"])
    assert page.context["for_good"].startswith(f"{PAIR}?asof=20")
    assert good.context["answer"] == page.context["answer"]
    assert "asof" in good.context["markdown_link"]


@pytest.mark.parametrize(
    ("pair", "remedy"),
    [
        ("1.0...1.0", "1.0 stands on both sides: name two releases"),
        ("1.1...1.0", "1.1 comes after 1.0: write 1.0...1.1"),
        ("1.0...freebsd-head:r300000", "r300000 stands for both 1.0 and r300000"),
        ("1.0", "is not a pair of releases: write A...B, for example 11.0...11.1"),
        ("1.0...", "is not a pair of releases"),
        ("1.0....1.1", "is not a pair of releases"),
        ("../../..etc...1.1", "no release, branch or tree '../../..etc'; known are"),
        ("..../", "is not a pair of releases"),
        ("1.0...1.1...1.2", "is not a pair of releases"),
        ("1.0...<script>x</script>", "no release, branch or tree '<script>x</script>'; known are"),
        ("1.0...1.2", "known are freebsd-head:1.0, freebsd-head:1.1"),
        ("1.0...r300015", "a revision stands behind its tree, as freebsd-head:r303643"),
        ("1.0...nowhere:1.1", "no tree 'nowhere': the trees are freebsd-head"),
        ("1.0...freebsd-head:r9", "no revision 'r9' in freebsd-head"),
        ("1.0...freebsd-head:", "no release, branch or tree 'freebsd-head:'"),
        ("1.0...1.1~D1", "variant 'D1' of freebsd-head was not measured"),
        ("1.0...1.1/?asof=x", "asof='x' is no time: write 2026-01-31T12:00:00Z"),
        ("1.0...1.1/?asof=2000-01-01T00:00:00Z", "no revision of freebsd-head was measured by"),
    ],
)
@pytest.mark.usefixtures("along")
def test_what_cannot_be_compared_has_its_remedy(client: Client, pair: str, remedy: str) -> None:
    path, _, query = pair.partition("/?")
    page = client.get(f"/releases/{path}/?{query}")
    assert page.status_code == 400
    assert remedy in words(page.content.decode())
    assert "<script>x" not in page.content.decode()
    for address in (f"/releases/{path}.md?{query}", f"/releases/{path}.svg?{query}"):
        answer = client.get(address)
        assert answer.status_code == 400
        assert remedy in answer.content.decode()


@pytest.mark.usefixtures("along")
def test_a_name_of_two_trees_has_to_name_its_tree(visit: Visit, client: Client) -> None:
    release("1.1", make.revision("r310000", of=make.tree("freebsd-stable-1")))
    page = client.get(PAIR)
    remedy = "several are called '1.1': write freebsd-head:1.1 or freebsd-stable-1:1.1"
    assert remedy in words(page.content.decode())
    assert "1.1 against 1.0" in visit("/releases/1.0...freebsd-head:1.1/")


@pytest.mark.usefixtures("along")
def test_the_compare_page_offers_releases(client: Client) -> None:
    page = client.get("/compare/")
    (offered,) = page.context["ready"]["releases"]
    assert offered.label == "1.1 against 1.0"
    assert client.get(offered.link).context["answer"].startswith("1.1 against 1.0: ")
    picked = client.get("/releases/", {"a": "1.0", "b": "stable/1"})
    assert picked.headers["Location"] == "/releases/1.0...stable/1/"
    for other in ("", "1.1\n2", "1...1", "\0"):
        assert client.get("/releases/", {"a": "1.0", "b": other}).status_code == 400
    assert client.get("/releases/").headers["Location"] == "/compare/"
    change = client.get(client.get(PAIR).context["change_link"])
    assert change.context["releases"] == ["1.0", "1.1"]
    names = words(client.get("/compare/suggestions/?part=release&release=1.").content.decode())
    assert names == "release release"


@pytest.mark.usefixtures("along")
def test_the_first_release_of_a_branch_is_offered_against_the_last_before_it_left(
    client: Client,
) -> None:
    stable = make.tree("freebsd-stable-1")
    newest = make.revision("r310000", of=stable)
    measure(newest, ATOM, "forwarding", 0.8)
    release("1.2", newest)
    offered = client.get("/compare/").context["ready"]["releases"]
    assert [(one.label, one.over) for one in offered] == [
        ("1.1 against 1.0", "freebsd-head"),
        ("1.2 against 1.1", "from freebsd-head to freebsd-stable-1"),
    ]
    Release.objects.filter(kind="branch point").delete()
    offered = client.get("/compare/").context["ready"]["releases"]
    assert [one.label for one in offered] == ["1.1 against 1.0"], "nothing joins the two trees"


@pytest.mark.usefixtures("along")
@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("1.1", "/releases/freebsd-head:1.0...freebsd-head:1.1/"),
        ("1.0", "/commits/freebsd-head/r300000/"),
        ("stable-1", "/commits/freebsd-head/r300021/"),
        ("Stable/1", "/commits/freebsd-head/r300021/"),
        ("head", "/commits/freebsd-head/"),
        ("freebsd", "/commits/freebsd-head/"),
    ],
)
def test_search_finds_releases_branch_points_and_trees(
    client: Client, text: str, address: str
) -> None:
    answer = client.get("/search/", {"q": text, "go": "first"})
    assert answer.headers.get("Location") == address


@pytest.mark.usefixtures("along")
def test_pictures(client: Client) -> None:
    svg = client.get("/releases/1.0...1.1.svg")
    assert svg.headers["Content-Type"].startswith("image/svg+xml")
    assert "1.1 against 1.0: " in svg.content.decode()
    again = client.get("/releases/1.0...1.1.svg", headers={"If-None-Match": svg.headers["ETag"]})
    assert again.status_code == 304
    assert client.get("/releases/1.0...1.1.png").content.startswith(b"\x89PNG")


def test_the_number_of_statements_does_not_grow(along: list[Revision], queries: Counted) -> None:
    asof = f"{PAIR}?asof=2026-01-02T12:00:00Z"
    few, few_then = queries(PAIR), queries(asof)
    for number in range(6):
        for at in (along[0], along[5]):
            measure(at, f"Machine_{number}/NIC", f"mode{number}", 1.0)
        measure(along[number // 2], f"Machine_{number}/NIC", "near", 1.0)
        measure(along[0], f"Machine_{number}/NIC", "alone", 1.0)
        found = make.alert(along[4], after=along[3]) if not number else None
        series = make.series(on=make.hardware(f"Machine_{number}/NIC"), in_mode=f"mode{number}")
        make.finding(series, along[3], along[4], **({"alert": found} if found else {}))
    make.revisions(30, first=300_100)
    assert queries(PAIR) == few <= 14
    assert queries(asof) == few_then <= 20
