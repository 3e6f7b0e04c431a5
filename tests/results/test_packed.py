"""Packed columns give back what was stored."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from webapp.results.models import Run
from webapp.results.packed import SourcesField

FILES = 5
DIGESTS = FILES * 32
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex) | texts
files = st.fixed_dictionaries({"path": texts, "sha256": digests})


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


@pytest.mark.django_db
def test_models_read_and_write_plain_data() -> None:
    at = make.revision("r303643")
    runs = [make.run(at, sources=sources()), make.run(at)]
    for run in runs:
        run.refresh_from_db()
    assert [run.sources for run in runs] == [sources(), []]
    found = Run.objects.order_by("pk").values_list("sources", flat=True)
    assert list(found) == [sources(), []]
