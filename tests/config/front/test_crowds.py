"""Many who sign in at once, from as many addresses, and one who pretends to be many."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from urllib.parse import urlencode

import pytest

from tests import make
from tests.config.front.server import Server

pytestmark = pytest.mark.django_db(transaction=True)
CROWD = [f"127.0.1.{each}" for each in range(1, 26)]
NUMBERS = count(1)  # wrong passwords are counted across tests
HIDDEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


def sign_in(server: Server, source: str, **headers: str) -> tuple[int, str]:
    """Try a wrong password, as a browser does; the status, and when to come again."""
    with closing(server.connection(source)) as browser:
        browser.request("GET", "/sign-in/")
        page = browser.getresponse()
        cookie = str(page.headers["Set-Cookie"]).partition(";")[0]
        hidden = HIDDEN.search(page.read().decode())
        assert hidden
        form = {"csrfmiddlewaretoken": hidden[1], "username": "ada", "password": "wrong"}
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
        browser.request("POST", "/sign-in/", urlencode(form), kind | headers)
        answer = browser.getresponse()
        answer.read()
        return answer.status, answer.headers.get("Retry-After", "")


def test_a_crowd_at_sign_in_is_asked_to_come_again_and_leaves_turns_to_pages(
    server: Server,
) -> None:
    make.user("ada")
    with ThreadPoolExecutor(len(CROWD) + 1) as threads:
        crowd = [threads.submit(sign_in, server, source) for source in CROWD]
        pages = threads.submit(lambda: [server.get("/")[0] for _ in range(10)])
        answers = {each.result() for each in crowd}
    assert answers == {(200, ""), (503, "5")}
    assert set(pages.result()) == {200}


def test_nobody_is_many_by_naming_many_addresses(server: Server) -> None:
    make.user("ada")
    source = f"127.0.2.{next(NUMBERS)}"
    answers = [sign_in(server, source, **{"X-Forwarded-For": f"192.0.2.{n}"}) for n in range(6)]
    assert [status for status, _ in answers] == [200] * 5 + [429]
