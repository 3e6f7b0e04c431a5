"""Runs that are under aliases and a label rule while a fact of their machine changes: whatever the
order in which these come and go, each run is filed once, and the facts are those of its machine."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.results.aliasing import alias, run, undo
from tests.results.steps import analyse, upload
from webapp.alerts.models import Alert
from webapp.merging.services import refile_by_label_rules
from webapp.results.models import Hardware, HardwareFact, LabelRule, Point, Run
from webapp.results.services import forget_names, rebuild_facts

pytestmark = pytest.mark.django_db
OLD, NEW = "old/nic", "new/nic"
Undo = Callable[[], object]
KNOB = "hw.cxgbe.nrxq"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_names()


def sent(day: int, cpu: str, queues: int, hardware: str = OLD) -> dict[str, Any]:
    """A run of an image, with an option that a rule may take for a knob; of its fact `cpu` and of
    the knob it gives a value."""
    facts = {"cpu": cpu, "sysctl": {KNOB: queues}}
    return run(
        f"r{day}",
        options=["uma", f"{queues}nrxq"],
        hardware=hardware,
        facts=facts,
        measured_at=f"2026-01-{day:02}T12:00:00+00:00",
    )


def documents() -> list[dict[str, Any]]:
    """The processor of the machine changes between the second and the third."""
    return [sent(1, "Atom", 4), sent(2, "Atom", 8), sent(3, "Xeon", 8), sent(4, "Xeon", 4, NEW)]


def filed() -> dict[str, set[tuple[str, int]]]:
    """``hardware mode~variant`` → (revision, runs) of its points."""
    found: dict[str, set[tuple[str, int]]] = {}
    rows = Point.objects.with_subjects().select_related("revision", "series__variant")
    for row in rows:
        variant = f"~{row.series.variant.name}" if row.series.variant else ""
        key = f"{row.series.hardware.name} {row.series.mode}{variant}"
        found.setdefault(key, set()).add((row.revision.name, row.runs))
    return found


def facts() -> set[tuple[str, str, str, str, str]]:
    """Hardware, name, value, first and last day of each interval."""
    return {
        (
            row.hardware.name,
            row.name,
            row.value,
            f"{row.first_seen:%d}",
            f"{row.last_seen:%d}",
        )
        for row in HardwareFact.objects.select_related("hardware")
    }


def found_anew() -> set[tuple[str, str, str, str, str]]:
    for hardware in Hardware.objects.all():
        rebuild_facts(hardware.pk)
    return facts()


def stored() -> list[tuple[str, str]]:
    """Identity and content of every run."""
    return sorted((str(one.uuid), one.digest) for one in Run.objects.all())


def add_workload() -> Undo:
    row = alias()
    return lambda: undo(row)


def add_hardware() -> Undo:
    row = alias(OLD, NEW, "hardware")
    return lambda: undo(row)


def add_rule(pattern: str, kind: str, name: str = "") -> Undo:
    """A rule of operators; taking it back deletes it."""
    rule = LabelRule.objects.create(pattern=pattern, kind=kind, name=name)
    refile_by_label_rules()

    def end() -> None:
        rule.delete()
        refile_by_label_rules()

    return end


def add_image() -> Undo:
    return add_rule("uma", LabelRule.Kind.IMAGE)


def add_knob() -> Undo:
    return add_rule("*nrxq", LabelRule.Kind.KNOB, KNOB)


ACTS = (add_workload, add_hardware, add_image, add_knob)
ORDERS = [[(first + step * at) % 4 for at in range(4)] for first in range(4) for step in (1, -1)]
"""Of the acts by number: each comes first, last, and before and after each other one."""

AS_SENT = {
    f"{OLD} fastforwarding+4nrxq+uma": {("r1", 1)},
    f"{OLD} fastforwarding+8nrxq+uma": {("r2", 1), ("r3", 1)},
    f"{NEW} fastforwarding+4nrxq+uma": {("r4", 1)},
}
AS_MEANT = {
    f"{NEW} forwarding+{KNOB}=4~uma": {("r1", 1), ("r4", 1)},
    f"{NEW} forwarding+{KNOB}=8~uma": {("r2", 1), ("r3", 1)},
}
FACTS_AS_SENT = {
    (OLD, "cpu", "Atom", "01", "02"),
    (OLD, "cpu", "Xeon", "03", "03"),
    (OLD, f"sysctl.{KNOB}", "4", "01", "01"),
    (OLD, f"sysctl.{KNOB}", "8", "02", "03"),
    (NEW, "cpu", "Xeon", "04", "04"),
    (NEW, f"sysctl.{KNOB}", "4", "04", "04"),
}
FACTS_AS_MEANT = {(NEW, "cpu", "Atom", "01", "02"), (NEW, "cpu", "Xeon", "03", "04")}
"""What is a knob of the mode is no fact of the machine."""


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_in_whatever_order_they_come_and_go_runs_and_facts_are_those_of_what_holds(
    order: list[int],
) -> None:
    given = documents()
    upload(*given)
    runs = stored()
    assert (filed(), facts()) == (AS_SENT, FACTS_AS_SENT)
    on_the_way = []

    undoes = []
    for number in order:
        undoes.append(ACTS[number]())
        on_the_way.append((filed(), facts()))
        assert facts() == found_anew()
    assert (filed(), facts()) == (AS_MEANT, FACTS_AS_MEANT)
    again = upload(*given)
    assert len(again.known) == len(given)
    assert (filed(), stored()) == (AS_MEANT, runs)

    for take_back, (was_filed, were_facts) in zip(
        reversed(undoes), [*reversed(on_the_way[:-1]), (AS_SENT, FACTS_AS_SENT)], strict=True
    ):
        take_back()
        assert (filed(), facts()) == (was_filed, were_facts)
    assert stored() == runs


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_taken_back_in_any_order_all_is_as_it_was_sent(order: list[int]) -> None:
    upload(*documents())
    undoes = [act() for act in ACTS]
    assert filed() == AS_MEANT
    for number in order:
        undoes[number]()
        assert facts() == found_anew()
    assert (filed(), facts()) == (AS_SENT, FACTS_AS_SENT)


def test_what_comes_while_all_hold_is_filed_and_reported_likewise_and_goes_back_with_them() -> None:
    undoes = [act() for act in (add_image, add_knob)]
    given = documents()
    upload(given[0], given[3])
    undoes += [add_workload(), add_hardware()]
    upload(given[1], given[2])
    assert (filed(), facts()) == (AS_MEANT, FACTS_AS_MEANT)
    for take_back in undoes:
        take_back()
    assert (filed(), facts()) == (AS_SENT, FACTS_AS_SENT)
    assert len(upload(*given).known) == 4


def test_an_alert_of_aliased_runs_stays_when_a_rule_makes_a_knob_of_their_option() -> None:
    for at in range(20):
        upload(
            run(
                f"r{100 + at}",
                options=["4nrxq"],
                factor=1000 * (1.0 if at < 12 else 0.8),
                hardware=NEW,
            )
        )
    alias()
    analyse()
    alert = Alert.objects.get()
    assert alert.is_active
    take_back = add_knob()
    analyse()
    alert.refresh_from_db()
    assert [row.pk for row in Alert.objects.filter(is_active=True)] == [alert.pk]
    assert {row.series.mode.name for row in alert.findings.all()} == {f"forwarding+{KNOB}=4"}
    take_back()
    analyse()
    assert [row.pk for row in Alert.objects.filter(is_active=True)] == [alert.pk]
