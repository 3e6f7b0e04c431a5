"""`/commits/<tree>/<rev>/`: what did this commit do?"""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted, words
from webapp.pages.commits import commit
from webapp.results.models import Revision, RevisionAlias

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def page(revision: Revision) -> str:
    return revision.get_absolute_url()


def test_a_finding_shows_its_suspects_its_probability_and_why(
    client: Client, pair: tuple[Revision, Revision], approved: Approvals
) -> None:
    make.finding(make.series(in_mode="pf"), *pair, probability=0.97, here=0.6)
    approved(
        "pages/commit/a-finding-shows-its-suspects-its-probability-and-why",
        client.get(page(pair[1])),
    )


def test_the_gate_ranks_findings_over_all_series_that_received_the_commit(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), *pair, p_value=0.01)
    make.finding(make.series(in_mode="ipfw"), *pair, change_pct=2.1, p_value=0.2)
    text = visit(page(pair[1]))
    assert "1 of 2 passes the gate" in text
    assert "Rank 1 of 3 series, q = 0.03: passes the gate" in text
    assert "Rank 2 of 3 series, q = 0.3: does not pass the gate" in text


def test_a_commit_among_the_suspects_of_a_finding_elsewhere_states_it(visit: Visit) -> None:
    before, suspect, likeliest = make.revisions(3)
    make.finding(make.series(), before, likeliest, first=suspect, why="It was that one.")
    assert "May have begun here" in visit(page(suspect))
    assert "It was that one." in visit(page(suspect))
    assert "May have begun here" not in visit(page(before))


def test_a_retracted_finding_is_not_on_the_page(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), *pair, state="retracted")
    assert "5 revisions lie lower" not in visit(page(pair[1]))


def test_a_series_without_a_finding_states_why_not(visit: Visit) -> None:
    first, middle, last = make.revisions(3)
    series = make.series()
    for at in (first, middle, last):
        make.point(series, at)
    make.analysis(
        series,
        segments=[make.segment(first, last, 100.0)],
        newest={"revision": {"position": last.position, "label": last.name}},
        noise=make.noise(revision_pct=0.7),
        why_not="No change: the newest lies where it should.",
    )
    assert "No change: the newest lies where it should." in visit(page(last))
    assert f"belongs to the level of 2 revisions from {first.name} to" in visit(page(middle))


def test_a_series_that_is_not_analysed_yet_states_it(visit: Visit) -> None:
    at = make.revision("r1")
    make.point(make.series(), at)
    assert "Not analysed yet." in visit(page(at))


def test_every_cell_shows_its_change_and_leads_to_its_comparison(
    client: Client, pair: tuple[Revision, Revision]
) -> None:
    html = client.get(page(pair[1])).content.decode()
    assert html.count('<td class="cell worse-2"') == 1
    assert html.count('<td class="cell better-3"') == 2
    assert "/compare/?a=freebsd-head:r303642:Atom_C2758/T540-CR:pf:pps" in html


def test_what_cannot_be_judged_is_hatched_with_what_could_have_been_seen(
    client: Client,
) -> None:
    before, after = make.revisions(2)
    series = make.series()
    make.point(series, before, [90, 100, 110])
    make.point(series, after, [88, 97, 108])
    make.analysis(series, noise=make.noise(build_pct=0.0))
    html = client.get(page(after)).content.decode()
    assert "cell cannot-tell" in html
    assert "Cannot tell" in html
    assert "detects ≥ 36.5 %" in html


def test_the_noise_between_builds_of_the_series_counts(
    client: Client, pair: tuple[Revision, Revision]
) -> None:
    make.analysis(make.series(in_mode="pf"), noise=make.noise(build_pct=9.0))
    html = client.get(page(pair[1])).content.decode()
    assert '<td class="cell worse-2"' not in html
    assert "noise between builds 9.0 % counted" in html


