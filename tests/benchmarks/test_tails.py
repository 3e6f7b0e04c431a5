"""Quantiles of histograms, boots as units: no more false claims than 5 %, and tails are found."""

import numpy as np
import pytest

from benchmarks.tails import SHAPES, histogram, rows
from webapp.stats.histograms import Histogram


@pytest.mark.parametrize("shape", SHAPES)
def test_the_values_of_each_shape_go_into_the_buckets_of_the_server(shape: str) -> None:
    values = SHAPES[shape](np.random.default_rng(3), 2000)
    assert histogram(values) == Histogram.of(values.tolist(), [1] * len(values))


def test_a_longer_tail_is_found_where_it_is_and_nowhere_else() -> None:
    found = {row["quantile"]: row for row in rows(60, 1, ["log-normal"])}
    percent = {
        (name, column): float(row[column].split()[0])
        for name, row in found.items()
        for column in ("error of the first kind, %", "longer tail found, %")
    }
    assert max(percent[name, "error of the first kind, %"] for name in found) <= 12
    assert percent["p50", "longer tail found, %"] == percent["p50", "error of the first kind, %"]
    assert percent["p99", "longer tail found, %"] >= 90
