"""Agreeing candidates: stored as the series say, shown until an alert says more, never mailed."""

import random
from collections.abc import Mapping, Sequence
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import numpy as np
import pytest

from tests.alerts.steps import LEVEL, Place, arrive, revision_of
from tests.documents import run_document
from webapp.alerts.models import Agreement, Alert, AlertEvent
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.outbox.models import Mail
from webapp.results.models import Series

pytestmark = pytest.mark.django_db

PLACES: Sequence[Place] = [(f"Box-{m}/em0", f"mode-{i}") for m in range(3) for i in range(3)]
MOVED = PLACES[:6]
COUNT, AT = 30, 29
HEAD, OTHER = "freebsd-head", "freebsd-stable-11"
SMALL, LARGE = 0.9885, 0.95


def runs(
    steps: Mapping[int, float],
    *,
    count: int = COUNT,
    one_build: bool = False,
    tree: str = HEAD,
    scatter: float = 0.004,
) -> list[dict[str, Any]]:
    """Runs of nine series, of which six change by factors from indices on; builds scatter by
    themselves, alike in every tree. With ``one_build`` all machines measured the same build of a
    revision.
    """
    noise = np.random.default_rng(5)
    documents = []
    for i in range(count):
        for hardware, workload in PLACES:
            moved = [by for at, by in steps.items() if at <= i and (hardware, workload) in MOVED]
            level = LEVEL * float(np.prod(moved)) * np.exp(noise.normal(0, scatter))
            documents.append(
                run_document(
                    uuid=str(uuid4()),
                    tree=tree,
                    revision=f"r{100 + i}",
                    hardware=hardware,
                    mode={"workload": workload, "traffic": None, "options": []},
                    samples=(level * np.exp(noise.normal(0, scatter, 5))).tolist(),
                    build_id=f"r{100 + i} built {'once' if one_build else f'for {hardware}'}",
                )
            )
    return documents


def told(tree: str = HEAD) -> list[tuple[str, str, str, str, int, int]]:
    rows = Agreement.objects.filter(tree__name=tree).select_related("after", "likeliest", "last")
    return [
        (r.after.name, r.likeliest.name, r.last.name, r.verdict, r.series, r.received) for r in rows
    ]


def test_series_that_fall_together_are_shown_while_none_is_proven() -> None:
    arrive(runs({AT: SMALL}))
    ((after, likeliest, last, verdict, series, received),) = told()
    assert (after, likeliest, last, verdict, received) == ("r128", "r129", "r129", "worse", 9)
    assert 5 <= series <= 7
    row = Agreement.objects.get()
    assert (row.machines, row.received_machines) in {(2, 3), (3, 3)}
    assert row.change_pct == pytest.approx(-1.15, abs=0.6)
    assert not Finding.objects.exclude(state=Finding.State.CANDIDATE).exists()


def test_nobody_is_told_and_no_alert_is_opened() -> None:
    arrive(runs({AT: SMALL}))
    assert Agreement.objects.exists()
    assert not Alert.objects.exists()
    assert not AlertEvent.objects.exists()
    assert not Mail.objects.exists()


def test_without_a_change_nothing_is_shown() -> None:
    arrive(runs({}))
    assert SeriesAnalysis.objects.filter(recent__isnull=False).count() == len(PLACES)
    assert told() == []


def test_too_young_a_series_says_nothing() -> None:
    arrive(runs({3: LARGE}, count=4))
    assert not SeriesAnalysis.objects.filter(recent__isnull=False).exists()
    assert told() == []


def test_it_goes_when_the_next_revision_says_otherwise() -> None:
    documents = runs({AT: SMALL, AT + 1: 1 / SMALL}, count=COUNT + 3)
    arrive([one for one in documents if revision_of(one) <= 129])
    assert told()
    arrive([one for one in documents if revision_of(one) > 129])
    assert told() == []


def test_an_alert_takes_its_place() -> None:
    documents = runs({AT: LARGE}, count=COUNT + 2)
    arrive([one for one in documents if revision_of(one) <= 129])
    assert Agreement.objects.shown().exists()
    arrive([one for one in documents if revision_of(one) > 129])
    assert Alert.objects.filter(is_active=True).exists()
    assert not Agreement.objects.shown().exists()


def test_the_order_of_arrival_does_not_matter() -> None:
    arrive(runs({AT: SMALL}))
    documents = runs({AT: SMALL}, tree=OTHER)
    random.Random(1).shuffle(documents)
    for part in range(0, len(documents), 40):
        arrive(documents[part : part + 40])
    one, other = (
        Agreement.objects.filter(tree__name=tree).values_list("score", "here", "change_pct")
        for tree in (HEAD, OTHER)
    )
    assert told(OTHER) == told() != []
    assert list(other) == list(one)


def test_looking_again_writes_nothing() -> None:
    arrive(runs({AT: SMALL}))
    before = list(Agreement.objects.values())
    Series.objects.update(dirty_from=0, dirty_since="2026-01-01T00:00Z")
    analyse_dirty_series()
    assert list(Agreement.objects.values()) == before


def test_an_error_in_the_middle_leaves_nothing_half_written() -> None:
    documents = runs({AT: SMALL})
    arrive([one for one in documents if revision_of(one) < 129])
    before = list(SeriesAnalysis.objects.values("pk", "recent"))
    broken = RuntimeError("out of memory")
    with (
        patch("webapp.alerts.services.agreeing.Agreement.objects.bulk_create", side_effect=broken),
        pytest.raises(RuntimeError),
    ):
        arrive([one for one in documents if revision_of(one) == 129])
    assert told() == []
    assert list(SeriesAnalysis.objects.values("pk", "recent")) == before
    assert Series.objects.dirty().count() == len(PLACES)
    assert analyse_dirty_series().finished == len(PLACES)
    assert told()


def test_one_build_on_all_machines_is_one_build() -> None:
    """The same figures, from three machines that ran one kernel, are one build's word."""
    arrive(runs({AT: SMALL}))
    arrive(runs({AT: SMALL}, one_build=True, tree=OTHER))
    apart = Agreement.objects.get(tree__name=HEAD)
    together = Agreement.objects.filter(tree__name=OTHER, score__gte=apart.score)
    assert not together.exists()
