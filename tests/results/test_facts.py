"""From when to when a machine had which facts."""

import random
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import run_document
from tests.results.steps import an_agent, upload
from webapp.alerts.queries import machine_named
from webapp.events.models import LabEvent
from webapp.jobs.queries import machines
from webapp.merging.services import merge_hardware
from webapp.results.fact_names import (
    MOST_NAMES,
    Interval,
    cut,
    ends,
    intervals_of,
    kept_facts,
    shares_word,
)
from webapp.results.models import Hardware, HardwareFact
from webapp.results.models.subjects import FACT_VALUE_MAX
from webapp.results.services import rebuild_facts
from webapp.results.services.subjects import rename_hardware

DAY_ZERO = datetime(2026, 1, 1, 12, tzinfo=UTC)
OBSERVED = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), max_size=30)


def day(number: int) -> datetime:
    return DAY_ZERO + timedelta(days=number)


def with_facts(number: int | None, hardware: str = "bench/nic", **facts: Any) -> dict[str, Any]:
    """A run of a day that has these facts."""
    at = day(number).isoformat() if number is not None else None
    return run_document(hardware=hardware, measured_at=at, facts=facts)


def intervals(name: str = "cpu", hardware: str = "bench/nic") -> list[tuple[int, str, int]]:
    """(first day, value, last day) of each value of a fact."""
    rows = HardwareFact.objects.filter(name=name, hardware__name=hardware)
    return [
        ((row.first_seen - DAY_ZERO).days, row.value, (row.last_seen - DAY_ZERO).days)
        for row in rows.order_by("first_seen", "value")
    ]


# The rule


def test_equal_values_beside_one_another_are_one_interval() -> None:
    seen = [(day(at), value) for at, value in ((3, "b"), (1, "a"), (2, "a"), (4, "a"))]
    assert intervals_of(seen) == [
        Interval(day(1), "a", day(2)),
        Interval(day(3), "b", day(3)),
        Interval(day(4), "a", day(4)),
    ]


@given(OBSERVED, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(
    seen: list[tuple[int, str]], shuffle: random.Random
) -> None:
    ordered = [(day(at), value) for at, value in seen]
    other = list(ordered)
    shuffle.shuffle(other)
    assert intervals_of(ordered) == intervals_of(other)


@given(OBSERVED)
def test_intervals_are_in_order_hold_every_observation_and_change_at_each_step(
    seen: list[tuple[int, str]],
) -> None:
    found = intervals_of((day(at), value) for at, value in seen)
    starts = [(one.first, one.value) for one in found]
    assert starts == sorted(starts)
    assert all(a.value != b.value and a.last <= b.first for a, b in pairwise(found))
    for at, value in seen:
        assert any(one.value == value and one.first <= day(at) <= one.last for one in found)


@given(OBSERVED, OBSERVED)
def test_intervals_that_nothing_cuts_stand_for_all_their_observations(
    before: list[tuple[int, str]], new: list[tuple[int, str]]
) -> None:
    old = [(day(at), value) for at, value in before]
    arrived = [(day(at), value) for at, value in new]
    known = intervals_of(old)
    torn = cut(known, arrived)
    of_torn = [
        one for one in old if any(p.value == one[1] and p.first <= one[0] <= p.last for p in torn)
    ]
    assert intervals_of([*ends(known), *of_torn, *arrived]) == intervals_of(old + arrived)


# Which facts


def test_only_what_the_table_names_is_kept_of_a_machine() -> None:
    facts = {
        "cpu": " Atom  C2758. ",
        "sender_command": "pkt-gen",
        "iterations": ["1"],
        "sysctl": {"net.inet.ip.redirect": 0, "hw.cxgbe.nXxq": "5"},
        "typed": {"nic": "T540-CR", "bullets": ["2000 flows"]},
        "bios": None,
    }
    found = kept_facts(facts, ["hw.cxgbe.nXxq=5", "VIMAGE"])
    assert {(name, source): value for (name, source), value in found.items()} == {
        ("cpu", "measured"): "Atom C2758",
        ("sysctl.net.inet.ip.redirect", "measured"): "0",
        ("nic", "typed"): "T540-CR",
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cpu", "typed", "sysctl", "x", ""]), inner, max_size=3
            )
        ),
        max_leaves=12,
    )
)
def test_any_facts_give_short_lines(facts: Any) -> None:
    found = kept_facts(facts, [])
    assert len(found) <= MOST_NAMES
    assert all(value and len(value) <= FACT_VALUE_MAX for value in found.values())
    assert not any("\n" in value or "\x00" in value for value in found.values())


# Stored runs

pytestmark = pytest.mark.django_db


def test_a_fact_has_a_first_and_a_last_day() -> None:
    upload(with_facts(1, cpu="Atom"), with_facts(5, cpu="Atom"), with_facts(7, cpu="Xeon"))
    assert intervals() == [(1, "Atom", 5), (7, "Xeon", 7)]


