"""Signing in as people do: by password and code, by a key, by single sign-on, after forgetting."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.accounts.signing_in.provider import ADA, provider
from tests.accounts.signing_in.steps import RIGHT, code_of_now
from tests.browser.steps import fits, sign_in
from tests.smtp import MailServer
from webapp.accounts.models import User
from webapp.outbox.services import send_due_mails

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TRACKED = re.compile(r"Signed in as\s+ada")


@pytest.fixture
def site(live_server: LiveServer) -> str:
    """By a name: keys belong to names of hosts, not to addresses."""
    return live_server.url.replace("127.0.0.1", "localhost")


@pytest.fixture(autouse=True)
def ada(db: None, page: Page) -> Iterator[User]:
    yield make.user("ada", email="ada@example.org")
    page.context.clear_cookies()


def sound(page: Page, name: str) -> None:
    """The page fits, and axe finds nothing wrong with it."""
    fits(page, name)
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def give_password(page: Page, site: str, password: str = RIGHT) -> None:
    page.goto(f"{site}/sign-in/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.locator(".bar > .menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def show_to_be_ada(page: Page) -> None:
    expect(page.get_by_role("heading", name="Is it you, ada?")).to_be_visible()
    page.get_by_label("Password").fill(RIGHT)
    page.get_by_role("button", name="Go on").click()


def expect_ada(page: Page) -> None:
    expect(page.locator(".bar > .menu > summary")).to_have_text(TRACKED)


@pytest.mark.usefixtures("trouble")
def test_of_a_closed_instance_a_stranger_gets_the_form_and_presses_and_keys_do_no_harm(
    page: Page, live_server: LiveServer, settings: Any
) -> None:
    settings.PUBLIC = False
    page.goto(live_server.url)
    page.get_by_role("heading", name="Sign in").click()
    for key in ("/", "?", "Escape", "ArrowDown", "Escape"):
        page.keyboard.press(key)
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(RIGHT)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect_ada(page)


@pytest.mark.parametrize("public", [True, False])
def test_what_was_typed_before_the_session_ended_stands_in_its_form_after_signing_in(
    page: Page, live_server: LiveServer, settings: Any, public: bool
) -> None:
    settings.PUBLIC = public
    User.objects.update(role=User.Role.TRIAGER)
    sign_in(page, live_server, User.objects.get())
    address = f"{live_server.url}/events/new/?tree=head"
    page.goto(address)
    page.get_by_label("What happened").fill("The switch was replaced.")
    Session.objects.all().delete()
    page.get_by_role("button", name="Record").click()
    expect(page.get_by_role("status")).to_contain_text("nothing was done")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_label("Password").fill(RIGHT)
    page.keyboard.press("Enter")
    expect(page).to_have_url(address)
    expect(page.get_by_label("What happened")).to_have_value("The switch was replaced.")
    page.reload()
    expect(page.get_by_label("What happened")).to_have_value("")


def test_what_was_typed_in_the_form_of_another_session_stands_there_again(
    page: Page, site: str, settings: Any
) -> None:
    User.objects.update(role=User.Role.TRIAGER)
    give_password(page, site)
    expect_ada(page)
    page.goto(f"{site}/events/new/")
    page.get_by_label("What happened").fill("The switch was replaced.")
    page.context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
    page.get_by_role("button", name="Record").click()
    expect(page.get_by_role("heading", name="The form has expired")).to_be_visible()
    page.goto(f"{site}/events/new/")
    expect(page.get_by_label("What happened")).to_have_value("The switch was replaced.")


def test_an_app_is_added_and_asked_for_and_a_recovery_code_stands_in(page: Page, site: str) -> None:
    give_password(page, site)
    page.goto(f"{site}/account/")
    page.get_by_role("link", name="Signing in").click()
    sound(page, "factors-none")
    page.get_by_role("link", name="Add an app").click()
    sound(page, "again")
    show_to_be_ada(page)
    secret = page.locator(".secret").inner_text()
    assert page.locator(".qr").evaluate("one => one.naturalWidth") > 0
    sound(page, "app")
    page.get_by_label("Code of the app").fill("000000")
    page.get_by_role("button", name="Add the app").click()
    expect(page.locator(".errorlist")).to_contain_text("Wrong code or key")
    assert page.locator(".secret").inner_text() == secret
    page.get_by_label("Code of the app").fill(code_of_now(secret=secret))
    page.get_by_role("button", name="Add the app").click()
    expect(page.get_by_role("status").first).to_contain_text("The app is added")
    recovery = page.locator(".codes code").first.inner_text()
    sound(page, "codes")
    sign_out(page)
    give_password(page, site)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    expect(page.get_by_role("button", name="Use your key")).to_have_count(0)
    sound(page, "code")
    page.get_by_label("Code").fill(code_of_now(1, secret=secret))
    page.get_by_role("button", name="Go on").click()
    expect_ada(page)
    sign_out(page)
    give_password(page, site)
    page.get_by_label("Code").fill(recovery)
    page.get_by_role("button", name="Go on").click()
    expect_ada(page)


@pytest.fixture
def authenticator(page: Page) -> Iterator[None]:
    """A key with a sensor for fingers, in the browser."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield
    session.detach()


