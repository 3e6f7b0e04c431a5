"""The rules by which a lab's archive is filed, given anything: an answer that keeps its promise."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from labagent.limits import FACTS_BYTES
from labagent.readers.benchlab import typed_facts
from pydantic import ValidationError

from tests.documents import run_document
from tests.fuzzing import cases, nasty_text
from webapp.analysis.queries import Side, SideError
from webapp.analysis.queries.options import knob_number
from webapp.api.events import EventIn
from webapp.api.schemas.runs import BatchIn
from webapp.api.trees import ReleaseIn
from webapp.charts import small
from webapp.charts.small import Level
from webapp.charts.svg import style_of
from webapp.results.fact_names import MOST_NAMES, cut, ends, intervals_of, kept_facts
from webapp.results.identity import Bound, Evidence, Known, identify
from webapp.results.models.subjects import FACT_VALUE_MAX
from webapp.results.spellings import ModeName
from webapp.stats.upload_consistency import History, judge, may_disagree, upload_of

pytestmark = pytest.mark.fuzz

HASHES = ("97be6fced7d", "97be6fced7d0a1b2", "1234567890a", "97be6fc", "0123456")
revisions = st.one_of(
    st.sampled_from(
        ["", "r303643", "r303653", "r303654", "n257521", "n277567", "c255632", *HASHES]
    ),
    st.from_regex(r"[rnc][0-9]{1,7}", fullmatch=True),
    st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True),
)
hashes = st.one_of(st.sampled_from(["", *HASHES]), st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True))
names = st.one_of(
    nasty_text,
    st.builds("fbsd14-main.{}-{}".format, revisions, hashes),
    st.builds("{}{}".format, revisions, st.sampled_from(["", "D33658", ".VIMAGE", "yandex"])),
)
evidence = st.builds(
    Evidence,
    label=names,
    image=names,
    kernel_hash=hashes,
    kernel_revision=revisions,
    image_revision=revisions,
    label_revision=revisions,
    trust=st.sampled_from(["", "kernel", "label"]),
    session=nasty_text,
)
counts = st.tuples(st.integers(0, 300_000), st.integers(0, 300_000))
known = st.builds(
    Known,
    bound=st.none() | st.builds(Bound, name=revisions.filter(bool), names=st.lists(revisions)),
    pairs=st.lists(counts, max_size=3),
    counts_all=st.booleans(),
)


@given(revisions.filter(bool), evidence, known)
@cases()
def test_a_run_is_filed_or_has_two_commits_to_choose_from(
    sent: str, sent_with: Evidence, tree: Known
) -> None:
    found = identify(sent, sent_with, tree)
    assert found == identify(sent, sent_with, tree)
    if found.waits:
        one, other = (each.revision for each in found.candidates)
        assert one
        assert other
        assert one != other
        assert sent_with.trust == ""
    else:
        assert found.revision


@given(st.from_regex(r"[0-9a-f]{7,40}", fullmatch=True), st.integers(7, 40), st.integers(7, 40))
@cases()
def test_two_beginnings_of_one_hash_never_contradict_one_another(
    found: str, one: int, other: int
) -> None:
    label = f"fbsd14-main.n257521-{found[:one]}"
    by_label = Evidence(label=label, label_revision="n257521", kernel_revision="n257521")
    agreeing = replace(by_label, kernel_hash=found[:other])
    assert not identify("n257521", agreeing).waits


parts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@given(st.lists(parts, min_size=2, max_size=len(fields(Side))))
@example(["a:b", "%3A", "", "", "", "a:b%"])
@example(["a~b", "%7E", "", "", "", "", "a~:b%"])
@cases()
def test_a_side_is_read_back_as_it_was_written_session_and_variant_included(
    given_parts: list[str],
) -> None:
    assume(given_parts[0] and given_parts[1])
    side = Side(*given_parts)
    assert Side.parse(str(side)) == side


@given(nasty_text)
@cases()
def test_any_text_is_a_side_or_none(text: str) -> None:
    try:
        side = Side.parse(text)
    except SideError:
        return
    assert Side.parse(str(side)) == side


EVENT = {"kind": "hardware", "text": "a NIC", "hardware": "a/b", "happened_at": "2026-01-01T00:00Z"}
values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), nasty_text, st.just([]))


@given(st.dictionaries(st.sampled_from([*EventIn.model_fields, "x"]), values, max_size=4))
@cases()
def test_any_event_is_read_or_refused(changes: dict[str, Any]) -> None:
    try:
        event = EventIn.model_validate(EVENT | changes)
    except ValidationError:
        return
    assert event.names().kind == (EVENT | changes)["kind"]
    assert event.text.strip()
    assert "\0" not in event.text


RELEASE = {"tree": "freebsd-head", "name": "11.0", "revision": "r306420"}


@given(st.dictionaries(st.sampled_from([*ReleaseIn.model_fields, "x"]), values, max_size=3))
@cases()
def test_any_release_is_read_or_refused(changes: dict[str, Any]) -> None:
    try:
        assert ReleaseIn.model_validate(RELEASE | changes).name
    except ValidationError:
        return


@given(st.dictionaries(st.sampled_from(list(Evidence.__dataclass_fields__)), values, max_size=4))
@cases()
def test_any_evidence_is_read_or_refused(changes: dict[str, Any]) -> None:
    try:
        batch = BatchIn.model_validate({"runs": [run_document(evidence=changes)]})
    except ValidationError:
        return
    stored = batch.runs[0].document().evidence
    assert stored is not None
    assert len(stored.session_name) <= 300
    identify("r303643", stored)


options = st.from_regex(r"[a-z][a-z.]{0,6}(=-?[0-9]{1,4}(\.[0-9])?|=[a-z]{1,3}|=)?", fullmatch=True)


@given(st.lists(options, max_size=5), st.from_regex(r"[a-z][a-z.]{0,6}", fullmatch=True))
@cases()
def test_a_mode_is_its_knob_and_the_rest(given_options: list[str], knob: str) -> None:
    name = ModeName.of("pf", None, [*given_options, f"{knob}=7"])
    found = name.at_knob(knob)
    assert found is not None
    rest, value = found
    assert ModeName.of("pf", None, [*rest.options, f"{knob}={value}"]) == name


@given(nasty_text)
@cases()
def test_any_value_of_a_knob_is_a_finite_number_or_none(text: str) -> None:
    found = knob_number(text)
    assert found is None or abs(found) < 1e31


finite = st.floats(-1e15, 1e15, allow_nan=False)


@given(st.lists(st.builds(Level, finite, finite, finite, finite), max_size=8), nasty_text)
@cases()
def test_any_curve_is_drawn_within_its_frame(levels: list[Level], knob: str) -> None:
    ordered = sorted(levels, key=lambda one: one.value)
    image = small.draw_curve(ordered, knob=knob, unit="x", style=style_of(mode_id=1))
    assert "nan" not in image.split("</title>")[1].split("<text")[0]
    assert image.count("<circle") == len(levels)


json_values: st.SearchStrategy[Any] = st.recursive(
    values,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["cpu", "typed", "sysctl", "uname", "é", ""]), inner)
    ),
    max_leaves=20,
)


@given(json_values, st.lists(options, max_size=3))
@cases()
def test_any_facts_are_short_lines(facts: Any, given_options: list[str]) -> None:
    found = kept_facts(facts, given_options)
    assert len(found) <= MOST_NAMES
    assert all(text.strip() == text and 0 < len(text) <= FACT_VALUE_MAX for text in found.values())


DAY = datetime(2026, 1, 1, tzinfo=UTC)
observed = st.lists(
    st.tuples(st.integers(0, 20).map(lambda day: DAY + timedelta(day)), st.sampled_from("abcd")),
    max_size=40,
)


@given(observed, observed)
@cases()
def test_facts_are_the_same_whatever_comes_first(before: list[Any], new: list[Any]) -> None:
    parts = intervals_of(before)
    torn = cut(parts, new)
    again = [
        (at, value)
        for at, value in before
        if any(one.value == value and one.first <= at <= one.last for one in torn)
    ]
    assert intervals_of([*ends(parts), *again, *new]) == intervals_of([*new, *before])


@given(nasty_text, st.lists(st.builds("- {}\n".format, nasty_text), max_size=40))
@cases()
def test_any_readme_is_read_and_fits(head: str, bullets: list[str]) -> None:
    found = typed_facts(head + "\n" + "".join(bullets))
    assert len(repr(found)) < FACTS_BYTES


uploads = st.lists(
    st.tuples(
        st.lists(st.floats(1e-15, 1e15), min_size=1, max_size=4),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(["", "one", "other", "third"]),
        st.booleans(),
    ),
    max_size=7,
)
histories = st.none() | st.builds(History, st.floats(0.3, 50), st.sampled_from([1.0, 8.0, 64.0]))


@given(uploads, histories)
@cases()
def test_any_uploads_and_sessions_are_judged_whatever_their_order(
    drawn: list[Any], history: History | None
) -> None:
    made = [
        upload_of(str(at), build, samples, list(range(len(samples))) if numbered else None, session)
        for at, (samples, build, session, numbered) in enumerate(drawn)
    ]
    its = [one for one in made if one is not None]
    found, back = judge(its, history), judge(its[::-1], history)
    assert (found is None) == (back is None)
    if found is not None and back is not None:
        assert found.is_beyond_noise == back.is_beyond_noise
        assert 0.0 <= found.chance <= 1.0
        assert found.percent >= 0.0
        assert may_disagree(its) or not found.is_beyond_noise
