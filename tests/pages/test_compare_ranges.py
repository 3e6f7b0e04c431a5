"""`/compare/?a=tree:FROM..TO&b=…`: release against release."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests import make
from webapp.events.models import Release
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
LOSS, EVEN = "pf-statefull", "forwarding"


@pytest.fixture
def along() -> list[Revision]:
    """Sixty revisions; from the 31st on pf is 10 % slower, forwarding as before. 11.0 and 12.0."""
    found = make.revisions(60)
    for mode, after in ((LOSS, 0.9), (EVEN, 1.0)):
        levels = [
            1e6 * (1 + 0.002 * (-1) ** i) * (after if i >= 30 else 1.0) for i in range(len(found))
        ]
        make.history(make.series(in_mode=mode), found, levels)
    for name, at in (("11.0", 10), ("12.0", 45)):
        Release.objects.create(tree=found[0].tree, name=name, revision=found[at])
    return found


def address(a: str, b: str, page: str = "/compare/") -> str:
    return f"{page}?{urlencode({'a': f'freebsd-head:{a}', 'b': f'freebsd-head:{b}'})}"


def test_two_ranges_are_compared_series_by_series(along: list[Revision], client: Client) -> None:
    first, middle, last = along[0], along[29], along[59]

    page = client.get(address(f"{first}..{middle}", f"{along[30]}..{last}")).content.decode()

    assert f"{along[30]}..{last} against {first}..{middle}: 1 worse, 1 equivalent" in page
    assert "−10.0 [" in page.replace("−10 [", "−10.0 [")
    assert page.index(LOSS) < page.index(EVEN)
    assert "30 / 30" in page
    assert "pass one gate over all rows" in page


def test_releases_and_revisions_around_one_name_ranges_too(
    along: list[Revision], client: Client
) -> None:
    around = client.get(address("11.0±5", "12.0±8")).content.decode()
    assert "12.0±8 against 11.0±5: 1 worse, 1 equivalent" in around
    assert "11 / 17" in around
    assert f"{along[5].name}</a> to" in around

    ends = client.get(address("11.0..r300087", "12.0..r300177"))
    assert ends.status_code == 200


def test_hardware_mode_and_metric_narrow_it(along: list[Revision], client: Client) -> None:
    hardware = make.hardware().name
    narrow = f":{hardware}:{LOSS}:pps"
    page = client.get(address(f"11.0±5{narrow}", f"12.0±8{narrow}")).content.decode()
    assert "1 worse" in page
    assert EVEN not in page


def test_the_report_and_the_api_say_the_same(along: list[Revision], client: Client) -> None:
    report = client.get(address("11.0±5", "12.0±8", "/compare.md"))
    assert report["Content-Type"].startswith("text/markdown")
    text = report.content.decode()
    assert "1 worse, 1 equivalent" in text
    assert f"| {LOSS} |" in text
    assert "| worse |" in text

    answer = client.get(address("11.0±5", "12.0±8", "/api/v1/compare/ranges")).json()
    assert answer["counts"] == {"worse": 1, "better": 0, "equivalent": 1, "cannot tell": 0}
    row = next(one for one in answer["rows"] if one["mode"] == LOSS)
    assert row["low_percent"] < -10 < row["high_percent"]
    assert row["revisions"] == [11, 17]
    assert (answer["a"]["first"], answer["a"]["last"]) == (along[5].name, along[15].name)


def test_a_short_range_cannot_be_told_and_names_the_remedy(
    along: list[Revision], client: Client
) -> None:
    page = client.get(address(f"{along[0]}..{along[2]}", f"{along[30]}..{along[59]}"))
    assert page.status_code == 200
    text = page.content.decode()
    assert "2 cannot tell" in text
    assert "3 and 30 measured revisions; 5 are needed on each side: widen the range" in text


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("r300030..r300000", "r300090..r300177", "r300030 comes after r300000; write"),
        ("r300000..r300090", "r300060..r300177", "overlap from r300060 to r300090"),
        ("r300001..r300002", "r300090..r300177", "no revision"),
        ("r300000..", "r300090..r300177", "is not a range: write tree:FROM..TO"),
        ("r300000..r300003..r300006", "r300090..r300177", "is not a range"),
        ("r300000..r300030", "r300090", "give two ranges"),
        ("11.0±0", "12.0±5", "give 1 to 1000 revisions behind ±"),
        ("11.0±x", "12.0±5", "give 1 to 1000 revisions behind ±"),
        ("11.0±99999999999999999999", "12.0±5", "give 1 to 1000 revisions behind ±"),
        ("r300000~patch..r300030", "r300090..r300177", "a range takes plain kernels"),
        ("r300000..r300030::+VIMAGE", "r300090..r300177::+VIMAGE", "a range takes plain kernels"),
        ("r300000..r300030:nowhere", "r300090..r300177:nowhere", "nothing was measured in"),
        ("r300000..r300030:x:y", "r300090..r300177", "leave the same parts open"),
    ],
)
def test_what_cannot_be_compared_names_the_remedy(
    along: list[Revision], client: Client, a: str, b: str, said: str
) -> None:
    page = client.get(address(a, b))
    assert page.status_code == 400
    assert said in page.content.decode()
    report = client.get(address(a, b, "/compare.md"))
    assert report.status_code == 400
    assert said in report.content.decode()
    assert client.get(address(a, b, "/api/v1/compare/ranges")).status_code == 422


def test_the_number_of_statements_does_not_depend_on_the_rows(
    along: list[Revision],
    client: Client,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for i in range(6):
        make.history(make.series(in_mode=f"mode-{i}"), along, [1e6] * 60)
    with django_assert_max_num_queries(10):
        client.get(address(f"{along[0]}..{along[29]}", f"{along[30]}..{along[59]}"))


def test_a_number_between_revisions_is_told_the_nearest_ones(
    along: list[Revision], client: Client
) -> None:
    beside = [one.name for one in along if one.position < along[-1].position][-1]
    unknown = f"r{(along[-2].position + along[-1].position) // 2}"

    answer = client.get(address(f"{along[0]}..{unknown}", "12.0±8"))

    assert answer.status_code == 400
    assert f"the nearest known are {beside} and {along[-1]}" in answer.content.decode()
