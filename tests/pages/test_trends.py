"""`/trends/`: everything in the address, samples never read."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from statistics import fmean, stdev

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.pages.conftest import Counted, words
from tests.pages.trends import figure, whole_figure
from webapp.charts.text import percent
from webapp.pages.trends import data as trend_data
from webapp.pages.trends import points as trend_points
from webapp.pages.trends.query import TrendQuery
from webapp.results.models import Point, Revision, RevisionAlias, Series

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def test_without_any_measurement_the_page_states_what_to_do(visit: Visit) -> None:
    make.tree()
    assert "labagent upload" in visit("/trends/")


def test_an_empty_instance_gives_an_empty_figure(client: Client) -> None:
    assert whole_figure(client) == {"data": [], "layout": {}}


def test_a_series_without_points_is_no_error(client: Client) -> None:
    """As one is of which all runs were withdrawn."""
    make.series(on=make.hardware("Atom/T540"), in_mode="pf")
    for address in ("/trends/", "/trends/?mode=pf&whiskers=range"):
        assert "Nothing to draw" in words(client.get(address).content.decode())
    assert whole_figure(client, "mode=pf")["data"] == []


@pytest.mark.usefixtures("along")
def test_a_series_without_points_stands_beside_those_that_have_some(client: Client) -> None:
    make.series(on=make.hardware("Atom/other"), in_mode="pf")
    assert len(figure(client, "mode=pf")["series"]) == 1


@pytest.mark.usefixtures("along")
def test_without_scripts_the_page_has_the_chart_and_its_numbers(client: Client) -> None:
    page = client.get("/trends/").content.decode()
    assert "<svg" in page
    assert page.count('<svg viewBox="0 0 1060 ') == page.count('<svg viewBox="0 0 350 ') == 1
    assert page.count('stroke-linecap="round"') == 2 * 2, "the points of two series, twice"
    assert page.count("<li data-series") == 2
    assert "−9.9 ± 0.41" in words(client.get("/trends/?mode=pf").content.decode())


@pytest.mark.usefixtures("along")
def test_the_address_chooses_the_series(client: Client) -> None:
    chosen = figure(client, "mode=pf")
    assert [series["mode"] for series in chosen["series"]] == ["pf"]


@pytest.mark.usefixtures("along")
def test_the_figure_draws_the_points(client: Client) -> None:
    series = figure(client, "mode=pf")["series"][0]
    assert series["n"] == [5, 5, 5, 5]
    assert series["value"] == pytest.approx([500, 500, 450, 450], rel=0.01)
    assert series["revision"] == [0, 1, 2, 3]


def test_a_finding_is_on_the_chart_and_in_a_table_with_its_reason(
    client: Client, along: list[Revision]
) -> None:
    series = make.series(in_mode="pf")
    make.finding(series, along[1], along[2], last=along[3], probability=0.97)
    chart = figure(client, "mode=pf")
    assert chart["series"][0]["found"] == [
        {
            "at": 2,
            "state": "confirmed",
            "verdict": "worse",
            "size": "−11.4 [−12.3, −10.5]\u202f%",
        }
    ]
    text = words(client.get("/trends/?mode=pf").content.decode())
    assert "−11.4 [−12.3, −10.5]" in text
    assert "100 → 88.6 confirmed 97 %" in text
    assert f"after {along[1].name} up to {along[3].name}" in text
    assert "Confirmed: 5 revisions lie lower." in text
    assert "Flagged by ministat alone" not in text


def test_a_finding_outside_of_what_is_shown_is_not_named(
    client: Client, along: list[Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), along[0], along[1])
    assert figure(client, "mode=pf&last=2")["series"][0]["found"] == []


def test_that_nothing_changed_is_claimed_of_the_revisions_shown_alone(
    client: Client, along: list[Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), along[0], along[1])
    for series in Series.objects.all():
        make.analysis(series, count=4, smallest={"pct": 2.0})
    of_two = client.get("/trends/?mode=pf&mode=forwarding&last=2").context["headline"]
    assert of_two == "No proven change in these 2 revisions of 2 series"
    of_one = client.get("/trends/?mode=pf&last=1").context["headline"]
    assert of_one == "No proven change in this revision"


def test_a_slow_change_is_the_headline_where_no_level_changed(
    client: Client, along: list[Revision]
) -> None:
    """What everybody can see is never called no proven change."""
    pf, forwarding = (make.series(in_mode=mode) for mode in ("pf", "forwarding"))
    make.finding(pf, along[0], along[3], kind="slow", change_pct=-14.9)
    for series in (pf, forwarding):
        make.analysis(series, count=4, smallest={"pct": 2.0})

    def headline(query: str) -> str:
        return str(client.get(f"/trends/?{query}").context["headline"])

    assert headline("mode=pf&mode=forwarding") == "pf lost 14.9 % by and by"
    make.finding(forwarding, along[0], along[3], kind="slow", change_pct=3.2, verdict="better")
    assert headline("mode=pf&mode=forwarding") == (
        "pf lost 14.9 % by and by; forwarding gained 3.2 % by and by"
    )
    make.finding(forwarding, along[0], along[1], change_pct=-5.0)
    assert headline("mode=pf&mode=forwarding") == f"forwarding lost 5.0 % at {along[1].name}"


def test_the_headline_names_one_revision_only_where_the_change_leaves_no_other(
    client: Client, along: list[Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), along[1], along[3], change_pct=-9.9)

    wide = client.get("/trends/?mode=pf").context["headline"]
    make.finding(make.series(in_mode="forwarding"), along[2], along[3], change_pct=-5.0)
    with_one_clearer = client.get("/trends/?mode=pf&mode=forwarding").context["headline"]

    first, last = along[1].name, along[3].name
    assert wide == f"pf lost 9.9 % after {first}, at the latest in {last}"
    assert with_one_clearer == f"forwarding and pf lost 5.0 to 9.9 % at {last}"


def test_a_rate_that_fell_to_nothing_is_the_headline(client: Client) -> None:
    along = make.revisions(6)
    pf, forwarding = (make.series(in_mode=mode) for mode in ("pf", "forwarding"))
    for i, at in enumerate(along):
        make.point(pf, at, [0.0 if i > 3 else 500.0] * 3)
        make.point(forwarding, at, [0.0 if i in (1, 2) else 900.0] * 3)
    make.finding(forwarding, along[2], along[3], change_pct=-5.0)

    fell = client.get("/trends/?mode=pf&mode=forwarding").context["headline"]
    came_back = client.get("/trends/?mode=forwarding").context["headline"]

    assert fell == f"pf measured 0 from {along[4].name} on"
    assert came_back == f"forwarding lost 5.0 % at {along[3].name}"


def test_levels_are_drawn_as_far_as_they_show(client: Client, along: list[Revision]) -> None:
    make.analysis(
        make.series(in_mode="pf"),
        count=5,
        segments=[
            make.segment(along[0], along[1], 500.0),
            make.segment(along[2], along[3], 450.0),
        ],
    )
    levels = figure(client, "mode=pf&last=3")["series"][0]["levels"]
    assert levels == [[(0, 500), (0.5, 500)], [(0.5, 450), (2, 450)]]


def test_a_series_too_young_for_the_detector_has_no_level_drawn_across_its_points(
    client: Client,
) -> None:
    """Three points at 495 k, 697 k and 832 k share a segment only because nothing is known yet."""
    along = make.revisions(3)
    series = make.series(in_mode="forwarding@inet4")
    for at, value in zip(along, (495_000.0, 697_000.0, 832_000.0), strict=True):
        make.point(series, at, [value] * 3)
    make.analysis(series, count=3, segments=[make.segment(along[0], along[2], 495_000.0)])
    assert figure(client, "mode=forwarding@inet4")["series"][0]["levels"] == []


class TestChosen:
    """The parts of the page that hang on A, B and the marked range."""

    def test_the_card_of_b_shows_value_finding_and_where_it_leads(
        self, visit: Visit, along: list[Revision]
    ) -> None:
        pf = make.series(in_mode="pf")
        make.finding(pf, along[1], along[2], last=along[3], probability=0.97)
        text = visit(f"/trends/chosen/?mode=pf&b={pf.pk}@{along[2].name}")
        assert f"A – B {along[2].name}" in text
        before, here = Point.objects.of_series(pf).values_list("mean", flat=True)[1:3]
        moved = percent(100 * (here - before) / before)
        assert re.search(
            rf" {here:.4g} packets/s n = 5 \([\d.]+ to [\d.]+\); {moved} % to the point before",
            text,
        )
        assert "▾ −11.4 [−12.3, −10.5] % pf, confirmed, 97 % likely to be real" in text
        assert f"began after {along[1].name}, at the latest in {along[3].name}" in text
        assert "Confirmed: 5 revisions lie lower." in text
        assert f"Open commit Compare with {along[1].name} Its runs Make it A Esc" in text

    def test_two_sides_are_compared_in_what_the_drawn_series_share(
        self, client: Client, along: list[Revision]
    ) -> None:
        pf, other = make.series(in_mode="pf").pk, make.series(in_mode="forwarding").pk
        sides = f"a={pf}@{along[0].name}&b={pf}@{along[3].name}"
        page = client.get(f"/trends/chosen/?hide={other}&{sides}").content.decode()
        assert f"a=freebsd-head:{along[0].name}:Atom_C2758/T540-CR:pf:pps&" in unescape(page)
        page = client.get(f"/trends/chosen/?{sides}").content.decode()
        assert f"a=freebsd-head:{along[0].name}:Atom_C2758/T540-CR&" in unescape(page)

    def test_a_range_has_the_statistics_of_what_is_drawn_in_it(
        self, visit: Visit, along: list[Revision]
    ) -> None:
        hidden = make.series(in_mode="forwarding").pk
        ends = f"range={along[3].name}..{along[1].name}&hide={hidden}"
        text = visit(f"/trends/chosen/?{ends}")
        assert f"{along[1].name} to {along[3].name} Show only these" in text
        values = [one.mean for one in Point.objects.of_series(make.series(in_mode="pf"))][1:]
        ends = f"{min(values):.4g} {max(values):.4g} {percent(100 * (values[-1] / values[0] - 1))}"
        row = f"3 {fmean(values):.4g} {100 * stdev(values) / fmean(values):.1f} {ends}"
        assert f"pf Atom C2758 T540-CR {row}" in text

    def test_of_a_long_history_all_points_count_and_what_is_chosen_is_drawn(
        self, visit: Visit, client: Client, long_history: list[Revision]
    ) -> None:
        """The same texts as of a history of which every point is drawn; in any part in sight."""
        first, a, b, last = (long_history[at].name for at in (20, 41, 43, 160))
        pk = make.series().pk
        asked = f"range={first}..{last}&a={pk}@{a}&b={pk}@{b}"
        part = f"view={long_history[100].name}..{long_history[109].name}&{asked}"
        thinned = [visit(f"/trends/chosen/?{query}") for query in (asked, part)]
        assert {first, a, b, last} <= set(figure(client, part)["revisions"]["name"])
        assert not {a, b} & set(figure(client)["revisions"]["name"])
        with pytest.MonkeyPatch.context() as whole:
            whole.setattr(trend_points, "MOST_WHOLE", 5_000)
            trend_data.LOADED.clear()
            assert visit(f"/trends/chosen/?{asked}") == thinned[0] == thinned[1]
        assert "141 103.2 9.0 40.08 189.6 +0.47" in thinned[0]

    @pytest.mark.usefixtures("along")
    def test_what_is_not_drawn_is_not_chosen(self, visit: Visit) -> None:
        text = visit("/trends/chosen/?a=9@r1&b=x&range=r1..r2..r3")
        assert text == "A – B – No statistics: r1, r2, r3 are not among the revisions shown."
        assert visit("/trends/chosen/?range=..") == "A – B –"

    def test_who_may_ask_for_runs_gets_the_forms_and_a_note(
        self, along: list[Revision], tess: Client, visit: Visit
    ) -> None:
        address = f"/trends/chosen/?b={make.series(in_mode='pf').pk}@{along[2].name}"
        page = tess.get(address).content.decode()
        assert "/jobs/new/?series=" in page
        assert "kind=note" in page
        page = Client().get(address).content.decode()
        assert "/jobs/new/" not in page
        assert "kind=note" not in page


def test_what_a_series_can_prove_is_stated_and_what_is_unknown_is_called_so(
    visit: Visit, along: list[Revision]
) -> None:
    make.analysis(
        make.series(in_mode="pf"),
        noise=make.noise(run_pct=0.8),
        smallest={"pct": 3.1, "later_pct": 2.0, "more_runs_pct": 2.9, "helps": "revisions"},
        is_drifting=True,
        why_not="No change: it lies at its level.",
        what_helps="More revisions would.",
    )
    text = visit(f"/trends/?mode=pf&from={along[0].name}")
    assert "0.80 % not known 3.1 %" in text
    assert "Drifting" in text
    assert "Bimodal" not in text
    assert "No change: it lies at its level. More revisions would." in text


@pytest.mark.usefixtures("along")
def test_what_ministat_finds_is_called_that_and_flags_nothing(visit: Visit) -> None:
    text = visit("/trends/?mode=pf")
    assert "Δ and verdict are ministat's" in text
    assert "nothing is flagged or alerted on them" in text


def test_nothing_is_coloured_on_what_ministat_alone_finds(client: Client) -> None:
    before, after = make.revisions(2, first=400_000)
    series = make.series(in_mode="solo")
    make.pair(series, before, after, percent=-11.4)
    html = client.get("/trends/?mode=solo").content.decode()
    assert "−11.4" in html
    assert not re.search(r'<t[dh] class="[^"]*\b(worse|better)\b|class="mark (worse|better)"', html)


@pytest.mark.usefixtures("along")
def test_min_to_max_draws_the_median(client: Client) -> None:
    make.point(make.series(in_mode="odd"), make.revision("r1"), [1.0, 2.0, 9.0])
    series = figure(client, "mode=odd&whiskers=range")["series"][0]
    assert (series["low"], series["value"], series["high"]) == ([1], [2], [9])


def test_one_sample_has_no_interval(client: Client) -> None:
    make.point(make.series(), make.revision("r1"), [100.0])
    assert figure(client)["series"][0]["low"] == [None]


def test_the_interval_of_a_mean_is_student_s_t(client: Client) -> None:
    make.point(make.series(), make.revision("r1"), [9.0, 10.0, 11.0])
    # t(2, 95 %) = 4.303, sd = 1, n = 3
    assert figure(client)["series"][0]["high"] == [pytest.approx(10 + 2.4843, abs=1e-3)]


def test_from_and_to_bound_what_is_shown(client: Client, along: list[Revision]) -> None:
    """Revisions or days, both included; make.revisions are a day apart."""
    days = [f"{make.DAY_ONE + timedelta(days=number):%Y-%m-%d}" for number in range(4)]
    for start, end in ((along[1].name, along[2].name), days[1:3], (days[1], along[2].name)):
        shown = figure(client, f"from={start}&to={end}")
        assert shown["revisions"]["name"] == [along[1].name, along[2].name]


class TestView:
    """``view``: the part in sight, whatever revisions its ends name."""

    def test_an_end_that_was_not_measured_gives_way_to_the_nearest_and_that_is_stated(
        self, client: Client, visit: Visit, along: list[Revision]
    ) -> None:
        known = make.revision(f"r{along[2].position + 1}")  # and in no series
        for first, last in (("r1", known.name), (known.name, "r1")):
            view = f"view={first}..{last}"
            assert figure(client, view)["window"] == [along[0].name, along[2].name]
            begins = f"The view begins at {along[0].name}, the nearest: r1 is not among the revisi"
            ends = f"The view ends at {along[2].name}, the nearest: {known.name} is not among the"
            for note in (begins, ends):
                assert note in visit(f"/trends/?{view}")
                assert note in client.get(f"/trends.svg?{view}").content.decode()
            narrow = client.get(f"/trends.svg?{view}&width=400").content.decode()
            assert f"The view begins at {along[0].name}" in narrow

    def test_measured_ends_and_their_aliases_are_taken_without_a_word(
        self, visit: Visit, client: Client, along: list[Revision]
    ) -> None:
        RevisionAlias.objects.create(tree=along[1].tree, revision=along[1], name="ab" * 20)
        view = f"view={'ab' * 20}..{along[2].name}"
        assert figure(client, view)["window"] == [along[1].name, along[2].name]
        assert "The view " not in visit(f"/trends/?{view}")

    def test_a_revision_that_does_not_exist_is_named_and_everything_shown(
        self, visit: Visit, client: Client, along: list[Revision]
    ) -> None:
        view = f"view=nonsense..{along[2].name}"
        assert figure(client, view)["window"] is None
        note = "No revision nonsense in freebsd-head. All revisions are in view."
        assert note in visit(f"/trends/?{view}")
        assert note in client.get(f"/trends.svg?{view}").content.decode()

    def test_of_a_long_history_the_ends_are_drawn(
        self, client: Client, long_history: list[Revision]
    ) -> None:
        between = f"r{long_history[33].position + 1}"
        chart = figure(client, f"view={between}..{long_history[72].name}")
        assert chart["window"] == [long_history[33].name, long_history[72].name]
        assert len(chart["revisions"]["name"]) < 70


@pytest.mark.usefixtures("along")
def test_the_last_points_of_each_series_are_shown(client: Client) -> None:
    assert len(figure(client, "last=2")["revisions"]["name"]) == 2


@pytest.mark.usefixtures("along")
def test_indexed_values_start_at_100_and_the_measured_ones_come_along(client: Client) -> None:
    content = figure(client, "mode=pf&y=indexed")
    series = content["series"][0]
    assert series["value"][0] == pytest.approx(100)
    assert series["value"][0] / series["factor"] == pytest.approx(500, rel=0.01)


def test_simulated_series_are_marked(visit: Visit) -> None:
    machine = make.hardware("Sim/x", of=make.lab("Simulation", simulated=True))
    make.point(make.series(on=machine), make.revision("r1"))
    assert "forwarding simulated" in visit("/trends/")


def test_usual_ranges_are_offered_along_the_time_those_of_a_calendar(
    client: Client, along: list[Revision]
) -> None:
    for number, revision in enumerate(along):
        moment = make.DAY_ONE + timedelta(days=60 * number)
        Revision.objects.filter(pk=revision.pk).update(committed_at=moment)
    page = client.get("/trends/").content.decode()
    assert re.findall(r'href="[^"]*last=(\d+)[^"]*"', page)[:2] == ["50", "200000"]
    assert "quarter" not in page
    page = client.get("/trends/?x=time").content.decode()
    newest = make.DAY_ONE + timedelta(days=180)
    days = [f"{newest - timedelta(days=back):%Y-%m-%d}" for back in (31, 92, 366)]
    assert re.findall(r'<a href="[^"]*from=([^"&]*)"', page) == days
    page = client.get(f"/trends/?x=time&from={days[1]}").content.decode()
    assert re.findall(r'from=([^"&]*)"\s+aria-current', page) == [days[1]]


@pytest.mark.usefixtures("along")
def test_a_change_of_the_form_brings_the_evidence_alone(client: Client) -> None:
    page = client.get("/trends/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page
    assert "data-figure=" in page
    assert 'hx-swap-oob="true"' in page


@pytest.mark.usefixtures("along")
def test_an_unchanged_figure_is_not_sent_again(client: Client) -> None:
    first = client.get("/trends/figure.json")
    again = client.get("/trends/figure.json", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert again.content == b""


@pytest.mark.usefixtures("along")
def test_samples_are_never_read(client: Client) -> None:
    with CaptureQueriesContext(connection) as statements:
        client.get("/trends/")
        client.get("/trends/figure.json")
    assert not [one["sql"] for one in statements if "results_measurement" in one["sql"]]


def test_the_number_of_queries_does_not_grow_with_series_or_points(queries: Counted) -> None:
    short = make.revisions(3)
    for mode in ("pf", "ipfw"):  # of one alone the newest points are named, by one query more
        make.history(make.series(in_mode=mode), short, [100.0] * 3)
    few, few_figure = queries("/trends/"), queries("/trends/figure.json")
    longer = make.revisions(20, first=400_000)
    for number in range(5):
        make.history(make.series(in_mode=f"mode-{number}"), longer, [100.0] * 20)
    assert queries("/trends/") == few <= 12  # one each for the stamp, events and releases
    assert queries("/trends/figure.json") == few_figure <= 12


def test_an_address_survives_being_read_and_written() -> None:
    query = (
        "tree=head&metric=pps&hardware=A/x&mode=pf@inet4&x=time&y=indexed&whiskers=none"
        "&last=50&from=r1&to=r9&split=mode&view=r2..r5&asof=2026-02-01&height=1:0.5..2e3&hide=7&a=3@r2&range=r1..r2"
    )
    assert TrendQuery.parse(QueryDict(query)).link() == f"/trends/?{query}"


def test_without_a_choice_it_opens_on_the_machine_and_the_modes_that_changed_last(
    client: Client,
) -> None:
    along = make.revisions(6)
    for machine, mode in (("A/x", "quiet"), ("B/y", "quiet"), ("B/y", "early"), ("C/z", "late")):
        make.history(make.series(on=make.hardware(machine), in_mode=mode), along, [100.0] * 6)
    make.finding(make.series(on=make.hardware("B/y"), in_mode="early"), along[0], along[1])
    make.finding(make.series(on=make.hardware("C/z"), in_mode="late"), along[3], along[4])
    assert [(one["hardware"], one["mode"]) for one in figure(client)["series"]] == [("C/z", "late")]
    assert "late lost 11.4 %" in client.get("/trends/").content.decode()


def test_with_a_machine_and_no_metric_it_opens_on_what_is_measured_on_that_machine(
    client: Client,
) -> None:
    along, one, other = make.revisions(6), make.hardware("One/x"), make.hardware("Other/x")
    first = make.metric("equilibrium", unit="Mb/s")
    make.history(make.series(on=one, of_metric=first), along, [100.0] * 6)
    make.history(make.series(on=other, in_mode="pf"), along, [100.0] * 6)
    make.history(make.series(on=other, in_mode="nat"), along, [100.0] * 6)
    make.history(make.series(on=other, of_metric=first), along, [100.0] * 6)
    shown = {one["mode"] for one in figure(client, "hardware=Other/x")["series"]}
    assert shown == {"pf", "nat"}
    assert [one["hardware"] for one in figure(client, "hardware=One/x")["series"]] == ["One/x"]


def test_it_opens_on_what_changed_by_as_much_as_an_alert_asks_for_before_smaller_changes(
    client: Client,
) -> None:
    along = make.revisions(6)
    for mode, pct, at in (("large", -11.4, 1), ("small", 1.2, 4)):
        series = make.series(on=make.hardware(f"{mode}/x"), in_mode=mode)
        make.history(series, along, [100.0] * 6)
        make.finding(series, along[at - 1], along[at], change_pct=pct)
    assert [one["mode"] for one in figure(client)["series"]] == ["large"]


def test_of_more_series_than_fit_those_that_changed_are_drawn(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trend_data, "MOST_SERIES", 1)
    along = make.revisions(6)
    for mode in ("a", "b"):
        make.history(make.series(in_mode=mode), along, [100.0] * 6)
    make.finding(make.series(in_mode="b"), along[2], along[3])
    query = f"hardware={make.hardware().name}"
    assert [one["mode"] for one in figure(client, query)["series"]] == ["b"]


def test_as_of_a_time_there_is_what_had_arrived_and_was_known(client: Client) -> None:
    along = make.revisions(4)
    series = make.series()
    make.history(series, along, [100.0] * 4)
    for number, at in enumerate(along):
        make.run(at, received_at=make.DAY_ONE + timedelta(days=number))
    make.finding(series, along[0], along[1], first_detected_at=make.DAY_ONE + timedelta(days=2))
    make.analysis(series, count=5, segments=[make.segment(along[0], along[3], 100.0)])
    early = figure(client, "asof=2026-01-02T12:00:00Z")
    assert early["revisions"]["name"] == [one.name for one in along[:2]]
    assert early["series"][0]["found"] == early["series"][0]["levels"] == []
    late = figure(client, "asof=2026-01-03T12:00:00Z")
    assert len(late["series"][0]["found"]) == 1
    assert (
        "levels of the past are not kept"
        in client.get("/trends/?asof=2026-01-03T12:00:00Z").content.decode()
    )
    assert len(figure(client, "asof=nonsense")["revisions"]["name"]) == 4


@pytest.fixture
def long_history(monkeypatch: pytest.MonkeyPatch) -> list[Revision]:
    """200 revisions where more than 50 points are thinned, to 10 columns in sight and 5 beside."""
    monkeypatch.setattr(trend_points, "MOST_WHOLE", 50)
    monkeypatch.setattr(trend_points, "PIXELS", 10)
    monkeypatch.setattr(trend_points, "PIXELS_BESIDE", 5)
    along = make.revisions(200)
    levels = [100.0 + number % 7 for number in range(200)]
    levels[37], levels[151] = 40.0, 190.0
    make.history(make.series(), along, levels)
    return along


def test_of_a_long_history_each_extreme_is_drawn_at_its_place(
    client: Client, long_history: list[Revision]
) -> None:
    along = long_history
    content = figure(client)
    drawn = dict(zip(content["revisions"]["place"], content["series"][0]["value"], strict=True))
    assert len(drawn) <= 2 * 10 + 2 + 20
    assert content["whole"] == [-0.5, 199.5]
    assert min(drawn, key=lambda place: drawn[place]) == 37
    assert max(drawn, key=lambda place: drawn[place]) == 151
    part = figure(client, f"view={along[100].name}..{along[109].name}")
    assert set(range(100, 110)) <= set(part["revisions"]["place"])
    assert {37, 151} <= set(part["revisions"]["place"]), "beside the part in sight as well"


def test_of_a_long_history_no_finding_and_none_of_the_newest_points_is_left_out(
    visit: Visit, client: Client, long_history: list[Revision]
) -> None:
    make.finding(make.series(), long_history[42], long_history[43], why="It fell.")
    for view in ("", f"view={long_history[100].name}..{long_history[109].name}"):
        (found,) = figure(client, view)["series"][0]["found"]
        assert figure(client, view)["revisions"]["name"][found["at"]] == long_history[43].name
        text = visit(f"/trends/?{view}")
        assert f"at {long_history[43].name}" in text, "the headline"
        assert "It fell." in text
        assert " 200 revisions " in text, "in the list"
        newest = text.partition("Newest points")[2]
        assert [one.name for one in long_history if one.name in newest] == [
            one.name for one in long_history[-20:]
        ]


def test_the_interval_of_many_points_is_that_of_each_summary(client: Client) -> None:
    along = make.revisions(3)
    series = make.series()
    for at, samples in zip(along, ([9.0, 10.0, 11.0], [5.0, 5.0], [7.0]), strict=True):
        make.point(series, at, samples)
    series_shown = figure(client)["series"][0]
    for at, point in enumerate(Point.objects.of_series(series)):
        low, high = point.summary.interval() or (None, None)
        assert series_shown["low"][at] == (low if low is None else pytest.approx(low, rel=1e-5))
        assert series_shown["high"][at] == (high if high is None else pytest.approx(high, rel=1e-5))
