"""Thinning a long series: every extreme stays, whatever the columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from webapp.charts.scale import extremes


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400),
    st.integers(1, 60),
)
def test_each_column_keeps_its_smallest_and_its_largest(values: list[float], columns: int) -> None:
    places, array = np.arange(len(values)), np.array(values)
    kept = extremes(places, array, bounds=(0, len(values)), columns=columns)
    assert list(kept) == sorted(set(kept.tolist()))
    assert {0, len(values) - 1} <= set(kept.tolist())
    assert len(kept) <= 2 * columns + 2
    for column in range(columns):  # one by one, slowly
        inside = [at for at in places if at * columns // len(values) == column]
        if inside:
            drawn = [values[at] for at in inside if at in kept]
            assert min(drawn) == min(values[at] for at in inside)
            assert max(drawn) == max(values[at] for at in inside)


def test_of_nothing_there_is_nothing() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert len(extremes(empty, np.empty(0), bounds=(0, 10), columns=5)) == 0
