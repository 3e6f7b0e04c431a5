"""What opens under a row about a quantile: the curves of both sides, the map, the power."""

from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.documents import run_document
from tests.pages.conftest import words
from tests.results.steps import mode, upload
from webapp.results.models import Run, Series
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
ROW = "/compare/row/?a=freebsd-head:r300001:bench/nic:forwarding:{metric}&b={b}"
B = "freebsd-head:r300004:bench/nic:forwarding:{metric}"


def document(revision: str, *, factor: float = 1.0, values: int = 12_000) -> dict[str, Any]:
    """A run of three boots whose values above 300 are ``factor`` as large."""
    random = np.random.default_rng(int(revision[1:]))
    histograms = []
    for _ in range(3):
        found = random.exponential(100, values) * np.exp(random.normal(0, 0.02))
        found = np.round(np.where(found > 300, factor * found, found))
        numbers, counts = np.unique(found, return_counts=True)
        histograms.append({"values": numbers.tolist(), "counts": counts.tolist()})
    metric = {"unit": "us", "better": "less", "histograms": histograms, "boots": [0, 1, 2]}
    return run_document(revision=revision, metrics={"latency": metric})


def row(metric: str) -> str:
    return ROW.format(metric=metric, b=B.format(metric=metric))


def test_a_quantile_opens_to_the_distributions_of_both_sides(client: Client) -> None:
    revisions = [document(f"r30000{at}", factor=2 if at == 4 else 1) for at in range(1, 5)]
    upload(*revisions)
    page = client.get(row("latency_p99.9")).content.decode()
    assert page.count('class="series-1 boot"') == 3
    assert "The last 4 measured revisions" in page
    text = words(page)
    assert "with 3 boots a side" in text
    assert "r300004 forwarding, 3 boots" in text
    tails = client.get(row("latency_p99.9")).context["tails"]
    assert [one.quantile for one in tails.rows] == ["p50", "p90", "p99", "p99.9", "max"]
    before, after = next(one.means for one in tails.rows if one.quantile == "p99")
    assert after / before == pytest.approx(2, rel=0.1)
    assert client.get(tails.rows[0].link).status_code == 200


def test_of_two_modes_the_map_is_that_of_the_first(client: Client) -> None:
    upload(*(document(f"r30000{at}") for at in range(1, 5)))
    upload(document("r300004") | {"mode": mode("pf")})
    link = row("latency_p99").replace("r300004:bench/nic:forwarding", "r300004:bench/nic:pf")
    link = link.replace("r300001", "r300004")
    assert "The last 4 measured revisions" in words(client.get(link).content.decode())


def test_a_quantile_that_is_not_derived_has_its_reason(client: Client) -> None:
    upload(*(document(f"r30000{at}", values=150) for at in (1, 4)))
    page = client.get(row("latency_p90"))
    assert "needs 1,000 values in each of the boots" in words(page.content.decode())
    assert page.context["tails"].over_revisions is None


def test_runs_that_do_not_count_and_other_metrics_have_no_curves(client: Client) -> None:
    twice = document("r300001"), document("r300001")
    upload(*twice, document("r300004"))
    withdraw_run(run=Run.objects.get(uuid=twice[0]["uuid"]), by=None, reason="fan failed")
    page = client.get(row("latency_max")).content.decode()
    assert page.count('class="series-0 boot"') == 3
    plain = {"unit": "us", "better": "less", "samples": [1.0, 2.0, 3.0], "boots": None}
    other = [run_document(revision=f"r30000{at}", metrics={"wait_p99": plain}) for at in (1, 4)]
    upload(*other)
    page = client.get(row("wait_p99"))
    assert page.status_code == 200
    assert "The distribution" not in page.content.decode()


def test_the_statements_do_not_grow_with_revisions_and_runs(client: Client) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert "The distribution" in client.get(row("latency_p50")).content.decode()
        return len(captured)

    upload(*(document(f"r30000{at}") for at in (1, 3, 4)))
    statements()
    few = statements()
    upload(*(document(f"r30000{at}") for at in (1, 2, 4, 4)))
    assert statements() == few


def test_the_statements_of_a_chosen_point_do_not_grow_with_revisions(client: Client) -> None:
    def statements(columns: int) -> int:
        series = Series.objects.get(metric__name="latency_p90")
        chosen = f"/trends/chosen/?tree=freebsd-head&metric=latency_p90&b={series.pk}@r300005"
        with CaptureQueriesContext(connection) as captured:
            text = words(client.get(chosen).content.decode())
        assert f"The last {columns} measured revisions. " in text
        return len(captured)

    upload(*(document(f"r30000{at}") for at in (1, 3, 5)))
    statements(3)
    few = statements(3)
    upload(*(document(f"r30000{at}") for at in (2, 4, 5, 6)))
    statements(5)
    assert statements(5) == few
