"""`/compare/?a=tree:FROM..TO&b=…`: release against release."""

import math
import random
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests import make
from tests.documents import run_document
from tests.kept import kept
from tests.results import steps
from webapp.events.models import Release
from webapp.pages.compare import pickers
from webapp.results.models import Point, Revision
from webapp.stats import ministat

pytestmark = pytest.mark.django_db
LOSS, EVEN = "pf-statefull", "forwarding"


@pytest.fixture
@kept
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


def test_the_report_and_the_api_state_the_same(along: list[Revision], client: Client) -> None:
    report = client.get(address("11.0±5", "12.0±8", "/compare.md"))
    assert report["Content-Type"].startswith("text/markdown")
    text = report.content.decode()
    assert "1 worse, 1 equivalent" in text
    assert f"| {LOSS} |" in text
    assert "| worse |" in text

    elsewhere = client.get(address("11.0±5", "12.0±8", "/api/v1/compare")).json()["error"]
    assert "compared by /api/v1/compare/ranges" in elsewhere["message"]
    answer = client.get(address("11.0±5", "12.0±8", "/api/v1/compare/ranges")).json()
    assert answer["counts"] == {"worse": 1, "better": 0, "equivalent": 1, "cannot tell": 0}
    row = next(one for one in answer["rows"] if one["mode"] == LOSS)
    assert row["low_percent"] < -10 < row["high_percent"]
    assert row["revisions"] == [11, 17]
    assert (answer["a"]["first"], answer["a"]["last"]) == (along[5].name, along[15].name)


def test_a_short_range_cannot_be_judged_and_names_the_remedy(
    along: list[Revision], client: Client
) -> None:
    page = client.get(address(f"{along[0]}..{along[2]}", f"{along[30]}..{along[59]}"))
    assert page.status_code == 200
    text = page.content.decode()
    assert "2 cannot tell" in text
    assert "3 and 30 measured revisions; 5 are needed on each side: widen the range" in text


REFUSED = [
    ("r300030..r300000", "r300090..r300177", "r300030 comes after r300000; write"),
    ("r300000..r300090", "r300060..r300177", "overlap from r300060 to r300090"),
    ("r300001..r300002", "r300090..r300177", "no revision"),
    ("r300000..", "r300090..r300177", "is not a range: write tree:FROM..TO"),
    ("r300000..r300003..r300006", "r300090..r300177", "is not a range"),
    ("r300000..r300030", "r300090", "give two ranges"),
    ("11.0±0", "12.0±5", "give 1 to 1000 revisions behind ±"),
    ("11.0±x", "12.0±5", "give 1 to 1000 revisions behind ±"),
    ("11.0±99999999999999999999", "12.0±5", "give 1 to 1000 revisions behind ±"),
    (
        "r300000~p..r300030",
        "r300090..r300177",
        "stands once and behind it, as in",
    ),
    ("r300000..r300030~p", "r300090..r300177~p", "or leave hardware, mode, variant or session"),
    (
        "r300000..r300030~",
        "r300090..r300177",
        "behind the revision stands one ~ and",
    ),
    ("r300000..r300030::+VIMAGE", "r300090..r300177::+VIMAGE", "nothing was measured in"),
    ("r300000..r300030::::s", "r300090..r300177", "nothing was measured in"),
    ("r300000..r300090::::s", "r300060..r300177", "overlap from r300060 to r300090"),
    ("r300000..r300090::::s|t", "r300060..r300177::::t", "overlap from r300060 to r300090"),
    ("r300000..r300030:nowhere", "r300090..r300177:nowhere", "nothing was measured in"),
    ("r300000..r300030:x:y", "r300090..r300177", "leave the same parts open"),
]


