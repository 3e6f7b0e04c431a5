"""A flame graph in Chromium: zoom, search, keys and touch.

The page is the template with the drawing, its styles and scripts from the checkout, answered within
the browser: no server and no database.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from mimetypes import guess_type
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import stay
from tests.browser.steps import beyond, fits, small_texts
from tests.charts.flame.trees import HOSTILE, large_calls, random_calls, stacks
from tests.places import PROJECT
from webapp.charts.flame.layout import Flame, difference, frames
from webapp.charts.flame.svg import Entry, flame_svg, legend
from webapp.config.fixed_settings import CONTENT_SECURITY_POLICY
from webapp.stats.profiles.calls import Calls, Function, calls_of
from webapp.stats.profiles.sides import aligned

pytestmark = pytest.mark.browser

SITE = "http://flame.test"
SHEETS = ("theme", "base", "components", "page", "charts", "small-charts", "forms", "flame")
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Flame graph</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{styles}
<script type="module" src="/static/js/flame.js"></script>
<script type="module" src="/keys"></script></head>
<body><main><h1>Flame graph</h1>{flame}<a href="/?view=other" data-take="q">Reversed</a>
<a href="/flame.svg" data-take="root q">Picture</a></main></body></html>"""
KEYS = 'import { startKeys } from "/static/js/keys.js"; startKeys();'
SIMPLE = stacks("a@kernel;b;bcmp@pf.ko 600", "a@kernel;b 300", "a@kernel;d@if_igb.ko;bcmp 100")

Makes = Callable[[str], Flame]


class Site:
    """Answers a page with a flame graph, and counts how often it was asked for one."""

    def __init__(self, page: Page) -> None:
        self.page, self.roots = page, list[str]()
        self.makes: Makes = lambda root: frames(SIMPLE, root=root)
        self.is_down = False
        page.route(f"{SITE}/**", self.answer)

    def open(self, makes: Makes, query: str = "", width: int = 1280) -> Page:
        self.makes = makes
        self.page.set_viewport_size({"width": width, "height": 844})
        self.page.goto(f"{SITE}/{query}")
        expect(self.page.locator("svg.flame.is-live")).to_have_count(1)
        self.roots.clear()
        return self.page

    def answer(self, route: Route) -> None:
        address = urlsplit(route.request.url)
        if address.path.startswith("/static/"):
            kind = guess_type(address.path)[0]
            route.fulfill(path=PROJECT / address.path[1:], content_type=kind)
        elif address.path == "/keys":
            route.fulfill(body=KEYS, content_type="text/javascript")
        elif self.is_down:
            route.fulfill(status=503, body="")
        else:
            root = parse_qs(address.query).get("root", [""])[0]
            self.roots.append(root)
            policy = "; ".join(f"{key} {' '.join(ways)}" for key, ways in DIRECTIVES.items())
            headers = {"Content-Security-Policy": policy}
            body = html(self.makes(root))
            route.fulfill(body=body, content_type="text/html; charset=utf-8", headers=headers)


DIRECTIVES: dict[str, list[str]] = CONTENT_SECURITY_POLICY["DIRECTIVES"]


def html(flame: Flame) -> str:
    entries = [Entry(mark_safe(one.image), one.text) for one in legend(flame)]
    drawing = mark_safe(flame_svg(flame, described="Flame graph"))
    links = {"toggles": [], "svg_link": "/flame.svg", "png_link": "/flame.png"}
    context = {"image": drawing, "legend": entries, **links}
    body = render_to_string("pages/profiles/_flame.html", context)
    styles = "".join(f'<link rel="stylesheet" href="/static/css/{one}.css">' for one in SHEETS)
    return PAGE.format(styles=styles, flame=body)


