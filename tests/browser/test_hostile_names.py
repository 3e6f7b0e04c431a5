"""Names that are markup are shown as they are, in every chart and on every page."""

import json
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.api.conftest import Send, agent, send, token
from tests.bisects import lab
from tests.browser.steps import beyond
from tests.browser.test_journey import drawn, middle_of_point
from tests.documents import run_document
from tests.events.steps import event
from tests.results.steps import analyse, mode
from webapp.labs.models import Lab
from webapp.results.models import Hardware, Metric, Mode, Revision, RevisionAlias, Tree

__all__ = ["agent", "send", "token"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = '<a href="evil">x<b>%{y}$x$&lt;'
PROPERTY = "var(--ink)"
"""What the script of a chart takes for a colour, where a colour stands."""


@pytest.fixture
def revisions() -> list[Revision]:
    """Everything that an agent or a history names is `HOSTILE`."""
    tree = make.tree(HOSTILE)
    metric = make.metric(HOSTILE, unit=HOSTILE)
    hardware = make.hardware(HOSTILE, of=make.lab(HOSTILE))
    along = make.revisions(6, of=tree)
    for number, revision in enumerate(along):
        revision.name = f"{number}{HOSTILE}"
        revision.subject = revision.author_name = HOSTILE
        revision.save()
        RevisionAlias.objects.filter(revision=revision).update(name=revision.name)
    for name in ("@inet4+", "+"):
        mode = make.mode("a" + name + "b")
        mode.name = mode.workload = f"{HOSTILE}{name}{HOSTILE}"
        mode.save()
        series = make.series(of=tree, on=hardware, in_mode=mode, of_metric=metric)
        make.history(series, along, [100.0 * (1 + mode.pk % 2)] * 3 + [90.0] * 3)
        make.finding(series, along[2], along[3], why=HOSTILE)
        make.run(along[3], on=hardware, in_mode=mode, of_metric=metric)
    for kind, at in (("note", along[1]), ("firmware", along[4])):
        event(f"{kind}{HOSTILE}", kind=kind, tree=tree, first=at, last=at)
    return along


def unharmed(page: Page) -> None:
    """No element came of a name."""
    assert page.locator('[href="evil"]').count() == 0
    assert page.locator("svg tspan[style*=bold]").count() == 0
    links = page.locator("svg a").evaluate_all("all => all.map((one) => one.href.baseVal)")
    assert [one for one in links if not one.startswith("/")] == []


def texts(page: Page, selector: str) -> list[str]:
    return [text for text in page.locator(selector).all_text_contents() if text]


@pytest.mark.usefixtures("revisions")
def test_a_trend_chart_shows_names_as_they_are(live_server: LiveServer, page: Page) -> None:
    where = {"tree": HOSTILE, "metric": HOSTILE, "hardware": HOSTILE}
    page.goto(f"{live_server.url}/trends/?{urlencode(where)}")
    drawn(page)
    page.mouse.click(*middle_of_point(page, 3))
    expect(page.locator("#card")).to_contain_text(HOSTILE)
    assert f"{HOSTILE}, {HOSTILE} (more is better)" in texts(page, "#live .annotation-text")
    assert f"5{HOSTILE}" in texts(page, "#live .xtick")
    for kind in ("note", "firmware"):
        page.locator("#live .annotation", has_text=f"{kind}{HOSTILE[:8]}").hover()
        expect(page.locator("#live .hoverlayer")).to_contain_text(f"{kind}{HOSTILE}")
    expect(page.locator("#card .actions")).to_be_visible()
    page.keyboard.press("s")
    page.wait_for_function("() => location.search.includes('split=')")
    drawn(page)
    page.mouse.move(*middle_of_point(page, 2))
    expect(page.locator("#tip")).to_contain_text(f"2{HOSTILE}")
    assert HOSTILE in page.locator("#series").text_content()
    unharmed(page)


UPLOADED = {
    "hardware": '<a/href="evil">x</a><b>%{x}',
    "mode": '<b>y</b>%{x}<a href="evil">',
    "unit": '<a href="evil">x</a><b>%{x}',
    "subject": '<a href="evil">s</a><b>%{x}',
    "note": '<a href="evil">n</a><b>%{x}',
}
"""As an agent sends them: no blank in a hardware or in a mode."""


def test_what_an_agent_uploads_is_never_markup_in_a_trend_chart(
    live_server: LiveServer, page: Page, send: Send, tmp_path: Path
) -> None:
    """Tooltip, legend, axes and annotations, in the page and in the picture of the server."""
    names = [f"r{300_000 + at}" for at in range(12)]
    sent, refused = dict(UPLOADED), run_document(mode=mode(UPLOADED["mode"]))
    assert send(refused).status_code == 422
    sent["mode"] = sent["mode"].replace("/", "").replace(" ", "_")
    for name, level in zip(names, [100.0] * 6 + [80.0] * 6, strict=True):
        document = run_document(
            revision=name,
            hardware=sent["hardware"],
            mode=mode(sent["mode"]),
            samples=[level, level + 1, level - 1, level + 0.5, level - 0.5],
        )
        document["metrics"]["pps"]["unit"] = sent["unit"]
        answer = send(document)
        assert answer.status_code == 201, answer.content
    history = tmp_path / "history.jsonl"
    history.write_text(
        "\n".join(json.dumps({"revision": one, "subject": sent["subject"]}) for one in names)
    )
    call_command("import_revisions", str(history), tree="freebsd-head")
    event = {"kind": "note", "text": sent["note"], "lab": "netlab"}
    place = {"tree": "freebsd-head", "first": names[2], "last": names[2]}
    answer = send(event | place, path="/api/v1/events", query="")
    assert answer.status_code == 201, answer.content
    analyse()

    page.goto(f"{live_server.url}/trends/?{urlencode({'hardware': sent['hardware']})}")
    drawn(page)
    annotations = texts(page, "#live .annotation-text")
    assert any(text.startswith(f"pps, {sent['unit']}") for text in annotations)
    assert any(sent["note"][:20] in text for text in annotations)
    page.mouse.move(*middle_of_point(page, 8))
    expect(page.locator("#tip")).to_contain_text(sent["subject"])
    expect(page.locator("#tip")).to_contain_text(sent["mode"])
    expect(page.locator("#series")).to_contain_text(sent["mode"])
    page.mouse.click(*middle_of_point(page, 8))
    expect(page.locator("#card")).to_contain_text(str(Hardware.objects.get(name=sent["hardware"])))
    unharmed(page)
    page.route("**/plotly*.js", lambda route: route.abort())
    page.reload()
    expect(page.locator("#hint")).to_contain_text("Drawn by the server")
    drawing = page.locator("#plot .only-wide svg")
    expect(drawing).to_contain_text(sent["unit"])
    expect(drawing).to_contain_text(sent["note"][:20])
    unharmed(page)


@pytest.mark.parametrize("unit", [HOSTILE, pytest.param(PROPERTY, marks=pytest.mark.long)])
def test_a_bisect_chart_shows_names_as_they_are(
    live_server: LiveServer, page: Page, unit: str
) -> None:
    truth = lab.Truth()
    bisect = lab.work(truth, lab.start(truth), most=3)
    Metric.objects.update(name=HOSTILE, unit=unit)
    for row in Revision.objects.all():
        Revision.objects.filter(pk=row.pk).update(name=f"{row.name}{HOSTILE}", subject=HOSTILE)
    for model in (Tree, Lab, Hardware):
        model.objects.update(name=HOSTILE)
    Mode.objects.update(name=HOSTILE, workload=HOSTILE)
    page.goto(f"{live_server.url}/bisects/{bisect.pk}/")
    expect(page.locator("#chart svg .boot").first).to_be_visible()
    assert f"{unit}, more is better" in texts(page, "#chart .axis-title")
    assert all(text.endswith(HOSTILE) for text in texts(page, "#chart text.mono"))
    titles = texts(page, "#chart .boot title")
    assert any(HOSTILE in text and unit in text for text in titles)
    unharmed(page)


def test_every_page_shows_names_as_they_are(
    live_server: LiveServer, page: Page, revisions: list[Revision]
) -> None:
    tree, revision = quote(HOSTILE, safe=""), quote(revisions[3].name, safe="")
    side = [f"{HOSTILE}:{revisions[at].name}" for at in (2, 3)]
    console: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    for address in (
        "/",
        "/hardware/",
        f"/hardware/{quote(HOSTILE)}/",
        f"/commits/{tree}/",
        f"/commits/{tree}/{revision}/",
        f"/compare/?{urlencode({'a': side[0], 'b': side[1]})}",
        f"/search/?{urlencode({'q': HOSTILE})}",
        "/agents/",
        "/thresholds/",
        "/quality/",
    ):
        page.goto(live_server.url + address)
        unharmed(page)
        assert json.dumps(console) == "[]", address


LONG = "n" * 100


def test_long_names_widen_no_page(live_server: LiveServer, page: Page) -> None:
    tree, hardware, metric = make.tree("mytree"), make.hardware("HW1/nic0"), make.metric(LONG)
    along = make.revisions(6, of=tree)
    for at, row in enumerate(along):
        row.name = f"{at}{at:039x}"
        row.save()
        RevisionAlias.objects.filter(revision=row).update(name=row.name)
    series = make.series(of=tree, on=hardware, in_mode=make.mode(LONG), of_metric=metric)
    make.history(series, along, [100.0] * 3 + [90.0] * 3)
    alert = make.alert(along[3], after=along[2])
    make.finding(series, along[2], along[3], alert=alert)
    make.run(along[3], on=hardware, in_mode=series.mode, of_metric=metric)
    sides = {"a": f"mytree:{along[2].name}", "b": f"mytree:{along[3].name}"}
    wide: list[tuple[str, int, str]] = []
    for address in (
        *("/", "/hardware/", "/hardware/HW1/nic0/", "/commits/mytree/", "/alerts/", "/trends/"),
        f"/commits/mytree/{along[3].name}/",
        f"/alerts/{alert.pk}/",
        f"/compare/?{urlencode(sides)}",
        f"/search/?{urlencode({'q': LONG})}",
    ):
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(live_server.url + address)
            wide += [(address, width, one) for one in beyond(page)]
    assert wide == []
