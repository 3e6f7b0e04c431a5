"""Renaming and merging hardware, modes and revisions."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction

from tests import make
from tests.documents import run_document
from tests.results.steps import (
    FLAT,
    an_agent,
    analyse,
    measured,
    ministat_verdicts,
    mode,
    names_of,
    upload,
)
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import NotedPoint, SeriesAnalysis
from webapp.merging.services import merge_hardware, merge_modes, merge_revisions
from webapp.results.documents import Forbidden, Unprocessable
from webapp.results.models import (
    Hardware,
    HardwareAlias,
    Mode,
    ModeAlias,
    Point,
    Revision,
    Run,
    Series,
)
from webapp.results.services import forget_names, restore_run, withdraw_run
from webapp.results.services.database import begin_reshaping, begin_writing
from webapp.results.services.history import import_revisions
from webapp.results.services.subjects import register_hardware, rename_hardware

pytestmark = pytest.mark.django_db


def hardware(name: str) -> Hardware:
    return Hardware.objects.get(name=name)


def test_registering_hardware_twice_keeps_the_first() -> None:
    lab = an_agent().lab
    row, new = register_hardware(lab=lab, name="a/b", description="first")
    assert new
    again, new = register_hardware(lab=lab, name="a/b", description="second")
    assert (again, new, again.description) == (row, False, "first")


def test_registering_under_a_former_name_finds_the_renamed() -> None:
    lab = an_agent().lab
    row, _ = register_hardware(lab=lab, name="a/b")
    rename_hardware(hardware=row, name="c/d")
    assert register_hardware(lab=lab, name="a/b") == (row, False)


def test_hardware_of_another_lab_is_not_registered_again() -> None:
    register_hardware(lab=an_agent("one").lab, name="a/b")
    with pytest.raises(Forbidden):
        register_hardware(lab=an_agent("two").lab, name="a/b")


def test_uploads_under_a_former_name_of_hardware_arrive() -> None:
    first = measured("r1", hardware="old/nic")
    upload(first)
    rename_hardware(hardware=hardware("old/nic"), name="new/nic")
    recorded = upload(first, measured("r2", hardware="old/nic"), register=False)
    assert (len(recorded.stored), len(recorded.known)) == (1, 1)
    assert {point.series.hardware.name for point in Point.objects.all()} == {"new/nic"}


def test_a_renamed_hardware_makes_its_series_new_versions() -> None:
    upload(measured("r1"))
    before = Series.objects.get().version
    rename_hardware(hardware=Hardware.objects.get(), name="new/nic")
    assert Series.objects.get().version > before


def test_hardware_may_take_its_former_name_back() -> None:
    upload(measured("r1", hardware="a"))
    for name in ("b", "a", "a"):
        rename_hardware(hardware=Hardware.objects.get(), name=name)
    assert Hardware.objects.get().name == "a"
    assert [alias.name for alias in HardwareAlias.objects.all()] == ["b"]


@pytest.mark.parametrize("name", ["", "a b", "a//b", "/a", "a?b", "x" * 201, "a\n"])
def test_hardware_takes_no_name_that_an_upload_could_not_send(name: str) -> None:
    upload(measured("r1"))
    with pytest.raises(Unprocessable, match="is no name"):
        rename_hardware(hardware=Hardware.objects.get(), name=name)


def test_hardware_takes_no_name_that_browsers_take_out_of_an_address() -> None:
    upload(measured("r1"))
    with pytest.raises(Unprocessable, match="give another name"):
        rename_hardware(hardware=Hardware.objects.get(), name="lab/..")


def test_hardware_does_not_take_a_name_in_use_now_or_before() -> None:
    upload(measured("r1", hardware="a"), measured("r1", hardware="b"))
    rename_hardware(hardware=hardware("b"), name="c")
    for name in ("b", "c"):
        with pytest.raises(Unprocessable, match="is taken; merge the two instead"):
            rename_hardware(hardware=hardware("a"), name=name)


def test_merged_hardware_pools_its_samples_and_is_analysed_anew() -> None:
    upload(*(measured(f"r{i}", hardware="into") for i in (10, 30)))
    upload(*(measured(f"r{i}", 0.9, hardware="source") for i in (20, 40)))
    upload(measured("r10", hardware="source"))
    analyse()
    merge_hardware(source=hardware("source"), into=hardware("into"))
    analyse()
    assert ministat_verdicts() == {"r20": "worse", "r30": "better", "r40": "worse"}
    assert [point.n for point in Point.objects.order_by("position")] == [10, 5, 5, 5]
    assert (Series.objects.count(), SeriesAnalysis.objects.count()) == (1, 1)
    assert not Run.objects.exclude(hardware__name="into").exists()


def test_a_merge_gives_what_uploading_under_one_name_would_have_given() -> None:
    documents = [
        measured(f"r{i % 7}", 1 + i / 100, hardware=name, mode=mode(load))
        for i in range(20)
        for name, load in [("a", "x"), ("b", "x"), ("b", "y")]
    ]
    upload(*documents)
    merge_hardware(source=hardware("b"), into=hardware("a"))
    merge_modes(source=Mode.objects.get(name="y"), into=Mode.objects.get(name="x"))
    analyse()
    merged = everything_concluded()
    for model in (NotedPoint, Point, Run, Series, Hardware, ModeAlias, Mode):
        model.objects.all().delete()
    upload(*(one | {"hardware": "a", "mode": mode("x")} for one in documents))
    analyse()
    assert everything_concluded() == merged


def everything_concluded() -> list[object]:
    points = Point.objects.order_by("position").values_list("position", "n", "mean", "variance")
    compared = [(one.position, one.percent, one.verdict) for one in make.compared()]
    return [list(points), compared]


def test_a_series_that_only_the_source_had_stays_the_same_series() -> None:
    upload(measured("r1", hardware="into"))
    upload(measured("r1", hardware="source", mode=mode("other")))
    kept = Series.objects.get(hardware__name="source").pk
    merge_hardware(source=hardware("source"), into=hardware("into"))
    assert Series.objects.get(pk=kept).hardware.name == "into"


def test_uploads_under_merged_names_arrive() -> None:
    first = measured("r1", hardware="source", mode=mode("old", "VIMAGE"))
    upload(first, measured("r1", hardware="into", mode=mode("new")))
    rename_hardware(hardware=hardware("source"), name="renamed")
    merge_hardware(source=hardware("renamed"), into=hardware("into"))
    merge_modes(source=Mode.objects.get(workload="old"), into=Mode.objects.get(workload="new"))
    assert len(upload(first, register=False).known) == 1
    second = [measured("r2", hardware=name, mode=first["mode"]) for name in ("source", "renamed")]
    upload(*second, register=False)
    assert Series.objects.count() == 1
    assert Point.objects.get(revision__name="r2").n == 10


def test_a_merged_series_keeps_a_withdrawn_run_out() -> None:
    upload(measured("r1", hardware="into"), bad := measured("r1", 0.5, hardware="source"))
    run = Run.objects.get(uuid=bad["uuid"])
    withdraw_run(run=run, by=None, reason="wrong kernel")
    merge_hardware(source=hardware("source"), into=hardware("into"))
    assert Point.objects.get().n == 5
    restore_run(run=run)
    assert Point.objects.get().n == 10


def test_a_thing_is_not_merged_into_itself_or_another_labs() -> None:
    upload(measured("r1", hardware="a"))
    upload(measured("r1", hardware="b", tree="other"), lab="elsewhere")
    with pytest.raises(Unprocessable, match="choose another one"):
        merge_hardware(source=hardware("a"), into=hardware("a"))
    with pytest.raises(Unprocessable, match="another lab"):
        merge_hardware(source=hardware("a"), into=hardware("b"))
    with pytest.raises(Unprocessable, match="another tree"):
        merge_revisions(
            source=Revision.objects.get(tree__name="other"),
            into=Revision.objects.get(tree__name="freebsd-head"),
        )


def test_merged_revisions_pool_their_samples_and_names() -> None:
    upload(measured("r10"), measured("r20", 0.9), measured("abcdef1", 0.9, position=15))
    analyse()
    assert ministat_verdicts() == {"abcdef1": "worse", "r20": "cannot tell"}
    source = Revision.objects.get(name="abcdef1")
    merge_revisions(source=source, into=Revision.objects.get(name="r20"))
    analyse()
    assert ministat_verdicts() == {"r20": "worse"}
    assert [point.n for point in Point.objects.order_by("position")] == [5, 10]
    assert names_of("r20") == {"r20", "abcdef1"}


def test_a_run_withdrawn_before_its_revision_was_merged_comes_back_there() -> None:
    upload(measured("r20"), bad := measured("abcdef1", position=15))
    run = Run.objects.get(uuid=bad["uuid"])
    withdraw_run(run=run, by=None, reason="wrong kernel")
    merge_revisions(
        source=Revision.objects.get(name="abcdef1"), into=Revision.objects.get(name="r20")
    )
    restore_run(run=run)
    assert Point.objects.get().n == 10


def in_a_thread(work: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def assert_it_waits(work: Callable[[], object], *, while_another: Callable[[], None]) -> None:
    with transaction.atomic():
        while_another()
        thread = in_a_thread(work)
        thread.join(0.3)
        assert thread.is_alive()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", ["upload", "analysis"])
def test_writers_wait_while_an_operator_reshapes(work: str) -> None:
    upload(measured("r1"))
    tasks: dict[str, Callable[[], object]] = {
        "upload": lambda: upload(measured("r2")),
        "analysis": analyse_dirty_series,
    }
    assert_it_waits(tasks[work], while_another=begin_reshaping)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", ["import", "rename", "merge"])
def test_an_operator_waits_while_somebody_writes(work: str) -> None:
    upload(measured("r1", hardware="a"), measured("r1", hardware="b"))
    tasks: dict[str, Callable[[], object]] = {
        "import": lambda: import_revisions(tree_name="freebsd-head", commits=[]),
        "rename": lambda: rename_hardware(hardware=hardware("a"), name="c"),
        "merge": lambda: merge_hardware(source=hardware("a"), into=hardware("b")),
    }
    assert_it_waits(tasks[work], while_another=begin_writing)


@pytest.mark.django_db(transaction=True)
def test_uploads_and_analyses_in_the_middle_of_merges_lose_nothing() -> None:
    """Names that another process still remembers lead to rows that are gone; that is mended."""
    for i in range(4):
        upload(measured("r1", hardware=f"machine{i}"), measured("r1", hardware="into"))
    documents = [
        run_document(revision=f"r{i}", hardware=f"machine{i % 4}", samples=FLAT) for i in range(40)
    ]
    threads = [
        in_a_thread(lambda part=part: [upload(one) for one in part])  # type: ignore[misc]
        for part in (documents[:20], documents[20:])
    ]
    threads.append(in_a_thread(lambda: [analyse() for _ in range(20)]))
    for i in range(4):
        merge_hardware(source=hardware(f"machine{i}"), into=hardware("into"))
    for thread in threads:
        thread.join(60)
    forget_names()
    assert not any(thread.is_alive() for thread in threads)
    assert Run.objects.count() == 48
    assert Series.objects.count() == 1
    analyse()
    assert len(make.compared()) == Point.objects.count() - 1
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
