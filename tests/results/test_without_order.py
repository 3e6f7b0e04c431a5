"""Releases and days as revisions: their place where the tree has it; else they wait for it."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command

from tests import make
from tests.results.steps import analyse, measured, mode, places, upload
from webapp.events.services import record_release
from webapp.merging.services import settle_counts
from webapp.results.models import Point, Revision, RevisionAlias, Run
from webapp.results.services import Unprocessable
from webapp.results.services.reidentifying import estimate
from webapp.results.services.revisions import displace_revision, place_revision
from webapp.results.spellings import day_of

pytestmark = pytest.mark.django_db
GIT = 10**9
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
    @pytest.mark.parametrize("name", ["2016-05-01", "20160501"])
    def test_days(self, name: str) -> None:
        assert day_of(name) == date(2016, 5, 1)

    @pytest.mark.parametrize("name", ["2016-0501", "20161301", "20160230", "12345678", "201605"])
    def test_no_days(self, name: str) -> None:
        assert day_of(name) is None


class TestReleases:
    def test_one_without_a_place_waits_and_the_message_states_how_it_gets_one(self) -> None:
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
    def test_what_history_does_not_show_waits(self, known: dict[str, str]) -> None:
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


@pytest.mark.parametrize("name", ["c255412", "97be6fced7d", "v2.1-rc3"])
def test_no_name_is_refused_for_want_of_a_place(name: str) -> None:
    (warning,) = sent(measured(name), measured("r303643"))
    assert f"{name} waits for its place on freebsd-head. It is stored" in warning
    assert f"a line `{name},NUMBER`, by `manage.py import_revisions --tree freebsd-head" in warning
    assert "n257521 at 1000257521" in warning
    assert ("counts all commits, and places count first parents" in warning) == (name[0] == "c")
    assert places() == [("r303643", 303643)]
    assert Run.objects.count() == 2


def labelled(name: str, kernel: str = "", **fields: Any) -> dict[str, Any]:
    """A run whose directory gives ``name``, and its kernel something or nothing."""
    found = {"label": name, "label_revision": name, "kernel_revision": kernel}
    return measured(name, evidence=found, **fields)


def settle() -> dict[str, int]:
    """Positions by name, without those that wait."""
    settle_counts()
    assert settle_counts() == 0
    analyse()
    return dict(places())


class TestCounts:
    """Counts of all commits, on a tree whose places count first parents."""

    def test_pairs_that_the_archive_states_place_others_and_mark_them(self) -> None:
        documents = [measured("c255412"), labelled("n272525"), labelled("n311215")]
        assert sum("waits" in text for text in sent(*documents)) == 3
        assert settle() == {}
        sent(labelled("n277567", "n257521"))
        assert settle() == {
            "c255412": GIT + 255_412 * 257_521 // 277_567,
            "c272525": GIT + 272_525 * 257_521 // 277_567,
            "n257521": GIT + 257_521,
            "c311215": GIT + 311_215 - 277_567 + 257_521,
        }
        estimated = Revision.objects.filter(is_estimated=True)
        assert {row.name for row in estimated} == {"c255412", "c272525", "c311215"}
        assert sum("two counts are known" in text for text in sent(labelled("n311215"))) == 1

    def test_the_order_of_arrival_changes_nothing(self) -> None:
        documents = [
            labelled("n277567", "n257521"),
            labelled("n277567", build_id="the label alone"),
            labelled("n280000", "n259900"),
            measured("c279000"),
            measured("c279001"),
            labelled("n258900", "n258900"),
        ]
        found = []
        for number, order in enumerate((documents, documents[::-1], documents[2:] + documents[:2])):
            tree = make.tree(f"tree-{number}").name
            for one in order:
                sent({**one, "uuid": str(uuid4()), "tree": tree})
                settle()
            placed = Revision.objects.placed().filter(tree__name=tree)
            found.append(sorted(placed.values_list("name", "position", "is_estimated")))
            assert Run.objects.filter(revision__in=placed, revision__name="n257521").count() == 2
        assert found[0] == found[1] == found[2]
        where = {name: position for name, position, _ in found[0]}
        assert GIT + 257_521 < where["c279000"] < where["c279001"] < GIT + 259_900

    def test_an_estimate_gives_way_to_the_revision_whose_place_it_is(self) -> None:
        sent(labelled("n277567", "n257521"), measured("c277569"))
        assert settle()["c277569"] == GIT + 257_523
        assert "gives way" in sent(measured("n257523"))[0]
        assert settle() == {
            "n257521": GIT + 257_521,
            "n257523": GIT + 257_523,
            "c277569": GIT + 257_524,
        }

    def test_what_an_operator_or_history_decided_is_no_estimate(self, tmp_path: Path) -> None:
        sent(labelled("n277567", "n257521"), measured("c277569"), measured("c277570"))
        settle()
        place_revision(revision=Revision.objects.get(name="c277569"), position=GIT + 1)
        file = tmp_path / "order.csv"
        file.write_text(f"revision,position\nc277570,{GIT + 2}\n")
        with pytest.raises(Unprocessable, match="estimate"):
            displace_revision(revision=Revision.objects.get(name="c277570"))
        call_command("import_revisions", str(file), tree="freebsd-head")
        assert settle() == {"c277569": GIT + 1, "c277570": GIT + 2, "n257521": GIT + 257_521}
        assert not Revision.objects.filter(is_estimated=True).exists()

    def test_no_place_is_taken_from_whole_history(self) -> None:
        tree = make.tree()
        numbers = range(256_900, 258_100)
        rows = [Revision(tree=tree, name=f"n{n}", position=GIT + n) for n in numbers]
        Revision.objects.bulk_create(rows)
        at = Revision.objects.get(name="n257521")
        RevisionAlias.objects.create(tree=tree, revision=at, name="c277567")
        sent(measured("c277000"))
        assert settle() == {}
        assert Revision.objects.get(name="c277000").is_waiting

    def test_the_name_that_a_directory_gave_it_finds_it(self) -> None:
        sent(labelled("n277567", "n257521"), labelled("n311215"))
        tree = make.tree()
        for name, found in (("n277567", "n257521"), ("n311215", "c311215")):
            assert str(Revision.objects.named(tree=tree, name=name)) == found
        assert Revision.objects.named(tree=tree, name="n300000") is None

    def test_an_estimate_lies_between_pairs_in_proportion_and_after_the_last_as_far(self) -> None:
        assert estimate(5, []) is None
        pairs = [(100, 150), (200, 300)]
        found = [estimate(total, pairs) for total in (75, 150, 225, 300, 310)]
        assert found == [50, 100, 150, 200, 210]
