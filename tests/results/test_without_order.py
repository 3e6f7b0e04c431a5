"""Releases and days as revisions: their place where the tree tells it; else they wait for it."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests import make
from tests.results.steps import measured, mode, places, upload
from webapp.events.services import record_release
from webapp.results.models import Point, Revision, Run
from webapp.results.revision_ids import day_of, is_release

pytestmark = pytest.mark.django_db
TREE = "freebsd-releng-10.1"


def sent(*documents: dict[str, Any]) -> list[str]:
    """The warnings of an upload, in the order of the runs."""
    warnings = upload(*documents).warnings
    return [text for texts in warnings.values() for text in texts]


def history(**days: str) -> None:
    """Revisions of freebsd-head with the moment of their commit."""
    for name, moment in days.items():
        make.revision(name, committed_at=datetime.fromisoformat(moment).replace(tzinfo=UTC))


def by_day(day: str, **fields: Any) -> dict[str, Any]:
    return measured(day, **fields)


class TestNames:
    @pytest.mark.parametrize(
        "name", ["10.1", "10.1-RELEASE", "10.1-RELEASE-p3", "12.0-RC1", "11.1-BETA2", "9.2.1"]
    )
    def test_releases(self, name: str) -> None:
        assert is_release(name)

    @pytest.mark.parametrize("name", ["10", "12.0-CURRENT", "11.1-STABLE", "r303643", "a10.1"])
    def test_no_releases(self, name: str) -> None:
        assert not is_release(name)

    @pytest.mark.parametrize("name", ["2016-05-01", "20160501"])
    def test_days(self, name: str) -> None:
        assert day_of(name) == date(2016, 5, 1)

    @pytest.mark.parametrize("name", ["2016-0501", "20161301", "20160230", "12345678", "201605"])
    def test_no_days(self, name: str) -> None:
        assert day_of(name) is None


class TestReleases:
    def test_one_without_a_place_waits_and_the_message_says_how_it_gets_one(self) -> None:
        (warning,) = sent(measured("10.1-RELEASE", tree=TREE))
        assert "10.1-RELEASE waits for its place on freebsd-releng-10.1" in warning
        assert "`revision,position` and a line `10.1-RELEASE,NUMBER`" in warning
        assert "`manage.py import_revisions --tree freebsd-releng-10.1 FILE`" in warning
        assert Run.objects.get().revision.is_waiting
        assert not Point.objects.exists()

    def test_the_rest_of_the_batch_is_filed(self) -> None:
        sent(measured("10.1-RELEASE"), measured("r303643"))
        assert places() == [("r303643", 303643)]
        assert Run.objects.count() == 2

    def test_a_file_of_two_columns_places_it_without_another_upload(self, tmp_path: Path) -> None:
        runs = [measured(name, tree=TREE) for name in ("10.1-RELEASE-p3", "10.1-RELEASE")]
        sent(*runs)
        file = tmp_path / "order.csv"
        file.write_text("revision,position\n10.1-RELEASE,274401\n10.1-RELEASE-p3,274500\n")
        call_command("import_revisions", str(file), tree=TREE)
        assert places() == [("10.1-RELEASE", 274401), ("10.1-RELEASE-p3", 274500)]
        assert sent(*runs) == []

    def test_a_release_that_the_tree_knows_is_its_revision(self) -> None:
        tree = make.tree(TREE)
        record_release(tree=tree, name="10.1", revision="r274401", kind="release")
        assert sent(measured("10.1-RELEASE", tree=TREE)) == []
        assert places() == [("r274401", 274401)]

    def test_recorded_later_it_takes_the_runs_that_wait(self) -> None:
        sent(run := measured("10.1-RELEASE", tree=TREE))
        record_release(tree=make.tree(TREE), name="10.1", revision="r274401", kind="release")
        assert places() == [("r274401", 274401)]
        assert not Revision.objects.waiting().exists()
        assert upload(run).known

    def test_a_branch_point_names_no_release(self) -> None:
        tree = make.tree(TREE)
        record_release(tree=tree, name="10.1", revision="r274401", kind="branch point")
        assert "waits" in sent(measured("10.1-RELEASE", tree=TREE))[0]

    def test_a_position_that_was_sent_places_it(self) -> None:
        assert sent(measured("10.1-RELEASE", tree=TREE, position=7)) == []
        assert places() == [("10.1-RELEASE", 7)]

    def test_a_position_that_comes_with_another_run_of_it_counts(self) -> None:
        first = measured("10.1-RELEASE", tree=TREE, position=None)
        second = measured("10.1-RELEASE", tree=TREE, position=7, mode=mode("pf"))
        upload(first, second)
        assert {place for _, place in places()} == {7}


class TestDays:
    def test_between_dated_commits_it_stands_after_those_of_its_day(self) -> None:
        history(r100="2016-04-30T10:00", r110="2016-05-01T23:59", r120="2016-05-02T00:00")
        assert sent(by_day("2016-05-01")) == []
        assert places() == [("2016-05-01", 111)]

    def test_days_of_one_gap_stand_in_their_order(self) -> None:
        history(r100="2016-04-30T10:00", r120="2016-05-09T00:00")
        sent(by_day("2016-05-03"), by_day("2016-05-02"))
        sent(by_day("20160505"))
        assert [name for name, _ in places()] == ["2016-05-02", "2016-05-03", "20160505"]

    def test_a_day_before_one_that_took_the_only_number_waits(self) -> None:
        history(r100="2016-04-30T10:00", r120="2016-05-09T00:00")
        sent(by_day("2016-05-03"))
        assert "waits" in sent(by_day("2016-05-02"))[0]
        assert [name for name, _ in places()] == ["2016-05-03"]

    @pytest.mark.parametrize(
        "known",
        [
            {},
            {"r100": "2016-04-30T10:00"},
            {"r120": "2016-05-02T10:00"},
            {"r100": "2016-04-30T10:00", "r101": "2016-05-02T10:00"},
            {"r100": "2016-05-02T10:00", "r120": "2016-04-30T10:00"},
        ],
        ids=["no history", "nothing after", "nothing before", "no number free", "back and forth"],
    )
    def test_what_history_does_not_tell_waits(self, known: dict[str, str]) -> None:
        history(**known)
        (warning,) = sent(by_day("2016-05-01"))
        assert "2016-05-01,NUMBER" in warning
        assert not Point.objects.exists()

    def test_beside_a_revision_whose_day_is_not_known_it_waits(self) -> None:
        history(r100="2016-04-30T10:00", r120="2016-05-02T10:00")
        make.revision("r110")
        assert "waits" in sent(by_day("2016-05-01"))[0]

    def test_imported_history_places_what_waits(self, tmp_path: Path) -> None:
        sent(by_day("2016-05-01"))
        file = tmp_path / "history.csv"
        file.write_text(
            "revision,committed_at\nr100,2016-04-30T10:00:00Z\nr120,2016-05-02T10:00:00Z\n"
        )
        call_command("import_revisions", str(file), tree="freebsd-head")
        assert places() == [("2016-05-01", 101)]

    def test_a_day_is_not_taken_for_the_start_of_a_hash(self) -> None:
        make.revision("20160501abcdef0123456789abcdef0123456789", position=5)
        assert "waits" in sent(by_day("20160501"))[0]
