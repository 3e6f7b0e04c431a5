"""Importing the history of a tree."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.results.steps import analyse, measured, ministat_verdicts, names_of, places, upload
from webapp.merging.services import merge_revisions
from webapp.results.commit_documents import CommitDocument
from webapp.results.documents import Unprocessable
from webapp.results.git_history import Ids
from webapp.results.models import Revision, RevisionAlias, Series, Tree
from webapp.results.services import history
from webapp.results.services.history import Imported
from webapp.results.spellings import position_of

pytestmark = pytest.mark.django_db
HASH = "0123456789abcdef0123456789abcdef01234567"
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


def commit(name: str, *aliases: str, **fields: Any) -> CommitDocument:
    fields.setdefault("position", position_of(name))
    return CommitDocument(where=f"the line of {name}", revision=name, aliases=aliases, **fields)


def take(*commits: CommitDocument, tree: str = "freebsd-head") -> Imported:
    return history.import_revisions(tree_name=tree, commits=commits)


def refused(*commits: CommitDocument) -> str:
    before = list(Revision.objects.values()), list(RevisionAlias.objects.values())
    with pytest.raises(Unprocessable) as caught:
        take(*commits)
    assert before == (list(Revision.objects.values()), list(RevisionAlias.objects.values()))
    return str(caught.value)


def positions() -> dict[str, int]:
    return dict(Revision.objects.order_by("position").values_list("name", "position"))


def everything() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in (Revision, RevisionAlias)]


def test_untested_commits_become_known() -> None:
    assert take(commit("r5", HASH, subject="fix"), commit("n7")) == Imported(2, 0, 0, 0)
    assert positions() == {"r5": 5, "n7": 10**9 + 7}
    assert names_of("r5") == {"r5", HASH}
    tree = Tree.objects.get()
    assert Revision.objects.named(tree=tree, name=HASH[:9]) == Revision.objects.get(name="r5")


def test_no_new_commit_is_named_like_a_range_and_no_tree_like_a_step_in_an_address() -> None:
    assert "ends of a range" in refused(commit("a..b", position=1))
    assert "ends of a range" in refused(commit("r1", "a..b"))
    make.revision("a..b", position=1)
    assert take(commit("a..b", position=1)).same == 1
    with pytest.raises(Unprocessable, match="give another name"):
        take(commit("r1"), tree="..")


def test_importing_twice_changes_nothing() -> None:
    commits = [commit("r5", HASH, subject="fix"), commit("c255632", "n9", position=44)]
    take(*commits)
    before = everything()
    assert take(*commits) == Imported(0, 0, 0, 2)
    assert everything() == before


def spans(*ranges: tuple[str, str]) -> list[tuple[int, bool]]:
    rows = {row.name: row for row in Revision.objects.all()}
    return [tuple(Revision.objects.span(rows[after], rows[last])) for after, last in ranges]


def test_commits_between_two_are_all_known_only_where_history_goes_from_parent_to_child() -> None:
    detailed = {"author_name": "Ann"}
    take(
        commit("r10", **detailed),
        commit("r20", **detailed, parent_known=True),
        commit("r30", **detailed, parent_known=True),
        commit("r90", **detailed),
        commit("r99", **detailed, parent_known=True),
    )
    upload(measured("r15"), measured("r25"), measured("r50"), measured("r95"), measured("r120"))
    assert spans(("r10", "r30"), ("r15", "r30"), ("r10", "r25"), ("r90", "r95")) == [
        (4, True),
        (3, True),
        (3, True),
        (1, True),
    ]
    assert spans(("r30", "r90"), ("r25", "r50"), ("r10", "r99"), ("r99", "r120")) == [
        (2, False),
        (2, False),
        (8, False),
        (1, False),
    ]


def test_numbers_along_the_tree_leave_no_room_between_them_and_places_given_by_hand_do() -> None:
    upload(measured("r5"), measured("r6"), measured("r7"), measured("r9"), measured("n8"))
    take(
        commit("c2554", position=20),
        commit("c2775", position=21),
        commit("c3", "n9", position=10**9 + 9),
    )
    assert spans(("r5", "r6"), ("r5", "r7"), ("n8", "c3")) == [(1, True), (2, True), (1, True)]
    assert spans(("r5", "r9"), ("r9", "n8"), ("c2554", "c2775")) == [
        (3, False),
        (3, False),
        (1, False),
    ]


def test_an_import_that_knows_less_leaves_what_is_known_of_parents() -> None:
    take(commit("r5"), commit("r8", parent_known=True))
    take(commit("r8", subject="fix"))
    assert spans(("r5", "r8")) == [(1, True)]


def test_an_uploaded_revision_learns_what_the_import_knows() -> None:
    upload(measured("r5"))
    assert take(commit("r5", "n7", author_name="Ann", subject="fix")) == Imported(0, 1, 0, 0)
    row = Revision.objects.get()
    assert (row.author_name, row.subject, names_of("r5")) == ("Ann", "fix", {"r5", "n7"})


def test_an_empty_field_leaves_what_is_known() -> None:
    take(commit("r5", subject="fix", author_name="Ann"))
    take(commit("r5", subject="mend"))
    row = Revision.objects.get()
    assert (row.author_name, row.subject) == ("Ann", "mend")


def test_what_a_series_shows_of_a_revision_is_part_of_its_version() -> None:
    upload(measured("r5"))
    before = Series.objects.get().version
    take(commit("r5", subject="fix"), commit("r6", subject="unmeasured"))
    assert Series.objects.get().version == before + 1


def test_an_upload_after_the_import_finds_its_revision_by_an_alias() -> None:
    take(commit("r5", "c255632", HASH))
    upload(measured("c255632"), measured(HASH[:10]))
    assert places() == [("r5", 5)]


def test_a_short_hash_of_an_upload_meets_the_whole_one_of_the_import() -> None:
    upload(measured(HASH[:10], position=3))
    take(commit("n7", HASH))
    assert places() == [("n7", 10**9 + 7)]
    assert names_of("n7") == {"n7", HASH, HASH[:10]}


@pytest.mark.parametrize("short", [HASH[:7], HASH[:12]])
def test_a_short_hash_of_the_import_meets_a_longer_one_of_an_upload(short: str) -> None:
    upload(measured(HASH[:20], position=3))
    take(commit("n7", short))
    assert places() == [("n7", 10**9 + 7)]


def test_six_digits_of_a_hash_are_too_few_to_mean_it() -> None:
    upload(measured(HASH[:6], position=3))
    assert take(commit("n7", HASH)).new == 1


def test_a_known_whole_hash_is_not_taken_for_another_that_begins_alike() -> None:
    alike = HASH[:10] + OTHER[10:]
    take(commit("n7", HASH, HASH[:10]))
    assert take(commit("n8", alike)).new == 1
    assert names_of("n8") == {"n8", alike}


def test_a_short_hash_that_two_commits_share_is_refused_until_an_alias_decides() -> None:
    upload(measured(HASH[:8], position=3))
    alike = HASH[:8] + OTHER[8:]
    assert "both are 01234567 here" in refused(commit("n7", HASH), commit("n8", alike))
    row = Revision.objects.get()
    RevisionAlias.objects.create(tree=row.tree, revision=row, name=alike)
    take(commit("n7", HASH), commit("n8", alike))
    assert names_of("n8") == {"n8", alike, HASH[:8]}


def test_aliases_of_two_revisions_are_refused_until_these_are_merged() -> None:
    upload(measured("r5"), measured(HASH[:10], position=6))
    both = commit("r5", HASH[:10], "n3")
    message = refused(both)
    assert "the line of r5, aliases" in message
    assert "merge these in the admin" in message
    merge_revisions(
        source=Revision.objects.get(name=HASH[:10]), into=Revision.objects.get(name="r5")
    )
    take(both)
    assert names_of("r5") == {"r5", HASH[:10], "n3"}


def test_a_renumbered_tree_is_analysed_anew() -> None:
    """Uploads guessed the order; the import knows that the slow revision came last."""
    upload(*(measured(name, f, position=p) for name, f, p in [("a", 1, 1), ("b", 0.9, 2)]))
    upload(measured("c", 1.0, position=3))
    analyse()
    assert ministat_verdicts() == {"b": "worse", "c": "better"}
    take(commit("a", position=10), commit("c", position=20), commit("b", position=30))
    assert places() == [("a", 10), ("c", 20), ("b", 30)]
    analyse()
    assert ministat_verdicts() == {"c": "cannot tell", "b": "worse"}
    assert [row.position for row in make.compared()] == [20, 30]


def test_revisions_may_change_places_with_one_another() -> None:
    upload(*(measured(name, position=p) for p, name in enumerate("abcd")))
    take(*(commit(name, position=3 - p) for p, name in enumerate("abcd")))
    assert places() == [("d", 0), ("c", 1), ("b", 2), ("a", 3)]


def test_only_what_moved_and_later_is_concluded_anew() -> None:
    upload(*(measured(f"x{p}", position=p) for p in (10, 20, 30)))
    analyse()
    take(commit("x20", position=25))
    assert Series.objects.get().dirty_from == 20
    assert take(commit("x10", position=10)) == Imported(0, 0, 0, 1)


def test_moving_leaves_other_series_alone() -> None:
    upload(measured("a", position=1), measured("r5", tree="freebsd-stable-11"))
    analyse()
    take(commit("a", position=2))
    assert [row.tree.name for row in Series.objects.dirty()] == ["freebsd-head"]


def test_a_place_held_by_a_revision_that_stays_is_refused() -> None:
    upload(measured("a", position=7))
    message = refused(commit("b", position=7))
    assert message.startswith("the line of b, position: 7 is the place of a here")


def test_a_commit_without_a_place_is_refused() -> None:
    message = refused(commit("r5"), commit("c255632"))
    assert message.startswith("the line of c255632, position: is empty")


def test_a_stored_commit_needs_no_place_again() -> None:
    upload(measured("c255632", position=7))
    take(commit("c255632", subject="fix"))
    assert positions() == {"c255632": 7}


@pytest.mark.parametrize(
    ("second", "path"),
    [
        (commit("r5"), "the line of r5, revision: r5 is on the line of r5 too"),
        (commit("r6", "n7"), "the line of r6, aliases: n7 is on the line of r5 too"),
        (commit("x", position=5), "the line of x, position: 5 is the place of r5"),
    ],
)
def test_a_name_or_place_twice_in_the_import_is_refused(second: CommitDocument, path: str) -> None:
    assert refused(commit("r5", "n7"), second).startswith(path)


def test_one_bad_commit_keeps_all_out() -> None:
    refused(*(commit(f"r{i}") for i in range(1, 50)), commit("c255632"))
    assert not Revision.objects.exists()
    assert not Tree.objects.exists()


def test_the_number_of_statements_does_not_grow_with_the_commits() -> None:
    def statements(count: int, tree: str) -> list[int]:
        upload(*(measured(f"{i:040x}"[::-1][:12], position=i, tree=tree) for i in range(1, 20)))
        commits = [
            commit(f"n{i}", f"{i:040x}"[::-1], subject=f"change {i}") for i in range(1, count)
        ]
        again = [replace(one, subject=f"{one.subject}!") for one in commits]
        counts = []
        for batch in (commits, commits, again):
            with CaptureQueriesContext(connection) as captured:
                take(*batch, tree=tree)
            counts.append(len(captured))
        return counts

    assert statements(50, "one") == statements(1500, "two")


@pytest.mark.parametrize(
    ("tree", "first", "ids"),
    [
        ("freebsd-head", None, Ids.COUNT),
        ("linux-net-next", None, Ids.HASH),
        ("freebsd-mirror", "0123456789ab", Ids.HASH),
        ("linux-net-next", "n5", Ids.COUNT),
        ("linux-net-next", "r5", Ids.COUNT),
    ],
)
def test_a_tree_is_called_as_its_first_revision_is(tree: str, first: str | None, ids: Ids) -> None:
    if first:
        take(commit(first, position=position_of(first) or 5), tree=tree)
    assert history.native_ids(tree=tree) is ids
