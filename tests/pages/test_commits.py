"""`/commits/<tree>/`: newest first, page by page."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted
from webapp.pages.commits import commits
from webapp.pages.commits import commits as commit_filter

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PAGE = "/commits/freebsd-head/"


def test_a_tree_without_tests_states_how_to_import_and_upload(
    client: Client, approved: Approvals
) -> None:
    make.tree()
    approved("pages/commits/a-tree-without-tests-states-how-to-import", client.get(PAGE))


def test_where_nothing_is_tested_an_imported_history_is_shown_and_not_asked_for(
    client: Client,
) -> None:
    make.revisions(2)
    page = client.get(PAGE).content.decode()
    assert 'is imported: <a href="?all=1">all known</a>. No commit of it is tested yet' in page
    assert "import_revisions" not in page


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


@pytest.fixture
def worded() -> None:
    """Four tested commits and an untested one, of two authors."""
    along = make.revisions(5)
    for at, author, subject, paths in zip(
        along,
        ("Ada Byron", "Ada Byron", "Grace Hopper", "Grace Hopper", "Ada Byron"),
        ("Speed up pf", "Fix <b>pf</b>", "Lock mbufs", "Revert locks", "Lock pf"),
        (["sys/netpfil/pf/pf.c"], ["sys/net/if.c"], [], ["sys/kern/kern_mbuf.c"], None),
        strict=True,
    ):
        at.author_name, at.subject, at.paths = author, subject, paths
        at.author_email = f"{author.split()[0].lower()}@example.org"
        at.path_count = None if paths is None else len(paths)
        at.save()
    series = make.series()
    make.history(series, along[:4], [100, 90, 90, 110])
    make.finding(series, along[0], along[1])
    make.finding(series, along[2], along[3], change_pct=20.0)


def listed(client: Client, **query: str) -> list[str]:
    return [one.revision.subject for one in client.get(PAGE, query).context["commits"]]


@pytest.mark.usefixtures("worded")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"verdict": "worse"}, ["Fix <b>pf</b>"]),
        ({"verdict": "better"}, ["Revert locks"]),
        ({"verdict": "none"}, ["Lock mbufs", "Speed up pf"]),
        ({"author": "hopper"}, ["Revert locks", "Lock mbufs"]),
        ({"author": "hopper grace", "text": "lock mbu"}, ["Lock mbufs"]),
        ({"author": "ADA@example.org"}, ["Fix <b>pf</b>", "Speed up pf"]),
        ({"text": "PF", "all": "1"}, ["Lock pf", "Fix <b>pf</b>", "Speed up pf"]),
        ({"path": "netpfil/pf"}, ["Speed up pf"]),
        ({"path": "%", "all": "1"}, []),
        ({"text": "' & | :* \0"}, ["Revert locks", "Lock mbufs", "Fix <b>pf</b>", "Speed up pf"]),
    ],
)
def test_the_list_is_narrowed_by_what_the_address_names(
    client: Client, query: dict[str, str], found: list[str]
) -> None:
    assert listed(client, **query) == found


@pytest.mark.usefixtures("worded")
def test_among_all_commits_the_tested_ones_are_marked(visit: Visit) -> None:
    text = visit(f"{PAGE}?all=1")
    assert "r300009 tested" in text
    assert "r300012 tested" not in text


@pytest.mark.usefixtures("worded")
def test_a_filter_stays_when_the_page_is_turned(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "ROWS", 1)
    response = client.get(PAGE, {"author": "grace"})
    assert response.context["older"] == "?author=grace&before=300009"
    assert listed(client, author="grace", before="300009") == ["Lock mbufs"]


@pytest.mark.usefixtures("worded")
def test_paths_are_looked_through_piece_by_piece(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_filter, "LOOKED_THROUGH", 2)
    response = client.get(PAGE, {"path": "pf.c", "all": "1"})
    assert list(response.context["commits"]) == []
    assert "Look further back" in response.content.decode()
    address, seen = response.context["older"], []
    while address:
        response = client.get(PAGE + address)
        seen += [one.revision.subject for one in response.context["commits"]]
        address = response.context["older"]
    assert seen == ["Speed up pf"]


def test_a_tree_without_known_files_states_it(visit: Visit) -> None:
    make.point(make.series(), make.revisions(1)[0])
    assert "No files are known for the commits of this tree" in visit(f"{PAGE}?path=sys/net")


def test_a_filter_that_nothing_fits_states_it_and_is_escaped(client: Client) -> None:
    make.tree()
    html = client.get(PAGE, {"text": '"><script>x', "verdict": "nonsense"}).content.decode()
    assert "No commit fits" in " ".join(html.split())
    assert "<script>x" not in html


def test_the_number_of_queries_does_not_grow_with_commits(queries: Counted) -> None:
    make.history(make.series(in_mode="pf"), make.revisions(2), [100, 90])
    few = queries(PAGE)
    make.history(make.series(in_mode="ipfw"), make.revisions(9, first=400_000), [100, 90, 80] * 3)
    assert queries(PAGE) == few <= 7  # one for releases


def test_a_kept_statement_answers_what_is_there_now(client: Client, queries: Counted) -> None:
    along = make.revisions(3)
    series = make.series()
    make.history(series, along[:2], [100.0, 100.0])
    before = client.get("/commits/freebsd-head/").content.decode()
    cost = queries("/commits/freebsd-head/")
    make.history(series, along[2:], [90.0])
    make.finding(series, along[1], along[2])
    after = client.get("/commits/freebsd-head/").content.decode()
    assert (along[2].name in before, along[2].name in after) == (False, True)
    assert queries("/commits/freebsd-head/") <= cost + 1
    narrowed = client.get("/commits/freebsd-head/?verdict=better").content.decode()
    assert along[2].name not in narrowed
    other = make.revision("r1", of=make.tree("other-tree"))
    make.point(make.series(of=other.tree), other)
    assert along[2].name not in client.get("/commits/other-tree/").content.decode()
