"""The style sheets: small, each loaded, and those of charts are in pictures too."""

import re

import pytest
from django.conf import settings

from webapp.pages.pictures import sheet

STYLES = settings.BASE_DIR / "static" / "css"
TEMPLATES = settings.BASE_DIR / "webapp" / "templates"
MOST_LINES = 400
SHEETS = sorted(one.name for one in STYLES.glob("*.css"))


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_short_and_its_blocks_are_whole(name: str) -> None:
    text = re.sub(r"/\*.*?\*/", "", (STYLES / name).read_text(), flags=re.DOTALL)
    assert len((STYLES / name).read_text().splitlines()) <= MOST_LINES
    assert text.count("{") == text.count("}")


def test_every_sheet_is_linked_by_a_template() -> None:
    linked = {
        name
        for one in TEMPLATES.rglob("*.html")
        for name in re.findall(r'static "css/([\w-]+\.css)"', one.read_text())
    }
    assert linked == set(SHEETS)


def test_a_picture_has_the_rules_of_all_charts() -> None:
    rules = sheet().rules
    for name in ("charts.css", "small-charts.css"):
        selectors = re.findall(r"^svg \.[\w.-]+", (STYLES / name).read_text(), re.MULTILINE)
        assert selectors
        assert all(one in rules for one in selectors)
