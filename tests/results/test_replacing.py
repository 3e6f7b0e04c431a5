"""A run whose content is replaced stays, withdrawn; nobody replaces another lab's."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from tests.analysis.test_at_once import at_once
from tests.results.steps import FLAT, an_agent, analyse, measured, mode, upload
from tests.system.running import wait_for
from webapp.accounts.models import User
from webapp.analysis import services
from webapp.analysis.models import Finding
from webapp.analysis.queries import compared_at
from webapp.api.schemas.runs import RunIn
from webapp.labs import services as labs
from webapp.results.documents import Conflict, Forbidden, Recorded, Unprocessable
from webapp.results.models import Hardware, Kernel, Point, Revision, Run
from webapp.results.services import forget_names, restore_run, withdraw_run

pytestmark = pytest.mark.django_db
WAITING_FOR_US = """
SELECT pid FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid
"""


def replace(
    *documents: dict[str, Any], lab: str = "netlab", agent: str = "control", history: bool = False
) -> Recorded:
    runs = [RunIn.model_validate(document).document() for document in documents]
    sender = labs.create_agent(name=agent, lab_name=lab)
    return services.store_runs(
        agent=sender, runs=runs, register=True, replace=True, history=history
    )


def samples_of(run: Run) -> list[float]:
    return run.measurements.get().samples


def test_a_replaced_run_stays_with_its_samples_and_names_its_successor() -> None:
    upload(document := measured("r20"))
    done = replace(measured("r20", 0.5, uuid=document["uuid"]), agent="second")
    assert [len(done.stored), len(done.replaced)] == [0, 1]
    old, new = Run.objects.order_by("pk")
    assert (samples_of(old), samples_of(new)) == (FLAT, [value / 2 for value in FLAT])
    assert (old.is_withdrawn, new.is_withdrawn) == (True, False)
    assert old.superseded_by == new
    assert old.withdrawn_at == new.received_at
    assert old.withdrawn_reason
    assert (old.agent.name, new.agent.name) == ("control", "second")
    assert Run.objects.current().get() == new


def test_points_and_conclusions_are_those_of_the_new_run_alone() -> None:
    """The other tree never saw what was replaced."""
    for tree in ("replaced", "quiet"):
        upload(*(measured(f"r{n}", 1 if n < 30 else 0.8, tree=tree) for n in range(10, 50)))
    wrong = measured("r21", 0.5, tree="replaced")
    upload(wrong)
    analyse()
    replace(measured("r25", 0.9, uuid=wrong["uuid"], tree="replaced"))
    upload(measured("r25", 0.9, tree="quiet"))
    analyse()
    assert _concluded("replaced") == _concluded("quiet")


def _concluded(tree: str) -> list[list[tuple[Any, ...]]]:
    columns = ["position", "n", "runs", "builds", "boots", "mean", "median", "variance"]
    points = Point.objects.filter(series__tree__name=tree).order_by("position")
    revisions = Revision.objects.filter(tree__name=tree)
    findings = Finding.objects.filter(series__tree__name=tree).exclude(state="retracted")
    return [
        list(points.values_list(*columns)),
        [one._replace(series_id=0, revision_id=0, previous_id=0) for one in compared_at(revisions)],
        list(findings.values_list("position", "state", "verdict", "change_pct", "low_pct")),
    ]


def test_what_was_replaced_can_be_replaced_again() -> None:
    upload(document := measured("r20"))
    for factor in (2, 3):
        replace(measured("r20", factor, uuid=document["uuid"]))
    first, second, third = Run.objects.order_by("pk")
    assert (first.superseded_by, second.superseded_by, third.superseded_by) == (second, third, None)
    assert Point.objects.get().n == len(FLAT)


def test_replacing_twice_with_the_same_content_stores_it_once() -> None:
    upload(document := measured("r20"))
    other = measured("r20", 2, uuid=document["uuid"])
    replace(other)
    assert replace(other).known
    assert Run.objects.count() == 2


def test_what_was_known_before_is_no_longer_the_current_content() -> None:
    upload(document := measured("r20"))
    replace(measured("r20", 2, uuid=document["uuid"]))
    with pytest.raises(Conflict, match="samples"):
        upload(document)


def test_a_run_uploaded_as_history_stays_history() -> None:
    """An archive that is read anew must not mail years of old changes to everybody."""
    document = measured("r20")
    replace(document, history=True)
    replace(measured("r20", 2, uuid=document["uuid"]))
    assert Run.objects.current().get().history


def test_a_withdrawal_by_a_person_outlives_a_replacement() -> None:
    upload(document := measured("r20"))
    person = User.objects.create_user("ada")
    withdraw_run(run=Run.objects.get(), by=person, reason="fan failed")
    done = replace(measured("r20", 2, uuid=document["uuid"]))
    new = Run.objects.current().get()
    assert (new.withdrawn_by, new.withdrawn_reason) == (person, "fan failed")
    assert not Point.objects.exists()
    assert "fan failed" in done.warnings[new.uuid][0]
    restore_run(run=new)
    assert Point.objects.get().mean == 200.0


def test_a_superseded_run_is_not_reinstated() -> None:
    upload(document := measured("r20"))
    replace(measured("r20", 2, uuid=document["uuid"]))
    with pytest.raises(Unprocessable, match=r"was replaced by .*netlab/control"):
        restore_run(run=Run.objects.get(superseded_by__isnull=False))
    assert Point.objects.get().mean == 200.0


def test_the_database_keeps_a_superseded_run_withdrawn_and_a_uuid_current_once() -> None:
    upload(document := measured("r20"))
    replace(measured("r20", 2, uuid=document["uuid"]))
    old = Run.objects.filter(superseded_by__isnull=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        old.update(withdrawn_at=None, withdrawn_reason="")
    with pytest.raises(IntegrityError), transaction.atomic():
        old.update(superseded_by=None)


@pytest.mark.parametrize("hardware", ["bench/nic", "evil/nic"])
def test_another_labs_run_is_forbidden_whatever_hardware_is_sent(hardware: str) -> None:
    upload(document := measured("r20"))
    stolen = measured("r20", 0.5, uuid=document["uuid"], hardware=hardware)
    with pytest.raises(Forbidden, match="another lab"):
        replace(stolen, lab="evil")
    run = Run.objects.get()
    assert (run.hardware.name, samples_of(run), run.is_withdrawn) == ("bench/nic", FLAT, False)
    assert not Hardware.objects.filter(name="evil/nic").exists()


def test_another_labs_run_is_forbidden_without_replace_too() -> None:
    upload(document := measured("r20"))
    with pytest.raises(Forbidden):
        upload(measured("r20", 2, uuid=document["uuid"], hardware="evil/nic"), lab="evil")


def test_a_batch_with_one_run_of_another_lab_stores_nothing() -> None:
    upload(document := measured("r20"))
    theirs = measured("r20", 2, uuid=document["uuid"], hardware="evil/nic")
    with pytest.raises(Forbidden, match=r"runs\[1\]\.uuid"):
        replace(measured("r21", hardware="evil/nic"), theirs, lab="evil")
    assert Run.objects.count() == 1


def test_the_lab_that_was_given_the_machine_replaces_its_runs() -> None:
    upload(document := measured("r20"))
    heir = an_agent("heir")
    Hardware.objects.update(lab=heir.lab)
    forget_names()
    assert replace(measured("r20", 2, uuid=document["uuid"]), lab="heir").replaced
    with pytest.raises(Forbidden):
        replace(measured("r20", 3, uuid=document["uuid"], hardware="own/nic"))


class TestAtOnce:
    pytestmark = pytest.mark.django_db(transaction=True)

    def test_of_many_replacements_each_supersedes_the_one_before(self) -> None:
        upload(document := measured("r20"))
        works = [_replacing(document["uuid"], factor) for factor in range(2, 10)]
        assert at_once(*works) == []
        runs = list(Run.objects.all())
        assert len(runs) == 9
        current = Run.objects.current().get()
        superseding = {run.superseded_by_id for run in runs} - {None}
        assert len(superseding) == 8
        assert Point.objects.get().mean == sum(samples_of(current)) / len(FLAT)

    def test_replacements_and_uploads_of_many_series_do_not_deadlock(self) -> None:
        modes = [mode(f"load{number}") for number in range(8)]
        stored = [measured("r20", mode=one) for one in modes]
        upload(*stored)
        others = [[measured(f"r{number}", mode=one) for one in modes] for number in (21, 22, 23)]
        turned = [
            measured("r20", 2, uuid=one["uuid"], mode=modes[-1 - place])
            for place, one in enumerate(stored)
        ]
        works: list[Callable[[], object]] = [
            *(lambda batch=batch: upload(*batch) for batch in others),  # type: ignore[misc]
            *(lambda one=one: replace(one) for one in turned),  # type: ignore[misc]
        ]
        assert at_once(*works) == []
        assert Run.objects.current().count() == 8 * 4
        assert Point.objects.count() == 8 * 4

    def test_a_kernel_that_another_upload_makes_meanwhile_is_stored_once(self) -> None:
        raised: list[Exception] = []
        document = measured("r20", build_id="new")
        other = Thread(target=lambda: raised.extend(at_once(lambda: upload(document))))
        with transaction.atomic(), connection.cursor() as cursor:
            kernel = Kernel.objects.create(build_id="new", ident=document["kernel_ident"])
            other.start()

            def waits() -> bool:
                cursor.execute(WAITING_FOR_US)
                return cursor.fetchone() is not None

            wait_for(lambda: waits() or not other.is_alive(), seconds=60)
        other.join()
        assert raised == []
        assert Run.objects.get().kernel == kernel

    def test_an_upload_and_a_replacement_of_a_new_run_leave_one_current(self) -> None:
        document = measured("r20")
        other = measured("r20", 2, uuid=document["uuid"])
        upload(measured("r19"))
        raised = at_once(lambda: upload(document), lambda: replace(other))
        assert all(isinstance(error, Conflict) for error in raised)
        current = Run.objects.current().get(uuid=document["uuid"])
        assert samples_of(current) == [value * 2 for value in FLAT]

    def test_a_withdrawal_and_a_replacement_leave_points_and_runs_in_agreement(self) -> None:
        upload(document := measured("r20"))
        for factor in range(2, 6):
            run = Run.objects.current().get()
            works: list[Callable[[], object]] = [
                _replacing(document["uuid"], factor),
                lambda run=run: withdraw_run(run=run, by=None, reason="bad"),  # type: ignore[misc]
            ]
            assert at_once(*works) == []
            assert Run.objects.current().count() == 1
            assert Run.objects.counted().count() == Point.objects.count()


def _replacing(uuid: str, factor: float) -> Callable[[], object]:
    return lambda: replace(measured("r20", factor, uuid=uuid))
