"""The table of samples in samples/README.md: `python -m agents.tests.readers.formats.table`."""

from __future__ import annotations

from pathlib import Path

from labagent.readers.formats import FORMATS, Printed, detect, read_results

from agents.tests.readers.formats.test_formats import SAMPLES, VALUES

README = SAMPLES / "README.md"
HEAD = "## What is read of them\n"


def rows() -> list[str]:
    """A row a sample: its format, where that is known from, and the metrics that are read; those
    whose values were read off the file by hand have a star."""
    found = []
    for name in sorted(VALUES):
        printed = Printed((SAMPLES / name).read_text(), name)
        form = detect(printed)
        assert form
        checked = {metric for _, metric, *_ in VALUES[name]}
        metrics = {one.metric: None for one in read_results(printed, form).results}
        cells = [
            f"{one.name}{'*' if one.name in checked else ''}"
            f" ({one.unit or 'asked'}, {one.better or 'asked'})"
            for one in metrics
        ]
        found.append(
            f"| `{name}` | {form.name} | {FORMATS[form.name].source} | {', '.join(cells)} |"
        )
    return found


def text() -> str:
    """The README with the table."""
    before = README.read_text().partition(HEAD)[0]
    head = "\n`*`: its values were read off the file by hand (test_formats.py).\n\n"
    columns = (
        "| file | format | unit and direction from | metrics (unit, better) |\n|---|---|---|---|\n"
    )
    return before + HEAD + head + columns + "\n".join(rows()) + "\n"


if __name__ == "__main__":
    Path(README).write_text(text())
