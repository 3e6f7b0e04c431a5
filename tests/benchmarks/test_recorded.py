"""Results of benchmarks are kept as JSON, and docs/figures.md is drawn from them."""

import json
from pathlib import Path

import pytest

from benchmarks import recorded
from benchmarks.worlds.table import WORLDS

PRINTED = """\
Twenty series.

| figure | measured |
|---|---|
| wrong \\| silent | 0.3 [0.1, 0.9] |
|  | 7 |

No more.
"""


def test_the_figures_of_the_page_are_those_of_the_results() -> None:
    (drawn,) = recorded.BLOCK.findall(recorded.PAGE.read_text(encoding="utf-8"))
    assert drawn == recorded.drawn(), "draw it: python -m benchmarks.recorded"


@pytest.mark.parametrize("world", WORLDS)
def test_each_world_has_a_result(world: str) -> None:
    assert (recorded.RESULTS / f"worlds-{world}.json").is_file()


@pytest.mark.parametrize("file", sorted(recorded.RESULTS.glob("*.json")), ids=lambda one: one.stem)
def test_a_result_names_its_command_and_each_row_has_every_column(file: Path) -> None:
    result = json.loads(file.read_text(encoding="utf-8"))
    assert recorded.dumped(result) == file.read_text(encoding="utf-8")
    assert result["title"]
    assert result["command"].startswith(("python -m ", "make "))
    for block in result["blocks"]:
        assert {len(row) for row in block.get("rows", ())} <= {len(block.get("columns", ()))}


def test_what_a_command_printed_is_kept_and_drawn_as_it_was(tmp_path: Path) -> None:
    recorded.record("worlds-x", PRINTED, command="python -m benchmarks.worlds", results=tmp_path)
    kept = json.loads((tmp_path / "worlds-x.json").read_text())
    assert kept["blocks"][1] == {
        "columns": ["figure", "measured"],
        "rows": [["wrong \\| silent", "0.3 [0.1, 0.9]"], ["", "7"]],
    }
    drawn = recorded.drawn(tmp_path)
    assert drawn.startswith(
        "\n## Worlds\n\n### worlds-x\n\nTwenty series.\n\n| figure | measured |\n"
    )
    assert "| wrong \\| silent | 0.3 [0.1, 0.9] |\n|  | 7 |\n\nNo more.\n" in drawn
    assert f"`python -m benchmarks.worlds`, {kept['date']}.\n" in drawn


def test_json_lines_are_one_table() -> None:
    printed = '{"name": "ingest", "value": 147}\n{"name": "jobs", "value": 7, "unit": "ms"}\n'
    assert recorded.blocks(printed) == [
        {"columns": ["name", "value", "unit"], "rows": [["ingest", "147", ""], ["jobs", "7", "ms"]]}
    ]


def test_measuring_again_keeps_the_title_and_what_is_stated_about_it(tmp_path: Path) -> None:
    first = {"title": "Young series", "about": "Short.", "command": "", "date": "", "blocks": []}
    (tmp_path / "worlds-x.json").write_text(recorded.dumped(first))
    recorded.record("worlds-x", PRINTED, command="python -m benchmarks.worlds", results=tmp_path)
    assert recorded.drawn(tmp_path).startswith("\n## Worlds\n\n### Young series\n\nShort.\n\n")


def test_the_page_is_written_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- figures -->\nold\n<!-- end of figures -->\nb\n")
    recorded.write(page, tmp_path)
    assert page.read_text() == "a\n<!-- figures -->\n\n\n<!-- end of figures -->\nb\n"
