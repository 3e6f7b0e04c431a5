"""ministat's block in any flavour and with any option: pages, reports, data."""

from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.kept import kept
from webapp.analysis.queries import PLAIN_BLOCK, BlockOptions, SideError
from webapp.stats import ministat

pytestmark = pytest.mark.django_db
BEFORE = (635734.0, 641688.0, 625167.0, 633000.0, 632950.0, 640001.0)
AFTER = tuple(value * 1.02 for value in BEFORE)
LABELS = ("r1 forwarding", "r2 forwarding")
QUERY = {"a": "freebsd-head:r1", "b": "freebsd-head:r2"}
ASKED = {"flavour": "2015", "confidence": "99", "width": "60", "bars": "shared"}


@pytest.fixture(autouse=True)
@kept
def pair() -> None:
    for name, samples in (("r1", BEFORE), ("r2", AFTER)):
        at = make.revision(name)
        make.run(at, samples=samples)
        make.point(make.series(), at, samples)


def block(**options: Any) -> str:
    return ministat.render(list(zip(LABELS, (BEFORE, AFTER), strict=True)), **options)


def test_every_form_prints_the_flavour_and_the_options_asked_for(client: Client) -> None:
    wanted = block(flavour="2015", confidence=99.0, width=60)
    asked = QUERY | ASKED
    assert wanted in client.get("/compare.txt", asked).content.decode()
    assert wanted.rstrip() in client.get("/compare.md", asked).content.decode()
    assert client.get("/api/v1/compare", asked).json()["rows"][0]["ministat"] == wanted
    page = client.get("/compare/", asked)
    assert page.context["table"].rows
    assert "Difference at 99.0%" in page.content.decode() or "No difference" in wanted


def test_without_options_the_block_is_what_it_was(client: Client) -> None:
    assert block(separate_bars=True) in client.get("/compare.txt", QUERY).content.decode()


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"plot": "no"}, {"plot": False, "separate_bars": True}),
        ({"comparison": "no"}, {"brief": True, "separate_bars": True}),
        ({"names": "no"}, {"quiet": True, "separate_bars": True}),
        ({"flavour": "2016-onepass"}, {"flavour": "2016-onepass", "separate_bars": True}),
    ],
)
def test_each_option_is_one_of_the_command(given: dict[str, str], options: dict[str, Any]) -> None:
    sets = list(zip(LABELS, (BEFORE, AFTER), strict=True))
    assert BlockOptions.read(given).render(sets) == block(**options)


def test_the_address_of_a_block_states_only_what_is_not_as_by_default() -> None:
    assert PLAIN_BLOCK.query == []
    assert dict(BlockOptions.read(ASKED).query) == ASKED
    assert BlockOptions.read(dict(BlockOptions.read(ASKED).query)) == BlockOptions.read(ASKED)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("flavour", "1994", "none of current, 2015, 2016, 2016-onepass"),
        ("confidence", "94", "none of 80, 90, 95, 98, 99, 99.5"),
        ("width", "1", "from 2 to 400 columns"),
        ("width", "٣", "no whole number"),
        ("bars", "many", "none of separate, shared"),
        ("plot", "perhaps", "none of yes, no"),
    ],
)
def test_an_unknown_option_is_refused_with_what_it_may_be(
    client: Client, name: str, value: str, reason: str
) -> None:
    with pytest.raises(SideError, match=reason):
        BlockOptions.read({name: value})
    for path in ("/compare/", "/compare.txt", "/compare.md"):
        response = client.get(path, QUERY | {name: value})
        assert response.status_code == 400
        assert reason in response.content.decode()
    assert client.get("/api/v1/compare", QUERY | {name: value}).status_code == 422


def test_data_as_of_no_time_are_refused(client: Client) -> None:
    response = client.get("/api/v1/compare", QUERY | {"asof": "yesterday"})
    assert response.status_code == 422
    assert "is no time" in response.content.decode()
