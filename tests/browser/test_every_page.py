"""Every page in every width: what axe finds, what reaches out of the window, what fails.

The fast suite opens each page once, in a window that differs from page to page; the long one opens
each in the other widths, and as a stranger. A new page fails here until links lead to it or it has
its line below.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.test import Client
from playwright.sync_api import Page, Response
from pytest_django.live_server_helper import LiveServer

from tests import whole_site
from tests.addresses import every_address
from tests.browser.steps import beyond_any, sign_in, small_texts
from webapp.accounts.models import User
from webapp.notifications.models import Subscription
from webapp.notifications.queries import Target

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]

Theme = Literal["light", "dark"]


class Window(NamedTuple):
    """A width in pixels and the theme that the system asks for."""

    width: int
    theme: Theme


THEMES: tuple[Theme, ...] = ("light", "dark")
WINDOWS = [Window(*one) for one in zip((390, 768, 1440) * 2, THEMES * 3, strict=True)]
"""Of three in a row each has another width, and not all have one theme."""
TURNS = {one.name: turn for turn, one in enumerate(every_address())}
"""Which window a kind of page has first, whoever reads it."""
OFF_LINKS = [
    *("/search/?q=r10", "/search/?q=nothing-of-that-name", "/sign-in/", "/sign-in/forgotten/"),
]
"""Pages that no link leads to."""
NO_PAGES = {
    *("healthz", "readyz", "metrics", "account_logout", "agent_file", "openid_connect_callback"),
    *("trends_figure", "trends_svg", "trends_png", "badge", "bisect_figure", "bisect_json"),
    *("audit_csv", "audit_jsonl"),
    *("bisect_markdown", "compare_text", "compare_markdown", "compare_svg", "compare_png"),
    *("releases_markdown", "releases_svg", "releases_png"),
    *("experiment_markdown", "experiment_text", "experiment_zip"),
    *("experiment_svg", "experiment_png"),
    *("profile_folded", "profile_svg", "profile_png", "profile_diff_svg", "profile_diff_png"),
    *("alert_svg", "alert_png", "bisect_svg", "bisect_png"),
    *("hardware_feed", "tree_feed", "subscription_feed"),
}
"""Answers that no browser shows as a page of the site."""
WITH_PLOTLY = {"trends", "compare", "releases"}
FRAGMENTS = {
    *("first_steps", "overview_progress", "search_suggestions", "compare_suggestions"),
    *("compare_row", "alert_evidence", "alert_ministat", "trends_chosen"),
}
"""Parts that pages fetch into themselves."""
ACTS = {
    *("hardware_subscribe", "commit_runs", "commit_samples", "waiting_runs_act", "alerts_act"),
    *("alert_act", "event_withdraw", "alias_undo", "canary_act", "thresholds_set"),
    *("thresholds_undo", "job_request", "job_act", "bisect_act", "bisect_paste"),
    *("experiment_keep", "experiment_act", "lab_quota"),
    *("mfa_login_webauthn", "openid_connect_login", "mfa_deactivate_totp", "mfa_remove_webauthn"),
    *("mfa_generate_recovery_codes", "socialaccount_connections"),
    *("saved_view_act", "subscription_act", "outbox_act", "outbox_test", "webhook_act"),
}
"""Addresses that take forms and lead back to a page."""
ELSEWHERE = {
    "mailbox": "exists in a demonstration only",
    "mailbox_mail": "exists in a demonstration only",
    "mailbox_html": "a mail in a frame, which mail programs show as they like",
    "subscription_preview_html": "a mail in a frame",
    "account_address": "the page of a link that is good once",
    **dict.fromkeys(
        (
            *("account_reset_password_from_key", "mfa_authenticate", "mfa_activate_totp"),
            *("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
            *("mfa_add_webauthn", "mfa_view_recovery_codes"),
        ),
        "asks for a password, a code or a mail: tests/browser/test_signing_in.py",
    ),
}

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

LEAVE_OUT_ALIKE = """most => {
  const seen = new Map();
  const behind = new Map([[null, ""]]);
  for (const one of document.querySelectorAll("*")) {  // parents before what they hold
    const its = getComputedStyle(one);
    const back = [its.backgroundColor, its.backgroundImage, its.opacity].join();
    const under = behind.get(one.parentElement);
    behind.set(one, back === "rgba(0, 0, 0, 0),none,1" ? under : `${under}|${back}`);
    const isText = !one.childElementCount && one.textContent.trim() && one.checkVisibility();
    if (!isText || one.getBoundingClientRect().width < 2) continue;
    const font = [its.color, its.fill, its.fontSize, its.fontWeight, its.textShadow];
    const key = [behind.get(one), one.tagName, ...font].join();
    seen.set(key, (seen.get(key) ?? 0) + 1);
    one.toggleAttribute("data-alike", seen.get(key) > most);
  }
  axe.configure({rules: [{id: "color-contrast", selector: ":not([data-alike])"}]});
}"""
"""For the contrast of texts, which takes three quarters of axe's time."""

EVERY = 1_000_000
"""How many texts of one style before one background are held to their contrast: all."""

LEFT_OUT: dict[str, Sequence[str]] = {
    # Swagger UI's own markup: a button around links, and tags that are headings of level 3.
    "api-docs": ("nested-interactive", "heading-order"),
}
"""Rules of axe that do not hold of a page, by its name."""


@pytest.fixture
def operator() -> User:
    """Who may everything, on an instance with something on every page."""
    return whole_site.fill()


