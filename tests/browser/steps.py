"""What browser tests do again and again."""

from django.conf import settings
from django.test import Client
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from webapp.accounts.models import User


def sign_in(page: Page, live_server: LiveServer, user: User) -> None:
    """Give the browser a session of `user`, without the way over the page."""
    client = Client()
    client.force_login(user)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}]
    )
