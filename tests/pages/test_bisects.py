"""The pages of bisects."""

import re
from collections.abc import Callable
from statistics import median

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.kept import kept
from tests.pages.conftest import Counted, words
from webapp.accounts.models import User
from webapp.bisects import draft
from webapp.bisects.models import Bisect, BisectBoot, BisectSettings
from webapp.bisects.services import start_bisect
from webapp.results.models import Metric, Revision

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PARTS = f"tree=freebsd-head&hardware={lab.HARDWARE}&mode={lab.MODE}&metric=pps&good=r1000&bad=r1016"


@pytest.fixture
def truth() -> Truth:
    return Truth()


@pytest.fixture
@kept
def bisect() -> Bisect:
    return lab.start(Truth())


@pytest.fixture
@kept
def ended() -> Bisect:
    """It named r1009."""
    return lab.ended()


@pytest.fixture
def triager(client: Client) -> Client:
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    return client


def test_the_list_and_a_running_one_read_as_approved(
    client: Client, visit: Visit, bisect: Bisect, approved: Approvals
) -> None:
    address = f"/bisects/{bisect.pk}/"
    for name, page in {"list": "/bisects/", "running": address}.items():
        approved(f"pages/bisect/{name}", client.get(page))
    assert "No bisect fits" in visit("/bisects/?state=done")
    assert f"Bisect {bisect.pk}: starved" in visit("/")
    Bisect.objects.all().delete()
    approved("pages/bisect/list-empty", client.get("/bisects/"))


def test_one_that_is_done_reads_as_approved_and_is_named_at_its_commit(
    client: Client, visit: Visit, ended: Bisect, approved: Approvals
) -> None:
    approved("pages/bisect/done", client.get(f"/bisects/{ended.pk}/"))
    approved("reports/bisect.md", client.get(f"/bisects/{ended.pk}.md"))
    assert f"Bisect {ended.pk} named this commit" in visit("/commits/freebsd-head/r1009/")


def test_the_story_is_drawn_step_by_step(client: Client, ended: Bisect) -> None:
    html = client.get(f"/bisects/{ended.pk}/").content.decode()
    assert html.count('class="bars"') == ended.decisions.values("boots").distinct().count()
    assert re.search(r"[0-9.]+ bits left after \d+ boots", html)
    story = words(html[html.index("How it got there") :])
    booted = BisectBoot.objects.filter(bisect=ended, revision__name="r1009").exclude(
        purpose="history"
    )
    value = f"{median(booted.latest('number').values):,.0f}"
    assert re.search(rf"r1009 .*{value}.* new level: the step is at or before it", story)


def test_its_json_and_its_chart_agree(client: Client, ended: Bisect) -> None:
    document = client.get(f"/bisects/{ended.pk}.json").json()
    page = client.get(f"/bisects/{ended.pk}/").content.decode()
    bars = re.findall(r'height="([\d.]+)" class="bw"><title>(\S+): ', page)
    assert document["culprit"] == "r1009"
    answer = client.get(f"/api/v1/bisects/{ended.pk}").json()
    assert 0 < answer["other_change_up_to_percent"] == document["other_change_up_to_percent"] < 2
    assert not answer["first_of_several"]
    assert answer["forecast"] == document["forecast"]
    assert answer["forecast"]["one"]["boots_median"] < answer["forecast"]["several"]["boots_p90"]
    assert 0 < answer["forecast"]["several_chance"] < 0.1
    assert answer["left"] is None
    assert max(bars, key=lambda bar: float(bar[0]))[1] == "r1009"
    assert "NaN" not in page


def test_an_open_page_hears_only_of_what_is_new(
    client: Client, bisect: Bisect, truth: Truth
) -> None:
    address = f"/bisects/{bisect.pk}/?version="
    headers = {"HX-Request": "true"}
    now = Bisect.objects.get(pk=bisect.pk).version
    assert client.get(f"{address}{now}", headers=headers).status_code == 204
    assert client.get(f"{address}{now - 1}", headers=headers).status_code == 200
    lab.work(truth, bisect)
    assert client.get(f"{address}{now}", headers=headers)["HX-Refresh"] == "true"


