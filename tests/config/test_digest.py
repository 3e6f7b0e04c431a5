"""`manage.py digest`: what two instances are compared by."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from math import inf, nextafter
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import transaction

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.bisects import lab
from tests.documents import run_document
from webapp.alerts.models import Alert
from webapp.launcher.management.commands.digest import LEFT_OUT, NAMES, PARTS, digest, rows_of
from webapp.results.models import Hardware, Point, Run, Series
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
ATOM, XEON = "atom/nic", "xeon/nic"
# A loss on both machines, a dip that recovers, an improvement
STEPS = {
    (ATOM, "pf"): {15: 0.9},
    (XEON, "pf"): {15: 0.85},
    (ATOM, "ipfw"): {12: 0.8, 22: 1.25},
    (XEON, "forwarding"): {20: 1.1},
}
# The first of these alone
LOSS = {(ATOM, "pf"): {15: 0.9}}


@contextmanager
def instance() -> Iterator[None]:
    """A database of its own: what happens inside is undone."""
    forget_names()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    forget_names()


def lines() -> dict[str, str]:
    """Part → its line."""
    return {line.name: str(line) for line in digest()}


SEEDS = pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.release) for seed in (2, 3))]
)


def taken_in(documents: list[dict[str, Any]], *, batch: int = 1000) -> dict[str, str]:
    """The digest of an instance that took the runs in this order, so many at a time."""
    with instance():
        for start in range(0, len(documents), batch):
            arrive(documents[start : start + batch])
        return lines()


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before if before[name] != after[name]} - {"all"}


@SEEDS
def test_the_same_runs_in_another_order_and_other_portions_give_the_same(seed: int) -> None:
    documents = runs_of(STEPS)
    whole = taken_in(documents)
    for part in ("runs", "samples", "points", "noted-points", "analyses", "findings", "alerts"):
        assert not whole[part].endswith(" 0"), part
    shuffled = random.Random(seed).sample(documents, len(documents))
    assert taken_in(shuffled, batch=13) == whole


@SEEDS
def test_runs_that_disagree_are_the_same_ones_in_every_order(seed: int) -> None:
    """Marked by the belief, by what the series shows later, and not at all."""
    documents = runs_of(STEPS)
    for name, factor in (("r103", 1.6), ("r114", 1.06), ("r120", 1.2), ("r128", 1.001)):
        again = [one for one in documents if one["revision"] == name]
        documents += [_another_build(one, factor) for one in again]
    whole = taken_in(documents)
    with instance():
        arrive(documents)
        assert 0 < Point.objects.filter(disagrees=True).count() < 16
    shuffled = random.Random(seed).sample(documents, len(documents))
    assert taken_in(shuffled, batch=13) == whole


@SEEDS
def test_sessions_from_elsewhere_are_the_same_ones_in_every_order(seed: int) -> None:
    """One that stands beside its series, and one that begins a stretch of its own."""
    named = {"r118": "alone", **{f"r{at}": "next" for at in range(124, 130)}}
    documents = []
    for one in runs_of(STEPS):
        session = named.get(one["revision"], "year")
        factor = 1.0 if session == "year" else 0.9
        documents.append(_another_build(one, factor) | {"evidence": {"session": session}})
    whole = taken_in(documents)
    with instance():
        arrive(documents)
        assert Point.objects.filter(beside__isnull=False).count() == len(STEPS)
        assert all(len(one.begun_sessions) == 1 for one in Series.objects.all())
    shuffled = random.Random(seed).sample(documents, len(documents))
    assert taken_in(shuffled, batch=13) == whole


def _another_build(document: dict[str, Any], factor: float) -> dict[str, Any]:
    pps = document["metrics"]["pps"]
    samples = [value * factor for value in pps["samples"]]
    metrics = {"pps": pps | {"samples": samples}}
    named = str(UUID(int=UUID(document["uuid"]).int ^ 1))
    return document | {"uuid": named, "build_id": "another", "metrics": metrics}


def test_a_changed_sample_changes_what_follows_from_it_and_nothing_else() -> None:
    documents = [*runs_of(LOSS), run_document(hardware="lone/nic")]
    before = taken_in(documents)
    documents[-1]["metrics"]["pps"]["samples"][0] += 1
    assert changed(before, taken_in(documents)) == {"runs", "samples", "points", "analyses"}


def test_the_last_bit_of_a_sample_counts() -> None:
    one = run_document(samples=[635734.0, 625167.0])
    other = run_document(samples=[635734.0, 625167.0], uuid=one["uuid"])
    other["metrics"]["pps"]["samples"][0] = nextafter(635734.0, inf)
    assert "samples" in changed(taken_in([one]), taken_in([other]))


def test_a_missing_run_is_missed() -> None:
    documents = runs_of(LOSS)
    after = taken_in(documents[:-1])
    assert {"runs", "samples", "points"} <= changed(taken_in(documents), after)


def test_what_people_decided_counts_and_when_it_arrived_does_not() -> None:
    arrive(runs_of(LOSS))
    before = lines()
    Run.objects.update(received_at=make.DAY_ONE)
    assert lines() == before
    Hardware.objects.filter(name=ATOM).update(description="in rack 4")
    assert changed(before, lines()) == {"hardware"}


def test_a_withdrawn_run_changes_what_was_concluded_from_it() -> None:
    arrive([*runs_of(LOSS), run_document(hardware="lone/nic")])
    before = lines()
    run = Run.objects.get(hardware__name="lone/nic")
    withdraw_run(run=run, by=make.user(), reason="a fan failed")
    assert changed(before, lines()) == {"people", "runs", "points"}


def test_an_alert_that_the_clock_closed_is_the_same_alert() -> None:
    arrive(runs_of({(ATOM, "ipfw"): {12: 0.8, 22: 1.25}}))
    alert = Alert.objects.get(state=Alert.State.RECOVERED)
    before = lines()
    Alert.objects.filter(pk=alert.pk).update(state="resolved", resolution="fixed")
    assert lines() == before


def test_a_bisect_is_written_with_the_names_of_its_commits() -> None:
    rows = []
    for _ in range(2):
        with instance():  # ids are never given twice, so the second one has others
            lab.start(lab.Truth())
            rows.append(list(rows_of(next(part for part in PARTS if part.name == "bisects"))))
    assert rows[0] == rows[1]
    assert f'"{lab.name(9)}"' in rows[0][0]


def test_the_command_prints_one_line_a_part_and_states_when_it_is_not_final() -> None:
    arrive([run_document()])
    out, err = StringIO(), StringIO()
    call_command("digest", stdout=out, stderr=err)
    printed = out.getvalue().splitlines()
    assert printed == [str(line) for line in digest()]
    assert [line.split()[0] for line in printed] == [*(part.name for part in PARTS), "all"]
    assert err.getvalue() == ""
    series = Run.objects.get().measurements.get().series
    type(series).objects.update(dirty_from=0, dirty_since=make.DAY_ONE)
    call_command("digest", stdout=out, stderr=err)
    assert err.getvalue().startswith("1 series wait for their analysis")


def test_the_rows_of_one_part_can_be_compared() -> None:
    arrive([run_document(uuid="3f2504e0-4f89-11d3-9a0c-0305e82c3301")])
    out = StringIO()
    call_command("digest", "--rows", "runs", stdout=out)
    assert '"uuid": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"' in out.getvalue()
    assert "received_at" not in out.getvalue()


def test_every_table_is_a_part_or_left_out_for_a_reason() -> None:
    ours = {
        model._meta.label for model in apps.get_models() if model.__module__.startswith("webapp.")
    }
    parts = {part.model for part in PARTS}
    assert ours <= parts | LEFT_OUT.keys()
    assert not parts & LEFT_OUT.keys()
    assert NAMES.keys() <= ours
