"""A bisect whose range does not hold the culprit: what page, report, JSON and mail state of it."""

from dataclasses import replace

import pytest
from django.db.models import F
from django.test import Client

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from webapp.bisects.deciding import replay
from webapp.bisects.mails import compose_done
from webapp.bisects.models import Bisect, BisectBoot
from webapp.bisects.services import start_bisect
from webapp.bisects.services.collecting import history_boots
from webapp.bisects.view import view_of
from webapp.outbox.models import Mail
from webapp.results.models import Revision

pytestmark = [pytest.mark.long, pytest.mark.django_db]


def ended(first_bad: int) -> Bisect:
    truth = Truth(first_bad=first_bad)
    return lab.work(truth, lab.start(truth))


def test_a_step_before_the_good_end_is_stated_everywhere_with_where_to_look(client: Client) -> None:
    bisect = ended(-3)

    view = view_of(bisect)
    assert bisect.outcome == "outside the range", view.sentence
    assert view.sentence.startswith("The step lies before the good end, r1000 (")
    assert not any(view.chances)
    assert view.chart().before is None
    page = client.get(bisect.get_absolute_url()).content.decode()
    assert "after r996, at the latest in r997" in " ".join(page.split())
    assert "Bisect there" not in page, "one commit is no search"
    report = client.get(f"{bisect.get_absolute_url()[:-1]}.md").content.decode()
    assert "The step was measured after r996, at the latest in r997." in report
    document = client.get(f"{bisect.get_absolute_url()[:-1]}.json").json()
    expected = {"side": "before the good end", "after": "r996", "up_to": "r997"}
    assert document["outside"] == expected
    assert client.get(f"/api/v1/bisects/{bisect.pk}").json()["outside"] == expected
    message = compose_done(Mail.objects.get(kind="bisect.done"))
    assert "The step lies before the good end, r1000" in message.subject
    for text in (message.text, message.html):
        assert "The step was measured after r996, at the latest in r997" in " ".join(text.split())


def test_where_several_commits_are_in_question_a_bisect_is_offered_there(client: Client) -> None:
    bisect = ended(-3)
    Revision.objects.filter(position__lte=996).update(position=F("position") - 500)
    make.revision("between", position=996)
    address = bisect.get_absolute_url()
    assert "good=r996&amp;bad=r997&amp;effect=-2" in client.get(address).content.decode()
    report = client.get(f"{address[:-1]}.md").content.decode()
    assert "The step was measured after r996, at the latest in r997: bisect there." in report


def test_a_step_behind_the_bad_end_is_found_by_what_was_measured_behind_it() -> None:
    bisect = ended(20)

    view = view_of(bisect)
    assert bisect.outcome == "outside the range", view.sentence
    assert view.outside is not None
    assert (view.outside.side, str(view.outside.up_to)) == ("behind the bad end", "r1020")


def test_what_lies_beyond_a_known_change_is_kept_apart_and_can_be_decided_again() -> None:
    truth = Truth(first_bad=-3)
    lab.measured_before(truth)
    drafted = lab.draft(truth)
    known = history_boots(
        drafted.bisect,
        drafted.bisect,
        earliest=lab.revision(-3).position,
        latest=lab.revision(truth.count + 5).position,
        most=30,
    )
    drafted = replace(drafted, boots=known)

    bisect = lab.work(truth, start_bisect(draft=drafted, created_by=make.user("ada")))

    view = view_of(bisect)
    assert bisect.outcome == "outside the range", view.sentence
    beyond = {row.revision.name for row in view.boots if row.purpose == BisectBoot.BEYOND}
    assert beyond == {"r994", "r995", "r996", "r1022", "r1023"}
    assert view.outside is not None
    assert str(view.outside.after) == "r996"
    assert view.measured_for_it < 20
    again = replay(bisect, [revision.name for revision in view.revisions])
    assert [row.text for row in again] == [row.text for row in bisect.decisions.all()]