def test_a_history_without_noise_between_builds_is_stated_in_words(
    client: Client, pair: tuple[Revision, Revision]
) -> None:
    make.analysis(make.series(in_mode="pf"), noise=make.noise(build_pct=0.0))
    html = client.get(page(pair[1])).content.decode()
    assert "the history shows no noise between builds" in html
    assert "0.00 % counted" not in html


def test_what_is_surely_the_same_is_equivalent_and_plain(client: Client) -> None:
    before, after = make.revisions(2)
    series = make.series()
    for at in (before, after):
        make.point(series, at)
    make.analysis(series, noise=make.noise(build_pct=0.0))
    html = client.get(page(after)).content.decode()
    assert '<td class="cell equivalent"' in html


def test_figures_beyond_the_double_range_cannot_tell_and_show_no_number(client: Client) -> None:
    before, after = make.revisions(2)
    series = make.series()
    make.point(series, before, [1e-300, 1e300, 1e-300])
    make.point(series, after, [1e300, 1e-300, 1e300])
    html = client.get(page(after)).content.decode()
    assert '<td class="cell cannot-tell"' in html
    assert ">nan" not in html.lower()


def test_the_first_point_of_a_series_states_that_it_is_the_first(visit: Visit) -> None:
    at = make.revision("r1")
    make.point(make.series(), at)
    text = visit(page(at))
    assert "Not compared" in text
    assert "100 packets/s first measurement" in text
    assert "bars:" not in text


def test_a_cell_compared_with_another_revision_than_most_names_it(visit: Visit) -> None:
    old, before, after = make.revisions(3)
    for mode in ("pf", "ipfw"):
        series = make.series(in_mode=mode)
        make.point(series, before)
        make.point(series, after)
    odd = make.series(in_mode="odd")
    make.point(odd, old)
    make.point(odd, after)
    assert f"vs {old.name}" in visit(page(after))


def test_neighbours_tested_and_untested_are_linked(client: Client) -> None:
    along = make.revisions(5)
    for at in (along[0], along[2], along[4]):
        make.point(make.series(), at)
    html = client.get(page(along[2])).content.decode()
    assert all(page(neighbour) in html for neighbour in (along[0], along[1], along[3], along[4]))


def test_untested_commits_since_the_last_test_are_suspects_too(visit: Visit) -> None:
    along = make.revisions(3)
    for at in (along[0], along[2]):
        make.point(make.series(), at)
    text = visit(page(along[2]))
    assert f"Untested commits since {along[0].name}" in text
    assert along[1].subject in text


def test_an_untested_commit_states_how_to_test_it(visit: Visit) -> None:
    at = make.revision("r1")
    assert "labagent upload" in visit(page(at))


def test_an_alias_leads_to_the_page_of_its_revision(client: Client) -> None:
    at = make.revision("r303643")
    RevisionAlias.objects.create(tree=at.tree, revision=at, name="9f3ac1e02b11")
    response = client.get("/commits/freebsd-head/9f3ac1e/")
    assert response.status_code == 302
    assert response["Location"] == page(at)


def test_an_unknown_revision_is_not_found(client: Client) -> None:
    make.tree()
    assert client.get("/commits/freebsd-head/r9/").status_code == 404