@pytest.fixture(scope="module")
def touched(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[BrowserContext]:
    """Of its own: these pages need no server."""
    made = browser.new_context(**browser_context_args, has_touch=True)
    made.route(f"{SITE}/", lambda route: route.fulfill(body=""))
    stay(made, SITE)
    yield made
    made.close()


@pytest.fixture
def context(touched: BrowserContext) -> Iterator[BrowserContext]:
    yield touched
    for page in touched.pages[1:]:
        page.close()


@pytest.fixture
def site(page: Page) -> Iterator[Site]:
    found: list[str] = []
    page.on("console", lambda one: found.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    site = Site(page)
    yield site
    assert [one for one in found if not (site.is_down and "503" in one)] == []


def simple(root: str) -> Flame:
    return frames(SIMPLE, root=root)


def frame(page: Page, name: str, at: int = 0) -> Locator:
    return page.locator(f'svg.flame .frame[data-name="{name}"]').nth(at)


def names(page: Page) -> list[str]:
    """The labels of the frames that are shown."""
    shown = page.locator("svg.flame .frame:not([display])")
    return [one.get_attribute("data-name") or "" for one in shown.all()]


def share(one: Locator) -> float:
    """How wide a frame is, of the drawing."""
    return float(
        one.locator("> rect").evaluate(
            "box => box.getBoundingClientRect().width / box.closest('g').parentElement.clientWidth"
        )
    )


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_a_click_zooms_and_show_all_goes_back(site: Site) -> None:
    page = site.open(simple)
    frame(page, "d").click()
    assert names(page) == ["all", "a", "d", "bcmp"]
    assert share(frame(page, "d")) == pytest.approx(1, abs=0.01)
    assert query(page)["root"] == [frame(page, "d").get_attribute("data-key")]
    frame(page, "a").click()
    assert names(page) == ["all", "a", "b", "bcmp", "d", "bcmp"]
    page.get_by_role("button", name="Show all").click()
    assert query(page) == {}
    expect(page.get_by_role("button", name="Show all")).to_be_hidden()
    assert site.roots == []


def test_an_address_opens_zoomed_and_searched_and_its_callers_lead_out(site: Site) -> None:
    key = next(one.key for one in frames(SIMPLE).frames if one.name == "d")
    page = site.open(simple, f"?root={key}&q=bcmp")
    assert names(page) == ["all", "a", "d", "bcmp"]
    expect(page.locator("output")).to_have_text("1 frame, 10.0 % of all")
    frame(page, "a").click()
    expect(frame(page, "b")).to_be_visible()
    assert site.roots == [frame(page, "a").get_attribute("data-key")]
    expect(frame(page, "a")).to_be_focused()


def test_a_search_marks_frames_and_counts_no_sample_twice(site: Site) -> None:
    page = site.open(simple)
    page.locator("h1").click()
    page.keyboard.press("f")
    expect(page.get_by_label("Function or module")).to_be_focused()
    page.keyboard.type("BCM")
    expect(page.locator("output")).to_have_text("2 frames, 70.0 % of all")
    assert page.locator(".frame.match").count() == 2
    assert query(page) == {"q": ["BCM"]}
    page.get_by_label("Function or module").fill("kernel")
    expect(page.locator("output")).to_have_text("1 frame, 100.0 % of all")
    page.get_by_label("Function or module").fill("(((.*)*")
    expect(page.locator("output")).to_have_text("0 frames, 0.0 % of all")
    page.keyboard.press("Escape")
    expect(page.locator("output")).to_have_text("")
    assert page.locator(".frame.match").count() == 0


def test_a_function_within_itself_is_counted_once(site: Site) -> None:
    page = site.open(lambda _: frames(stacks("f;g;f 30", "h 70")), "?q=f")
    expect(page.locator("output")).to_have_text("2 frames, 30.0 % of all")


def test_links_take_what_is_in_sight(site: Site) -> None:
    page = site.open(simple, "?view=it&q=bcmp")
    frame(page, "d").click()
    key = frame(page, "d").get_attribute("data-key")
    links = [page.get_by_text(name).get_attribute("href") or "" for name in ("Reversed", "Picture")]
    assert [parse_qs(urlsplit(link).query) for link in links] == [
        {"view": ["other"], "q": ["bcmp"]},
        {"root": [key], "q": ["bcmp"]},
    ]
    assert query(page) == {"view": ["it"], "q": ["bcmp"], "root": [key]}


def test_one_stop_and_arrows_from_there(site: Site) -> None:
    page = site.open(simple)
    page.get_by_role("link", name="PNG").focus()
    page.keyboard.press("Tab")
    expect(frame(page, "all")).to_be_focused()
    expect(page.locator(".flame-line")).to_have_text("all; 1,000 samples, 100 % of all")
    for key, name in (
        ("ArrowDown", "a"),
        ("ArrowDown", "b"),
        ("ArrowRight", "d"),
        ("ArrowRight", "d"),
        ("ArrowDown", "bcmp"),
        ("ArrowLeft", "bcmp"),
        ("ArrowUp", "b"),
        ("Home", "all"),
    ):
        page.keyboard.press(key)
        focused = page.locator("svg.flame :focus")
        expect(focused).to_have_attribute("data-name", name)
        assert page.locator("svg.flame [tabindex]").count() == 1
    page.keyboard.press("Tab")
    expect(page.get_by_text("Reversed")).to_be_focused()


def test_enter_zooms_and_escape_leaves_first_the_search_then_the_zoom(site: Site) -> None:
    page = site.open(simple, "?q=bcmp")
    frame(page, "all").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert names(page) == ["all", "a", "b", "bcmp"]
    page.get_by_label("Function or module").focus()
    page.keyboard.press("Escape")
    assert set(query(page)) == {"root"}
    page.keyboard.press("Escape")
    assert query(page) == {}
    assert len(names(page)) == 6


def test_a_finger_zooms(site: Site) -> None:
    page = site.open(simple, width=390)
    frame(page, "d").tap()
    assert names(page) == ["all", "a", "d", "bcmp"]
    expect(page.locator(".flame-line")).to_contain_text("d (if_igb.ko); 100 samples, 10.0 %")


def test_frames_too_narrow_to_be_drawn_come_when_they_are_zoomed_into(site: Site) -> None:
    many = stacks("a;b 100000", *(f"a;c;f{one} 20" for one in range(50)))
    page = site.open(lambda root: frames(many, root=root))
    assert "f7" not in names(page)
    frame(page, "c").click()
    expect(frame(page, "f7")).to_be_visible()
    assert site.roots == [frame(page, "c").get_attribute("data-key")]
    expect(frame(page, "c")).to_be_focused()
    page.keyboard.press("Escape")
    expect(frame(page, "b")).to_be_visible()
    assert site.roots[1:] == [""]


def test_a_server_that_is_down_leaves_what_is_drawn(site: Site) -> None:
    many = stacks("a;b 100000", *(f"a;c;f{one} 20" for one in range(50)))
    page = site.open(lambda root: frames(many, root=root))
    site.is_down = True
    frame(page, "c").click()
    expect(page.locator(".flame-line")).to_contain_text("could not be loaded: status 503")
    assert names(page) == ["all", "a", "c"]
    page.keyboard.press("Escape")
    assert "b" in names(page)


def test_hostile_names_are_text(site: Site) -> None:
    known = [Function(name, name) for name in HOSTILE]
    page = site.open(lambda _: frames(calls_of([{(one,): 5 for one in known}])))
    for at in range(len(HOSTILE)):
        one = page.locator("svg.flame .frame").nth(1 + at)
        one.hover()
        label = one.get_attribute("data-name") or ""
        expect(page.locator(".flame-line")).to_contain_text(label[:100].strip())
        one.click()
        page.keyboard.press("Escape")
    assert page.locator("main script, main img").count() == 0
    assert beyond(page) == []


@pytest.mark.parametrize("width", [390, 1440])
def test_names_end_within_their_frames(site: Site, width: int) -> None:
    page = site.open(lambda _: frames(random_calls(5)), width=width)
    beyond_frames = page.evaluate(
        """() => [...document.querySelectorAll("svg.flame .frame svg")].filter((one) => {
            const text = one.firstElementChild, { x, width } = text.getBBox();
            return text.textContent && x + width > one.width.baseVal.value + 8;
        }).map((one) => one.textContent)"""
    )
    assert beyond_frames == []
    assert page.locator("svg.flame .frame text").count() > 5


@pytest.mark.parametrize("width", [390, 1440])
def test_a_number_in_a_frame_is_whole_or_its_sign_alone(site: Site, width: int) -> None:
    page = site.open(changed, width=width)
    shown = page.evaluate(
        """() => [...document.querySelectorAll("svg.flame .frame[data-change]")].map((one) =>
            [one.dataset.change, one.querySelector("text")?.textContent ?? ""])"""
    )
    assert sum(text == change[0] for change, text in shown) > 1
    for change, text in shown:
        assert not text or text == change[0] or text.split(" ")[0] == change


def test_rows_are_as_high_as_a_finger_needs_and_nothing_reaches_out(site: Site) -> None:
    page = site.open(lambda _: frames(random_calls(5)), width=390)
    tops = page.evaluate(
        """() => [...new Set([...document.querySelectorAll("svg.flame .frame > rect")]
            .map((one) => one.y.baseVal.value))].sort((a, b) => a - b)"""
    )
    assert {low - high for high, low in pairwise(tops)} == {24}
    assert small_texts(page) == []
    fits(page, "flame")


def changed(root: str) -> Flame:
    both = aligned(random_calls(5), random_calls(6))
    return difference(both.calls, a=both.a / 80, b=both.b / 80, root=root)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("makes", [lambda root: frames(random_calls(5), root=root), changed])
def test_axe_finds_nothing(site: Site, scheme: Any, makes: Makes) -> None:
    site.page.emulate_media(color_scheme=scheme)
    page = site.open(makes)
    page.locator("svg.flame .frame").nth(2).click()
    page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    assert [f"{one['id']}: {one['nodes'][0]['html'][:150]}" for one in found] == []


def test_texts_of_frames_are_legible_in_both_themes(site: Site) -> None:
    """axe does not measure on SVG: the contrast of each ground with the ink on it."""
    page = site.open(simple)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        for name, contrast in contrasts(page).items():
            assert contrast >= 4.5, f"{name}, {scheme}: {contrast:.2f}"


def contrasts(page: Page) -> dict[str, float]:
    grounds = [f"hue-{one}" for one in ("kernel", "none", *range(5))]
    grounds += ["same", *(f"{way}-{one}" for way in ("dearer", "cheaper") for one in (1, 2, 3))]
    found: dict[str, float] = page.evaluate(
        """classes => {
            const svg = document.querySelector("svg.flame[data-all]");
            const light = (colour) => {
                const [r, g, b] = colour.match(/[0-9.]+/g).map((one) => {
                    const part = one / 255;
                    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ink = light(getComputedStyle(svg.querySelector("text")).fill);
            const one = svg.querySelector(".frame").cloneNode(true);
            svg.append(one);
            const found = classes.map((name) => {
                one.setAttribute("class", name);
                const ground = light(getComputedStyle(one.querySelector("rect")).fill);
                return [name, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)];
            });
            one.remove();
            return Object.fromEntries(found);
        }""",
        grounds,
    )
    return found


@pytest.fixture(scope="module")
def large() -> Calls:
    return large_calls()


def test_thousands_of_frames_zoom_at_once(site: Site, large: Calls) -> None:
    page = site.open(lambda root: frames(large, root=root, least_px=0.05))
    assert page.locator("svg.flame rect").count() > 2000
    took = page.evaluate(
        """() => {
            const frame = document.querySelectorAll("svg.flame .frame")[2];
            const begin = performance.now();
            frame.dispatchEvent(new MouseEvent("click", { bubbles: true }));
            frame.getBoundingClientRect();
            return performance.now() - begin;
        }"""
    )
    assert took < 2000  # below 100 ms where nothing else runs
