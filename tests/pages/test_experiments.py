"""`/experiments/`: lists, reports, pictures, files; kept and acted on by triagers."""

import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import make
from tests.approved import Approvals
from tests.documents import run_document
from tests.experiments.steps import FAST, LABELS, SLOW, imported, readme, store
from tests.kept import kept
from tests.pages.test_marked_samples import marked
from tests.pages.test_reports import harm
from tests.results.steps import analyse, measured, mode, upload
from webapp.analysis.queries import Side
from webapp.charts.medians import CHARACTER, WIDTH
from webapp.experiments.models import Experiment
from webapp.experiments.services import keep_comparison
from webapp.results.models import Point, Run
from webapp.results.services import forget_names
from webapp.stats import ministat

pytestmark = pytest.mark.django_db
SIDES = ["freebsd-head:r300000", "freebsd-head:r300001"]


@pytest.fixture
@kept
def experiment() -> Experiment:
    return imported(readme())


@pytest.fixture
def triager(client: Client) -> Client:
    client.force_login(make.user("ada", role="triager"))
    return client


def block(flavour: str = "current") -> str:
    sets = list(zip(LABELS, (SLOW, FAST), strict=True))
    return ministat.render(sets, flavour=flavour)  # type: ignore[arg-type]


def test_a_report_shows_what_was_typed_and_what_the_data_show(
    client: Client, experiment: Experiment
) -> None:
    response = client.get(experiment.get_absolute_url())
    page = response.content.decode()
    assert "r300001 against r300000: 25.0 % faster, one build a side" in page
    assert "Atom C2758 with 8 cores" in page
    assert "As typed by the lab" in page
    assert response.context["parts"][0].block == block()
    assert "Thanks to &lt;b&gt;all&lt;/b&gt;" in page
    assert "<svg" in page


def test_the_list_asks_each_experiment_for_its_answer_alone(
    client: Client, experiment: Experiment
) -> None:
    address = f"{experiment.get_absolute_url()}?part=answer"
    assert f'hx-get="{address}"' in client.get("/experiments/").content.decode()
    response = client.get(address, headers={"HX-Request": "true"})
    shown = client.get(experiment.get_absolute_url()).context["report"].answer
    assert response.content.decode().strip() == shown
    # Without htmx it is the page.
    assert "<h1>" in client.get(address).content.decode()


def test_two_clicks_from_the_front_page(client: Client, experiment: Experiment) -> None:
    assert 'href="/experiments/"' in client.get("/hardware/").content.decode()
    listed = client.get("/experiments/").content.decode()
    assert f'href="{experiment.get_absolute_url()}"' in listed
    assert "new against old" in listed or "r300001 against r300000" in listed


def test_markdown_and_text_have_the_block_in_any_flavour(
    client: Client, experiment: Experiment
) -> None:
    for kind in ("md", "txt"):
        path = f"/experiments/{experiment.pk}.{kind}"
        assert block().rstrip() in client.get(path).content.decode()
        old = client.get(path, {"flavour": "2015", "bars": "shared"}).content.decode()
        assert block("2015").rstrip() in old


def test_markdown_shows_what_was_typed_as_it_is(client: Client, experiment: Experiment) -> None:
    Experiment.objects.update(question="# H <img src=x> **b**", bullets=["`[x](javascript:a)"])
    text = client.get(f"/experiments/{experiment.pk}.md").content.decode()
    pictures = [line for line in text.splitlines() if line.startswith("![")]
    assert len(pictures) == 1
    assert harm(text.replace(pictures[0], "")) == []


def test_a_zip_holds_readme_text_and_pictures_and_is_the_same_each_time(
    client: Client, experiment: Experiment
) -> None:
    path = f"/experiments/{experiment.pk}.zip"
    first, second = client.get(path), client.get(path)
    assert first.content == second.content
    folder = f"experiment-{experiment.pk}/"
    with zipfile.ZipFile(BytesIO(first.content)) as archive:
        names = {name.removeprefix(folder) for name in archive.namelist()}
        assert {"README.md", "report.txt", "graph.svg", "graph.png"} == names
        assert "](graph.png)" in archive.read(f"{folder}README.md").decode()


def test_a_picture_notes_that_samples_were_left_out_where_no_title_of_an_axis_stands(
    client: Client,
) -> None:
    forget_names()
    upload(measured("r300000"), marked((4, "warm-up")))
    analyse()
    report = imported(runs=list(Run.objects.all()))
    svg = client.get(f"{report.get_absolute_url()[:-1]}.svg").content.decode()
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"([^>]*)>([^<]+)', svg)
    at = next(y for _, y, _, text in texts if text.startswith("packets/s"))
    title, second = (text for _, y, _, text in texts if y == at)
    assert (len(title) + len(second)) * CHARACTER < WIDTH
    assert any(text.startswith("Note: samples left out, see the report") for *_, text in texts)