def test_an_old_archive_that_comes_later_ends_no_newer_fact() -> None:
    upload(with_facts(7, cpu="Xeon"))
    upload(with_facts(9, cpu="Xeon"))
    upload(with_facts(1, cpu="Atom"), history=True)
    assert intervals() == [(1, "Atom", 1), (7, "Xeon", 9)]
    (holding,) = HardwareFact.objects.newest()
    assert holding.value == "Xeon"


def test_a_value_in_the_middle_cuts_an_interval_where_its_runs_are() -> None:
    for at in (1, 3, 6, 9):
        upload(with_facts(at, cpu="Atom"))
    upload(with_facts(4, cpu="Xeon"))
    assert intervals() == [(1, "Atom", 3), (4, "Xeon", 4), (6, "Atom", 9)]


def test_a_run_without_a_time_counts_when_it_arrived() -> None:
    upload(with_facts(1, cpu="Atom"))
    upload(with_facts(None, cpu="Xeon"))
    assert [value for _, value, _ in intervals()] == ["Atom", "Xeon"]


def test_any_order_of_uploads_gives_the_same_facts_as_finding_them_anew() -> None:
    shuffle = random.Random(20260101)
    for trial in range(12):
        name = f"bench{trial}/nic"
        documents = [
            with_facts(
                shuffle.randrange(12),
                name,
                cpu=shuffle.choice("abc"),
                typed={"nic": shuffle.choice("xy")},
            )
            for _ in range(15)
        ]
        rest = list(documents)
        while rest:
            size = shuffle.randrange(1, 5)
            upload(*rest[:size])
            rest = rest[size:]
        kept = [intervals(fact, name) for fact in ("cpu", "nic")]
        machine = Hardware.objects.get(name=name)
        agreed = machine.agreed_cpu, machine.agreed_nic
        rebuild_facts(machine.pk)
        machine.refresh_from_db()
        assert agreed == (machine.agreed_cpu, machine.agreed_nic)
        assert kept == [intervals(fact, name) for fact in ("cpu", "nic")]


def test_machines_alike_have_names_of_their_own() -> None:
    for name in ("amd1/nic0", "amd2/nic0", "amd2/nic1", "amd3/T540"):
        upload(with_facts(1, name, cpu="EPYC", nic="T540"))
        upload(with_facts(2, name, cpu="EPYC", nic="T540"))
    called = {machine.name: str(machine) for machine in Hardware.objects.all()}
    assert called == {
        "amd1/nic0": "EPYC T540",
        "amd2/nic0": "amd2 T540",
        "amd2/nic1": "amd2 nic1",
        "amd3/T540": "amd3 T540",
    }


SLIPPED = "Xeon_E5-2697Av4_16Cores/Intel_82599EB"


def called(name: str) -> set[str]:
    """The NIC of a machine wherever it is read."""
    machine = Hardware.objects.get(name=name)
    (row,) = (one for one in machines(now=timezone.now(), days=14) if one.id == machine.pk)
    found = machine_named(name)
    assert found is not None
    return {one.called.second for one in (machine, row, found.hardware)}


def test_a_machine_is_called_as_registered_where_a_few_readmes_name_another() -> None:
    copied, own = {"nic": "Intel 82580"}, {"nic": "Dual port Intel 82599EB"}
    upload(*(with_facts(at, SLIPPED, typed=own) for at in range(19)), history=True)
    upload(*(with_facts(at, SLIPPED, typed=copied) for at in (20, 21)), history=True)
    assert called(SLIPPED) == {"Dual port Intel 82599EB"}
    upload(*(with_facts(at, SLIPPED, typed=copied) for at in range(30, 70)), history=True)
    assert called(SLIPPED) == {"Intel 82599EB"}


def test_a_typed_fact_that_names_nothing_registered_is_no_name() -> None:
    upload(with_facts(1, SLIPPED, typed={"nic": "Dell R630, 2 Intel E5-2697A"}), history=True)
    upload(with_facts(1, "Atom_C2758/T540", typed={"nic": "Quad Chelsio T540-CR"}), history=True)
    assert called(SLIPPED) == {"Intel 82599EB"}
    assert called("Atom_C2758/T540") == {"Quad Chelsio T540-CR"}
    rename_hardware(
        hardware=Hardware.objects.get(name="Atom_C2758/T540"), name="Atom_C2758/Intel_i350"
    )
    assert called("Atom_C2758/Intel_i350") == {"Intel i350"}


def test_what_is_measured_names_a_machine_before_what_is_typed() -> None:
    upload(with_facts(1, SLIPPED, nic="82599ES SFI/SFP+", typed={"nic": "Intel 82599EB"}))
    assert called(SLIPPED) == {"82599ES SFI/SFP+"}


@pytest.mark.parametrize(
    ("text", "registered", "does"),
    [
        ("Intel Xeon E5-2650", "Xeon_E5-2650_8Cores", True),
        ("Intel Xeon E5-2697A", "Xeon_E5-2650_8Cores", False),
        ("AMD Opteron 8 cores", "Opteron_8Cores", True),
        ("Mellanox ConnectX-4", "Mellanox", True),
        ("Chelsio T520", "Chelsio_T540-CR", False),
        ("", "Intel", False),
    ],
)
def test_a_model_is_named_by_itself_and_not_by_its_vendor(
    text: str, registered: str, does: bool
) -> None:
    assert shares_word(text, registered) is does


