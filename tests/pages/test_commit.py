"""`/commits/<tree>/<rev>/`: what did this commit do?"""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import Counted
from webapp.results.models import Revision, RevisionAlias

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def page(revision: Revision) -> str:
    return revision.get_absolute_url()


@pytest.fixture
def pair() -> tuple[Revision, Revision]:
    """The published case: forwarding and ipfw gain, pf loses."""
    before, after = make.revision("r303642"), make.revision("r303643", subject="Implement backoff")
    for mode, percent in (("forwarding", 82.5), ("ipfw", 19.7), ("pf", -11.4)):
        series = make.series(in_mode=mode)
        for revision in (before, after):
            make.point(series, revision)
            make.run(revision, in_mode=mode)
        make.comparison(series, before, after, percent=percent)
    return before, after


def test_the_answer_comes_first_and_names_the_regression_first(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    text = visit(page(pair[1]))
    assert "Mixed · pf on Atom_C2758/T540-CR 11.4 % slower (± 0.90)" in text


def test_every_cell_shows_its_change_and_leads_to_its_comparison(
    client: Client, pair: tuple[Revision, Revision]
) -> None:
    html = client.get(page(pair[1])).content.decode()
    assert html.count('<td class="cell worse-2"') == 1
    assert html.count('<td class="cell better-3"') == 2
    assert "/compare/?a=freebsd-head:r303642:Atom_C2758/T540-CR:pf:pps" in html


def test_what_cannot_be_told_is_hatched_and_said(client: Client) -> None:
    before, after = make.revisions(2)
    series = make.series()
    make.point(series, after)
    make.comparison(series, before, after, percent=-9.0, error=12.0)
    html = client.get(page(after)).content.decode()
    assert "cell cannot-tell" in html
    assert "Cannot tell" in html


def test_the_first_point_of_a_series_says_that_it_is_the_first(visit: Visit) -> None:
    at = make.revision("r1")
    make.point(make.series(), at)
    text = visit(page(at))
    assert "Not compared" in text
    assert "100 first" in text


def test_a_cell_compared_with_another_revision_than_most_says_with_which(visit: Visit) -> None:
    old, before, after = make.revisions(3)
    for mode in ("pf", "ipfw"):
        series = make.series(in_mode=mode)
        make.point(series, after)
        make.comparison(series, before, after)
    odd = make.series(in_mode="odd")
    make.point(odd, after)
    make.comparison(odd, old, after)
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


def test_an_untested_commit_says_how_to_test_it(visit: Visit) -> None:
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
    few = queries(page(pair[1]))
    for number in range(6):
        machine = make.hardware(f"Machine-{number}/em0")
        series = make.series(on=machine)
        make.point(series, pair[1])
        make.comparison(series, *pair)
        make.run(pair[1], on=machine)
    assert queries(page(pair[1])) == few <= 16
