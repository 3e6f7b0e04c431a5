"""Runs under an alias stay the same runs: sent again, taken back, merged, decided later."""

import pytest

from tests import make
from tests.results.aliasing import ada, alias, modes, points, run, undo
from tests.results.steps import mode, upload
from webapp.merging.services import merge_modes, merge_revisions
from webapp.results.models import (
    AliasedRun,
    NameAlias,
    Point,
    Revision,
    Run,
    Series,
    WaitingRun,
)
from webapp.results.services import decide_waiting, withdraw_run

pytestmark = pytest.mark.django_db


class TestSameRun:
    def test_sent_again_it_is_known_and_stays(self) -> None:
        upload(sent := run())
        alias()
        digest = Run.objects.get().digest
        again = upload(sent)
        assert again.known
        assert not again.refiled
        assert Run.objects.get().digest == digest
        assert modes() == {"r1": "forwarding"}

    def test_what_came_under_the_alias_is_known_after_the_undo(self) -> None:
        upload(run("r7", "pf"))
        row = alias()
        upload(sent := run())
        undo(row)
        assert upload(sent).known
        assert modes() == {"r1": "fastforwarding", "r7": "pf"}

    def test_replaced_it_is_filed_by_the_alias_and_the_undo_knows_its_name(self) -> None:
        upload(sent := run())
        row = alias()
        upload(sent | {"build_id": "built again"}, replace=True)
        assert points() == {"bench/nic forwarding r1"}
        undo(row)
        assert points() == {"bench/nic fastforwarding r1"}

    def test_a_description_that_differs_is_no_conflict(self) -> None:
        """The digest names the position; what is stored is compared as it was sent."""
        upload(sent := run())
        alias()
        assert upload(sent | {"position": 1}).known

    def test_a_former_mode_moves_to_what_the_new_one_stands_for(self) -> None:
        upload(sent := run(workload="5", options=["hw.q"]))
        row = alias("hw.q=5", "five-queues", "option")
        later = sent | {
            "mode": mode("forwarding", "hw.q=5"),
            "evidence": sent["evidence"] | {"former_mode": "5+hw.q"},
        }
        assert upload(later).refiled
        assert modes() == {"r1": "forwarding+five-queues"}
        assert not upload(later).refiled
        undo(row)
        assert modes() == {"r1": "forwarding+hw.q=5"}

    def test_first_evidence_brings_it_under_an_alias_of_its_directory(self) -> None:
        upload(sent := run(label=""))
        alias(directory="seed-000")
        assert modes() == {"r1": "fastforwarding"}
        upload(sent | {"evidence": {"label": "seed-000"}})
        assert modes() == {"r1": "forwarding"}


class TestPointsAndUndo:
    def test_runs_of_both_names_are_pooled_and_parted_again(self) -> None:
        upload(run("r1"), run("r1", "forwarding"), run("r2"))
        before = points()
        row = alias()
        assert points() == {"bench/nic forwarding r1", "bench/nic forwarding r2"}
        assert Point.objects.get(revision__name="r1").runs == 2
        undone = undo(row)
        assert points() == before
        assert undone.undone_by == ada()
        assert AliasedRun.objects.count() == 0
        assert undo(row).undone_at == undone.undone_at

    def test_the_undo_leaves_other_aliases_alone(self) -> None:
        upload(run("r1", options=["NUMA"]))
        first = alias("NUMA", "numa", "option")
        alias()
        assert modes() == {"r1": "forwarding+numa"}
        undo(first)
        assert modes() == {"r1": "forwarding+NUMA"}

    def test_a_series_that_goes_as_a_whole_stays_the_same_row(self) -> None:
        upload(run("r1"), run("r2"))
        series = Series.objects.get()
        row = alias()
        assert Series.objects.get() == series
        assert Series.objects.get().mode.name == "forwarding"
        undo(row)
        assert Series.objects.get() == series
        assert Series.objects.get().mode.name == "fastforwarding"

    def test_a_withdrawn_run_moves_and_stays_out(self) -> None:
        upload(run())
        withdraw_run(run=Run.objects.get(), by=ada(), reason="the fan was broken")
        alias()
        assert modes() == {"r1": "forwarding"}
        assert points() == set()


class TestLater:
    def test_a_waiting_run_comes_under_a_range_when_it_is_decided(self) -> None:
        evidence = {"label": "x", "kernel_revision": "r309257", "label_revision": "r303643"}
        upload(run("r303643", label="") | {"evidence": evidence}, run("r303650"))
        alias(tree="freebsd-head", last="r303650")
        waiting = WaitingRun.objects.get()
        assert waiting.run.mode.name == "fastforwarding"
        decide_waiting(runs=[waiting.run.uuid], choice="label", by=ada())
        assert modes()["r303643"] == "forwarding"
        assert "bench/nic forwarding r303643" in points()

    def test_a_mode_that_is_merged_takes_its_runs_under_the_alias(self) -> None:
        upload(run("r1", "ff"), run("r2"))
        alias()
        merge_modes(source=make.mode("ff"), into=make.mode("fastforwarding"))
        assert modes() == {"r1": "forwarding", "r2": "forwarding"}

    def test_what_it_stands_for_may_be_merged_into_another(self) -> None:
        upload(run("r1"))
        row = alias()
        merge_modes(source=make.mode("forwarding"), into=make.mode("fwd"))
        upload(run("r2"))
        assert modes() == {"r1": "fwd", "r2": "fwd"}
        undo(row)
        assert modes() == {"r1": "fastforwarding", "r2": "fastforwarding"}

    def test_an_end_of_the_range_that_is_merged_goes_on_as_the_other(self) -> None:
        upload(run("r1"), run("r2"), run("r3"))
        alias(tree="freebsd-head", last="r1")
        one, two = (Revision.objects.get(name=name) for name in ("r1", "r2"))
        merge_revisions(source=one, into=two)
        assert NameAlias.objects.get().last == two
        upload(run("r2", build_id="another"))
        assert points() == {"bench/nic forwarding r2", "bench/nic fastforwarding r3"}
