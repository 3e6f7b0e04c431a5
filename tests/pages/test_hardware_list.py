"""`/hardware/`: which machines work, and what can they see?"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted, words
from webapp.jobs.models import Worker
from webapp.jobs.queries import machines
from webapp.results.models import Hardware, Mode, Series

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def measured(
    name: str, *, days_ago: float = 0.2, history: bool = False, now: datetime | None = None
) -> Hardware:
    """A machine with one run, so long ago."""
    machine = make.hardware(name)
    at = (now or timezone.now()) - timedelta(days=days_ago)
    make.run(make.revision("r300000"), on=machine, measured_at=at, received_at=at, history=history)
    return machine


def test_without_hardware_the_list_states_how_to_add_some(visit: Visit) -> None:
    assert "labagent hardware add" in visit("/hardware/")


def test_a_machine_is_called_by_its_cpu_with_the_exact_name_on_hover(
    client: Client, visit: Visit
) -> None:
    measured("Atom_C2758_8Cores/Chelsio_T540-CR")
    assert "Atom C2758 8Cores Chelsio T540-CR" in visit("/hardware/")
    assert 'title="Atom_C2758_8Cores/Chelsio_T540-CR"' in client.get("/hardware/").content.decode()


def test_the_headline_counts_runs_and_names_who_fell_silent(
    client: Client, visit: Visit, approved: Approvals
) -> None:
    measured("Fresh/em0")
    assert "1 run in two weeks on 1 machine" in visit("/hardware/")
    measured("Gone/em0", days_ago=16)
    approved(
        "pages/hardware-list/the-headline-counts-runs-and-names-who-fell-silent",
        client.get("/hardware/"),
    )


def test_runs_are_counted_by_days_back_from_this_hour_and_a_fast_clock_counts_as_today() -> None:
    now = timezone.now().replace(minute=59, second=59)  # the end of this hour
    for hours in (-30, -1, 1, 23.9, 24.1, 47.9, 24 * 3 - 0.1, 24 * 3 + 0.1):
        measured("One/em0", days_ago=hours / 24, now=now)
    measured("One/em0", history=True)
    [machine] = machines(now=now, days=3)
    assert (machine.days, machine.imported) == ([1, 2, 4], 1)


def test_a_machine_of_history_alone_reads_imported_and_never_silent(
    client: Client, approved: Approvals
) -> None:
    measured("Old/em0", days_ago=3000, history=True)
    page = client.get("/hardware/")
    approved("pages/hardware-list/a-machine-of-history-alone-reads-imported-and-never", page)
    text = words(page.content.decode())
    assert "silent 3" not in text


def test_a_worker_that_spoke_lately_keeps_a_machine_alive(visit: Visit) -> None:
    machine = measured("Gone/em0", days_ago=30)
    now = timezone.now()
    serves = [{"hardware": machine.pk, "modes": None, "trees": None, "rebuilds": True}]
    Worker.objects.create(
        agent=make.agent(), name="w", serves=serves, first_seen_at=now, last_seen_at=now
    )
    text = visit("/hardware/")
    assert "on 1 machine" in text
    assert "30 days ago" in text
    Worker.objects.update(last_seen_at=now - timedelta(minutes=6))
    assert "silent 30 days" in visit("/hardware/")


def test_the_largest_changes_are_drawn_and_the_rest_is_counted(
    client: Client, visit: Visit
) -> None:
    along = make.revisions(6)
    for number in range(5):
        series = make.series(in_mode=f"mode-{number}")
        make.history(series, along, [100.0] * 6)
        make.analysis(series, count=6, smallest={"pct": 2.0 + number})
        make.finding(series, along[2], along[3], change_pct=-3.0 - number)
    make.point(make.series(in_mode="single"), along[0])
    text = visit("/hardware/")
    assert "mode-4 ▾ −7.0 % " in text
    assert "mode-1 ▾" not in text
    assert "+ 3 modes: 1 of 1 revision, ▾ 2" in text
    page = client.get("/hardware/").content.decode()
    assert page.count('class="small-tile"') == 3
    assert "from 2.0 to 6.0 %" in page
    stable = make.series(of=make.tree("freebsd-stable-11"), in_mode="mode-4")
    make.point(stable, make.revision("r310000", of=stable.tree))
    assert "+ 4 series: 2 of 1 revision, ▾ 2" in visit("/hardware/"), "a mode twice"


def test_open_losses_of_a_machine_are_counted_and_lead_to_its_inbox(client: Client) -> None:
    along = make.revisions(4)
    series = make.series()
    make.history(series, along, [100.0] * 4)
    make.finding(series, along[0], along[1], alert=make.alert(along[1], after=along[0]))
    page = client.get("/hardware/").content.decode()
    assert 'href="/alerts/?hardware=Atom_C2758/T540-CR"' in page
    assert "▾ 1" in page


def test_the_list_can_be_asked_for_one_kind_of_machine(visit: Visit) -> None:
    measured("Fresh/em0")
    measured("Gone/em0", days_ago=16)
    measured("Old/em0", days_ago=3000, history=True)
    rows = {
        show: visit(f"/hardware/?show={show}").partition("Open orange-lab")[2]
        for show in ("reporting", "silent", "imported", "nonsense")
    }
    assert {show: [name for name in ("Fresh", "Gone", "Old") if f"{name} em0" in text]
            for show, text in rows.items()} == {
        "reporting": ["Fresh"],
        "silent": ["Gone"],
        "imported": ["Old"],
        "nonsense": ["Fresh", "Gone", "Old"],
    }  # fmt: skip


def test_names_from_outside_are_escaped(client: Client) -> None:
    machine = make.hardware("<i>box/<u>nic", of=make.lab("<b>lab"))
    along = make.revisions(2)
    make.history(make.series(on=machine, in_mode="<s>mode"), along, [1.0, 1.0])
    page = client.get("/hardware/").content.decode()
    assert not [part for part in ("<i>box", "<u>nic", "<b>lab", "<s>mode") if part in page]


def test_the_number_of_statements_does_not_grow(queries: Counted) -> None:
    measured("One/em0")
    make.point(make.series(on=make.hardware("One/em0")), make.revision("r300000"))
    make.point(make.series(on=make.hardware("One/em0")), make.revision("r300003"))
    few = queries("/hardware/")
    for number in range(5):
        machine = measured(f"Box-{number}/em0")
        for name in ("r300000", "r300003"):
            make.point(make.series(on=machine), make.revision(name))
    assert queries("/hardware/") == few <= 5


def test_tiles_drawn_before_cost_two_statements_less_until_they_change(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    along = make.revisions(4)
    series = make.series(in_mode="pf")
    make.history(series, along, [100.0, 100.0, 90.0, 90.0])
    with django_assert_max_num_queries(5) as first:
        before = client.get("/hardware/").content.decode()
    with django_assert_max_num_queries(len(first) - 2):
        assert client.get("/hardware/").content.decode() == before
    make.finding(series, along[1], along[2], change_pct=-23.4)
    make.analysis(series, count=4)
    assert "23.4" in client.get("/hardware/").content.decode()
    with transaction.atomic():  # each change of a name is in one of its own
        Mode.objects.update(name="pf2")
    assert ">pf2</span>" in client.get("/hardware/").content.decode()
    Series.objects.update(version=F("version") + 1)
    with django_assert_max_num_queries(5) as again:
        client.get("/hardware/")
    assert len(again) == len(first)