def test_a_picture_names_its_platform_where_there_is_one(client: Client) -> None:
    upload(
        *(
            run
            for machine in ("first/nic", "second/nic")
            for run in (
                measured(SIDES[0][13:], hardware=machine),
                measured(SIDES[1][13:], hardware=machine),
            )
        )
    )
    sides = [Side.parse(text) for text in SIDES]
    kept = keep_comparison(sides=sides, asof=timezone.now(), owner=None)
    drawn = client.get(f"{kept.get_absolute_url()[:-1]}.svg").content.decode()
    assert "Platform: 2 machines<" in drawn
    assert "Note: first" not in drawn
    assert "Note: second" not in drawn


def test_pictures_by_address_in_both_themes(client: Client, experiment: Experiment) -> None:
    for kind, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        for theme in ("light", "dark"):
            answer = client.get(f"/experiments/{experiment.pk}.{kind}", {"theme": theme})
            assert answer.content.startswith(begins)
    assert client.get(f"/experiments/{experiment.pk}.svg", {"theme": "x"}).status_code == 400


def test_a_badge_states_how_many_cells_are_proven(client: Client, experiment: Experiment) -> None:
    badge = client.get("/badge.svg", {"experiment": experiment.pk}).content.decode()
    assert "1 better" in badge
    assert client.get("/badge.svg", {"experiment": 999}).status_code == 404


def test_what_is_gone_is_stated(client: Client, experiment: Experiment) -> None:
    Run.objects.all().delete()
    assert "is gone" in client.get(experiment.get_absolute_url()).content.decode()
    Point.objects.all().delete()
    address = f"{experiment.get_absolute_url()}?part=answer"
    assert "is gone" in client.get(address, headers={"HX-Request": "true"}).content.decode()
    for kind in ("md", "txt", "zip", "svg", "png"):
        assert client.get(f"/experiments/{experiment.pk}.{kind}").status_code == 409


def test_there_is_no_experiment_of_another_number(client: Client) -> None:
    for path in ("/experiments/7/", "/experiments/99999999999999999999/", "/experiments/7.md"):
        assert client.get(path).status_code == 404


def test_a_triager_keeps_a_comparison(triager: Client) -> None:
    store()
    page = triager.get("/compare/", {"a": SIDES[0], "b": SIDES[1]}).content.decode()
    assert "Keep as report" in page
    answer = triager.post("/experiments/keep/", {"side": SIDES})
    kept = Experiment.objects.get()
    assert answer["Location"] == kept.get_absolute_url()
    assert kept.owner is not None
    assert kept.owner.username == "ada"


def test_a_side_that_is_not_there_is_stated_where_it_was_asked(triager: Client) -> None:
    answer = triager.post("/experiments/keep/", {"side": ["freebsd-head:r1", "x"]}, follow=True)
    assert "is not a side" in answer.content.decode()
    assert not Experiment.objects.exists()


def test_a_stranger_and_a_viewer_keep_nothing(client: Client) -> None:
    store()
    asked = {"a": SIDES[0], "b": SIDES[1]}
    assert "Keep as report" not in client.get("/compare/", asked).content.decode()
    client.post("/experiments/keep/", {"side": SIDES})
    client.force_login(make.user("eve"))
    assert client.post("/experiments/keep/", {"side": SIDES}).status_code == 403
    assert not Experiment.objects.exists()


def test_a_triager_concludes_with_a_text(experiment: Experiment, triager: Client) -> None:
    act = f"{experiment.get_absolute_url()}act/"
    triager.post(act, {"act": "conclude", "text": " "})
    experiment.refresh_from_db()
    assert experiment.state == "imported"
    triager.post(act, {"act": "conclude", "text": "it helps"})
    page = triager.get(experiment.get_absolute_url()).content.decode()
    assert "it helps" in page
    assert "Decided" in page
    text = triager.get(f"/experiments/{experiment.pk}.md").content.decode()
    assert "Concluded: it helps" in text


