"""What can be asked for about a point, an alert and a comparison, and by whom."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.jobs.steps import take
from tests.pages.conftest import Counted, words
from webapp.accounts.models import User
from webapp.alerts.models import Alert, MinEffect
from webapp.analysis.queries.compare import Side, compare_sides
from webapp.jobs.models import Job
from webapp.pages.parts.job_offers import boots_plan, boots_to_ask_for
from webapp.results.models import Revision, Series
from webapp.stats.power import NoiseLevels, Plan, plan_for

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
NOISE = {"run_pct": 3.0, "boot_pct": 4.0, "within_pct": 5.0}
"""A boot of one run scatters by 5 %."""


@pytest.fixture
def along() -> list[Revision]:
    """Ten revisions, of which the series holds the first, the seventh and the eighth."""
    revisions = make.revisions(10)
    make.history(make.series(), [revisions[place] for place in (0, 6, 7)], [100.0] * 3)
    make.known_builds(make.series())
    return revisions


def address(at: Revision, more: str = "") -> str:
    return f"/jobs/new/?series={make.series().pk}&revision={at.name}{more}"


def forms(html: str) -> list[dict[str, list[str]]]:
    """The fields of each form that asks for jobs."""
    found = []
    for form in re.findall(r'<form class="ask".*?</form>', html, flags=re.DOTALL):
        fields: dict[str, list[str]] = {}
        for tag in re.findall(r"<input[^>]*>", form):
            name = re.search(r'name="([^"]*)"', tag)
            value = re.search(r'value="([^"]*)"', tag)
            assert name
            assert value
            fields.setdefault(name[1], []).append(value[1])
        found.append(fields)
    return found


def shown(client: Client, path: str) -> list[dict[str, list[str]]]:
    return forms(client.get(path).content.decode())


def test_the_boots_are_those_that_prove_the_smallest_effect_worth_an_alert() -> None:
    series = make.series()
    make.analysis(series, noise=make.noise(**NOISE))
    MinEffect.objects.create(mode=series.mode, percent=6.0)
    noise = NoiseLevels(run=0.0, boot=5.0, df=20.0)
    needed = plan_for(6.0, noise, most=Plan(1, 200, 1)).plan
    assert needed is not None
    assert boots_plan(series).boots == needed.boots == 17
    assert "a change of 6.0 %" in boots_plan(series).text
    assert "11 to 17 boots a side, by" in boots_plan(series).text


def test_noise_between_builds_is_counted_and_a_plan_of_several_builds_states_it() -> None:
    series = make.series()
    make.analysis(series, noise=make.noise(**NOISE, build_pct=4.0))
    MinEffect.objects.create(mode=series.mode, percent=7.0)
    plan = boots_plan(series)
    assert "builds a side" in plan.text
    assert "a job measures one build" in plan.text
    assert f"{plan.boots} boot" in plan.text


@pytest.mark.parametrize("noise", [None, make.noise(within_pct=0.0)])
def test_a_series_of_unknown_noise_gets_a_few_boots_and_states_why(
    noise: dict[str, float | None] | None,
) -> None:
    make.analysis(make.series(), noise=noise)
    assert boots_plan(make.series()).boots == 5
    assert "not known yet" in boots_plan(make.series()).text


def test_what_no_plan_proves_is_called_that() -> None:
    make.analysis(make.series(), noise=make.noise(**NOISE, build_pct=40.0))
    plan = boots_plan(make.series())
    assert plan.boots == 5
    assert plan.text.startswith("Not even 10 builds a side, 20 boots of each would prove")


def test_a_point_offers_more_runs_and_the_middle_of_each_gap_beside_it(
    along: list[Revision], tess: Client
) -> None:
    make.analysis(make.series(), noise=make.noise(**NOISE, build_pct=0.0))
    path = address(along[6], "&next=/trends/%3Fmode=forwarding")
    more, gap = shown(tess, path)
    assert (more["purpose"], more["revision"]) == (["more runs"], [along[6].name])
    assert (gap["purpose"], gap["revision"]) == (["fill gap"], [along[3].name])
    boots = [str(min(boots_plan(make.series()).boots, 50))]
    assert more["boots"] == gap["boots"] == boots
    text = words(tess.get(path).content.decode())
    assert (
        f"5 commits between {along[0].name} and {along[6].name} are not measured; "
        f"{along[3].name} is the middle one." in text
    )
    answer = tess.post("/jobs/request/", gap)
    assert answer.headers["Location"] == "/trends/?mode=forwarding"
    job = Job.objects.get()
    assert (job.revision, job.purpose, job.boots) == (along[3], "fill gap", int(boots[0]))
    assert (job.hardware, job.mode) == (make.hardware(), make.mode())


def test_at_the_ends_of_a_series_and_beside_neighbours_there_is_no_gap(
    along: list[Revision], tess: Client
) -> None:
    assert [form["purpose"] for form in shown(tess, address(along[7]))] == [["more runs"]]
    assert len(shown(tess, address(along[0]))) == 2


def test_what_was_asked_for_is_stated_and_not_queued_again(
    along: list[Revision], tess: Client
) -> None:
    form = shown(tess, address(along[7]))[0]
    received = words(tess.post("/jobs/request/", form, follow=True).content.decode())
    job = Job.objects.get()
    assert f"Queued: job {job.pk} , 5 boots of {along[7].name} on" in received
    received = words(
        tess.post("/jobs/request/", form | {"purpose": "confirm"}, follow=True).content.decode()
    )
    assert f"Already asked: job {job.pk} , 5 boots" in received
    assert Job.objects.count() == 1
    assert shown(tess, address(along[7])) == []
    page = tess.get(address(along[7])).content.decode()
    assert f"already asked, job {job.pk} , 5 boots of {along[7].name}, queued" in words(page)
    assert f'href="/jobs/{job.pk}/"' in page


def test_a_job_that_ended_or_measures_something_else_stands_in_nobodys_way(
    along: list[Revision], tess: Client
) -> None:
    form = shown(tess, address(along[7]))[0]
    make.mode("pf")
    tess.post("/jobs/request/", form | {"mode": "pf"})
    tess.post("/jobs/request/", form)
    Job.objects.update(
        state="cancelled", ended_at=timezone.now(), cancel_requested=True, cancel_reason="no"
    )
    assert len(shown(tess, address(along[7]))) == 1
    tess.post("/jobs/request/", form)
    assert Job.objects.filter(state="queued").count() == 1


def test_without_a_worker_the_job_would_wait_and_the_form_states_it(
    along: list[Revision], tess: Client
) -> None:
    assert "a job will queue" in words(tess.get(address(along[7])).content.decode())
    take("rig-1", at=timezone.now())
    assert "a job will queue" not in words(tess.get(address(along[7])).content.decode())


def test_only_triagers_see_the_way_to_the_forms(client: Client, along: list[Revision]) -> None:
    pages = ("/trends/", along[6].get_absolute_url())
    viewer = make.user("vi")
    viewer.role = User.Role.VIEWER
    viewer.save()
    for _ in ("stranger", "viewer"):
        assert not any("/jobs/new/" in client.get(page).content.decode() for page in pages)
        assert client.get(address(along[6])).status_code in (302, 403)
        client.force_login(viewer)
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    for page in pages:
        assert f"/jobs/new/?series={make.series().pk}" in client.get(page).content.decode()


@pytest.mark.parametrize(
    "query", ["", "series=x", "series=1", "revision=r1", "series=99999999999999999999"]
)
def test_what_is_no_point_of_a_series_is_not_found(tess: Client, query: str) -> None:
    assert tess.get(f"/jobs/new/?{query}").status_code == 404


def test_an_unmeasured_revision_of_a_series_is_no_point(
    along: list[Revision], tess: Client
) -> None:
    assert tess.get(address(along[3])).status_code == 404


def test_the_chart_reads_the_forms_alone(along: list[Revision], tess: Client) -> None:
    answer = tess.get(address(along[6]), headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert len(forms(answer.content.decode())) == 2
    assert "HX-Request" in answer["Vary"]


def test_no_page_leads_elsewhere_afterwards(along: list[Revision], tess: Client) -> None:
    path = address(along[7], "&next=https://elsewhere.example/")
    assert shown(tess, path)[0]["next"] == ["/agents/"]


def test_the_number_of_statements_does_not_depend_on_the_length_of_gap_or_series(
    along: list[Revision], tess: Client, queries: Counted
) -> None:
    few = queries(address(along[6]))
    longer = make.revisions(60, first=400_000)
    make.history(make.series(), longer[::20], [100.0] * 3)
    assert queries(address(longer[20])) <= few + 2  # it has a gap on either side


def test_signing_in_as_one_who_may_ask_costs_the_trend_chart_no_query_per_point(
    tess: Client, queries: Counted
) -> None:
    # Two from the beginning: of one alone the page reads its newest points.
    along = make.revisions(3)
    for mode in ("forwarding", "pf"):
        make.history(make.series(in_mode=mode), along, [100.0] * 3)
    few = queries("/trends/")
    make.history(make.series(in_mode="ipfw"), make.revisions(20, first=400_000), [100.0] * 20)
    assert queries("/trends/") == few


def _alert(along: list[Revision]) -> Alert:
    series: Series = make.series()
    alert = Alert.objects.create(
        tree=make.tree(),
        after=along[0],
        revision=along[6],
        likeliest=along[6],
        verdict=Alert.Verdict.REGRESSION,
        opened_at=timezone.now(),
        updated_at=timezone.now(),
    )
    make.finding(series, along[0], along[6], after=along[0], alert=alert)
    return alert


def test_an_alert_confirms_its_candidate_with_the_parent_and_fills_the_middle(
    along: list[Revision], tess: Client
) -> None:
    make.analysis(make.series(), noise=make.noise(**NOISE, build_pct=0.0))
    MinEffect.objects.create(mode=make.mode(), percent=6.0)
    confirm, gap, more, profile = shown(tess, f"/alerts/{_alert(along).pk}/?show=measure")
    assert confirm["purpose"] == ["confirm"]
    assert confirm["revision"] == [along[5].name, along[6].name]
    assert (gap["purpose"], gap["revision"]) == (["fill gap"], [along[3].name])
    assert (more["purpose"], more["revision"]) == (["more runs"], [along[0].name])
    assert confirm["boots"] == gap["boots"] == more["boots"] == ["17"]
    for form in (confirm, profile):
        tess.post("/jobs/request/", form)
    asked = Job.objects.order_by("pk").values_list("revision__name", "purpose", "boots")
    pair = (along[5].name, along[6].name)
    confirmed = [(name, "confirm", 17) for name in pair]
    assert list(asked) == [*confirmed, *((name, "profile", 5) for name in pair)]


def test_of_a_candidate_and_its_parent_only_what_is_not_asked_is_asked(
    along: list[Revision], tess: Client
) -> None:
    path = f"/alerts/{_alert(along).pk}/?show=measure"
    confirm = shown(tess, path)[0]
    tess.post("/jobs/request/", confirm | {"revision": [along[5].name]})
    assert shown(tess, path)[0]["revision"] == [along[6].name]
    received = words(tess.post("/jobs/request/", confirm, follow=True).content.decode())
    assert "Queued: job" in received
    assert "Already asked: job" in received
    assert Job.objects.count() == 2


def test_an_alert_about_one_commit_has_no_gap(tess: Client) -> None:
    first, second = make.revisions(2)
    make.history(make.series(), [first, second], [100.0, 90.0])
    alert = _alert([first, *[second] * 6])
    purposes = [form["purpose"] for form in shown(tess, f"/alerts/{alert.pk}/?show=measure")]
    assert purposes == [["confirm"], ["more runs"], ["profile"]]


def test_an_alert_offers_nothing_to_others(client: Client, along: list[Revision]) -> None:
    alert = _alert(along)
    assert shown(client, f"/alerts/{alert.pk}/") == []


def test_a_comparison_of_one_row_asks_for_as_many_boots_as_its_plan_has(tess: Client) -> None:
    before, after = make.revisions(2)
    make.run(before, samples=[100.0, 101.0, 99.0, 100.5, 99.5])
    make.run(after, samples=[98.0, 99.0, 97.0, 98.5, 97.5])
    texts = [
        f"freebsd-head:{at.name}:{make.hardware().name}:forwarding:pps" for at in (before, after)
    ]
    make.known_builds(make.series())
    (row,) = compare_sides([Side.parse(text) for text in texts]).rows
    boots = str(boots_to_ask_for(*row.sets, row.judged[0]))
    asked = shown(tess, f"/compare/?a={texts[0]}&b={texts[1]}")
    assert [form["revision"] for form in asked] == [[before.name], [after.name]]
    assert [form["boots"] for form in asked] == [[boots], [boots]]
    assert boots != "5"  # what stands where nothing is known


def test_one_build_a_side_asks_for_more_builds_of_both_and_no_more_than_that(tess: Client) -> None:
    before, after = make.revisions(2)
    for at, factor in ((before, 1.0), (after, 0.9)):
        make.run(at, samples=[value * factor for value in make.FIVE_SAMPLES])
    texts = [
        f"freebsd-head:{at.name}:{make.hardware().name}:forwarding:pps" for at in (before, after)
    ]
    page = f"/compare/?a={texts[0]}&b={texts[1]}"
    form = shown(tess, page)[0]
    assert (form["revision"], form["builds"]) == ([before.name, after.name], ["2"])
    assert "2 more builds a side" in words(tess.get(page).content.decode())
    for _ in range(2):
        tess.post("/jobs/request/", form)
    jobs = Job.objects.order_by("pk")
    assert [(job.revision_id, job.rebuild) for job in jobs] == [
        (before.pk, True),
        (before.pk, True),
        (after.pk, True),
        (after.pk, True),
    ]
    assert "already asked" in words(tess.get(page).content.decode())


def test_more_builds_are_bounded(tess: Client) -> None:
    at = make.revisions(1)[0]
    make.run(at)
    form = {
        "tree": "freebsd-head",
        "revision": at.name,
        "hardware": make.hardware().name,
        "mode": "forwarding",
        "boots": "1",
        "builds": "11",
    }
    tess.post("/jobs/request/", form)
    assert not Job.objects.exists()


def test_only_triagers_are_offered_more_builds(client: Client) -> None:
    along = make.revisions(2)
    for at, factor in zip(along, (1.0, 0.95), strict=True):
        make.run(at, samples=[value * factor for value in make.FIVE_SAMPLES])
    texts = [f"freebsd-head:{at.name}:{make.hardware().name}:forwarding:pps" for at in along]
    html = client.get(f"/compare/?a={texts[0]}&b={texts[1]}").content.decode()
    assert 'name="builds"' not in html
    assert "2 more builds a side would settle it" in words(html)


def test_a_point_of_one_build_offers_more_builds_of_it_and_the_one_before(tess: Client) -> None:
    revisions = make.revisions(2)
    make.history(make.series(), revisions, [100.0, 90.0])
    builds = [form for form in shown(tess, address(revisions[1])) if "builds" in form]
    assert [form["revision"] for form in builds] == [[at.name for at in revisions]]
