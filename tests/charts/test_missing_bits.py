import re

import pytest

from webapp.charts.bisect import BASE, LABEL, TOP, draw_missing_bits

STEEP = [(0, 6.0), (1, 5.9), (2, 4.5), (3, 4.5), (4, 3.0), (5, 2.9)]
FLAT = [(boots, 2.0) for boots in range(9)]
UP_AGAIN = [(0, 6.0), (1, 2.0), (2, 6.0)]


def points(drawn: str) -> list[tuple[float, float]]:
    path = re.search(r'class="lv" d="M([^"]+)"', drawn)
    assert path
    return [(float(x), float(y)) for x, y in (one.split() for one in path[1].split("L"))]


def label(drawn: str) -> tuple[float, float]:
    found = re.search(r"<text([^>]*)>[0-9.]+ bits left", drawn)
    assert found
    where = dict(re.findall(r'\b([xy])="([^"]+)"', found[1]))
    return float(where["x"]), float(where["y"])


@pytest.mark.parametrize("steps", [STEEP, FLAT, UP_AGAIN, [(0, 6.0)], [(0, 0.0), (3, 0.0)]])
def test_the_words_at_the_end_stand_clear_of_the_line(steps: list[tuple[int, float]]) -> None:
    drawn = draw_missing_bits(steps)
    _, baseline = label(drawn)
    line = points(drawn)
    near = [y for x, y in line if x >= line[-1][0] - LABEL]
    assert baseline < min(near) or baseline - 11 > max(near)  # letters are 11 px high
    assert TOP <= baseline <= BASE


def test_the_forecast_is_a_band_from_the_newest_boot_to_its_ends() -> None:
    drawn = draw_missing_bits([(0, 6.0), (12, 2.0)], left=(4.0, 7.0))
    assert 'class="next"' in drawn
    assert ">19<" in drawn  # the boot at which nine in ten such searches have ended
    assert 'class="next"' not in draw_missing_bits([(0, 6.0), (12, 2.0)])
