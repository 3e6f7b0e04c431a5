"""docs/figures.md has the tables, foreign keys and constraints that there are, no others."""

import re
from pathlib import Path

from django.apps import apps
from django.db import models

from tests import data_model
from tests.documented import DOCS, inline
from webapp.results.models import Run

PAGE = data_model.PAGE.read_text(encoding="utf-8")
OURS = [one for one in apps.get_models() if one.__module__.startswith("webapp.")]


def test_the_tables_of_the_page_are_those_of_the_models() -> None:
    (written,) = data_model.BLOCK.findall(PAGE)
    assert written == data_model.rendered(), "mend it: python -m tests.data_model --write"


def test_each_model_its_foreign_keys_and_its_constraints_are_named() -> None:
    (tables,) = data_model.BLOCK.findall(PAGE)
    for model in OURS:
        (row,) = re.findall(rf"^\| `{model._meta.db_table}` .*$", tables, re.MULTILINE)
        keys = [one.name for one in model._meta.fields if isinstance(one, models.ForeignKey)]
        for name in (*keys, *(one.name for one in model._meta.constraints)):
            assert f"`{name}`" in row


def test_no_page_names_a_table_or_an_index_that_is_not_there() -> None:
    labels = "|".join(sorted({one._meta.app_label for one in OURS}))
    tables = {one._meta.db_table for one in OURS}
    for page in DOCS.glob("*.md"):
        named = {one.content for one in inline(page, "code_inline")}
        assert {one for one in named if re.fullmatch(rf"({labels})_[a-z]+", one)} <= tables, page
    indices = {one.name for model in OURS for one in model._meta.indexes}
    assert {"points_of_a_series", "series_to_analyse"} <= indices


def test_a_summary_is_the_first_sentence_of_a_docstring() -> None:
    assert data_model.summary(Run) == (
        "One upload: one build of one kernel, measured on one hardware in one mode."
    )


def test_writing_puts_the_tables_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- tables -->\nold\n<!-- end of tables -->\nb\n", encoding="utf-8")
    data_model.write(page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("a\n<!-- tables -->\n")
    assert text.endswith("<!-- end of tables -->\nb\n")
    assert "\nold\n" not in text
    assert "`results_run`" in text
