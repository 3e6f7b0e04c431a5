"""Which way is better is stored in one place: all that shows a series turns when it is turned."""

from html import unescape

import pytest
from django.test import Client
from django.utils.html import strip_tags

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.bisects import lab
from tests.results.steps import analyse
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.bisects.services import start_bisect
from webapp.notifications.services import notify_events
from webapp.outbox.messages import compose
from webapp.outbox.models import Mail
from webapp.results.models import Metric, Series
from webapp.results.services import forget_names
from webapp.results.services.subjects import set_direction

pytestmark = pytest.mark.django_db

AT, BEFORE = "r115", "r114"
HARDWARE = "Atom/T540"


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def lost(*, count: int = 30) -> Series:
    """A series in packets a second that loses 12 % at the fifteenth of its revisions."""
    arrive(runs_of({(HARDWARE, "pf"): {count // 2: 0.88}}, count=count))
    return Series.objects.get()


def turned(series: Series) -> Series:
    set_direction(series=series, better="less")
    analyse()
    return Series.objects.select_related("metric").get()


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(unescape(strip_tags(answer.content.decode())).split())


def side(revision: str) -> str:
    return f"freebsd-head:{revision}:{HARDWARE}:pf:pps"


def compared(kind: str) -> str:
    return f"/compare{kind}?a={side(BEFORE)}&b={side(AT)}"


def test_finding_comparison_and_alert_turn_with_their_series() -> None:
    series = lost()
    assert Alert.objects.get().verdict == Alert.Verdict.REGRESSION
    turned(series)
    assert Finding.objects.get().verdict == "better"
    row = make.compared(AT)[0]
    assert (row.verdict, row.flag) == ("better", "improved")
    assert Alert.objects.get().verdict == Alert.Verdict.IMPROVEMENT


def test_a_young_series_turns_too() -> None:
    series = lost(count=4)
    assert ("worse", "regressed") in [(row.verdict, row.flag) for row in make.compared()]
    turned(series)
    verdicts, flags = zip(*((row.verdict, row.flag) for row in make.compared()), strict=True)
    assert "better" in verdicts
    assert "worse" not in verdicts
    assert set(flags) == {""}  # two points alone show losses


@pytest.mark.parametrize(
    ("address", "before", "after"),
    [
        (f"/commits/freebsd-head/{AT}/", "more is better", "less is better"),
        (f"/commits/freebsd-head/{AT}/", "% slower", "% lower"),
        (f"/trends/?tree=freebsd-head&hardware={HARDWARE}", "More is better", "Less is better"),
        (f"/hardware/{HARDWARE}/", "more is better", "less is better"),
        (compared("/"), "more is better", "less is better"),
        (compared("/"), "% slower", "% lower"),
        (compared(".md"), "more is better", "less is better"),
        (compared(".md"), "% slower", "% lower"),
        (compared(".txt"), "more is better", "less is better"),
        ("/alerts/", "pf lost ", "% lower"),
    ],
)
def test_pages_and_reports_turn(client: Client, address: str, before: str, after: str) -> None:
    series = lost()
    shown = text(client, address)
    assert before in shown
    assert after not in shown
    turned(series)
    shown = text(client, address)
    assert after in shown
    assert before not in shown


def test_the_chart_of_the_trend_turns(client: Client) -> None:
    address = f"/trends/figure.json?tree=freebsd-head&hardware={HARDWARE}"
    series = lost()
    assert "more is better" in client.get(address).content.decode()
    turned(series)
    shown = client.get(address).content.decode()
    assert "less is better" in shown
    assert "more is better" not in shown


def test_a_trend_of_series_that_differ_states_it(client: Client) -> None:
    arrive(runs_of({(HARDWARE, "pf"): {}, (HARDWARE, "ipfw"): {}}))
    set_direction(series=Series.objects.get(mode__name="pf"), better="less")
    shown = text(client, f"/trends/?tree=freebsd-head&hardware={HARDWARE}")
    assert "Which way is better differs between these series" in shown


def test_the_api_turns(client: Client) -> None:
    series = turned(lost())
    address = f"/api/v1/series/{series.pk}/points"
    assert client.get(address).json()["series"]["better"] == "less"
    (row,) = client.get("/api/v1/series").json()["series"]
    assert row["better"] == "less"
    query = {"a": side(BEFORE), "b": side(AT)}
    (found,) = client.get("/api/v1/compare", query).json()["rows"]
    assert (found["better"], found["verdicts"]) == ("less", ["better"])


def test_mails_turn_and_those_that_went_keep_their_words() -> None:
    make.subscription(name="everything")
    series = lost()
    first = Mail.objects.get(kind="alert.opened")
    went = compose(first).text
    assert "% slower" in went
    Mail.objects.filter(pk=first.pk).update(state="sent", text=went)
    turned(series)
    notify_events()
    assert Mail.objects.get(pk=first.pk).text == went
    shown = compose(Mail.objects.get(pk=first.pk)).text
    assert "Improvement: pf on Atom T540 is 12" in shown
    assert "% lower" in shown


def test_a_bisect_turns_with_its_chart_and_its_report(client: Client) -> None:
    truth = lab.Truth(step_pct=-5.0)
    series = lab.measured_before(truth)
    set_direction(series=series, better="less")
    lab.work(truth, start_bisect(draft=lab.draft(truth), created_by=make.user("ada")))
    number = client.get("/api/v1/bisects").json()["bisects"][0]["number"]
    assert "less is better" in text(client, f"/bisects/{number}.md")
    shown = client.get(f"/bisects/{number}.svg").content.decode()
    assert "less is better" in shown
    assert "more is better" not in shown


def test_a_series_without_a_direction_of_its_own_has_its_metric_s() -> None:
    series = make.series()
    assert series.better == "more"
    Metric.objects.update(better="less")
    assert Series.objects.select_related("metric").get().better == "less"
    set_direction(series=series, better="more")
    assert Series.objects.select_related("metric").get().better == "more"
    set_direction(series=series, better="")
    assert Series.objects.select_related("metric").get().better == "less"
