"""What benchmarks measured: `benchmarks/results/NAME.json`, and the figures of docs/figures.md.

    python -m benchmarks.recorded                               draw the page anew
    COMMAND | python -m benchmarks.recorded NAME --command COMMAND   keep what COMMAND printed

A result has a title, a sentence or two about it, the command and the day that made it, and blocks:
texts, and tables with columns and rows as the command printed them, in Markdown or as one JSON
object a line. Measuring again keeps title and text. The page is drawn from the files alone, group
by group: the part of a NAME before its first hyphen.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")
PAGE = Path(__file__).parents[1] / "docs" / "figures.md"
BLOCK = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)
CELL = re.compile(r"(?<!\\)\|")


def record(name: str, text: str, *, command: str, results: Path = RESULTS) -> None:
    """Store what ``command`` printed as the result ``name`` of today."""
    file = results / f"{name}.json"
    old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kept = {"title": old.get("title", name), "about": old.get("about", "")}
    day = datetime.now(UTC).date().isoformat()
    result = {**kept, "command": command, "date": day, "blocks": blocks(text)}
    file.write_text(dumped(result), encoding="utf-8")


def blocks(text: str) -> list[dict[str, Any]]:
    """Split Markdown into texts (``{"text"}``) and tables (``{"columns", "rows"}``).

    JSON objects, one a line, are one table; its columns are their keys.
    """
    if text.lstrip().startswith("{"):
        objects = [json.loads(line) for line in text.splitlines() if line.strip()]
        columns = list(dict.fromkeys(key for one in objects for key in one))
        rows = [[str(one.get(column, "")) for column in columns] for one in objects]
        return [{"columns": columns, "rows": rows}]
    found: list[dict[str, Any]] = []
    for is_table, lines in groupby(text.strip().splitlines(), lambda line: line.startswith("|")):
        if is_table:
            head, _, *cells = (_cells(line) for line in lines)
            found.append({"columns": head, "rows": cells})
        elif prose := "\n".join(lines).strip():
            found.append({"text": prose})
    return found


def dumped(result: Mapping[str, Any]) -> str:
    """JSON with a line for each field, text and row, so that a change of a figure is a line."""
    fields = [f"{json.dumps(key)}: {_json(value)}" for key, value in result.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def drawn(results: Path = RESULTS) -> str:
    """The figures of the page in Markdown, a heading for each group and each result in it."""
    files = sorted(results.glob("*.json"))
    parts = []
    for group, members in groupby(files, lambda file: file.stem.partition("-")[0]):
        parts.append(f"## {group.capitalize()}\n")
        parts += [_section(json.loads(file.read_text(encoding="utf-8"))) for file in members]
    return "\n" + "\n".join(parts) + "\n"


def write(page: Path = PAGE, results: Path = RESULTS) -> None:
    """Put the figures between the marks of the page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(BLOCK.sub(lambda _: drawn(results), text), encoding="utf-8")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.split(line.strip())[1:-1]]


def _json(value: object) -> str:
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(_block(block) for block in value) + "\n]"


def _block(block: Mapping[str, Any]) -> str:
    if "text" in block:
        return json.dumps(block, ensure_ascii=False)
    columns = json.dumps(block["columns"], ensure_ascii=False)
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in block["rows"])
    return f'{{"columns": {columns}, "rows": [\n{rows}\n]}}'


def _section(result: Mapping[str, Any]) -> str:
    made = f"`{result['command']}`" + (f", {result['date']}." if result["date"] else ".")
    parts = [f"### {result['title']}", result["about"], *_shown(result["blocks"]), made]
    return "\n\n".join(part for part in parts if part) + "\n"


def _shown(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for block in found:
        if "text" in block:
            yield re.sub(r"^#+ (.*)$", r"**\1**", block["text"], flags=re.MULTILINE)
        else:
            rows = [block["columns"], ["---"] * len(block["columns"]), *block["rows"]]
            yield "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep what stands on standard input, where a name is given, and draw the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recorded")
    parser.add_argument("name", nargs="?", help="worlds-young, performance-uploads, …")
    parser.add_argument("--command", help="what printed standard input")
    given = parser.parse_args(arguments)
    if bool(given.name) != bool(given.command):
        parser.error("a result needs both: NAME --command COMMAND")
    if given.name:
        record(given.name, sys.stdin.read(), command=given.command)
    write()


if __name__ == "__main__":
    main()
