"""The page that shows how good the alerts were."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted, words
from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent, AlertFinding, MinEffectChange
from webapp.analysis.models import Finding, SeriesSettings
from webapp.outbox.models import Mail
from webapp.results.models import Hardware, Series

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
NOW = timezone.now()
FIRST = 300_000


@pytest.fixture
def ada() -> User:
    return make.user()


def alert(
    index: int,
    *,
    resolution: str = "",
    hours: float | None = None,
    by: User | None = None,
    age: timedelta = timedelta(days=3),
    on: str = "Atom",
    percent: float = -4.2,
    **fields: object,
) -> Alert:
    """One opened ``age`` ago, on which ``by`` acted after ``hours``, with one finding."""
    previous, at = (
        make.revision(f"r{FIRST + 2 * index}"),
        make.revision(f"r{FIRST + 2 * index + 1}"),
    )
    opened = NOW - age
    made = Alert.objects.create(
        tree=at.tree,
        revision=at,
        after=previous,
        likeliest=at,
        verdict="regression",
        state="resolved" if resolution else "new",
        resolution=resolution,
        triaged=by is not None,
        opened_at=opened,
        updated_at=opened,
        **fields,
    )
    if by is not None and hours is not None:
        when = opened + timedelta(hours=hours)
        AlertEvent.objects.create(alert=made, at=when, actor=by, kind="resolved", version=2)
    series = make.series(on=make.hardware(on))
    make.finding(series, previous, at, alert=made, change_pct=percent, first_detected_at=opened)
    return made


def mail(to: User, about: int, kind: str = "alert.opened", state: str = "sent") -> None:
    Mail.objects.create(recipient=to, kind=kind, about=str(about), state=state, due=NOW)


def test_without_any_judgement_it_cannot_tell(client: Client, approved: Approvals) -> None:
    approved("pages/quality/without-any-judgement-it-cannot-tell", client.get("/quality/"))


def test_precision_is_what_people_judged_with_wilsons_interval(visit: Visit, ada: User) -> None:
    real = ["fixed", "backed out", "expected", "won't fix"]
    for index, resolution in enumerate([*real, "not real", "duplicate"]):
        alert(index, resolution=resolution, hours=1, by=ada)
    alert(10, resolution="fixed")  # closed by the system: nobody judged it
    alert(11, resolution="not real", hours=1, by=ada, history=True)
    alert(12, resolution="not real", hours=1, by=ada, age=timedelta(days=91))
    text = visit("/quality/")
    assert "4 of 5 judged alerts were real; half were looked at within 60 min" in text
    assert "80 % (95 %: 38 % to 96 %) : 5 alerts say it no closer" in text
    assert "not real" in text
    assert "4 of 6 judged" in visit("/quality/?days=92")


def test_the_time_to_triage_is_that_of_the_first_act(visit: Visit, ada: User) -> None:
    for index, hours in enumerate([1, 2, 3, 4, 100]):
        made = alert(index, hours=hours, by=ada, age=timedelta(days=9))
        AlertEvent.objects.create(alert=made, at=NOW, actor=ada, kind="reopened", version=3)
    page = visit("/quality/")
    assert "Time to triage 3 h half within that, nine of ten within 2.57 days" in page
    # Within two hours one, then two within four (2 and 3), one from four on, one after four days.
    assert re.search(r"1 2 h 2 4 h 1 8 h .*1 8 d", page)


def test_open_alerts_are_counted_by_age(visit: Visit) -> None:
    for index, days in enumerate([0.5, 2, 8, 29, 400]):
        alert(index, age=timedelta(days=days))
    expected = "Open now 5 under a day: 1 1 to 7 days: 1 7 to 30 days: 2 30 days and more: 1"
    assert expected in visit("/quality/")


def test_mails_are_those_about_alerts_that_were_sent(visit: Visit, ada: User) -> None:
    grace = make.user("grace")
    for about in range(6):
        mail(ada, about)
    mail(grace, 1)
    mail(grace, 2, state="dead")
    mail(grace, 3, kind="bisect.done")
    text = visit("/quality/?days=7")
    assert "Mails a person a week 3.5 2 people; 6 to whom most were sent; 7 in all" in text


def test_alerts_are_counted_by_kind_and_few_claim_no_share(client: Client, ada: User) -> None:
    for index in range(5):
        alert(index, resolution="fixed", hours=2, by=ada)
    alert(5, resolution="not real", hours=9, by=ada, one_build=True)
    alert(6)
    html = client.get("/quality/").content.decode()
    text = words(html[html.index("By kind") :])
    assert "change of level 6 5 of 5 2 h" in text
    assert "one build a side 1 0 of 1 9 h" in text
    level, one_build = re.findall(r'<svg[^>]*class="share".*?</svg>', html, re.DOTALL)
    assert "57 to 100 %" in level
    assert "0 to 79 %" in one_build
    assert 'class="at"' in level
    assert 'class="at"' not in one_build
    assert 'class="skipped"' in one_build


def test_the_noisiest_series_get_a_threshold_above_what_came_to_nothing(
    visit: Visit, ada: User
) -> None:
    alert(0, resolution="not real", hours=1, by=ada, on="Atom", percent=-4.2)
    alert(1, resolution="not real", hours=1, by=ada, on="Atom", percent=6.5)
    alert(2, on="Atom", percent=-5)
    alert(3, on="Atom", percent=-30)
    alert(4, on="Xeon", percent=-3)
    AlertFinding.objects.filter(finding__series__hardware__name="Xeon").delete()
    Finding.objects.filter(series__hardware__name="Xeon").update(state="retracted")
    text = visit("/quality/")
    assert "Atom freebsd-head 2 not real 0 retracted 2 others in force 2 % (default)" in text
    assert "proposed 7 %: silences 2, and 1 other." in text
    assert "Xeon freebsd-head 0 not real 1 retracted 0 others in force 2 % (default)" in text
    assert "proposed 3.5 %: silences 1, and 0 others." in text
    assert "Sign in to set what is proposed" in text


def test_nothing_is_proposed_where_the_threshold_is_higher_already(visit: Visit, ada: User) -> None:
    alert(0, resolution="not real", hours=1, by=ada, percent=-4.2)
    SeriesSettings.objects.create(series=Series.objects.get(), min_effect_pct=9)
    assert "9 % (series) none: what came to nothing is smaller" in visit("/quality/")


def test_an_operator_sets_what_is_proposed_with_one_click(client: Client, ada: User) -> None:
    alert(0, resolution="not real", hours=1, by=ada, percent=-4.2)
    client.force_login(make.user("root", role="operator"))
    assert "Set 4.5 %" in words(client.get("/quality/").content.decode())
    form = {"scope": f"series:{Series.objects.get().pk}", "percent": "4.5", "next": "/quality/"}
    response = client.post("/thresholds/set/", form, follow=True)
    assert response.redirect_chain[0][0] == "/quality/"
    text = words(response.content.decode())
    assert "0 of 1 judged alerts were real" in text  # what people judged stays judged
    assert "None: no finding of these days was called not real" in text
    assert MinEffectChange.objects.get().after == 4.5


def test_it_is_of_one_tree_when_asked(visit: Visit, ada: User) -> None:
    alert(0, resolution="not real", hours=1, by=ada)
    assert "0 of 1 judged" in visit("/quality/?tree=freebsd-head")
    assert "Cannot tell" in visit("/quality/?tree=linux")
    assert "0 of 1 judged" in visit("/quality/?days=x&tree=")


def test_it_takes_as_many_statements_for_many_series_as_for_one(
    queries: Counted, ada: User
) -> None:
    alert(0, resolution="not real", hours=1, by=ada)
    few = queries("/quality/")
    for index in range(1, 8):
        alert(index, resolution="not real", hours=1, by=ada, on=f"machine {index}")
    assert Hardware.objects.count() == 8
    assert queries("/quality/") == few <= 11