def test_what_cannot_be_compared_names_the_remedy(along: list[Revision], client: Client) -> None:
    for a, b, remedy in REFUSED:
        for kind in ("/compare/", "/compare.md", "/compare.txt"):
            answer = client.get(address(a, b, kind))
            assert answer.status_code == 400, (a, b)
            assert remedy in answer.content.decode(), (a, b)
        assert client.get(address(a, b, "/api/v1/compare/ranges")).status_code == 422, (a, b)


def test_the_number_of_statements_does_not_depend_on_the_rows(
    along: list[Revision],
    client: Client,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for i in range(6):
        make.history(make.series(in_mode=f"mode-{i}"), along, [1e6] * 60)
    with django_assert_max_num_queries(10):
        client.get(address(f"{along[0]}..{along[29]}", f"{along[30]}..{along[59]}"))


def test_a_number_between_revisions_is_answered_with_the_nearest_ones(
    along: list[Revision], client: Client
) -> None:
    beside = [one.name for one in along if one.position < along[-1].position][-1]
    unknown = f"r{(along[-2].position + along[-1].position) // 2}"

    answer = client.get(address(f"{along[0]}..{unknown}", "12.0±8"))

    assert answer.status_code == 400
    assert f"the nearest known are {beside} and {along[-1]}" in answer.content.decode()


PATCH = [{"kind": "patch", "name": "D12685"}]


def around(level: float, at: int, **fields: Any) -> dict[str, Any]:
    """A run of the revision r(300000 + at) at ``level``, and a bit of noise."""
    noise = random.Random(f"{at} {fields}")
    samples = [level * math.exp(noise.gauss(0, 0.003)) for _ in range(5)]
    return run_document(revision=f"r{300000 + at}", samples=samples, **fields)


def answer_of(client: Client, a: str, b: str) -> dict[str, Any]:
    answer = client.get(address(a, b, "/api/v1/compare/ranges"))
    assert answer.status_code == 200, answer.content.decode()
    found: dict[str, Any] = answer.json()
    return found


def test_a_variant_is_compared_with_the_plain_kernels_of_the_same_revisions(
    client: Client,
) -> None:
    steps.upload(
        *(around(1e6, at) for at in range(12)),
        *(around(9e5, at, variant=PATCH) for at in range(12)),
    )
    whole = "r300000..r300011"
    assert answer_of(client, whole, f"{whole}~D12685")["counts"]["worse"] == 1
    assert answer_of(client, f"{whole}~D12685", whole)["counts"]["better"] == 1
    page = client.get(address(whole, f"{whole}~D12685")).content.decode()
    assert f"{whole}~D12685 against {whole}: 1 worse" in page


def test_revisions_around_one_are_those_measured_as_the_variant(client: Client) -> None:
    steps.upload(*(around(1e6, at) for at in range(40)))
    steps.upload(*(around(1e6, at, variant=PATCH) for at in range(0, 40, 2)))
    answer = answer_of(client, "r300010±3", "r300010±3~D12685")
    assert (answer["a"]["first"], answer["a"]["last"]) == ("r300007", "r300013")
    assert (answer["b"]["first"], answer["b"]["last"]) == ("r300004", "r300016")
    assert answer["rows"][0]["revisions"] == [7, 7]


def test_an_option_is_compared_with_its_absence_mode_by_mode(client: Client) -> None:
    levels = {("pf",): 1e6, ("pf", "VIMAGE"): 9e5, ("ipfw",): 5e5, ("ipfw", "VIMAGE"): 5e5}
    steps.upload(
        *(
            around(level, at, mode=steps.mode(*named))
            for named, level in levels.items()
            for at in range(12)
        )
    )
    whole = "r300000..r300011"
    answer = answer_of(client, whole, f"{whole}::+VIMAGE")
    assert answer["counts"] == {"worse": 1, "better": 0, "equivalent": 1, "cannot tell": 0}
    page = client.get(address(whole, f"{whole}::+VIMAGE")).content.decode()
    assert "VIMAGE: 1 worse, 1 equivalent" in page
    one_mode = answer_of(client, f"{whole}::pf", f"{whole}::pf+VIMAGE")
    assert [row["verdict"] for row in one_mode["rows"]] == ["worse"]
    assert answer_of(client, f"{whole}::+VIMAGE", "r300000..r300011")["counts"]["better"] == 1


def test_a_session_takes_its_own_runs_only(client: Client) -> None:
    """Two uploads of each revision, one in each session; apart by less than would disagree."""
    for name, level in (("before lunch", 1e6), ("after lunch", 1.02e6)):
        steps.upload(*(around(level, at, evidence={"session": name}) for at in range(12)))
    whole = "r300000..r300011"
    answer = answer_of(client, f"{whole}::::before lunch", f"{whole}::::after lunch")
    (row,) = answer["rows"]
    assert row["verdict"] == "better"
    assert row["low_percent"] < 2 < row["high_percent"]


def test_runs_that_disagree_are_distinguished_by_their_session(client: Client) -> None:
    for name, level in (("one", 1e6), ("other", 2e6)):
        steps.upload(
            *(around(level, at, evidence={"session": name}, build_id="one") for at in range(12))
        )
    assert Point.objects.that_disagree().count() == 12
    whole = "r300000..r300011"
    (row,) = answer_of(client, f"{whole}::::one", f"{whole}::::other")["rows"]
    assert row["verdict"] == "better"
    assert row["revisions"] == [12, 12]
    refused = client.get(address(f"{whole}::::one|other", "r300000..r300011~D12685"))
    assert "nothing was measured in" in unescape(refused.content.decode())


def test_the_text_has_ministats_block_of_the_means_of_each_row(
    along: list[Revision], client: Client
) -> None:
    text = client.get(address("11.0±5", "12.0±8", "/compare.txt"))
    assert text["Content-Type"].startswith("text/plain")
    words = text.content.decode()
    means = [
        list(
            Point.objects.filter(series__mode__name=LOSS, revision__in=along[first:stop])
            .order_by("position")
            .values_list("mean", flat=True)
        )
        for first, stop in ((5, 16), (37, 54))
    ]
    block = ministat.render([("11.0±5", means[0]), ("12.0±8", means[1])], separate_bars=True)
    assert block in words
    assert words.index(f"{LOSS} on") < words.index(f"{EVEN} on")
    assert "worse: −10.0" in words.replace("-", "−")
    assert words.endswith("12.0±8 against 11.0±5: 1 worse, 1 equivalent\n")
    plain = client.get(address("11.0±5", "12.0±8", "/compare.txt") + "&plot=no").content.decode()
    assert len(plain) < len(words)
    few = client.get(address("r300000..r300003", "12.0±8", "/compare.txt")).content.decode()
    assert "fewer than 3 measured revisions: ministat refuses it" in few


def test_the_form_takes_ranges_and_is_filled_with_them(
    along: list[Revision], client: Client
) -> None:
    form = client.get(address("11.0±5", "12.0±8") + "&change=1").content.decode()
    assert 'value="11.0±5"' in form
    assert 'value="12.0±8"' in form
    fields = [("pick", "sets"), ("tree", "freebsd-head"), ("revision", "11.0±5")]
    fields += [("tree", ""), ("revision", "12.0±8")]
    picked = client.get(f"/compare/?{urlencode(fields)}")
    assert picked.status_code == 302
    page = client.get(picked["Location"]).content.decode()
    assert "12.0±8 against 11.0±5: 1 worse, 1 equivalent" in page


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("11.0..12", "11.0..12.0"),
        ("r300000..30003", "r300000..r300030"),
        ("11.0±", "11.0±10"),
        ("11.0+-", "11.0±25"),
        ("..", None),
        ("±", None),
    ],
)
def test_the_field_offers_ends_of_ranges(
    along: list[Revision], typed: str, offered: str | None
) -> None:
    found = [one.value for one in pickers.suggestions("revision", typed, "freebsd-head")]
    assert (offered in found) if offered else not any(".." in one or "±" in one for one in found)
