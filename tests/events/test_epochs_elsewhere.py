"""Where epochs count outside of the analysis: comparisons, new bisects, runs that disagree."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from tests import make
from tests.bisects import lab as bisect_lab
from tests.bisects.lab import Truth
from tests.events.steps import event
from tests.pages.conftest import words
from tests.results.steps import measured, upload
from webapp.analysis.queries import EPOCH_BETWEEN, OTHER_EPOCH
from webapp.events.models import LabEvent
from webapp.events.services import withdraw_event
from webapp.results.models import Hardware, Point, Revision
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def day(number: float) -> datetime:
    return make.DAY_ONE + timedelta(days=number)


def run(revision: str, at: float | None, factor: float = 1.0, **changes: Any) -> dict[str, Any]:
    moment = None if at is None else day(at).isoformat()
    return measured(revision, 1000 * factor, measured_at=moment, **changes)


def epoch(at: float, hardware: str = "bench/nic") -> LabEvent:
    machine = Hardware.objects.get(name=hardware)
    return event(hardware=machine, happened_at=day(at), begins_epoch=True)


class TestComparing:
    def judged(self, a: str = "r1", b: str = "r2") -> list[bool]:
        query = urlencode({"a": f"freebsd-head:{a}", "b": f"freebsd-head:{b}"})
        rows = Client().get(f"/api/v1/compare?{query}").json()["rows"]
        return [row["judged"][0]["epoch_between"] for row in rows]

    def page(self, a: str = "r1", b: str = "r2") -> str:
        query = urlencode({"a": f"freebsd-head:{a}", "b": f"freebsd-head:{b}"})
        return words(Client().get(f"/compare/?{query}").content.decode())

    def test_a_beginning_between_the_two_is_stated_beside_the_row(self) -> None:
        upload(run("r1", 1), run("r2", 3), run("r3", 4))
        assert "another epoch" not in self.page()
        epoch(2)
        assert self.judged() == [True]
        assert self.judged("r2", "r1") == [True]
        assert "another epoch" in self.page()
        assert "An epoch begins between the two" in self.page()

    def test_the_reports_state_it_as_the_page_does_and_the_block_stays(self) -> None:
        upload(run("r1", 1), run("r2", 3), run("r3", 4))
        before = {ending: self.report(ending) for ending in ("txt", "md")}
        epoch(2)
        for ending, text in before.items():
            report = self.report(ending)
            lines = report.splitlines()
            (line,) = (line for line in lines if EPOCH_BETWEEN in line)
            assert EPOCH_BETWEEN not in text
            assert line.endswith(f"{EPOCH_BETWEEN}.")
            assert line.removesuffix(f" {EPOCH_BETWEEN}.") in text.splitlines()
            without = report.replace(f" {EPOCH_BETWEEN}.", "").replace(f" ({OTHER_EPOCH})", "")
            assert without == text
        assert f"({OTHER_EPOCH}) |" in self.report("md")
        assert EPOCH_BETWEEN in self.page()

    def test_of_several_sets_each_is_stated_by_itself(self) -> None:
        upload(run("r1", 1), run("r2", 3), run("r3", 4))
        epoch(3.5)
        sides = [("a", "r1"), ("b", "r2"), ("b", "r3")]
        query = urlencode([(side, f"freebsd-head:{revision}") for side, revision in sides])
        lines = Client().get(f"/compare.txt?{query}").content.decode().splitlines()
        items = [line for line in lines if line.startswith("- ")]
        assert [EPOCH_BETWEEN in line for line in items] == [False, True]

    def report(self, ending: str) -> str:
        query = urlencode({"a": "freebsd-head:r1", "b": "freebsd-head:r2"})
        return Client().get(f"/compare.{ending}?{query}").content.decode()

    def test_within_an_epoch_and_on_other_machines_nothing_is_stated(self) -> None:
        for hardware in ("bench/nic", "other/nic"):
            upload(*(run(f"r{at}", at, hardware=hardware) for at in (1, 2, 3)))
        epoch(1.5)
        assert self.judged("r2", "r3") == [False, False]
        assert self.judged("r1", "r2") == [True, False]

    def test_two_machines_are_no_two_epochs(self) -> None:
        upload(run("r1", 1), run("r2", 3), run("r2", 3, hardware="other/nic"))
        epoch(2)
        sides = {"a": "freebsd-head:r1:bench/nic", "b": "freebsd-head:r2:other/nic"}
        (row,) = Client().get(f"/api/v1/compare?{urlencode(sides)}").json()["rows"]
        assert row["judged"][0]["epoch_between"] is False


class TestANewBisect:
    def form(self) -> str:
        truth = Truth(step_pct=-5.0)
        ends = {"good": bisect_lab.name(0), "bad": bisect_lab.name(truth.count)}
        asked = {"tree": "freebsd-head", "hardware": bisect_lab.HARDWARE, "metric": "pps"}
        asked |= {"mode": bisect_lab.MODE, "effect": "-5", **ends}
        series = Point.objects.select_related("series__tree", "series__metric").first()
        assert series is not None
        asked |= {"tree": series.series.tree.name, "metric": series.series.metric.name}
        return words(Client().get(f"/bisects/new/?{urlencode(asked)}").content.decode())

    def test_it_warns_of_a_beginning_between_its_ends(self) -> None:
        bisect_lab.measured_before(Truth(step_pct=-5.0))
        assert "Forecast" in self.form()
        assert "An epoch of this machine begins between good and bad" not in self.form()
        at = Revision.objects.get(name=bisect_lab.name(3))
        machine = Hardware.objects.get(name=bisect_lab.HARDWARE)
        event(hardware=machine, tree=at.tree, first=at, last=at, begins_epoch=True)
        assert "An epoch of this machine begins between good and bad" in self.form()


class TestRunsOfOneCommit:
    def point(self) -> Point:
        return Point.objects.get(revision__name="r1")

    def test_runs_on_both_sides_are_not_held_to_disagree(self) -> None:
        upload(run("r1", 1, build_id="a"))
        upload(run("r1", 3, 1.6, build_id="b"))
        assert self.point().disagrees
        made = epoch(2)
        assert not self.point().disagrees
        withdraw_event(event=made.pk, actor=make.user("tess"), reason="it was not so")
        assert self.point().disagrees

    def test_two_of_one_side_still_are(self) -> None:
        upload(run("r0", 1))
        epoch(2)
        for build, at, factor in (("a", 1, 1.0), ("b", 3, 1.3), ("c", 4, 1.9)):
            upload(run("r1", at, factor, build_id=build))
        found = self.point().uploads["found"]
        assert self.point().disagrees
        assert found["percent"] == pytest.approx(100 * (1.9 / 1.3 - 1), rel=0.01)

    def test_the_epoch_of_another_machine_parts_nothing(self) -> None:
        upload(run("r1", 1, build_id="a"), run("r1", 1, hardware="other/nic"))
        upload(run("r1", 3, 1.6, build_id="b"))
        epoch(2, "other/nic")
        assert Point.objects.get(series__hardware__name="bench/nic").disagrees

    def test_a_run_of_an_unknown_time_counts_with_those_before(self) -> None:
        upload(run("r0", 1))
        epoch(2)
        upload(run("r1", None, build_id="a"))
        upload(run("r1", 1, 1.6, build_id="b"))
        assert self.point().disagrees