def addresses(reader: Client) -> list[str]:
    """Each kind of page once, as ``reader`` finds it by links from the front page; the others."""
    found = whole_site.pages_from(reader, "/", "/hardware/Atom/T540/", of_each=1)
    whole = [address for address, html in found.items() if "<html" in html]
    stop = Target(subscription=Subscription.objects.get().pk).url
    return [*whole, *OFF_LINKS, stop[stop.index("/unsubscribe/") :]]


def findings(page: Page, address: str, window: Window, alike: int = 3) -> list[str]:
    """What is wrong with the page at ``address`` in ``window``; of so many texts ``alike`` is the
    contrast measured.
    """
    page.set_viewport_size({"width": window.width, "height": 900})
    page.emulate_media(color_scheme=window.theme)
    answer = page.goto(address)
    if whole_site.kind_of(_path(address)) == "api-docs":
        page.locator(".opblock").first.wait_for()
    found = _inline_allowed(answer)
    # What scrolls sideways can be focused from the first drawn frame on (static/js/base.js).
    page.evaluate(DRAWN)
    page.evaluate(AXE_SCRIPT)  # no script element, which the policy would refuse
    page.evaluate(LEAVE_OUT_ALIKE, alike)
    off = LEFT_OUT.get(whole_site.kind_of(_path(address)), ())
    rules = {"target-size": {"enabled": True}, **{rule: {"enabled": False} for rule in off}}
    # Within frames, which are sandboxed, axe is not there to answer.
    options = {"resultTypes": ["violations"], "rules": rules, "iframes": False}
    run = "async options => (await axe.run(document, options)).violations"
    for one in page.evaluate(run, options):
        nodes = [f"{node['target']} {node['html'][:120]}" for node in one["nodes"][:3]]
        found.append(f"{one['id']}: {'; '.join(nodes)}")
    folded = page.evaluate_handle("[...document.querySelectorAll('details:not([open])')]")
    folded.evaluate("all => all.forEach((one) => { one.open = true; })")
    found += [*small_texts(page), *(f"reaches out: {one}" for one in beyond_any(page))]
    folded.evaluate("all => all.forEach((one) => { one.open = false; })")
    return [f"{_path(address)} {window.width} {window.theme}: {one}" for one in found]


def nothing(found: Iterable[str]) -> None:
    """All that was found, a line each, is nothing."""
    lines = list(found)
    assert not lines, "\n".join(lines)


def _path(address: str) -> str:
    return urlsplit(address).path


def _inline_allowed(answer: Response | None) -> list[str]:
    """Of pages with Plotly alone style attributes are allowed, which it writes."""
    policy = answer.header_value("content-security-policy") if answer else None
    strict = (policy or "").replace("style-src-attr 'unsafe-inline'", "")
    is_sound = strict == policy or (answer and whole_site.kind_of(_path(answer.url)) in WITH_PLOTLY)
    if policy and "unsafe" not in strict and is_sound:
        return []
    return [f"policy: {policy}"]


@pytest.fixture
def pages(live_server: LiveServer, page: Page, operator: User) -> list[str]:
    """The addresses of all pages of an operator who is signed in in the browser."""
    reader = Client()
    reader.force_login(operator)
    sign_in(page, live_server, operator)
    return [live_server.url + address for address in addresses(reader)]


def test_every_page_is_sound_in_a_window(page: Page, pages: list[str]) -> None:
    visited = {whole_site.kind_of(_path(address)) for address in pages}
    named = {one.name for one in every_address() if not one.is_api and not one.is_admin}
    missing = named - visited - NO_PAGES - FRAGMENTS - ACTS - ELSEWHERE.keys()
    assert not missing, f"no link leads to {sorted(missing)}"
    nothing(found_in_turn(page, pages))


def found_in_turn(page: Page, pages: Iterable[str], first: int = 0, **alike: int) -> Iterator[str]:
    """What is wrong with each page in one of the windows, another one with each ``first``."""
    for address in pages:
        turn = TURNS[whole_site.kind_of(_path(address))] + first
        yield from findings(page, address, WINDOWS[turn % len(WINDOWS)], **alike)


def before_a_release(*cases: int) -> list[Any]:
    """What `make faults` runs at its end, and nothing else does."""
    return [pytest.param(case, marks=pytest.mark.release) for case in cases]


@pytest.mark.parametrize("first", before_a_release(0, 1, 2, 3, 4, 5))
def test_every_page_is_sound_in_each_window_with_the_contrast_of_every_text(
    page: Page, pages: list[str], first: int
) -> None:
    nothing(found_in_turn(page, pages, first, alike=EVERY))


@pytest.mark.long
@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("first", [1, *before_a_release(0, 2, 3, 4, 5)])
def test_every_page_is_sound_for_a_stranger(
    page: Page, live_server: LiveServer, first: int
) -> None:
    """In `make long` in other widths and themes than those of the operator in `make test`."""
    pages = [live_server.url + address for address in addresses(Client())]
    nothing(found_in_turn(page, pages, first))


@pytest.mark.parametrize(
    "window",
    [WINDOWS[0], pytest.param(WINDOWS[-1], marks=pytest.mark.long)],
    ids=["small and light", "wide and dark"],
)
def test_what_stands_on_an_empty_instance_is_sound(
    page: Page, live_server: LiveServer, window: Window
) -> None:
    empty = ["/", "/alerts/", "/hardware/", "/commits/", "/compare/", "/bisects/", "/trends/"]
    nothing(one for path in empty for one in findings(page, live_server.url + path, window))
