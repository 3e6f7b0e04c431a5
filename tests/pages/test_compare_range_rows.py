"""Rows of two ranges: their intervals, what opens under them, pictures, and the past."""

import math
import random
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.documents import run_document
from tests.kept import kept
from tests.results import steps
from webapp.results.models import Hardware, Revision, Run

pytestmark = pytest.mark.django_db
LOSS, EVEN = "pf-statefull", "forwarding"
OLD, NEW = "r300000..r300014", "r300015..r300029"
THEN = datetime(2026, 1, 31, tzinfo=UTC)


def address(a: str = OLD, b: str = NEW, page: str = "/compare/", **more: str) -> str:
    sides = {"a": f"freebsd-head:{a}", "b": f"freebsd-head:{b}"}
    return f"{page}?{urlencode(sides | more)}"


def around(level: float, at: int, **fields: Any) -> dict[str, Any]:
    """A run of the revision r(300000 + at) at ``level``, and a bit of noise."""
    noise = random.Random(f"{at} {fields}")
    samples = [level * math.exp(noise.gauss(0, 0.003)) for _ in range(5)]
    return run_document(revision=f"r{300000 + at}", samples=samples, **fields)


@pytest.fixture
@kept
def along() -> None:
    """Thirty revisions of two modes; from the 16th on pf is 10 % slower, forwarding as before."""
    steps.upload(
        *(
            around(1e6 * (after if at >= 15 else 1.0), at, mode=steps.mode(mode))
            for mode, after in ((LOSS, 0.9), (EVEN, 1.0))
            for at in range(30)
        )
    )


def test_rows_show_their_interval_proven_before_folded(along: None, client: Client) -> None:
    page = client.get(address()).content.decode()
    proven, _, folded = page.partition("Not proven")
    assert f">{LOSS}<" in proven
    assert f">{EVEN}<" not in proven
    assert f">{EVEN}<" in folded
    assert proven.count('class="fp" role="img"') == 1
    assert folded.count('class="fp" role="img"') == 1
    assert "15 / 15" in proven


def test_a_row_opens_to_every_revision_and_its_ministat(along: None, client: Client) -> None:
    page = client.get(address()).content.decode()
    fragments = [unescape(one) for one in re.findall(r'hx-get="([^"]*/compare/row/[^"]*)"', page)]
    assert len(fragments) == 2
    opened = client.get(fragments[0])
    words = opened.content.decode()
    assert opened.status_code == 200
    assert "<html" not in words
    assert words.count('class="sample"') == 30
    assert "Difference at 95.0% confidence" in words
    assert "Level against level: −10" in words
    assert "15 measured revisions" in words
    wider = client.get(f"{fragments[0]}&plot=no&confidence=99").content.decode()
    assert "Difference at 99.0% confidence" in wider
    alone = client.get(fragments[0].replace("/compare/row/", "/compare/")).content.decode()
    assert "1 worse" in alone
    assert 'class="compared" open' in alone


def test_a_row_that_is_several_names_what_to_give(along: None, client: Client) -> None:
    answer = client.get(address(page="/compare/row/"))
    assert answer.status_code == 400
    assert "2 rows: name hardware, mode and metric of one" in answer.content.decode()


def test_a_range_too_short_for_ministat_is_named_under_its_row(
    along: None, client: Client, approved: Approvals
) -> None:
    named = f":{Hardware.objects.get().name}:{LOSS}:pps"
    approved(
        "pages/compare-range-rows/a-range-too-short-for-ministat-is-named-under",
        client.get(address(f"r300000..r300001{named}", f"{NEW}{named}", "/compare/row/")),
    )


def test_each_side_of_a_row_keeps_its_own_mode(client: Client) -> None:
    steps.upload(
        *(
            around(level, at, mode=steps.mode("pf", *options))
            for options, level in (((), 1e6), (("VIMAGE",), 9e5))
            for at in range(12)
        )
    )
    whole = "r300000..r300011"
    page = client.get(address(whole, f"{whole}::+VIMAGE")).content.decode()
    alone = re.search(r'href="([^"]*)">This row alone', page)
    assert alone
    assert ":pf:" in unescape(alone[1]).partition("&b=")[0]
    assert ":pf%2BVIMAGE:" in unescape(alone[1]).partition("&b=")[2]
    assert "1 worse" in client.get(unescape(alone[1])).content.decode()


def test_the_picture_is_of_all_rows(along: None, client: Client) -> None:
    drawn = client.get(address(page="/compare.svg"))
    assert drawn["Content-Type"].startswith("image/svg+xml")
    words = drawn.content.decode()
    assert "1 worse, 1 equivalent" in words
    assert LOSS in words
    assert EVEN in words
    refused = client.get(address("r300000..r300020", page="/compare.svg"))
    assert refused.status_code == 400
    assert "overlap" in refused.content.decode()


def test_the_past_knows_only_what_had_been_received(along: None, client: Client) -> None:
    """The first fourteen revisions of each range came by then; nothing else."""
    early = [f"r{300000 + at}" for at in (*range(14), *range(15, 29))]
    late = Run.objects.exclude(revision__name__in=early)
    Run.objects.update(received_at=THEN)
    late.update(received_at=THEN + timedelta(days=2))
    moment = (THEN + timedelta(days=1)).isoformat()

    answer = client.get(address(page="/api/v1/compare/ranges", asof=moment)).json()
    assert {tuple(row["revisions"]) for row in answer["rows"]} == {(14, 14)}
    page = client.get(address(asof=moment)).content.decode()
    assert "14 / 14" in page
    assert "As of" in page
    assert "asof=" in re.findall(r'hx-get="([^"]*/compare/row/[^"]*)"', page)[0]
    for report in ("/compare.md", "/compare.txt"):
        assert "14" in client.get(address(page=report, asof=moment)).content.decode()

    around_one = client.get(
        address("r300007±99", "r300029", page="/api/v1/compare/ranges", asof=moment)
    )
    assert around_one.status_code == 422
    ends = client.get(
        address("r300010±5", "r300024±3", page="/api/v1/compare/ranges", asof=moment)
    ).json()
    assert (ends["a"]["last"], ends["b"]["last"]) == ("r300016", "r300027")


def test_a_later_moment_changes_nothing(along: None, client: Client) -> None:
    late = (datetime.now(tz=UTC) + timedelta(days=1)).isoformat()
    page = "/api/v1/compare/ranges"
    assert client.get(address(page=page, asof=late)).json() == client.get(address(page=page)).json()


def test_before_the_first_run_there_is_nothing_to_compare(along: None, client: Client) -> None:
    answer = client.get(address(asof="2001-01-01T00:00:00Z"))
    assert answer.status_code == 400
    assert "nothing was measured in" in answer.content.decode()
    data = client.get(address(page="/api/v1/compare/ranges", asof="yesterday"))
    assert data.status_code == 422
    assert "is no time" in data.content.decode()


def test_of_hundreds_of_rows_the_first_come_and_the_rest_is_counted(client: Client) -> None:
    found: list[Revision] = make.revisions(20)
    levels = [1e6 * (1 + 1e-3 * (-1) ** at) for at in range(20)]
    for i in range(70):
        make.history(make.series(in_mode=f"mode-{i}"), found, levels)
    ends = [f"{found[i]}..{found[j]}" for i, j in ((0, 9), (10, 19))]
    page = client.get(address(*ends)).content.decode()
    assert page.count('class="compared"') == 60
    assert "All rows: 10 more" in page
    assert client.get(address(*ends, all="1")).content.decode().count('class="compared"') == 70
