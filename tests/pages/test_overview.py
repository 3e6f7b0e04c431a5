"""`/`: what got worse since I last looked?"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import make
from tests.approved import Approvals
from tests.events.steps import release
from tests.experiments.steps import imported
from tests.pages.conftest import Counted, words
from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertFinding
from webapp.alerts.queries import open_losses, suspicions_of
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.analysis.queries import WallTile, wall_tiles
from webapp.charts import around
from webapp.charts.around import Tile, draw_tile
from webapp.charts.text import percent as in_percent
from webapp.pages.overview import wall
from webapp.pages.overview.overview import WALLS
from webapp.pages.overview.wall import every_series
from webapp.results.models import Hardware, Point, Revision, Run, Series
from webapp.stats import changes

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
Capture = Callable[..., AbstractContextManager[object]]


def measured(
    levels: list[float],
    *,
    mode: str = "pf",
    on: Hardware | None = None,
    days_ago: float = 0.1,
    first: int = 300_000,
) -> tuple[Series, list[Revision]]:
    """A series with its points and analysis, whose newest revision was measured lately."""
    along = list(Revision.objects.filter(tree=make.tree()).order_by("position"))
    along = along[: len(levels)] or make.revisions(len(levels), first=first)
    series = make.series(on=on, in_mode=mode)
    make.history(series, along, levels)
    make.analysis(series, count=len(levels))
    at = timezone.now() - timedelta(days=days_ago)
    make.run(along[-1], on=on, in_mode=mode, measured_at=at, received_at=at)
    return series, along


def loss(percent: float = -11.4, *, mode: str = "pf", on: Hardware | None = None) -> Alert:
    """An open alert of a confirmed loss in the middle of ten revisions, opened an hour ago."""
    series, along = measured([100.0] * 5 + [100 + percent] * 5, mode=mode, on=on)
    opened = timezone.now() - timedelta(hours=1)
    alert = Alert.objects.filter(revision=along[5]).first() or make.alert(
        along[5], after=along[4], opened_at=opened
    )
    make.finding(
        series,
        along[4],
        along[5],
        change_pct=percent,
        level_before=100.0,
        level=100 + percent,
        alert=alert,
    )
    return alert


def test_an_open_loss_is_the_headline_with_size_mode_machine_and_commit(
    client: Client, approved: Approvals
) -> None:
    loss()
    approved("pages/overview/an-open-loss-is-the-headline-with-size-mode", client.get("/"))


def test_a_loss_that_no_commit_can_be_named_for_states_by_when_it_began(
    client: Client, approved: Approvals
) -> None:
    alert = loss()
    before = Revision.objects.get(name="r300003")
    Finding.objects.update(here=0.4, after=before)
    Alert.objects.update(after=before)
    page = client.get("/")
    approved("pages/overview/a-loss-that-no-commit-can-be-named", page)
    text = words(page.content.decode())
    assert "this commit" not in text
    assert f"alert {alert.pk}" in text


@pytest.mark.parametrize("named", [None, 0.5, 0.95])
@pytest.mark.parametrize("here", [0.4, 0.85, 0.97])
@pytest.mark.parametrize("one_build", [False, True])
def test_the_front_page_names_a_commit_exactly_where_every_other_page_does(
    named: float | None, here: float, one_build: bool
) -> None:
    alert = loss()
    Finding.objects.update(here=here)
    alert.after = Revision.objects.get(name="r300006")
    alert.named, alert.named_probability = (alert.revision, named) if named else (None, None)
    alert.one_build = one_build
    alert.save()
    (row,) = open_losses(since=timezone.now(), most=1, beside=13)
    other = suspicions_of([alert])[alert.pk]
    assert (row.after, row.last, row.chance) == (other.after.name, other.last.name, other.chance)
    assert row.is_named == (other.commit is not None)
    assert other.commits in (None, row.commits)


def test_the_losses_come_in_the_order_of_the_inbox(visit: Visit) -> None:
    along = make.revisions(12)
    sizes = (-3.0, -30.0, -40.0, -7.0)
    for number, percent in enumerate(sizes):
        series = make.series(in_mode=f"mode-{number}")
        before, at = along[2 * number : 2 * number + 2]
        make.history(series, along, [100.0] * 12)
        alert = make.alert(at, after=before, state="recovered" if number == 1 else "new")
        make.finding(series, before, at, change_pct=percent, alert=alert)
        if number == 2:
            Alert.objects.filter(pk=alert.pk).update(kind="excursion", hardware=series.hardware)
    rows = open_losses(since=timezone.now(), most=12, beside=13)
    # What stands, then what was lost at one revision alone, then what recovered.
    assert [row.percent for row in rows] == [-7.0, -3.0, -40.0, -30.0]
    text = visit("/")
    assert text.count("alert ") >= 3
    assert "mode-3 lost 7.0" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_loss_beyond_all_figures_is_the_largest_and_has_no_figure(visit: Visit) -> None:
    loss()
    Finding.objects.update(change_pct=None, low_pct=None, high_pct=None)
    text = visit("/")
    assert "pf changed beyond any percentage on Atom C2758 T540-CR" in text
    assert "nan" not in text.lower()


def test_a_loss_of_a_simulated_machine_leads_only_where_no_real_one_is_open(visit: Visit) -> None:
    loss(-20.0, on=make.hardware("Sim/x", of=make.lab("Simulation", simulated=True)))
    assert "pf lost 20.0 % on Sim" in visit("/")
    along = Revision.objects.order_by("position")
    series = make.series(in_mode="real")
    make.history(series, along, [100.0] * 10)
    alert = make.alert(along[3], after=along[2])
    make.finding(series, along[2], along[3], change_pct=-4.0, alert=alert)
    text = visit("/")
    assert "real lost 4.0 % on Atom C2758 T540-CR" in text
    assert "1 in labs, 1 simulated" in text


def test_each_card_states_what_else_the_alert_holds(visit: Visit) -> None:
    loss(-11.4, mode="pf")
    loss(+80.0, mode="fast")
    assert "but fast ▴ +80.0 %" in visit("/")
    loss(-5.0, mode="ipfw")
    assert "and 2 more series: ▾ 1, ▴ 1" in visit("/")


def test_when_nothing_is_open_the_headline_states_it_with_the_last_change(
    client: Client, approved: Approvals
) -> None:
    series, along = measured([100.0] * 5 + [120.0] * 5)
    make.finding(series, along[4], along[5], change_pct=20.0, revisions_after=5)
    approved("pages/overview/when-nothing-is-open-the-headline-states-it", client.get("/"))


def test_a_change_before_the_revisions_shown_is_not_the_last_one(visit: Visit) -> None:
    series, along = measured([120.0] * 10)
    make.finding(series, along[0], along[1], change_pct=20.0, revisions_after=61)
    text = visit("/")
    assert "No change is proven in the revisions shown." in text
    assert "The last change" not in text


def test_an_instance_of_history_alone_states_it_and_calls_no_machine_silent(visit: Visit) -> None:
    series, along = measured([100.0] * 5 + [90.0] * 5, days_ago=3000)
    make.finding(series, along[4], along[5])
    series.hardware.runs.update(history=True)
    text = visit("/")
    assert (
        "Imported results: no proven change beyond the threshold in 1 series on 1 machine" in text
    )
    assert "1 imported" in text
    assert "silent for" not in text


def ends_apart(series: Series) -> str:
    first, *_, last = series.points.order_by("position").values_list("mean", flat=True)
    return f"{in_percent(100 * (last / first - 1))} %"


def test_what_is_too_little_to_tell_is_nowhere_called_unchanged(
    client: Client, visit: Visit, approved: Approvals
) -> None:
    rose, _ = measured([100.0, 120.0, 90.0, 170.0, 187.0], mode="rose")
    fell, _ = measured([100.0, 250.0, 120.0, 99.0, 42.0], mode="fell")
    quiet, _ = measured([100.0, 100.5, 99.5, 100.0, 100.3], mode="quiet")
    off, _ = measured([100.0, 100.5, 99.5, 100.0, 91.0], mode="off")
    SeriesAnalysis.objects.filter(series=rose).update(summary={"count": 5, "smallest": None})
    for series, pct in ((fell, 900.0), (quiet, 2.0), (off, 2.0)):
        SeriesAnalysis.objects.filter(series=series).update(
            summary={"count": 5, "smallest": {"pct": pct}}
        )
    page = client.get("/")
    approved("pages/overview/what-is-too-little-to-tell-is-nowhere-called", page)
    text = words(page.content.decode())
    assert text.count("= ± 2.0 %") == 1
    for where in ("/", "/hardware/", f"/trends/?tree=freebsd-head&hardware={rose.hardware.name}"):
        shown = visit(where)
        assert "cannot tell" in shown or "oo little" in shown, where
        assert not re.search(r"(?<!: )[Nn]o change(?! could| of level| is proven)", shown), where
    assert "Too little known to prove a change" in visit(
        f"/trends/?tree=freebsd-head&hardware={rose.hardware.name}&mode=rose"
    )


def test_a_rate_that_fell_to_nothing_is_shown_as_that_and_not_as_unproven(
    client: Client,
) -> None:
    """A measurement of 0 is in no level, so that no change would ever be found."""
    fell, _ = measured([100.0, 100.5, 99.5, 0.0, 0.0], mode="fell")
    SeriesAnalysis.objects.filter(series=fell).update(
        summary={"count": 3, "smallest": {"pct": 2.0}}
    )

    text = words(client.get("/").content.decode())

    assert "nothing measured" in text
    assert "first to last" not in text


def test_what_has_no_sample_above_0_is_drawn_with_its_history(client: Client) -> None:
    """The detector counts none of its revisions."""
    offset, _ = measured([-50.0, -51.0, -30.0, -29.0], mode="offset")
    SeriesAnalysis.objects.filter(series=offset).update(summary={"count": 0})

    text = words(client.get("/").content.decode())

    assert "offset −29.0 4 rev." in text
    assert "1 revision" not in text


def test_changes_of_imported_results_are_counted_as_the_inbox_counts_them(
    client: Client, visit: Visit, approved: Approvals
) -> None:
    """A series may change more than once, and one change concern several series."""
    series, along = measured([100.0] * 5 + [90.0] * 5 + [80.0] * 5, days_ago=3000)
    series.hardware.runs.update(history=True)
    for before, at in ((4, 5), (9, 10)):
        found = make.finding(series, along[before], along[at])
        alert = make.alert(along[at], after=along[before], state="snoozed", history=True)
        AlertFinding.objects.create(finding=found, alert=alert)
    approved("pages/overview/changes-of-imported-results-are-counted-as-the-inbox", client.get("/"))
    assert 'href="/alerts/?state=history"' in client.get("/").content.decode()
    inbox = visit("/alerts/")
    assert "History 2" in inbox
    assert "Imported history shows 2 changes" in inbox


def test_after_an_import_the_reports_that_were_made_are_counted_and_linked(
    client: Client, visit: Visit
) -> None:
    measured([100.0] * 5, days_ago=3000)
    assert "imported results" not in visit("/")
    imported()
    Run.objects.update(history=True)
    assert "1 report was made of imported results." in visit("/")
    address = "/experiments/?state=imported"
    assert f'href="{address}"' in client.get("/").content.decode()
    assert "1 report" in visit(address)


def test_series_of_one_revision_are_counted_and_not_drawn(client: Client, visit: Visit) -> None:
    (at,) = make.revisions(1)
    for number in range(3):
        make.point(make.series(in_mode=f"mode-{number}"), at)
    make.run(at, received_at=timezone.now(), measured_at=None)
    text = visit("/")
    assert "4 series of one revision each on 1 machine" in text or "3 series of one" in text
    assert "3 modes: 1 revision each" in text
    assert 'class="tile"' not in client.get("/").content.decode()


def test_a_tile_shows_the_newest_value_the_levels_and_the_last_change(client: Client) -> None:
    series, along = measured([1000.0] * 5 + [900.0] * 5)
    make.analysis(
        series,
        count=10,
        segments=[
            make.segment(along[0], along[4], 1000.0),
            make.segment(along[5], along[9], 900.0),
        ],
        net_loss={"change_pct": -10.0},
    )
    make.finding(series, along[4], along[5], change_pct=-10.0)
    page = client.get("/").content.decode()
    assert page.count('class="lv"') == 1
    assert ':net_loss">▾ −10.0 %</span>' in page
    assert 'class="riser worse"' in page


def test_a_slow_loss_is_drawn_as_a_gap_and_not_as_a_step(client: Client) -> None:
    alert = loss(-12.0)
    stepped = client.get("/").content.decode()
    assert 'class="tri worse"' in stepped
    Alert.objects.filter(pk=alert.pk).update(kind="slow", hardware=Hardware.objects.get())
    page = client.get("/").content.decode()
    assert 'fill-opacity=".14"' in page
    assert 'class="tri worse"' not in page


def test_a_slope_that_began_before_the_tile_enters_it_at_its_height_there(client: Client) -> None:
    means = [2000.0 - 10.0 * index for index in range(100)]
    series, along = measured(means)
    make.analysis(
        series,
        count=100,
        segments=[make.segment(along[0], along[-1], means[0]) | {"end_level": means[-1]}],
    )
    page = client.get("/").content.decode()
    dots, line = (
        re.search(rf'd="M[\d.]+ ([\d.]+)[^"]*" class="{css_class}"', page)
        for css_class in ("pt", "lv")
    )
    assert dots
    assert line
    assert float(line[1]) == pytest.approx(float(dots[1]), abs=0.5)


def test_a_tile_without_a_change_states_what_it_could_prove(visit: Visit) -> None:
    series, _ = measured([100.0] * 10)
    make.analysis(series, count=10, smallest={"pct": 2.2})
    assert "= ± 2.2 %" in visit("/")


def test_where_a_loss_is_a_figure_that_rises_the_page_states_it(visit: Visit) -> None:
    alert = loss(+12.0)
    Finding.objects.update(verdict="worse")
    series = Series.objects.get()
    series.own_better = "less"
    series.save()
    text = visit("/")
    assert "pf rose by 12.0 %, which is worse, on Atom C2758 T540-CR" in text
    assert f"alert {alert.pk}" in text


def test_the_wall_can_be_asked_for_what_changed_or_fell_silent(visit: Visit) -> None:
    series, along = measured([100.0] * 5 + [120.0] * 5, mode="moved")
    make.finding(series, along[4], along[5], change_pct=20.0)
    measured([100.0] * 10, mode="still")
    measured([100.0] * 10, mode="quiet", on=make.hardware("Gone/em0"), days_ago=30)
    changed, silent = visit("/?show=changed"), visit("/?show=silent")
    wall = slice(changed.index("Every series"), None)
    assert "still" not in changed[wall]
    assert "moved" in changed[wall]
    wall = slice(silent.index("Every series"), None)
    assert "still" not in silent[wall]
    assert "quiet" in silent[wall]
    assert "moved" in visit("/?show=nonsense")


def test_a_filter_that_leaves_nothing_states_it(visit: Visit) -> None:
    measured([100.0] * 10)
    assert "No series changed in its last 60 revisions" in visit("/?show=changed")
    assert "No series is silent" in visit("/?show=silent")


def test_hardware_that_sent_nothing_for_weeks_is_called_silent(
    client: Client, approved: Approvals
) -> None:
    measured([100.0] * 3, on=make.hardware("Fresh/em0"))
    measured([100.0] * 3, on=make.hardware("Gone/em0"), days_ago=30)
    approved(
        "pages/overview/hardware-that-sent-nothing-for-weeks-is-called-silent", client.get("/")
    )


def test_runs_that_were_imported_are_shown_apart_and_are_no_results_of_these_days(
    visit: Visit,
) -> None:
    _, along = measured([100.0] * 3)
    for at in along:
        make.run(at, in_mode="old", history=True, received_at=timezone.now())
    assert "1 run, 3 imported" in visit("/")


def test_what_is_new_to_a_person_stays_new_while_the_visit_lasts(
    client: Client, visit: Visit, django_capture_on_commit_callbacks: Capture
) -> None:
    alert = loss()
    ada = make.user("ada")
    client.force_login(ada)
    before = timezone.now() - timedelta(hours=3)
    User.objects.filter(pk=ada.pk).update(looked_at=before)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            assert "New since you looked 3 h ago" in visit("/")
    ada.refresh_from_db()
    assert ada.seen_at == before
    assert ada.looked_at is not None
    assert ada.looked_at > before
    User.objects.filter(pk=ada.pk).update(looked_at=timezone.now() - timedelta(minutes=40))
    assert "Nothing is new since you looked 40 min ago" in visit("/")
    assert Alert.objects.get() == alert


def test_figures_of_a_simulated_lab_are_marked(visit: Visit) -> None:
    machine = make.hardware("Sim/x", of=make.lab("Simulation", simulated=True))
    measured([100.0] * 3, on=machine)
    assert "Sim x simulated" in visit("/")


def test_names_from_outside_are_escaped(client: Client) -> None:
    loss(mode="<b>mode", on=make.hardware("<i>box/<u>nic"))
    Revision.objects.update(subject="<script>alert(1)</script>", author_name="<img>")
    page = client.get("/").content.decode()
    for part in ("<b>mode", "<i>box", "<u>nic", "<script>alert", "<img>"):
        assert part not in page


def test_work_that_waits_is_stated_and_asked_for_again(client: Client) -> None:
    measured([100.0] * 3)
    Series.objects.update(dirty_from=1, dirty_since=timezone.now())
    page = client.get("/").content.decode()
    assert "1 series waits to be analysed" in " ".join(page.split())
    assert 'hx-get="/progress/"' in page


def test_the_repetition_after_an_upgrade_is_shown_until_it_has_ended(client: Client) -> None:
    measured([100.0] * 3)
    measured([100.0] * 3, mode="ipfw")
    one, other = Series.objects.all()
    for series, version in ((one, changes.VERSION), (other, changes.VERSION - 1)):
        SeriesAnalysis.objects.update_or_create(series=series, defaults={"detector": version})
    for address in ("/", "/progress/"):
        page = " ".join(client.get(address).content.decode().split())
        assert "Re-analysing after the upgrade: 1 of 2 series" in page
        assert 'hx-get="/progress/"' in page
    SeriesAnalysis.objects.update(detector=changes.VERSION)
    for address in ("/", "/progress/"):
        page = client.get(address).content.decode()
        assert "nalysing" not in page
        assert re.search(r'id="repeated"[^>]*hidden', page)


def test_progress_ends_when_everything_is_analysed(client: Client) -> None:
    page = client.get("/progress/").content.decode()
    assert "all analysed" in page
    assert "hx-get" not in page


def test_sixty_tiles_at_most_are_drawn_those_that_changed_first_and_the_rest_counted(
    client: Client,
) -> None:
    along = make.revisions(3)
    for number in range(70):
        series = make.series(in_mode=f"mode-{number:02}")
        make.history(series, along, [100.0] * 3)
        make.analysis(series, count=3)
    make.finding(series, along[0], along[1], change_pct=-9.0, revisions_after=2)
    make.run(along[0])
    page = client.get("/").content.decode()
    assert page.count('<a class="tile"') == 60
    assert "mode-69" in page
    assert "+ 10 modes" in page


def test_of_very_many_machines_those_with_tiles_have_rows_and_the_rest_are_counted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wall, "MOST_ROWS", 2)
    monkeypatch.setattr(wall, "MOST_TILES", 2)
    along = make.revisions(3)
    for number in range(5):
        machine = make.hardware(f"box-{number}/nic")
        for mode in ("pf", "ipfw")[: 1 + number % 2]:
            make.history(make.series(on=machine, in_mode=mode), along, [100.0] * 3)
        make.run(along[0], on=machine)
        make.point(
            make.series(of=make.tree("once"), on=machine), make.revision("r1", of=make.tree("once"))
        )
    page = client.get("/").content.decode()
    assert page.count('class="rowhead"') == 2
    text = words(page)
    assert "3 more machines : 4 series" in text
    assert "once box-0 nic 1 mode, box-1 nic 1 mode, 3 more machines : 1 revision each" in text


def test_the_number_of_statements_grows_with_nothing(queries: Counted) -> None:
    loss()
    few = queries("/")
    for number in range(6):
        loss(-5.0, mode=f"mode-{number}", on=make.hardware(f"box-{number}/nic"))
    assert queries("/") == few <= 8


def test_the_statements_of_a_person_are_the_session_the_row_and_the_visit(
    client: Client, queries: Counted
) -> None:
    loss()
    client.force_login(make.user("ada"))
    assert queries("/") <= 10
    assert queries("/", again=True) <= 7


def test_a_wall_that_nothing_changed_is_not_drawn_again_and_one_that_changed_is(
    client: Client, queries: Counted
) -> None:
    series, along = measured([100.0] * 10)
    first = queries("/")
    # The values of the series, how far their repetition is, the tiles, and the names of the ends
    # of the timeline are kept.
    assert queries("/", again=True) == first - 4
    make.analysis(series, count=10, smallest={"pct": 1.5})
    assert "= ± 1.5 %" in client.get("/").content.decode()
    make.finding(series, along[2], along[3], change_pct=-8.0, revisions_after=7)
    make.analysis(series, count=10)
    assert "▾ −8.0 %" in client.get("/").content.decode()
    Hardware.objects.update(display_name="The big one")
    assert "The big one" in client.get("/").content.decode()


def test_of_the_series_only_those_that_were_written_since_the_last_look_are_read_again() -> None:
    series, along = measured([100.0] * 10)
    make.history(make.series(in_mode="other"), along, [50.0] * 10)
    assert {round(one.newest) for one in every_series().series} == {100, 50}
    make.point(series, make.revision("r300900"), [93.0, 93.0, 93.0])
    Series.objects.filter(pk=series.pk).update(version=F("version") + 1)
    with CaptureQueriesContext(connection) as statements:
        assert {round(one.newest) for one in every_series().series} == {93, 50}
    assert statements[-1]["sql"].rstrip().endswith(f"ANY('{{{series.pk}}}'::int2[])")
    with CaptureQueriesContext(connection) as statements:
        every_series()
    assert len(statements) == 1


def test_after_an_upload_the_tile_of_its_series_alone_is_read_and_drawn_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    series, along = measured([100.0] * 10)
    for mode in ("nat", "ipfw"):
        make.history(make.series(in_mode=mode), along, [50.0] * 10)
    before = client.get("/").content.decode()
    read: list[int] = []
    drawn: list[Tile] = []

    def reading(ids: Sequence[int], *, last: int) -> dict[int, WallTile]:
        read.extend(ids)
        return wall_tiles(ids, last=last)

    def drawing(tile: Tile) -> str:
        drawn.append(tile)
        return draw_tile(tile)

    monkeypatch.setattr(wall, "wall_tiles", reading)
    monkeypatch.setattr(around, "draw_tile", drawing)
    Point.objects.filter(series=series, revision=along[-1]).update(mean=93.0)
    Series.objects.filter(pk=series.pk).update(version=F("version") + 1)
    after = client.get("/").content.decode()
    assert read == [series.pk]
    assert [round(tile.values[-1]) for tile in drawn] == [93]
    assert after != before
    for kept in (wall.READ, wall.TILES, wall.KEPT, WALLS):
        kept.clear()
    assert client.get("/").content.decode() == after


def test_the_commits_are_of_the_tree_with_the_longest_history_unless_another_is_asked_for(
    client: Client,
) -> None:
    measured([100.0] * 10)
    other = make.revisions(2, of=make.tree("stable"), first=400_000)
    make.history(make.series(of=make.tree("stable"), in_mode="nat"), other, [100.0] * 2)
    make.run(other[1], in_mode="nat")
    page = client.get("/")
    assert page.context["timeline"].tree == "freebsd-head"
    assert page.context["timeline_trees"] == ["freebsd-head", "stable"]
    assert client.get("/?tree=stable").context["timeline"].tree == "stable"
    assert client.get("/?tree=no-such").context["timeline"].tree == "freebsd-head"


def test_releases_are_marked_where_they_lie_among_the_tested_commits(client: Client) -> None:
    _, along = measured([100.0] * 10)
    release("11.0", along[4])
    timeline = client.get("/").context["timeline"]
    address = f'<a href="{along[4].get_absolute_url()}" aria-label="release 11.0">'
    assert address in timeline.wide
    assert address in timeline.narrow
    assert "marker-line" in timeline.wide
