"""Every parser of the server, given anything: what it documents, never another exception."""

import contextlib
import io
import json
import math
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from django.http import QueryDict
from django.test import RequestFactory
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tests.documents import run_document
from tests.fuzzing import NASTY, cases, nasty_bytes, nasty_text
from webapp.alerts.services.triage import MinEffectError
from webapp.analysis.queries import Side, SideError
from webapp.api.errors import BadBody, BodyTooLarge
from webapp.api.hardware import HardwareIn
from webapp.api.jobs import FailIn, HeartbeatIn, PollIn, ResultIn
from webapp.api.requests import BoundedJSON
from webapp.api.schemas.runs import BatchIn
from webapp.api.schemas.types import Facts
from webapp.bisects.draft import BisectError
from webapp.bisects.path_patterns import PatternsError, read_patterns
from webapp.bisects.question import LEAST_VALUE, MOST_VALUE
from webapp.bisects.services.bisect_acts import read_boots
from webapp.notifications.queries import BadToken, Target
from webapp.outbox.http_post import AddressError, parsed
from webapp.pages.lab.thresholds import read_percent
from webapp.pages.parts.links import NUMBER_MAX, read_number
from webapp.pages.trends.query import TrendQuery
from webapp.results.bounds import (
    EARLIEST,
    LATEST_COMMIT,
    storable,
    wrong_with_line,
    wrong_with_text,
)
from webapp.results.commit_documents import read_file
from webapp.results.documents import Unprocessable
from webapp.results.git_history import logged
from webapp.results.spellings import ModeName, position_of
from webapp.stats import StatisticsError, ministat
from webapp.stats.changes import BadSeriesError
from webapp.stats.changes.__main__ import read_points
from webapp.stats.compare.comparing import compare
from webapp.stats.metrics import is_sample
from webapp.stats.ministat.__main__ import InvalidDataError, number, read_column

pytestmark = pytest.mark.fuzz

numbers = st.one_of(
    st.floats(), st.integers(), st.sampled_from([1e300, -1e300, 5e-324, 2**63, 10**400, 1e15])
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, nasty_text),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(nasty_text, inner, max_size=4)
    ),
    max_leaves=12,
)