def test_a_triager_sets_the_margin(
    experiment: Experiment, triager: Client, approved: Approvals
) -> None:
    act = f"{experiment.get_absolute_url()}act/"
    for wrong in ("", "x", "0", "nan", "1e9"):
        answer = triager.post(act, {"act": "margin", "margin": wrong}, follow=True)
        assert "more than 0 and at most 100 percent" in answer.content.decode()
    page = triager.post(act, {"act": "margin", "margin": "40"}, follow=True)
    approved("pages/experiments/a-triager-sets-the-margin", page)
    page = page.content.decode()
    assert "± 40 %" in page


def test_a_triager_changes_the_baseline(experiment: Experiment, triager: Client) -> None:
    act = f"{experiment.get_absolute_url()}act/"
    for wrong in ("", "x", "0", "9"):
        answer = triager.post(act, {"act": "baseline", "baseline": wrong}, follow=True)
        assert "no such side" in answer.content.decode()
    page = triager.post(act, {"act": "baseline", "baseline": "2"}, follow=True)
    assert "r300000 against r300001: 20.0 % slower, one build a side" in page.content.decode()
    assert "baseline changed by ada: r300000 → r300001" in page.content.decode()
    assert page.context["boxes"][0].title == "r300001"
    Run.objects.all().delete()
    Point.objects.all().delete()
    answer = triager.post(act, {"act": "baseline", "baseline": "2"}, follow=True)
    assert "The baseline stays as it is" in answer.content.decode()


def test_the_data_are_of_a_time_of_today_or_of_a_day(
    client: Client, experiment: Experiment
) -> None:
    address = experiment.get_absolute_url()
    for moment, shown in (
        (timezone.now(), f">{timezone.now():%H:%M} UTC<"),
        (timezone.now().replace(year=2020), ">2020-"),
    ):
        Experiment.objects.update(asof=moment)
        page = client.get(address).content.decode()
        assert shown in page
        assert "Data as of" in page


def test_operators_find_experiments_in_the_admin(client: Client, experiment: Experiment) -> None:
    client.force_login(make.user("op", role="operator"))
    listed = client.get("/admin/experiments/experiment/", {"q": "Impact"}).content.decode()
    assert experiment.question in listed
    shown = client.get(f"/admin/experiments/experiment/{experiment.pk}/change/").content.decode()
    assert "imported from a directory" in shown
    assert "bench nic pf pps" in client.get("/admin/experiments/cell/").content.decode()
    assert client.post("/admin/experiments/experiment/add/").status_code == 403


def test_a_page_asks_as_many_statements_for_many_cells_as_for_one(
    client: Client, experiment: Experiment
) -> None:
    with CaptureQueriesContext(connection) as of_one:
        client.get(experiment.get_absolute_url())
    runs = [run for n in range(8) for run in store(f"mode-{n}", hardware=f"h{n % 4}/nic")]
    many = imported(runs=runs, source="many")
    assert len(many.cells.all()) == 8
    with CaptureQueriesContext(connection) as of_many:
        client.get(many.get_absolute_url())
    assert len(of_many) <= len(of_one)
    assert len(of_many) <= 25


def test_four_hundred_cells_cost_as_many_statements(client: Client) -> None:
    for number in range(20):
        upload(
            *(
                run_document(
                    revision=revision,
                    hardware=f"h{number}/nic",
                    mode=mode(f"mode-{k}"),
                    samples=list(samples),
                )
                for revision, samples in (("r300000", SLOW), ("r300001", FAST))
                for k in range(20)
            )
        )
    sides = [Side.parse(text) for text in SIDES]
    kept = keep_comparison(sides=sides, asof=timezone.now(), owner=None)
    assert kept.cells.count() == 400
    with CaptureQueriesContext(connection) as asked:
        page = client.get(kept.get_absolute_url())
    assert len(asked) <= 24
    assert page.context["rows_more"] == 340
    assert page.context["blocks_more"] == 388
    text = client.get(f"/experiments/{kept.pk}.txt").content.decode()
    assert text.count("Stddev") == 400


def test_reports_are_exported_as_a_tree_and_only_what_changed_is_written(
    experiment: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("export_reports", str(tmp_path))
    assert "written 5, unchanged 0" in capsys.readouterr().out
    front = (tmp_path / "README.md").read_text()
    folder = f"experiments/{experiment.pk:04d}"
    assert f"]({folder}/README.md): r300001 against r300000" in front
    assert "# Hardware\n\n- bench nic\n" in front
    assert block().rstrip() in (tmp_path / folder / "README.md").read_text()
    call_command("export_reports", str(tmp_path))
    assert "written 0, unchanged 4" in capsys.readouterr().out
    (tmp_path / folder / "graph.png").unlink()
    call_command("export_reports", str(tmp_path))
    assert "written 1, unchanged 4" in capsys.readouterr().out
