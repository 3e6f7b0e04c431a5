"""The curve of a knob on the page of a machine."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.documents import run_document
from tests.pages.conftest import Counted
from tests.results.steps import mode, upload

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
KNOB = "hw.cxgbe.nXxq"
DOT = r'<circle cx="([\d.]+)"'
PAGE = f"/hardware/bench/nic/knobs/{KNOB}/"


def at(value: str, level: float, *others: str, **fields: Any) -> dict[str, Any]:
    samples = [level, level + 1, level + 5]
    return run_document(mode=mode("pf", f"{KNOB}={value}", *others), samples=samples, **fields)


def test_a_curve_has_a_table_and_a_chart_in_the_order_of_the_numbers(
    client: Client, visit: Visit
) -> None:
    upload(*(at(value, level) for value, level in (("10", 400.0), ("2", 200.0), ("auto", 100.0))))
    page = visit(PAGE)
    assert "pps at r303643 of freebsd-head, the newest revision" in page
    assert page.index("2 201 200 205 3") < page.index("10 401") < page.index("auto 101")
    image = client.get(PAGE).content.decode()
    assert image.count("<circle") == 2  # what is no number stands in the table alone
    assert "2 values of hw.cxgbe.nXxq" in image


def test_values_are_numeric_on_the_axis(client: Client) -> None:
    upload(*(at(value, 100.0) for value in ("1", "2", "9")))
    one, two, nine = (float(found) for found in re.findall(DOT, client.get(PAGE).content.decode()))
    assert (nine - two) / (two - one) == pytest.approx(7, rel=0.01)


def test_values_far_apart_stand_on_a_logarithmic_axis(client: Client, visit: Visit) -> None:
    upload(*(at(value, 100.0) for value in ("1", "1000", "1000000")))
    assert "The axis of the values is logarithmic" in visit(PAGE)
    one, middle, last = (
        float(found) for found in re.findall(DOT, client.get(PAGE).content.decode())
    )
    assert last - middle == pytest.approx(middle - one, abs=0.2)


def test_the_page_of_the_machine_links_to_knobs_with_two_values(visit: Visit) -> None:
    upload(at("1", 100.0), at("2", 100.0), run_document(mode=mode("pf", "a.b=1")))
    page = visit("/hardware/bench/nic/")
    assert f"Knobs 1 {KNOB} , 2 values" in page
    assert "a.b , 1" not in page


def test_another_revision_tree_and_metric_can_be_asked_for(visit: Visit) -> None:
    for revision in ("r1", "r2"):
        upload(at("1", 100.0, revision=revision), at("2", 200.0, revision=revision))
    upload(at("1", 700.0, tree="other", revision="r5"), at("2", 800.0, tree="other", revision="r5"))
    assert "pps at r2 of freebsd-head" in visit(PAGE)
    assert "pps at r1 of freebsd-head. JSON" in visit(f"{PAGE}?revision=r1")
    assert "pps at r5 of other" in visit(f"{PAGE}?tree=other&metric=pps")
    assert "Nothing was measured of this knob at r9" in visit(f"{PAGE}?revision=r9")


def test_what_was_never_turned_states_how_to_name_it(visit: Visit, client: Client) -> None:
    upload(run_document())
    assert f"labagent upload DIR --mode forwarding+{KNOB}=5" in visit(PAGE)
    assert client.get(f"/hardware/nope/knobs/{KNOB}/").status_code == 404
    assert client.get("/hardware/bench/nic/knobs/%00/").status_code in (200, 400, 404)


def test_names_are_escaped(client: Client) -> None:
    upload(at("1", 100.0, "<i>"), at("2", 100.0, "<i>"))
    text = client.get(PAGE).content.decode()
    assert "pf+&lt;i&gt;" in text
    assert "<i>" not in text


def test_the_number_of_statements_does_not_grow_with_values(queries: Counted) -> None:
    upload(at("1", 100.0), at("2", 100.0))
    few = queries(PAGE)
    upload(*(at(str(value), 100.0, f"o{value % 3}") for value in range(3, 20)))
    assert queries(PAGE) == few <= 8
