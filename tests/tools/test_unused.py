"""Names that nothing uses are refused."""

from pathlib import Path

import pytest

from tools.unused import unused

SOURCE = '''
"""A module."""

from django.db import models


class Row(models.Model):
    """A table, with a column that a query names, one that a template shows, and one of nobody."""

    shown_in_a_query = models.TextField()
    hardware = models.TextField()
    of_nobody = models.TextField()

    class Meta:
        ordering = ["pk"]


print(Row.objects.filter(shown_in_a_query__gt=1))


def called():
    """Is called."""


def not_called():
    """Is called by nothing."""


called()
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    templates = tmp_path / "webapp" / "templates"
    templates.mkdir(parents=True)
    (templates / "page.html").write_text("of_nobody {{ row.hardware }}")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.vulture]\nignore_names = ["Meta", "ordering"]\n'
    )
    (tmp_path / "module.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return "module.py"


def test_what_no_code_query_or_template_names_is_refused(module: str) -> None:
    assert unused([module], {}) == [
        "module.py:12: unused variable of_nobody",
        "module.py:25: unused function not_called",
    ]


def test_a_name_is_allowed_by_its_path_with_it_or_by_its_whole_file(module: str) -> None:
    assert unused([module], {"module.py": "all of it"}) == []
    allowed = {"module.py: of_nobody": "a reason", "module.py: not_called": "a reason"}
    assert unused([module], allowed) == []


def test_what_is_allowed_though_it_is_used_is_refused(module: str) -> None:
    allowed = {"module.py": "all of it", "module.py: called": "a reason"}
    assert unused([module], allowed) == ["module.py: called is allowed, but used or gone"]


def test_a_template_of_a_page_that_is_named_nowhere_is_refused(module: str) -> None:
    pages = Path("webapp/templates/pages/rows")
    pages.mkdir(parents=True)
    (pages / "row.html").write_text('{% include "pages/rows/_cell.html" %}')
    (pages / "_cell.html").write_text("a cell")
    refused = "webapp/templates/pages/rows/row.html: unused template"
    assert unused([module], {"module.py": "all of it"}) == [refused]
    Path(module).write_text(SOURCE + 'called("pages/rows/row.html")\n')
    assert unused([module], {"module.py": "all of it"}) == []
