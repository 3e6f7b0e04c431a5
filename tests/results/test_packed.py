"""Packed columns give back what was stored."""

import hashlib
import json
import random
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from webapp.results.models import Run
from webapp.results.packed import BootsField, SamplesField, SourcesField, StateField
from webapp.stats.changes.online_state import pack

FILES = 5
DIGESTS = FILES * 32
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex) | texts
files = st.fixed_dictionaries({"path": texts, "sha256": digests})
columns = st.lists(st.floats(allow_nan=False), max_size=40).map(pack)
values = (
    columns | texts | st.from_regex(r"[A-Za-z0-9+/]{32,60}={0,2}", fullmatch=True) | st.integers()
)
states = st.dictionaries(texts, values | st.lists(values) | st.dictionaries(texts, values))
"""As the detector has them, and texts that are nearly columns."""


def sources(count: int = FILES) -> list[dict[str, str]]:
    """Those of one run, as a lab's archive has them."""
    return [
        {
            "path": f"fbsd12-head.r303643/raw/bench.303642.forwarding.{n}.receiver",
            "sha256": hashlib.sha256(str(n).encode()).hexdigest(),
        }
        for n in range(count)
    ]


@given(st.lists(files, max_size=5))
def test_sources_are_what_they_were(stored: list[dict[str, Any]]) -> None:
    assert SourcesField.unpack(SourcesField.pack(stored)) == stored


def test_paths_of_one_directory_take_little_beside_their_digests() -> None:
    assert len(SourcesField.pack(sources())) < DIGESTS + len(json.dumps(sources()[0]))


@given(st.lists(st.floats(allow_nan=False)))
def test_samples_are_what_they_were(stored: list[float]) -> None:
    assert SamplesField.unpack(SamplesField.pack(stored)) == stored


@given(st.lists(st.integers(0, 300) | st.integers(-(2**31), 2**31 - 1)))
def test_boots_are_what_they_were(stored: list[int]) -> None:
    assert BootsField.unpack(BootsField.pack(stored)) == stored


@given(states)
def test_states_are_what_they_were(state: dict[str, Any]) -> None:
    assert StateField.unpack(StateField.pack(state)) == state


@given(states)
def test_states_of_the_former_form_are_read(state: dict[str, Any]) -> None:
    assert StateField.unpack(zlib.compress(json.dumps(state).encode())) == state


def test_columns_of_like_numbers_take_less_than_their_text_deflated() -> None:
    rng = random.Random(1)
    state = {"ring": {name: pack([rng.gauss(100, 1) for _ in range(96)]) for name in "abc"}}
    assert len(StateField.pack(state)) < 0.9 * len(zlib.compress(json.dumps(state).encode()))


@pytest.mark.django_db
def test_models_read_and_write_plain_data() -> None:
    at = make.revision("r303643")
    runs = [make.run(at, sources=sources()), make.run(at)]
    for run in runs:
        run.refresh_from_db()
    assert [run.sources for run in runs] == [sources(), []]
    found = Run.objects.order_by("pk").values_list("sources", flat=True)
    assert list(found) == [sources(), []]
