"""The server and the page's script draw by two codes: what both draw of one window agrees."""

import re
from math import isclose
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.test_journey import drawn
from tests.events.steps import event, release
from tests.kept import kept
from webapp.alerts.models import AlertFinding
from webapp.analysis.models import Finding
from webapp.results.models import Revision

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]
HALF_A_PIXEL = 0.5
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
READ = """image => [...image.querySelectorAll("path, rect, circle, polyline, text, line")]
  .filter((one) => !one.closest(".overlay"))
  .map((one) => {
    const numbers = ["d", "points", "x", "y", "cx", "cy", "r", "width", "height"]
      .map((name) => one.getAttribute(name) ?? "").join(" ");
    const text = one.tagName === "text" ? one.textContent : "";
    return [one.tagName, one.getAttribute("class") ?? "", text, numbers];
  })"""
PARSE = f"text => ({READ})(new DOMParser().parseFromString(text, 'text/html').querySelector('svg'))"
Shape = tuple[str, str, str]


@pytest.fixture
@kept
def along() -> list[Revision]:
    """Two modes with levels, bands, whiskers, a change, a candidate and a finding of each kind; an
    alert, an event, a note and a release beside them."""
    revisions = make.revisions(30)
    forwarding = make.series(in_mode="forwarding")
    make.history(forwarding, revisions, [1000.0 + number % 5 for number in range(30)])
    pf = make.series(in_mode="pf")
    make.history(pf, revisions, [500.0 - number % 3 for number in range(15)] + [440.0] * 15)
    found = make.finding(pf, revisions[14], revisions[15], level_before=499.0, level=440.0)
    make.finding(pf, revisions[4], revisions[6], level_before=499.0, level=497.0, state="candidate")
    alert = make.alert(revisions[15], after=revisions[14])
    AlertFinding.objects.create(finding=found, alert=alert)
    kinds: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("excursion", 8, {"level_before": 1002.0, "level": 960.0}),
        ("noise", 18, {"level_before": 1002.0, "level": 1002.0, "details": {"ratio": 2.5}}),
        ("slow", 28, {"level_before": 1002.0, "level": 990.0, "after": revisions[20]}),
        ("modes", 12, {"level": 1002.0, "details": {"share_before": 0.2, "share_after": 0.5}}),
    )
    for kind, at, fields in kinds:
        made = make.finding(forwarding, revisions[at - 1], revisions[at], **fields)
        Finding.objects.filter(pk=made.pk).update(kind=kind)
    for series, levels in ((forwarding, (1002.0, 1002.0)), (pf, (499.0, 440.0))):
        halves = ((revisions[0], revisions[14]), (revisions[15], revisions[29]))
        segments = [
            make.segment(*ends, level) | {"low": level * 0.99, "high": level * 1.01}
            for ends, level in zip(halves, levels, strict=True)
        ]
        make.analysis(series, count=30, segments=segments)
    release("11.0", revisions[5])
    tree = revisions[0].tree
    event("new fan", tree=tree, first=revisions[10], last=revisions[12])
    event("See the thread", kind="note", tree=tree, first=revisions[22], last=revisions[22])
    return revisions


def shapes(rows: list[list[str]]) -> dict[Shape, list[list[float]]]:
    """The numbers of what is drawn, by element, class and text; in order."""
    found: dict[Shape, list[list[float]]] = {}
    for tag, css_class, text, numbers in rows:
        given = [float(one) for one in NUMBER.findall(numbers)]
        found.setdefault((tag, css_class, text), []).append(given)
    return {key: sorted(rows) for key, rows in found.items()}


def apart(
    server: dict[Shape, list[list[float]]], script: dict[Shape, list[list[float]]]
) -> list[str]:
    """What differs by more than half a pixel, or is drawn by one alone."""
    wrong = [f"{key} only here" for key in server.keys() ^ script.keys()]
    for key in server.keys() & script.keys():
        ours, theirs = server[key], script[key]
        if [len(one) for one in ours] != [len(one) for one in theirs]:
            wrong.append(f"{key}: {ours} and {theirs}")
            continue
        wrong += [
            f"{key}: {a} and {b}"
            for one, other in zip(ours, theirs, strict=True)
            for a, b in zip(one, other, strict=True)
            if not isclose(a, b, rel_tol=0.0, abs_tol=HALF_A_PIXEL)
        ]
    return wrong


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&y=indexed",
        "&split=mode",
        "&whiskers=range",
        "&whiskers=none",
        "&x=time",
        "&view=4..24",
    ],
)
def test_both_draw_the_same(
    page: Page, live_server: LiveServer, along: list[Revision], query: str
) -> None:
    """At the widths of the server's drawings, in each window and by each choice."""
    ends = (
        re.sub(r"\d+", lambda found: along[int(found[0])].name, query) if "view" in query else query
    )
    address = f"/trends/?hardware=Atom_C2758/T540-CR{ends}"
    served = Client().get(address).content.decode()
    images = re.findall(r"<svg[^>]* class=\"trend\".*?</svg>", served, re.DOTALL)
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.goto(f"{live_server.url}{address}")
    drawn(page)
    for image, width in zip(images, (1060, 350), strict=True):
        # A drawing of the server has one width; the script takes that of its box.
        before = page.locator("#chart").get_attribute("data-drawn")
        page.locator("#plot").evaluate(
            "(box, width) => { box.style.width = `${width}px`; box.style.flex = 'none'; }", width
        )
        page.wait_for_function(
            "before => document.querySelector('#chart').dataset.drawn !== before", arg=before
        )
        ours = shapes(page.evaluate(PARSE, image))
        theirs = shapes(page.locator("#plot svg").evaluate(READ))
        assert len(ours) > 10
        assert apart(ours, theirs) == []
