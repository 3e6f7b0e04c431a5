"""docs/security.md names a test for each line of the threat model, and each is there."""

import re

import pytest

from tests.places import PROJECT

PAGE = (PROJECT / "docs" / "security.md").read_text()
ROWS = re.findall(r"^\* .*(?:\n  .*)*", PAGE.partition("## Remaining")[0], re.MULTILINE)
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_every_line_names_a_test() -> None:
    assert ROWS
    assert [row for row in ROWS if not NAMED.search(row)] == []


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(PAGE))))
def test_each_named_test_is_there(path: str, name: str) -> None:
    assert re.search(rf"^ *def {name}\(", (PROJECT / path).read_text(), re.MULTILINE)