def add_key(page: Page, site: str, *, passkey: bool) -> None:
    page.goto(f"{site}/account/factors/")
    page.get_by_role("link", name="Add a key").click()
    show_to_be_ada(page)
    page.get_by_label("Name", exact=True).fill("the blue one")
    if passkey:
        page.get_by_label("Passkey").check()
    sound(page, "key")
    page.get_by_role("button", name="Add the key").click()
    expect(page.get_by_role("status").first).to_contain_text("The key is added")


def test_a_passkey_signs_in_without_a_password(page: Page, site: str, authenticator: None) -> None:
    give_password(page, site)
    add_key(page, site, passkey=True)
    page.goto(f"{site}/account/factors/")
    expect(page.locator(".factor")).to_contain_text("the blue one (passkey)")
    sound(page, "factors")
    sign_out(page)
    page.goto(f"{site}/sign-in/?next=/hardware/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/hardware/")
    expect_ada(page)


def test_a_key_is_asked_for_after_the_password_and_removed_by_its_person(
    page: Page, site: str, authenticator: None
) -> None:
    give_password(page, site)
    add_key(page, site, passkey=False)
    sign_out(page)
    give_password(page, site)
    page.get_by_role("button", name="Use your key").click()
    expect_ada(page)
    page.goto(f"{site}/account/factors/")
    page.get_by_role("button", name="Remove the blue one").click()
    page.get_by_role("link", name="Use a security key").click()
    page.get_by_role("button", name="Use your key").click()
    expect(page.get_by_role("status")).to_have_text("The key is removed.")
    sign_out(page)
    give_password(page, site)
    expect_ada(page)


def test_where_no_key_answers_the_page_states_it(page: Page, site: str) -> None:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")  # with no authenticator at all
    page.goto(f"{site}/sign-in/")
    page.evaluate("() => { navigator.credentials.get = async () => { throw new DOMException(); } }")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The key did not answer")
    session.detach()


def test_single_sign_on_from_end_to_end(page: Page, site: str, settings: Any) -> None:
    """The account is connected, then signed in to, in the browser and at a real provider."""
    with provider(settings, ada=ADA):
        give_password(page, site)
        page.goto(f"{site}/account/factors/")
        page.get_by_role("button", name="Connect your account").click()
        page.get_by_role("button", name="ada", exact=True).click()
        show_to_be_ada(page)
        expect(page.get_by_role("status")).to_have_text("Your account is connected.")
        expect(page.locator(".factor")).to_contain_text("Connected as ada.l")
        sound(page, "factors-connected")
        sign_out(page)
        page.goto(f"{site}/sign-in/?next=/hardware/")
        sound(page, "sign-in")
        page.get_by_role("button", name="Sign in with Lab accounts").click()
        page.get_by_role("button", name="ada", exact=True).first.click()
        page.wait_for_url("**/hardware/")
        expect_ada(page)


def test_a_forgotten_password_is_set_anew_by_mail(
    page: Page, site: str, server: MailServer, settings: Any
) -> None:
    settings.PUBLIC_URL = f"{site}/"
    page.goto(f"{site}/sign-in/")
    page.get_by_role("link", name="Forgot your password?").click()
    sound(page, "forgotten")
    page.get_by_label("E-mail").fill("ADA@example.org")
    page.get_by_role("button", name="Mail me a link").click()
    expect(page.get_by_role("status")).to_contain_text("a link was mailed to it")
    send_due_mails()
    (mail,) = server.mails
    (link,) = re.findall(r"http\S+", mail.get_body(("plain",)).get_content())  # type: ignore[union-attr]
    page.goto(link)
    assert link.rpartition("-")[2].strip("/") not in page.url
    sound(page, "new-password")
    page.get_by_label("New Password", exact=True).fill("quite another one 7")
    page.get_by_label("New Password (again)").fill("quite another one 7")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("status")).to_have_text("Your password is changed.")
    give_password(page, site, "quite another one 7")
    expect_ada(page)
    assert not Client().login(username="ada", password=RIGHT)
