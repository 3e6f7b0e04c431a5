"""Draws the pictures of docs/statistics.md: `python -m benchmarks.pictures [FOLDER]`.

Each shows simulated series and what detection finds in them, as plain SVG written by hand.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

from benchmarks.online import detect
from webapp.stats.changes import Analysis, Point
from webapp.stats.simulate import (
    Drift,
    Event,
    OutlierRevision,
    OutlierSample,
    Scatter,
    Simulated,
    Step,
    make_series,
)

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"

WIDTH, HEIGHT, MARGIN, TOP = 760, 220, 12, 26

STYLE = (
    "text{font:12px sans-serif;fill:#333}.p{fill:#5a7d9a;fill-opacity:.55}"
    ".l{stroke:#c2410c;stroke-width:2.5}.c{stroke:#c2410c;stroke-dasharray:4 3}"
    ".i{fill:#c2410c;fill-opacity:.12}.bg{fill:#fff}"
)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its file name, its caption and what is drawn."""

    name: str
    caption: str
    scatter: Scatter
    events: tuple[Event, ...] = ()
    seed: int = 3
    revisions: int = 100


PICTURES = (
    Picture(
        "step",
        "A step of -4 % at revision 60: 1 % from run to run, 0.6 % from build to build",
        Scatter(run=0.01, build=0.006),
        (Step(60, -4.0),),
    ),
    Picture(
        "builds",
        "No change at all: builds scatter three times as much as runs, and no level is broken",
        Scatter(run=0.005, build=0.015),
    ),
    Picture(
        "odd",
        "One wild sample (30) and one wild revision (60) confirm nothing",
        Scatter(run=0.01, build=0.006),
        (OutlierSample(30, 0.85), OutlierRevision(60, -9.0)),
    ),
    Picture(
        "drift",
        "A slow drift from 40 to 100 is one bent line, not a staircase of alerts",
        Scatter(run=0.01, build=0.006),
        (Drift(40, 100, -8.0),),
        seed=4,
        revisions=130,
    ),
)


def main(folder: Path = FOLDER) -> None:
    """Write every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        series = make_series(
            seed=picture.seed,
            revisions=picture.revisions,
            scatter=picture.scatter,
            events=picture.events,
        )
        path = folder / f"{picture.name}.svg"
        path.write_text(draw(series, picture.caption), encoding="utf-8")


def draw(series: Simulated, caption: str) -> str:
    """Return one picture as SVG."""
    points = [Point(p, str(p), s) for p, s in zip(series.positions, series.samples, strict=True)]
    analysis = detect(points)
    frame = _Frame(series.positions, [log(v) for row in series.samples for v in row])
    body = "".join((*_intervals(analysis, frame), *_dots(series, frame), *_lines(analysis, frame)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{caption}</title><style>{STYLE}</style>"
        f'<rect class="bg" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text x="{MARGIN}" y="17">{caption}</text>{body}</svg>\n'
    )


class _Frame:
    """From positions and logs to the picture."""

    def __init__(self, positions: Sequence[int], logs: Sequence[float]) -> None:
        self.first, self.last = positions[0], positions[-1]
        self.low, self.high = min(logs), max(logs)

    def x(self, position: float) -> str:
        share = (position - self.first) / (self.last - self.first)
        return f"{MARGIN + (WIDTH - 2 * MARGIN) * share:.1f}"

    def y(self, value: float) -> str:
        share = (log(value) - self.low) / (self.high - self.low)
        return f"{HEIGHT - MARGIN - (HEIGHT - MARGIN - TOP) * share:.1f}"


def _dots(series: Simulated, frame: _Frame) -> list[str]:
    return [
        f'<circle class="p" r="2" cx="{frame.x(position)}" cy="{frame.y(sample)}"/>'
        for position, row in zip(series.positions, series.samples, strict=True)
        for sample in row
    ]


def _lines(analysis: Analysis, frame: _Frame) -> list[str]:
    lines = [
        f'<line class="l" x1="{frame.x(s.first.position)}" x2="{frame.x(s.last.position)}" '
        f'y1="{frame.y(s.level)}" y2="{frame.y(s.end_level)}"/>'
        for s in analysis.segments
    ]
    for change in analysis.changes:
        x = frame.x(change.revision.position - 0.5)
        lines.append(f'<line class="c" x1="{x}" x2="{x}" y1="{TOP}" y2="{HEIGHT - MARGIN}"/>')
        label = f"{change.change_pct:+.1f} % [{change.low_pct:+.1f}, {change.high_pct:+.1f}]"
        lines.append(f'<text x="{float(x) + 5:.1f}" y="{TOP + 12}">{label}</text>')
    return lines


def _intervals(analysis: Analysis, frame: _Frame) -> list[str]:
    boxes = []
    for change in analysis.changes:
        left = float(frame.x(change.after.position))
        width = float(frame.x(change.last.position)) - left
        boxes.append(
            f'<rect class="i" x="{left:.1f}" y="{TOP}" width="{width:.1f}" '
            f'height="{HEIGHT - MARGIN - TOP}"/>'
        )
    return boxes


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
