"""`/commits/<tree>/`: newest first, page by page."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import Counted
from webapp.pages import commits

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PAGE = "/commits/freebsd-head/"


def test_a_tree_without_tests_says_how_to_import_and_upload(visit: Visit) -> None:
    make.tree()
    text = visit(PAGE)
    assert "import_revisions --tree freebsd-head" in text
    assert "labagent upload" in text


def test_an_unknown_tree_is_not_found(client: Client) -> None:
    assert client.get(PAGE).status_code == 404


def test_untested_commits_show_only_when_asked_for(visit: Visit) -> None:
    tested, untested = make.revisions(2)
    make.point(make.series(), tested)
    assert untested.name not in visit(PAGE)
    assert untested.name in visit(f"{PAGE}?all=1")


def test_every_commit_is_on_exactly_one_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "ROWS", 3)
    along = make.revisions(7)
    make.history(make.series(), along, [100.0] * 7)
    address, seen = PAGE, []
    while address:
        context = client.get(address).context
        seen += [commit.revision.name for commit in context["commits"]]
        address = context["older"] and PAGE + context["older"]
    assert seen == [revision.name for revision in reversed(along)]


@pytest.mark.parametrize("before", ["", "x", "-1", "9" * 40, "٣"])
def test_a_page_address_that_means_nothing_is_survived(client: Client, before: str) -> None:
    make.tree()
    assert client.get(PAGE, {"before": before}).status_code == 200


def test_the_number_of_queries_does_not_grow_with_commits(queries: Counted) -> None:
    make.history(make.series(in_mode="pf"), make.revisions(2), [100, 90])
    few = queries(PAGE)
    make.history(make.series(in_mode="ipfw"), make.revisions(9, first=400_000), [100, 90, 80] * 3)
    assert queries(PAGE) == few <= 7  # one for releases
