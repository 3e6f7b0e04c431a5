"""Trees are shared: an upload proposes, operators or imported history decide."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.analysis.test_at_once import at_once
from tests.operators import act, operator, text_of, url
from tests.results.steps import analyse, measured, places, upload
from webapp.alerts.models import Alert
from webapp.merging.services import merge_revisions
from webapp.results.commit_documents import CommitDocument
from webapp.results.documents import Unprocessable
from webapp.results.models import Metric, PlaceProposal, Point, Revision, Run, Series
from webapp.results.services.history import import_revisions
from webapp.results.services.revisions import displace_revision, place_revision

pytestmark = pytest.mark.django_db
FAR = 4 * 10**18
HASH = "9f3ac1e02b11"


def tree_of(count: int, *, lab: str = "netlab") -> None:
    upload(*(measured(f"r{300_000 + number}") for number in range(count)), lab=lab)


def other(revision: str, factor: float = 1.0, **changes: Any) -> dict[str, Any]:
    """A run of the other lab."""
    return measured(revision, factor, hardware="other/nic", **changes)


def sent(document: dict[str, Any], *, lab: str = "netlab") -> list[str]:
    """The warnings of an upload."""
    done = upload(document, lab=lab)
    return [text for texts in done.warnings.values() for text in texts]


def revision(name: str) -> Revision:
    return Revision.objects.get(name=name)


def take(*commits: CommitDocument) -> None:
    import_revisions(tree_name="freebsd-head", commits=commits)


def commit(name: str, position: int | None = None, aliases: Sequence[str] = ()) -> CommitDocument:
    return CommitDocument(f"the line of {name}", name, position, aliases=tuple(aliases))


@pytest.mark.parametrize(
    ("name", "position"), [(HASH, FAR), ("r999999999", None), ("n999999999", None)]
)
def test_a_place_far_off_is_stored_and_neither_placed_nor_analysed(
    name: str, position: int | None
) -> None:
    tree_of(20)
    (warning,) = sent(measured(name, 0.5, position=position))
    assert "far beyond" in warning
    assert "until an operator or imported history decides" in warning
    assert Run.objects.filter(revision__name=name).exists()
    assert revision(name).is_waiting
    analyse()
    assert Point.objects.count() == 20
    assert not make.compared(name)
    assert Series.objects.get().dirty_from is None


def test_never_in_a_tree_under_20_revisions() -> None:
    tree_of(19)
    assert sent(measured(HASH, position=FAR)) == []
    assert not revision(HASH).is_waiting


@pytest.mark.parametrize(("number", "waits"), [(3_000_000, False), (3_000_001, True)])
def test_far_is_more_than_ten_times_the_span(number: int, waits: bool) -> None:
    tree_of(20)  # the 20th newest is r300000
    sent(measured(f"r{number}"))
    assert revision(f"r{number}").is_waiting is waits


def test_the_first_count_of_a_tree_that_moved_to_git_is_not_far() -> None:
    tree_of(20)
    assert sent(measured("n250000")) == []


def test_strays_of_a_lab_do_not_widen_the_span_for_its_next_one() -> None:
    tree_of(20)
    for number in range(25):
        assert sent(other(f"r{2_900_000 + number}"), lab="other") == []
    assert sent(other("r20000000"), lab="other")
    assert revision("r20000000").is_waiting


def test_more_runs_of_a_waiting_revision_wait_with_it_and_state_it() -> None:
    tree_of(20)
    sent(first := measured(HASH, position=FAR))
    assert "waits" in sent(measured(HASH))[0]
    assert "waits" in sent(first)[0]
    assert Point.objects.count() == 20


def test_imported_history_places_it_and_it_is_analysed_without_another_upload() -> None:
    tree_of(20)
    sent(measured(HASH, 0.5, position=FAR))
    analyse()
    take(commit(HASH, position=300_050))
    assert places()[-1] == (HASH, 300_050)
    assert Series.objects.get().dirty_from == 300_050
    analyse()
    assert make.compared(HASH)[0].verdict == "worse"
    assert revision(HASH).decided


def test_an_import_without_a_place_does_not_place_it() -> None:
    tree_of(20)
    sent(measured(HASH, position=FAR))
    with pytest.raises(Unprocessable, match="does not give its place"):
        take(commit(HASH))


def test_an_operator_confirms_what_was_proposed_or_gives_another_place() -> None:
    tree_of(20)
    sent(measured(HASH, 0.5, position=FAR))
    sent(measured("n90000000", 0.5))
    rows = [revision(HASH)]
    assert f"{FAR} by netlab/control" in text_of(act(Revision, "place_on_tree", rows))
    done = act(Revision, "place_on_tree", rows, confirmed="yes", position=300_050)
    assert "Decided: 1" in text_of(done)
    act(Revision, "place_on_tree", [revision("n90000000")], confirmed="yes")
    assert places()[-2:] == [(HASH, 300_050), ("n90000000", 1_090_000_000)]
    history = operator().get(url(Revision, "history", rows[0].pk), follow=True)
    assert "300050" in text_of(history), "what the audit log has of its row"


def test_a_place_is_not_given_twice() -> None:
    tree_of(20)
    sent(measured(HASH, position=FAR))
    done = text_of(
        act(Revision, "place_on_tree", [revision(HASH)], confirmed="yes", position=300_001)
    )
    assert "300001 is the place of r300001" in done
    with pytest.raises(Unprocessable, match="no place"):
        place_revision(revision=revision(HASH), position=2**62)


def test_operators_find_what_waits_and_what_is_disputed() -> None:
    tree_of(20)
    sent(measured(HASH, position=FAR))
    page = text_of(operator().get(url(Revision) + "?waiting=yes"))
    assert HASH in page
    assert "r300001" not in page
    assert HASH in text_of(operator().get(url(Revision) + "?disputed=yes"))
    assert str(FAR) in text_of(operator().get(url(Revision, "change", revision(HASH).pk)))


def test_the_page_of_a_waiting_revision_states_it_and_shows_its_runs(client: Client) -> None:
    tree_of(20)
    sent(measured(HASH, position=FAR))
    page = text_of(client.get(f"/commits/freebsd-head/{HASH}/"))
    assert "waits for its place" in page
    assert "netlab/control" in page
    assert HASH not in text_of(client.get("/commits/freebsd-head/"))
    last = text_of(client.get("/commits/freebsd-head/r300019/"))
    assert HASH not in last


def test_who_takes_an_id_first_locks_nobody_out() -> None:
    upload(other(HASH, position=5), lab="other")
    (warning,) = sent(measured(HASH, position=4000))
    assert "stands at position 5" in warning
    assert "other/control" in warning
    assert Point.objects.count() == 2
    assert [one.position for one in PlaceProposal.objects.all()] == [4000]
    place_revision(revision=revision(HASH), position=4000)
    assert {place for _, place in places()} == {4000}


def test_who_takes_a_place_first_locks_nobody_out() -> None:
    upload(other("aaaaaaaa", position=17), lab="other")
    (warning,) = sent(measured("bbbbbbbb", position=17))
    assert "17 of freebsd-head is that of aaaaaaaa, proposed by other/control" in warning
    assert revision("bbbbbbbb").is_waiting
    displace_revision(revision=revision("aaaaaaaa"))
    place_revision(revision=revision("bbbbbbbb"))
    assert places() == [("bbbbbbbb", 17)]
    place_revision(revision=revision("aaaaaaaa"), position=16)
    assert places() == [("aaaaaaaa", 16), ("bbbbbbbb", 17)]


def test_conclusions_follow_a_revision_off_its_place_and_back() -> None:
    """The hash is the first slow revision: an alert names it."""
    upload(*(measured(f"r{number}", position=number) for number in range(100, 120)))
    upload(measured(HASH, 0.8, position=120))
    upload(*(measured(f"r{number}", 0.8) for number in range(121, 140)))
    analyse()
    assert Alert.objects.get().revision.name == HASH
    displace_revision(revision=revision(HASH))
    analyse()
    assert Alert.objects.filter(is_active=True).get().revision.name == "r121"
    place_revision(revision=revision(HASH))
    analyse()
    assert Alert.objects.filter(is_active=True).get().revision.name == HASH


def test_a_hash_at_the_place_of_a_number_keeps_nobody_from_uploading_that() -> None:
    upload(other("aaaaaaaa", position=303_643), lab="other")
    assert sent(measured("r303643"))
    assert revision("r303643").is_waiting
    act(Revision, "displace", [revision("aaaaaaaa")], confirmed="yes")
    act(Revision, "place_on_tree", [revision("r303643")], confirmed="yes")
    assert places() == [("r303643", 303_643)]


def test_a_place_that_was_decided_is_not_disputed_by_an_upload() -> None:
    take(commit(HASH, position=5))
    with pytest.raises(Unprocessable, match="is at position 5"):
        upload(measured(HASH, position=6))
    with pytest.raises(Unprocessable, match=f"is {HASH}"):
        upload(measured("bbbbbbbb", position=5))
    with pytest.raises(Unprocessable, match="give it another place"):
        displace_revision(revision=revision(HASH))


def test_a_lab_that_contradicts_itself_is_reported() -> None:
    upload(measured(HASH, position=5))
    with pytest.raises(Unprocessable, match="is at position 5, not 6"):
        upload(measured(HASH, position=6))


def test_a_waiting_revision_that_is_merged_brings_its_runs_along() -> None:
    tree_of(20)
    sent(measured(HASH, position=FAR))
    merge_revisions(source=revision(HASH), into=revision("r300005"))
    assert Point.objects.get(revision__name="r300005").runs == 2


def test_another_direction_is_stored_with_a_warning_and_an_operator_decides() -> None:
    wrong = other("r10")
    wrong["metrics"]["pps"]["better"] = "less"
    upload(wrong, lab="other")
    (warning,) = sent(measured("r20"))
    assert "less is better here, not more" in warning
    sent(measured("r30", 0.5))
    analyse()
    metric = Metric.objects.get()
    form = {"unit": metric.unit, "better": "more"}
    operator().post(url(Metric, "change", metric.pk), form)
    metric.refresh_from_db()
    assert (metric.better, Series.objects.exclude(dirty_from=0).count()) == ("more", 0)
    analyse()
    assert make.compared("r30")[0].verdict == "worse"
    assert sent(measured("r40")) == []


def test_another_unit_is_refused_until_an_operator_corrects_it() -> None:
    wrong = other("r10")
    wrong["metrics"]["pps"]["unit"] = "Mpps"
    upload(wrong, lab="other")
    with pytest.raises(Unprocessable, match="an operator may correct the unit"):
        upload(measured("r20"))
    form = {"unit": "packets/s", "better": "more"}
    operator().post(url(Metric, "change", Metric.objects.get().pk), form)
    assert Metric.objects.get().unit == "packets/s"


def test_a_viewer_decides_nothing() -> None:
    client = Client()
    client.force_login(make.user("vic"))
    assert client.get(url(Revision)).status_code == 302


class TestAtOnce:
    pytestmark = pytest.mark.django_db(transaction=True)

    def test_two_labs_that_claim_one_place_are_both_stored(self) -> None:
        upload(measured("r1"))
        for round_ in range(5):
            names = [f"{letter}{round_:07x}" for letter in "ab"]
            mine, theirs = (measured(name, position=100 + round_) for name in names)
            theirs["hardware"] = "other/rig"
            assert at_once(partial(upload, mine), partial(upload, theirs, lab="third")) == []
            waiting = [revision(name).is_waiting for name in names]
            assert sorted(waiting) == [False, True]