def test_a_replaced_run_stays_visible_with_who_replaced_it(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    before, after = pair
    by = make.run(before, agent=make.agent("bench-2"))
    make.run(
        after,
        withdrawn_at=make.DAY_ONE,
        withdrawn_reason="Other content was uploaded.",
        superseded_by=by,
    )
    text = visit(page(after))
    assert "Other content was uploaded" not in text
    assert "ago by orange-lab/bench-2 with a run of r303642" in text


def test_a_withdrawn_run_stays_visible_with_its_reason(visit: Visit) -> None:
    at = make.revision("r1")
    make.run(
        at,
        withdrawn_at=make.DAY_ONE,
        withdrawn_by=make.user("grace"),
        withdrawn_reason="wrong cable",
    )
    text = visit(page(at))
    assert "wrong cable" in text
    assert "by grace" in text


def test_two_metrics_have_a_table_each(client: Client) -> None:
    at = make.revision("r1")
    make.point(make.series(), at)
    latency = make.metric("latency", unit="ms", better="less")
    make.point(make.series(of_metric=latency), at)
    assert client.get(page(at)).content.decode().count('class="heat"') == 2


def test_the_number_of_queries_does_not_grow_with_cells(
    queries: Counted, pair: tuple[Revision, Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), *pair)
    few = queries(page(pair[1]))
    for number in range(6):
        machine = make.hardware(f"Machine-{number}/em0")
        series = make.series(on=machine)
        make.pair(series, *pair)
        make.finding(series, *pair)
        make.run(pair[1], on=machine)
    assert queries(page(pair[1])) == few <= 13


def test_a_confirmed_change_is_stated_as_level_against_level(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), *pair, change_pct=-13.3)
    text = visit(page(pair[1]))
    assert "−13.3 % confirmed [−14.2, −12.4]" in text
    assert "−11.4\N{NARROW NO-BREAK SPACE}%" not in text


def test_machines_are_rows_and_modes_columns_unless_there_are_many_modes(client: Client) -> None:
    (at,) = make.revisions(1)
    for number in range(9):
        make.point(make.series(in_mode=f"mode-{number}"), at)
        if number == 7:
            assert "<th>Hardware</th>" in client.get(page(at)).content.decode()
    assert "<th>Mode</th>" in client.get(page(at)).content.decode()


def test_the_changes_are_drawn_around_the_commit(
    client: Client, pair: tuple[Revision, Revision]
) -> None:
    make.finding(make.series(in_mode="pf"), *pair)
    html = client.get(page(pair[1])).content.decode()
    assert "Around the commit" in html
    assert html.count('class="chart"') == 1
    assert "pf: −11.4 % at r303643" in html


def test_between_tested_neighbours_the_untested_are_counted(client: Client) -> None:
    along = make.revisions(8)
    for at in (along[0], along[4], along[7]):
        make.point(make.series(), at)
    html = client.get(page(along[4])).content.decode()
    assert 'title="3 untested">3<' in html
    assert 'title="2 untested">2<' in html


def test_the_parts_of_a_large_commit_are_read_when_they_are_opened(
    client: Client, monkeypatch: pytest.MonkeyPatch, pair: tuple[Revision, Revision]
) -> None:
    for module in (commit, commit):
        monkeypatch.setattr(module, "INLINE_MOST", 1)
    for mode in ("pf", "ipfw"):
        make.finding(make.series(in_mode=mode), *pair)
    make.point(make.series(in_mode="other"), pair[1])
    address = page(pair[1])
    html = client.get(address).content.decode()
    assert "3 runs, 1 build" in " ".join(html.split())
    assert "build of r303643" not in html
    assert "Not analysed yet." not in html
    assert html.count('class="finding') == 1
    fragment = {"HX-Request": "true"}
    for part, expected in (
        ("runs", "build of r303643"),
        ("why", "Not analysed yet."),
        ("findings", "sure to be real"),
    ):
        whole = client.get(address, {"part": part}).content.decode()
        alone = client.get(address, {"part": part}, headers=fragment).content.decode()
        assert expected in whole
        assert expected in " ".join(alone.split()) or expected in words(alone)
        assert "<html" not in alone
    assert "<html" in client.get(address, {"part": "x"}, headers=fragment).content.decode()


def test_the_runs_of_one_machine_and_mode_are_listed_with_their_facts(client: Client) -> None:
    at = make.revision("r9")
    for mode in ("pf", "ipfw"):
        make.run(at, in_mode=mode, facts={"kernel": f"built for {mode}"})
    address = at.get_absolute_url()
    alone = client.get(f"{address}?part=runs&mode=pf&hardware=Atom_C2758/T540-CR")
    assert [run.mode.name for run in alone.context["runs"]] == ["pf"]
    assert "<details open>" in alone.content.decode()
    assert len(client.get(f"{address}?part=runs").context["runs"]) == 2
    assert client.get(f"{address}?part=runs&hardware=none").context["runs"] == []
