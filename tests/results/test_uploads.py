"""Runs of one revision that disagree: marked where the point is pooled, by all that is known."""

from typing import Any

import pytest

from tests import make
from tests.documents import run_document
from tests.results.steps import FLAT, analyse, upload
from webapp.analysis.models import Comparison
from webapp.results.errors import Unprocessable
from webapp.results.models import Agreement, Point, Run, Series
from webapp.results.services import count_together, undo_agreement, withdraw_run

pytestmark = pytest.mark.django_db


def measured(revision: str, factor: float = 1.0, **changes: Any) -> dict[str, Any]:
    samples = [1000 * value * factor for value in FLAT]
    return run_document(revision=revision, samples=samples, **changes)


def point(revision: str = "r300001") -> Point:
    return Point.objects.get(revision__name=revision)


def two_apart(factor: float = 1.6, revision: str = "r300001") -> Point:
    upload(measured(revision, build_id="one"))
    upload(measured(revision, factor, build_id="two"))
    return point(revision)


def test_two_configurations_of_one_revision_are_marked() -> None:
    marked = two_apart()
    assert marked.disagrees
    assert marked.runs == 2