def storable_everywhere(value: Any) -> bool:
    """What PostgreSQL's JSON and text, and UTF-8, hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    return "\\u0000" not in text.replace("\\\\", "") and text.encode() is not None


@given(nasty_bytes | json_values.map(lambda value: json.dumps(value).encode()), st.booleans())
@example(b"1" * 5000, False)
@example(b'{"a": 1e999}', False)
@example(b"[" * 100_000, False)
@cases()
def test_a_body_is_an_object_or_a_bad_body(body: bytes, packed: bool) -> None:
    headers = {"Content-Encoding": "gzip"} if packed else {}
    sent = zlib.compress(body, wbits=31) if packed and len(body) % 2 else body
    request = RequestFactory().post(
        "/api/v1/hardware", sent, content_type="application/json", headers=headers
    )
    try:
        assert isinstance(BoundedJSON().parse_body(request), dict)
    except (BadBody, BodyTooLarge) as error:
        assert str(error)


FIELDS = tuple(run_document())
INSIDE = {
    "mode": ("workload", "traffic", "options"),
    "metrics": ("pps",),
    "facts": ("image",),
}


@st.composite
def spoiled_runs(draw: st.DrawFn) -> dict[str, Any]:
    """A good run with up to three fields replaced by anything."""
    run: dict[str, Any] = run_document()
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from(FIELDS))
        value = draw(json_values)
        inner = draw(st.sampled_from(["", *INSIDE.get(field, ())]))
        if inner and isinstance(run.get(field), dict):
            run[field] = {**run[field], inner: value}
        else:
            run[field] = value
    if isinstance(run.get("metrics"), dict) and draw(st.booleans()):
        metric = {"unit": draw(nasty_text), "better": "more", "samples": draw(st.lists(numbers))}
        run["metrics"] = {draw(nasty_text): metric}
    return run


@given(spoiled_runs())
@cases()
def test_a_run_that_is_taken_can_be_stored_and_shown(run: dict[str, Any]) -> None:
    try:
        taken = BatchIn.model_validate({"runs": [run]}).runs[0].document()
    except ValidationError:
        return
    assert storable_everywhere([taken.facts, taken.sources, taken.warnings, taken.build_id])
    assert len(str(taken.mode)) <= 400
    assert all(is_sample(value) for metric in taken.metrics for value in metric.samples)
    assert taken.measured_at is None or taken.measured_at >= EARLIEST
    assert len(taken.digest()) == 64


@given(st.sampled_from([PollIn, HeartbeatIn, FailIn, ResultIn, HardwareIn]), json_values)
@cases()
def test_any_document_is_read_or_refused(model: Any, value: Any) -> None:
    good: Mapping[type, dict[str, Any]] = {
        PollIn: {"serves": [{"hardware": "a/b", "modes": ["pf"]}], "worker": "w"},
        HeartbeatIn: {"lease": "0" * 32, "stage": "boot"},
        FailIn: {"lease": "0" * 32, "stage": "boot", "reason": "x"},
        ResultIn: {"lease": "0" * 32, "run": run_document()},
        HardwareIn: {"name": "a/b"},
    }
    for field in model.model_fields:
        try:
            read = model.model_validate({**good[model], field: value})
        except ValidationError:
            continue
        assert storable_everywhere(read.model_dump(mode="json"))


@given(st.dictionaries(nasty_text, json_values, max_size=4))
@cases()
def test_facts_that_are_taken_can_be_stored(facts: dict[str, Any]) -> None:
    try:
        TypeAdapter(Facts).validate_python(facts)
    except ValidationError:
        return
    assert storable_everywhere(facts)


@given(nasty_text)
@cases()
def test_texts_are_judged_by_what_can_hold_them(text: str) -> None:
    assert storable(text).encode() is not None
    if not wrong_with_text(text):
        assert text.encode() is not None
    if not wrong_with_line(text):
        assert len(text.splitlines()) <= 1 or {"\x1c", "\x1d", "\x1e", "\x0b", "\x0c"} & set(text)


@given(nasty_text)
@example("w" * 100 + "@t+o")
@cases()
def test_a_mode_reads_as_it_is_written(text: str) -> None:
    try:
        mode = ModeName.parse(text)
    except ValueError:
        return
    assert ModeName.parse(str(mode)) == mode
    assert not wrong_with_line(str(mode))


@given(nasty_text)
@cases()
def test_a_side_reads_as_it_is_written(text: str) -> None:
    try:
        side = Side.parse(text)
    except SideError:
        return
    assert Side.parse(str(side)) == side


@given(nasty_text)
@cases()
def test_small_texts_of_addresses_and_forms_have_a_meaning_or_none(text: str) -> None:
    assert 0 <= read_number(text) <= NUMBER_MAX
    position = position_of(text)
    assert position is None or 0 <= position < 2 * 10**9
    for read, refused in ((read_percent, MinEffectError), (Target.read, BadToken)):
        reading: Callable[[str], Any] = read
        with contextlib.suppress(refused):
            reading(text)


@given(st.lists(st.tuples(st.sampled_from(["tree", "x", "y", "last", "mode", "pin"]), nasty_text)))
@cases()
def test_a_trend_reads_as_its_link_asks(pairs: list[tuple[str, str]]) -> None:
    query = QueryDict(mutable=True)
    for key, value in pairs:
        query.appendlist(key, value)
    wanted = TrendQuery.parse(query)
    again = QueryDict(mutable=True)
    for key, value in wanted.pairs():
        again.appendlist(key, value)
    assert TrendQuery.parse(again) == wanted


@given(nasty_text)
@cases()
def test_pasted_numbers_are_positive_and_bounded(text: str) -> None:
    try:
        boots = read_boots(text)
    except BisectError:
        return
    assert all(LEAST_VALUE <= value <= MOST_VALUE for boot in boots for value in boot)


@given(nasty_text, nasty_text)
@example("**/" * 90 + "x", "a/" * 200)
@example("*a" * 140, "a" * 2000)
@cases()
def test_path_patterns_match_in_bounded_time(text: str, path: str) -> None:
    try:
        patterns = read_patterns(text)
    except PatternsError as error:
        assert error.problems
        return
    for pattern in patterns:
        assert pattern.matches(path) in (True, False)


@given(nasty_text)
@cases()
def test_a_webhooks_url_is_read_or_refused(text: str) -> None:
    for url in (text, f"https://{text}", f"https://example.org:{text}/", f"http://[{text}]/"):
        try:
            assert parsed(url).hostname
        except AddressError as error:
            assert str(error)


commit_values = st.one_of(json_values, st.sampled_from(NASTY))


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                ["revision", "position", "author_name", "committed_at", "message", "paths"]
            ),
            commit_values,
        ),
        max_size=4,
    ),
    st.booleans(),
)
@cases()
def test_commits_as_json_lines_are_read_or_each_fault_named(
    rows: list[dict[str, Any]], named: bool
) -> None:
    text = "\n".join(json.dumps({"revision": "r1", **row} if named else row) for row in rows)
    _read_commits(text, "x.jsonl")


@given(nasty_text, st.sampled_from(["x.csv", "x.jsonl", ""]))
@example('{"revision": "r1", "position": ' + "1" * 5000 + "}", "x.jsonl")
@example("revision,committed_at\nr1,0001-01-01T00:00:00+23:59\n", "x.csv")
@example("revision,committed_at\nr1,9999-12-31T23:59:59-23:59\n", "x.csv")
@cases()
def test_commits_of_any_file_are_read_or_each_fault_named(text: str, name: str) -> None:
    _read_commits(text, name)
    _read_commits(f"revision,committed_at,subject\nr1,{text},x\n", "x.csv")


def _read_commits(text: str, name: str) -> None:
    try:
        commits = read_file(io.StringIO(text), name)
    except Unprocessable as error:
        assert error.problems
        return
    for commit in commits:
        assert commit.committed_at is None or EARLIEST <= commit.committed_at < LATEST_COMMIT
        assert storable_everywhere([commit.message, commit.subject, commit.author_name])


@given(st.integers() | st.integers(-(2**63), 2**63), nasty_text)
@example(2**63 - 1, "")
@example(-62_135_596_801, "")
@cases()
def test_a_commit_of_git_may_have_any_time_and_text(seconds: int, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    commit = logged(1, ["0" * 40, text, text, str(seconds), text, text], None)
    at = commit.committed_at
    assert at is None or at == datetime.fromtimestamp(seconds, UTC)


@given(st.lists(nasty_bytes, max_size=6), st.integers(1, 4))
@example([b"0x1p99999999999999999999"], 1)
@example([b"1" * 200_000], 1)
@cases()
def test_ministat_reads_a_column_or_names_the_line(lines: list[bytes], column: int) -> None:
    for token in b" ".join(lines).split()[:20]:
        value = number(token)
        assert value is None or math.isfinite(value)
    try:
        values = read_column(lines, name="x", column=column)
    except InvalidDataError as error:
        assert 1 <= error.line <= len(lines)
        return
    assert all(map(math.isfinite, values))


samples = st.lists(
    st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([1e300, -1e300])),
    min_size=3,
    max_size=8,
)


@given(samples, samples)
@example([1e300, 2e300, 3e300], [1.7e308, 1.7e308, -1.7e308])
@example([5e-324, 5e-324, 1e-323], [0.0, 0.0, 0.0])
@cases()
def test_figures_of_any_finite_samples_end_in_a_text(a: list[float], b: list[float]) -> None:
    assert ministat.render([("a", a), ("b", b)], separate_bars=True)
    try:
        assert compare(a, b).verdict.value
    except StatisticsError as error:
        assert str(error)


@given(nasty_text, st.lists(st.tuples(nasty_text, nasty_text, nasty_text), max_size=6))
@example("", [("r1", "1", "9" * 5000)])
@example("", [("r1", "1_000", "1"), ("r2", "\u0661", "2")])
@cases()
def test_a_series_as_csv_is_read_or_the_line_named(
    text: str, rows: list[tuple[str, str, str]]
) -> None:
    table = "".join(",".join(row) + "\n" for row in rows)
    for given_text in (text, f"revision,value,position\n{table}", f"revision,value,boot\n{table}"):
        try:
            points = read_points(io.StringIO(given_text))
        except BadSeriesError as error:
            assert "line" in str(error)
            continue
        assert all(is_sample(value) for point in points for value in point.samples)
        assert all(abs(point.position) < 2**62 for point in points)