def test_the_form_shows_what_it_would_cost_before_it_starts(
    visit: Visit, truth: Truth, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of fewer than a dozen worlds those with several culprits may seem as short as the others.
    monkeypatch.setattr(draft, "TRIALS_BEFORE", 12)
    lab.measured_before(truth)
    text = visit(f"/bisects/new/?{PARTS}&effect=-2")
    assert re.search(r"Of \d+ simulated bisects, \d+ % end ", text)
    several = (
        r"if one commit is guilty; about \d+ boots?, .{1,9} \(90 % within \d+ boots?, .{1,9}\), "
    )
    assert re.search(several + "if several are, which has a chance of [45] %", text)
    assert not Bisect.objects.exists()


def test_suspects_that_touch_only_what_cannot_matter_are_counted_and_named(
    visit: Visit, client: Client, truth: Truth
) -> None:
    lab.measured_before(truth)
    BisectSettings.objects.create(tree=make.tree(), unlikely_paths="share/man/\n")
    touched = Revision.objects.filter(name__in=["r1003", "r1016"])
    touched.update(paths=["share/man/man4/em.4"], path_count=1)
    sentence = "2 of 16 commits touch only what cannot matter: they begin with 5 % of the weight"
    form = visit(f"/bisects/new/?{PARTS}&effect=-2")
    assert sentence in form
    assert "r1003 only share/man/ Change number 3" in form
    bisect = start_bisect(draft=lab.draft(truth), created_by=make.user("ada"))
    page = visit(f"/bisects/{bisect.pk}/")
    assert sentence in page
    assert "A cross: touches only what cannot matter." in page
    assert sentence in client.get(f"/bisects/{bisect.pk}.md").content.decode()
    document = client.get(f"/api/v1/bisects/{bisect.pk}").json()
    assert [one["revision"] for one in document["unlikely"]] == ["r1003", "r1016"]
    crosses = re.findall(
        r'class="unlikely"><title>([^<]+)</title>',
        client.get(f"/bisects/{bisect.pk}/").content.decode(),
    )
    assert crosses == ["r1003: touches only share/man/", "r1016: touches only share/man/"]


def test_the_form_needs_no_statement_for_each_unlikely_commit(
    queries: Counted, truth: Truth
) -> None:
    lab.measured_before(truth)
    address = f"/bisects/new/?{PARTS}&effect=-2"
    BisectSettings.objects.create(tree=make.tree(), unlikely_paths="share/man/\n")
    without = queries(address)
    Revision.objects.filter(name__gt="r1003").update(paths=["share/man/a"], path_count=1)
    assert queries(address) <= without + 1


def test_a_step_of_the_wrong_sign_is_pointed_out_and_turned_by_one_press(
    client: Client, visit: Visit, truth: Truth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "TRIALS_BEFORE", 1)
    lab.measured_before(truth)
    address = f"/bisects/new/?{PARTS}&effect=2&boots=30"
    text = visit(address)
    assert "The series lost; you asked for a gain. From r1000 to r1016 pps changed by −" in text
    assert "a search for +2.0 % would end as not reproduced" in text
    (instead,) = re.findall(r'href="(/bisects/new/[^"]+)"', client.get(address).content.decode())
    turned = visit(instead.replace("&amp;", "&"))
    assert "you asked for" not in turned
    assert 'value="-2"' in client.get(instead.replace("&amp;", "&")).content.decode()
    assert "Search −2 % instead" in text


def test_a_step_of_another_size_than_the_history_shows_is_pointed_out(
    visit: Visit, truth: Truth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "TRIALS_BEFORE", 1)
    lab.measured_before(truth)
    for effect, is_another in (("-2", False), ("-1.4", False), ("-20", True), ("-0.3", True)):
        text = visit(f"/bisects/new/?{PARTS}&effect={effect}")
        assert ("would end as not reproduced" in text) == is_another, effect
        assert ("From r1000 to r1016 pps changed by −" in text) == is_another, effect
    assert "The answer will be a range" in visit(f"/bisects/new/?{PARTS}&effect=-0.05")
    Metric.objects.update(better="less")
    text = visit(f"/bisects/new/?{PARTS}&effect=2")
    assert "The series gained; you asked for a loss." in text


def test_a_step_where_the_history_shows_none_is_pointed_out(visit: Visit) -> None:
    lab.measured_before(Truth(step_pct=0.0))
    text = visit(f"/bisects/new/?{PARTS}&effect=-5")
    assert "which is within their noise: a search for −5.0 % would end as not reproduced" in text
    assert "instead" not in text


def test_a_single_commit_is_no_search(visit: Visit, truth: Truth) -> None:
    lab.measured_before(truth)
    text = visit(f"/bisects/new/?{PARTS.replace('r1016', 'r1001')}&effect=-2")
    assert "r1001 is the only commit after r1000 that is known, so there is nothing to" in text
    assert "Forecast About" not in text


def test_the_button_pressed_twice_starts_one_and_leads_to_it(triager: Client, truth: Truth) -> None:
    lab.measured_before(truth)
    form = dict(pair.split("=") for pair in PARTS.split("&")) | {"effect": "-2"}
    first, second = (triager.post("/bisects/new/", form)["Location"] for _ in range(2))
    assert first == second == Bisect.objects.get().get_absolute_url()
    assert "searches the same already" in words(triager.get(second).content.decode())


def test_boots_pasted_twice_count_once(triager: Client, truth: Truth) -> None:
    address = f"/bisects/{lab.start(truth, manual=True).pk}/boots/"
    pasted = {"revision": "r1000", "values": "1000000 1000100\n999000"}
    triager.post(address, pasted)
    text = words(triager.post(address, pasted, follow=True).content.decode())
    assert "these of r1000 were taken in already" in text
    assert Bisect.objects.get().boots.filter(source="pasted").count() == 2


BAD_INPUT = [
    ("&effect=", "Effect: give the step in percent"),
    ("&effect=much", "“much” is not a number"),
    ("&effect=0", "Effect: give the step"),
    ("&effect=1e-300", "Effect: give the step"),
    ("&effect=-2&good=r1016&bad=r1000", "is not before"),
    ("&effect=-2&bad=r1000", "is the good one as well"),
    ("&effect=-2&good=r77", "no revision “r77” is known"),
    ("&effect=-2&boots=0", "Boots: give 1 to"),
    ("&effect=-2&boots=2.7", "not a whole number"),
    ("&effect=-2&boots=1e308", "out of bounds"),
    ("&effect=-2&deadline=2020-01-01T10:00", "Deadline: give a moment to come"),
    ("&effect=-2&deadline=2020-99-01T10:00", "Deadline: give a day"),
    ("&effect=-2&mode=nothing", "Nothing was measured for this"),
    ("&effect=0&alert=zzz", "Effect: give the step"),
]


def test_bad_input_is_named_with_the_remedy(visit: Visit, truth: Truth) -> None:
    lab.measured_before(truth)
    base = dict(pair.split("=") for pair in PARTS.split("&"))
    for more, remedy in BAD_INPUT:
        asked = base | dict(pair.split("=") for pair in more[1:].split("&"))
        text = visit("/bisects/new/?" + "&".join(f"{key}={value}" for key, value in asked.items()))
        assert remedy in text, more


def test_a_triager_starts_pauses_and_measures_by_hand(triager: Client, truth: Truth) -> None:
    lab.measured_before(truth)
    form = dict(pair.split("=") for pair in PARTS.split("&")) | {"effect": "-2", "manual": "1"}
    assert triager.post("/bisects/new/", form).status_code == 302
    bisect = Bisect.objects.get()
    address = f"/bisects/{bisect.pk}/"
    pasted = {"revision": "r1000", "values": "1000000 1000100\n-\n"}
    assert "Line 2: “-”" in words(
        triager.post(f"{address}boots/", pasted, follow=True).content.decode()
    )
    assert not bisect.boots.filter(source="pasted").exists()
    pasted["values"] = "1000000 1000100\n999000"
    triager.post(f"{address}boots/", pasted)
    assert bisect.boots.filter(source="pasted").count() == 2
    triager.post(f"{address}act/", {"act": "pause", "reason": "lunch"})
    assert Bisect.objects.get().state == "paused"
    text = words(triager.get(address).content.decode())
    assert "paused by tess: lunch" in text


def test_boots_that_are_refused_stand_in_their_field(bisect: Bisect, triager: Client) -> None:
    form = {"revision": "r300003", "values": "641,000 642,100\n<none>"}
    page = triager.post(f"/bisects/{bisect.pk}/boots/", form, follow=True).content.decode()
    assert ">641,000 642,100\n&lt;none&gt;</textarea>" in page
    assert page.count('value="r300003"') == 2  # the field of the other form too


def test_the_reason_of_a_refused_act_stands_in_its_field(bisect: Bisect, triager: Client) -> None:
    form = {"act": "cancel", "version": "0", "reason": "the wrong range"}
    page = triager.post(f"/bisects/{bisect.pk}/act/", form, follow=True).content.decode()
    assert "look again" in page
    assert 'value="the wrong range"' in page


@pytest.mark.parametrize("path", ["act/", "boots/"])
def test_strangers_and_viewers_cannot_act(client: Client, bisect: Bisect, path: str) -> None:
    address = f"/bisects/{bisect.pk}/{path}"
    form = {"act": "pause", "reason": "no", "revision": "r1000", "values": "1"}
    assert client.post(address, form)["Location"].startswith("/sign-in/")
    client.force_login(make.user("vera"))
    assert client.post(address, form).status_code == 403
    assert not bisect.acts.exists()


def test_a_stranger_cannot_start_one(client: Client, truth: Truth) -> None:
    lab.measured_before(truth)
    form = dict(pair.split("=") for pair in PARTS.split("&")) | {"effect": "-2"}
    assert client.post("/bisects/new/", form)["Location"].startswith("/sign-in/")
    assert not Bisect.objects.exists()


def test_the_page_needs_few_statements(queries: Counted, bisect: Bisect, truth: Truth) -> None:
    lab.work(truth, bisect, most=3)
    few = queries(f"/bisects/{bisect.pk}/")
    lab.work(truth, bisect)
    assert queries(f"/bisects/{bisect.pk}/") <= few <= 14


def test_the_form_offers_no_metric_that_follows_from_two_modes(
    client: Client, truth: Truth, bisect: Bisect
) -> None:
    pps = bisect.series.metric
    Metric.objects.create(name="cost of VIMAGE", unit="%", better="less", of=pps, option="VIMAGE")
    form = client.get("/bisects/new/").content.decode()
    (offered,) = re.findall(r'<datalist id="names-measured">(.*?)</datalist>', form, re.DOTALL)
    assert 'value="pps"' in offered
    assert "cost of" not in form
    assert 'part=measured&amp;field=metric"' in form
    typed = client.get("/compare/suggestions/?part=measured&field=metric&metric=cost")
    assert typed.status_code == 200
    assert "cost of" not in typed.content.decode()
    anywhere = client.get("/compare/suggestions/?part=metric&field=metric&metric=cost")
    assert "cost of VIMAGE" in anywhere.content.decode()
