"""The plot against a slow reference that keeps, as the C program does, rows it no longer shows."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.ministat import Summary, summarize
from webapp.stats.ministat.block import draw

points = st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=25)
widths = st.integers(2, 90)


def reference(
    sets: list[list[float]], summaries: list[Summary], width: int, *, separate: bool
) -> list[str]:
    edges = [value for values in sets for value in values]
    edges += [edge for s in summaries for edge in (s.mean - s.stddev, s.mean + s.stddev)]
    low, step = min(edges), (max(edges) - min(edges)) / (width - 1)

    def column(value: float) -> int:
        return int((value - (low - step / 2)) / step)

    cells: Counter[tuple[int, int]] = Counter()
    bars: dict[tuple[int, int], str] = {}
    shown = [0]
    for number, (values, s) in enumerate(zip(sets, summaries, strict=True), start=1):
        stacks = Counter(map(column, values))
        shown.append(max(stacks.values()))
        for row in range(shown[-2] + 1, shown[-1] + 1):
            for place in range(width):
                cells[row, place] = 0
        for place, height in stacks.items():
            for row in range(1, height + 1):
                cells[row, place] |= number
        line = number if separate else 1
        left, right = column(s.mean - s.stddev), column(s.mean + s.stddev)
        bars[line, right] = bars[line, left] = "|"
        for place in range(left + 1, right):
            bars.setdefault((line, place), "_")
        bars[line, column(s.median)] = "M"
        bars[line, column(s.mean)] = "A"
    stacked = [
        "".join(" x+*%#@O"[cells[row, place]] for place in range(width))
        for row in range(shown[-1], 0, -1)
    ]
    barred = [
        "".join(bars.get((line, place), " ") for place in range(width))
        for line in range(1, (len(sets) if separate else 1) + 1)
    ]
    return [f"|{line}|" for line in stacked + barred]


@given(st.lists(points, min_size=1, max_size=7), widths, st.booleans())
def test_plots_agree_with_the_slow_reference(sets, width, separate) -> None:
    if len({value for values in sets for value in values}) == 1:
        return
    summaries = [summarize(values) for values in sets]
    drawn = draw(sets, summaries, width=width, separate_bars=separate)
    assert drawn[0] == drawn[-1] == "+" + "-" * width + "+"
    assert drawn[1:-1] == reference(sets, summaries, width, separate=separate)


@given(points, st.floats(1e15, 1e17), widths)
def test_a_span_of_a_few_ulps_stays_inside_the_frame(values, offset, width) -> None:
    shifted = [offset + value for value in values]
    lines = draw([shifted], [summarize(shifted)], width=width, separate_bars=False)
    assert all(len(line) == width + 2 for line in lines if line[0] == "|")