def test_a_replaced_run_gives_no_facts_any_more() -> None:
    document = with_facts(1, cpu="Atom")
    upload(document)
    other = {**document, "facts": {"cpu": "Xeon"}, "build_id": "another"}
    upload(other, replace=True)
    assert intervals() == [(1, "Xeon", 1)]


def test_a_run_sent_again_changes_nothing() -> None:
    document = with_facts(1, cpu="Atom")
    upload(document)
    upload(document)
    assert intervals() == [(1, "Atom", 1)]


def test_merged_hardware_has_the_facts_of_both() -> None:
    upload(
        with_facts(1, "old/nic", cpu="Atom"),
        with_facts(3, "new/nic", cpu="Atom"),
        with_facts(2, "new/nic", cpu="Xeon"),
    )
    old, new = (Hardware.objects.get(name=name) for name in ("old/nic", "new/nic"))
    merge_hardware(source=old, into=new)
    assert intervals(hardware="new/nic") == [(1, "Atom", 1), (2, "Xeon", 2), (3, "Atom", 3)]


def test_the_number_of_statements_does_not_grow_with_the_batch() -> None:
    counts = []
    for size in (1, 2, 8, 30):
        runs = [
            with_facts(at, cpu=f"cpu {at % 3}", sysctl={f"a.b{at % 7}": at}, uname=f"FreeBSD {at}")
            for at in range(size)
        ]
        with CaptureQueriesContext(connection) as captured:
            upload(*runs)
        counts.append(
            sum("hardwarefact" in one["sql"] or "NO KEY UPDATE" in one["sql"] for one in captured)
        )
    assert max(counts) <= 6


def test_filling_prints_what_it_did() -> None:
    upload(with_facts(1, cpu="Atom"), with_facts(2, cpu="Xeon"), with_facts(2, "other/nic"))
    HardwareFact.objects.all().delete()
    out = StringIO()
    call_command("fill_facts", stdout=out)
    assert out.getvalue() == "bench/nic: 2 values of facts\nother/nic: 0 values of facts\n"
    assert intervals() == [(1, "Atom", 1), (2, "Xeon", 2)]
    call_command("fill_facts", "--hardware", "bench/nic", stdout=out)
    with pytest.raises(CommandError, match="no hardware 'nope'"):
        call_command("fill_facts", "--hardware", "nope")


# Events


def texts() -> list[str]:
    return list(LabEvent.objects.order_by("pk").values_list("text", flat=True))


def test_a_changed_fact_is_an_event_that_names_both_values() -> None:
    upload(with_facts(1, cpu="Atom"))
    upload(with_facts(2, cpu="Xeon"))
    event = LabEvent.objects.get()
    assert event.text == "cpu: Xeon, before Atom"
    assert (event.kind, event.source, event.begins_epoch) == ("hardware", "fact", False)
    assert (event.hardware and event.hardware.name, event.happened_at) == ("bench/nic", day(2))


def test_several_facts_that_change_together_are_one_event() -> None:
    upload(with_facts(1, cpu="Atom", bios="1.0", typed={"nic": "i350"}))
    upload(with_facts(2, cpu="Xeon", bios="1.1", typed={"nic": "T540"}))
    assert texts() == [
        "bios: 1.1, before 1.0\ncpu: Xeon, before Atom\nnic: T540, before i350 (typed)"
    ]
    assert LabEvent.objects.get().kind == "hardware"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"cpu": "Atom C2758"}, {"cpu": "ATOM  c2758."}),
        (
            {"uname": "FreeBSD 12 r1", "release": "12.0"},
            {"uname": "FreeBSD 13 r2", "release": "13"},
        ),
        ({"sender_command": "a"}, {"sender_command": "b"}),
        ({}, {"cpu": "Atom"}),
        ({"cpu": "Atom"}, {}),
    ],
)
def test_no_event_is_made_of(first: dict[str, str], second: dict[str, str]) -> None:
    upload(with_facts(1, **first))
    upload(with_facts(2, **second))
    assert texts() == []


def test_imported_history_shows_changes_and_records_no_event() -> None:
    upload(*(with_facts(at, cpu=f"cpu {at}") for at in range(6)), history=True)
    assert len(intervals()) == 6
    assert texts() == []


def test_what_arrives_late_records_no_event() -> None:
    upload(with_facts(5, cpu="Xeon"))
    upload(with_facts(2, cpu="Atom"))
    assert texts() == []


def test_an_event_that_was_withdrawn_does_not_come_back() -> None:
    upload(with_facts(1, cpu="Atom"))
    upload(with_facts(2, cpu="Xeon"))
    upload(with_facts(2, cpu="Xeon"))
    assert len(texts()) == 1


def test_a_batch_that_is_refused_leaves_no_fact() -> None:
    an_agent()
    document = with_facts(1, cpu="Atom")
    with pytest.raises(Exception, match="hardware"):
        upload(document, register=False)
    assert not HardwareFact.objects.exists()
