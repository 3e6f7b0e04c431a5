"""The agent checks runs by the server's limits: the two are held together here."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent import limits, upload
from labagent.readers.benchlab import MAX_README_BYTES
from pydantic import ValidationError

from tests.documents import run_document
from tests.fuzzing import cases, nasty_text
from webapp.api.experiments import MOST_RUNS, README_MAX
from webapp.api.schemas.runs import BatchIn
from webapp.api.urls import api
from webapp.experiments.models import SOURCE_MAX
from webapp.results.models import Kind

NO_LIMIT = {"pattern": "", "minLength": 0}


@cache
def schemas() -> Any:
    """The schemas of the OpenAPI document, which takes half a second to make."""
    return api.get_openapi_schema()["components"]["schemas"]


def described(name: str) -> dict[str, Any]:
    """A field of a run as the OpenAPI document has it: `RunIn.tree`."""
    model, field = name.split(".")
    found: dict[str, Any] = schemas()[model]["properties"][field]
    return next((one for one in found.get("anyOf", ()) if one["type"] != "null"), found)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        *((f"RunIn.{name}", limit) for name, limit in limits.TEXTS.items()),
        ("ModeIn.workload", limits.MODE_PART),
        ("ModeIn.traffic", limits.MODE_PART),
        ("MetricIn.unit", limits.UNIT),
        ("SourceIn.path", limits.SOURCE),
        *((f"EvidenceIn.{name}", limit) for name, limit in limits.EVIDENCE.items()),
        ("MarkIn.text", limits.VALIDITY_TEXT),
    ],
)
def test_texts_have_the_limits_of_the_openapi_document(name: str, limit: limits.Text) -> None:
    found = NO_LIMIT | described(name)
    assert (found["maxLength"], found["minLength"]) == (limit.most, limit.least)
    assert found["pattern"] == limit.pattern


@pytest.mark.parametrize(
    ("name", "keyword", "limit"),
    [
        ("MetricIn.samples", "maxItems", limits.MOST_SAMPLES),
        ("MetricIn.boots", "maxItems", limits.MOST_SAMPLES),
        ("MetricIn.validity", "maxItems", limits.MOST_VALIDITY),
        ("RunIn.metrics", "maxProperties", limits.MOST_METRICS),
        ("ModeIn.options", "maxItems", limits.MOST_OPTIONS),
        ("RunIn.sources", "maxItems", limits.MOST_SOURCES),
        ("RunIn.warnings", "maxItems", limits.MOST_WARNINGS),
    ],
)
def test_lists_have_the_limits_of_the_openapi_document(name: str, keyword: str, limit: int) -> None:
    assert described(name)[keyword] == limit


def test_numbers_have_the_limits_of_the_openapi_document() -> None:
    sample, boot = described("MetricIn.samples")["items"], described("MetricIn.boots")["items"]
    assert (sample["minimum"], sample["maximum"]) == (-limits.LARGEST_SAMPLE, limits.LARGEST_SAMPLE)
    assert (boot["minimum"], boot["maximum"]) == (0, limits.LARGEST_BOOT)
    assert described("RunIn.warnings")["items"]["maxLength"] == limits.WARNING.most
    assert f"{limits.FACTS_BYTES} bytes" in described("RunIn.facts")["description"]


def test_the_kinds_of_marks_are_those_of_the_server() -> None:
    assert set(described("MarkIn.kind")["enum"]) == set(limits.VALIDITY_KINDS) == set(Kind)


numbers = st.one_of(
    st.floats(),
    st.integers(),
    st.sampled_from([1e15, 1.1e15, 1e-15, 9e-16, -0.0, 2**63, 2**63 - 1, -(2**63)]),
)
texts = st.one_of(
    nasty_text, st.integers(0, 2100).map("x".__mul__), st.sampled_from(["a/b", "..", "a/./b"])
)
times = st.one_of(
    st.none(),
    texts,
    st.sampled_from(["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00"]),
)
facts: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=15,
)


marks = st.fixed_dictionaries(
    {
        "sample": st.integers(-1, 5),
        "kind": st.sampled_from([*limits.VALIDITY_KINDS, "another"]),
        "text": texts,
    }
)


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """A good run but for one field of the right type, as a reader of logs might make it."""
    run = run_document()
    values = draw(st.lists(numbers, max_size=4))
    boots = draw(st.none() | st.lists(st.integers(-1, 10**6 + 1), max_size=4))
    metric: dict[str, Any] = {"unit": "x", "better": "more", "samples": values, "boots": boots}
    if draw(st.booleans()):
        metric["validity"] = draw(st.lists(marks, max_size=2))
    option = st.one_of(texts, st.integers(90, 101).map("o".__mul__))
    changes: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(limits.TEXTS, texts),
        "mode": st.fixed_dictionaries(
            {"workload": option, "traffic": st.none() | option}
            | {"options": st.lists(option, max_size=5)}
        ),
        "metrics": st.sampled_from([{"pps": metric}, {}, {draw(texts): run["metrics"]["pps"]}]),
        "measured_at": times,
        "facts": st.dictionaries(texts, facts, max_size=3),
        "sources": st.lists(st.fixed_dictionaries({"path": texts, "sha256": st.just("0" * 64)})),
        "warnings": st.lists(texts, max_size=3),
    }
    field = draw(st.sampled_from(sorted(changes)))
    return {**run, field: draw(changes[field])}


@pytest.mark.fuzz
@given(runs())
@cases()
def test_the_agent_objects_to_a_run_exactly_when_the_server_does(run: dict[str, Any]) -> None:
    try:
        BatchIn.model_validate({"runs": [run]})
        refused: set[str] = set()
    except ValidationError as error:
        refused = {str(one["loc"][2]) for one in error.errors()}
    assert {fault.path.split(".")[0].split("[")[0] for fault in limits.faults(run)} == refused


@pytest.mark.parametrize("name", ["r1\n", ".."], ids=ascii)
@pytest.mark.parametrize("field", ["tree", "revision", "hardware", "workload", "metric"])
def test_a_line_end_and_a_step_in_an_address_are_refused_by_both(field: str, name: str) -> None:
    run = run_document()
    if field == "workload":
        run["mode"] = {**run["mode"], "workload": name}
    elif field == "metric":
        run["metrics"] = {name: run["metrics"]["pps"]}
    else:
        run[field] = name
    with pytest.raises(ValidationError):
        BatchIn.model_validate({"runs": [run]})
    assert limits.faults(run)


def test_what_is_sent_of_a_directory_fits() -> None:
    assert upload.LONGEST_SOURCE == SOURCE_MAX
    assert upload.MOST_RUNS == MOST_RUNS
    assert MAX_README_BYTES <= README_MAX
