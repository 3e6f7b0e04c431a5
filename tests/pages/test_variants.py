"""Variants on the pages of commits, machines, comparisons and trends."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.approved import Approvals
from tests.documents import run_document
from tests.kept import kept
from tests.pages.conftest import Counted
from tests.results.steps import FLAT, analyse, mode, upload
from webapp.results.models import Series

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
COMMIT, WALL = "/commits/freebsd-head/r303643/", "/hardware/bench/nic/"
SIDES = "/compare/?a=freebsd-head:r303643&b=freebsd-head:r303643~D12685"


def run(factor: float, *options: str, **fields: Any) -> dict[str, Any]:
    samples = [1000 * factor * value for value in FLAT]
    return run_document(mode=mode("pf", *options), samples=samples, facts={}, **fields)


@pytest.fixture
@kept
def measured() -> None:
    upload(run(1), run(1.2, "D12685"), run(1, revision="r303642"))
    analyse()


def test_the_page_of_a_commit_lists_them_apart(measured: None, visit: Visit) -> None:
    page = visit(COMMIT)
    assert "Measured with variants" in page
    assert "D12685 bench nic pf 120,000" in page
    assert "pf, with D12685" in page
    assert "Measured with variants" not in visit("/commits/freebsd-head/r303642/")


def test_its_link_compares_with_the_plain_kernel(measured: None, client: Client) -> None:
    html = client.get(COMMIT).content.decode()
    link = (
        "/compare/?a=freebsd-head:r303643:bench/nic:pf:pps"
        "&amp;b=freebsd-head:r303643~D12685:bench/nic:pf:pps"
    )
    assert f'href="{link}"' in html


def test_a_commit_measured_as_a_variant_alone_states_it(visit: Visit) -> None:
    upload(run(1, "D12685"))
    page = visit(COMMIT)
    assert "Only variants of this commit are measured, not its plain kernel." in page
    assert "Compare with the plain kernel" not in page


def test_the_page_of_a_machine_lists_them_below_the_plain_charts(
    measured: None, client: Client, approved: Approvals
) -> None:
    approved("pages/variants/the-page-of-a-machine-lists-them-below", client.get(WALL))
    assert client.get(WALL).content.decode().count("data-mode=") == 1


def test_a_trend_is_of_plain_kernels(measured: None, client: Client) -> None:
    html = client.get("/trends/?tree=freebsd-head&metric=pps&hardware=bench/nic").content.decode()
    assert "D12685" not in html
    assert "120,000" not in html
    assert Series.objects.count() == 2


def test_two_kernels_are_compared_and_the_titles_distinguish_them(
    measured: None, visit: Visit, client: Client
) -> None:
    page = visit(SIDES)
    assert "r303643~D12685 against r303643" in page
    assert "% faster" in page
    text = client.get(SIDES.replace("/?", ".txt?")).content.decode()
    assert "+ r303643~D12685 pf" in text
    report = client.get(SIDES.replace("/?", ".md?")).content.decode()
    assert "r303643~D12685 pf" in report


def test_more_runs_are_offered_of_plain_kernels_alone(measured: None, tess: Client) -> None:
    here = ":bench/nic:pf:pps"
    response = tess.get(f"{SIDES.replace('&', here + '&')}{here}")
    assert [offer.ask.revisions[0].name for offer in response.context["evidence"].offers] == [
        "r303643"
    ]


def test_names_are_escaped(client: Client) -> None:
    upload(run(1), run(1.1, variant=[{"kind": "patch", "name": "<b>x\"'"}]))
    for address in (
        COMMIT,
        WALL,
        "/compare/?a=freebsd-head:r303643&b=freebsd-head:r303643~%3Cb%3E",
    ):
        assert b"<b>x" not in client.get(address).content


def test_statements_do_not_grow_with_variants(measured: None, queries: Counted) -> None:
    few = queries(COMMIT), queries(WALL)
    upload(*(run(1, f"D{12_686 + number}") for number in range(5)))
    analyse()
    assert (queries(COMMIT), queries(WALL)) == few


def test_they_are_found_by_a_part_of_their_name(measured: None, client: Client) -> None:
    response = client.get("/search/?q=D1268")
    assert response.status_code == 302
    assert response["Location"] == f"{COMMIT}#variants"


def test_a_comparison_offers_the_variants_of_its_revisions(measured: None, client: Client) -> None:
    html = client.get("/compare/?a=freebsd-head:r303642&b=freebsd-head:r303643").content.decode()
    link = "/compare/?a=freebsd-head:r303643&amp;b=freebsd-head:r303643~D12685"
    assert f'href="{link}">r303643~D12685</a>' in html
