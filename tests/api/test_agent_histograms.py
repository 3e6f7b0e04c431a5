"""The agent derives quantiles as the server does, and objects to the same histograms."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent import limits
from labagent import model as agent
from pydantic import ValidationError

from tests.documents import run_document
from webapp.api.schemas.runs import BatchIn
from webapp.stats.histograms import Histogram

values = st.just(0.0) | st.floats(1e-15, 1e15)
counted = st.dictionaries(values, st.integers(1, 10_000), min_size=1, max_size=30)


@given(counted)
def test_the_agent_derives_what_the_server_does(pairs: dict[float, int]) -> None:
    own = agent.Histogram.of(pairs.items())
    assert own.derived() == Histogram.of(own.values, own.counts).derived()


GOOD = {"values": [0.0, 1.0], "counts": [1, 2]}


@pytest.mark.parametrize(
    "histograms",
    [
        [GOOD],
        [],
        [{"values": [], "counts": []}],
        [{"values": [-1.0, 1.0], "counts": [1, 2]}],
        [{"values": [1.0, 1e16], "counts": [1, 2]}],
        [{"values": [1.0, 2.0], "counts": [0, 2]}],
        [{"values": [1.0, 2.0], "counts": [2**53, 1]}],
        [{"values": [float(one) for one in range(10_001)], "counts": [1] * 10_001}],
        [GOOD] * 1001,
    ],
    ids=["good", "none", "empty", "negative", "large", "zero", "many", "buckets", "histograms"],
)
def test_the_agent_objects_to_a_histogram_exactly_when_the_server_does(
    histograms: list[dict[str, Any]],
) -> None:
    metric = {"unit": "us", "better": "less", "histograms": histograms, "boots": None}
    run = run_document(metrics={"latency": metric})
    try:
        BatchIn.model_validate({"runs": [run]})
        is_refused = False
    except ValidationError:
        is_refused = True
    assert bool(limits.faults(run)) == is_refused
