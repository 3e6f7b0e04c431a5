"""Runs that disagree, as pages state it, and what people do about them."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import Counted, words
from tests.pages.trends import figure
from tests.results.steps import analyse, apart, measured, upload
from webapp.accounts.models import User
from webapp.pages.lab.quality import WAITING_SHOWN
from webapp.results.models import Point, PoolingDecision, Run
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
COMMIT = "/commits/freebsd-head/r300001/"
RUNS = f"{COMMIT}runs/"


@pytest.fixture(autouse=True)
@kept
def one_before() -> None:
    upload(measured("r300000", 1000, build_id="before"))


@pytest.fixture
def marked() -> Point:
    """Uploads of one commit in two configurations, analysed."""
    found = apart("r300001", 1.2, 1.9)
    analyse()
    return found


def person(role: User.Role = User.Role.TRIAGER, name: str = "tess") -> Client:
    client = Client()
    client.force_login(make.user(name, role=role))
    return client


def read(client: Client, address: str = COMMIT) -> str:
    return words(client.get(address).content.decode())


def post(client: Client, **form: object) -> str:
    return words(client.post(RUNS, form, follow=True).content.decode())


class TestCommit:
    def test_it_shows_the_runs_apart_with_who_sent_them(self, visit: Visit, marked: Point) -> None:
        text = visit(COMMIT)
        assert "Runs disagree lab?" in text
        assert "190,000" in text
        assert "120,000" in text
        assert "netlab/control" in text
        assert "build 0" in text
        assert "They differ by 58.3 %" in text
        assert "(limit 0.25 %)" in text

    def test_the_cell_is_no_verdict(self, client: Client, visit: Visit, marked: Point) -> None:
        text = visit(COMMIT)
        assert re.search(r"! lab\? .{0,8}runs disagree", text)
        assert "Cannot tell" in text
        assert "Improvement" not in text
        assert 'class="cell lab"' in client.get(COMMIT).content.decode()

    def test_a_first_point_states_it_too(self, visit: Visit) -> None:
        apart("r299999", 1.2, 1.9)
        analyse()
        assert "lab? runs disagree" in visit("/commits/freebsd-head/r299999/")

    def test_runs_that_agree_are_not_spoken_of(self, visit: Visit) -> None:
        apart("r300001", 1.2, 1.21)
        analyse()
        assert "lab?" not in visit(COMMIT)

    def test_it_takes_no_further_statement_for_those_who_look(
        self, queries: Counted, marked: Point
    ) -> None:
        apart("r300002", 1.2)
        analyse()
        assert queries(COMMIT) == queries("/commits/freebsd-head/r300002/")


class TestRights:
    def test_a_stranger_reads_and_decides_nothing(self, client: Client, marked: Point) -> None:
        text = read(client)
        assert "Sign in to decide" in text
        assert "Count them together" not in text
        response = client.post(RUNS, {"act": "together", "key": marked.uploads["key"]})
        assert response.status_code == 302
        assert "sign-in" in response["Location"]
        assert not PoolingDecision.objects.exists()

    def test_a_viewer_decides_nothing(self, marked: Point) -> None:
        client = person(User.Role.VIEWER)
        assert "takes the role triager" in read(client)
        response = client.post(RUNS, {"act": "together", "key": marked.uploads["key"]})
        assert response.status_code == 403
        assert not PoolingDecision.objects.exists()

    def test_a_triager_decides_and_withdraws_nothing(self, marked: Point) -> None:
        text = read(person())
        assert "Count them together" in text
        assert "Withdraw this run" not in text
        assert "An operator withdraws runs" in text

    def test_an_operator_is_led_to_where_runs_are_withdrawn(self, marked: Point) -> None:
        client = person(User.Role.OPERATOR)
        html = client.get(COMMIT).content.decode()
        run = Run.objects.get(kernel__build_id="build 1")
        address = f"/admin/results/run/?q={run.uuid}"
        assert address in html
        assert str(run.uuid)[:8] in read(client, address)


class TestDeciding:
    def test_who_decided_is_shown_and_it_can_be_undone(self, marked: Point) -> None:
        client = person()
        text = post(client, act="together", key=marked.uploads["key"])
        assert "The runs count together" in text
        assert "Runs counted together" in text
        assert "tess decided" in text
        row = PoolingDecision.objects.get()
        text = post(client, act="undo", decision=row.pk)
        assert "Undone" in text
        assert "Runs disagree" in text

    def test_the_cell_has_a_verdict_again(self, visit: Visit, marked: Point) -> None:
        post(person(), act="together", key=marked.uploads["key"])
        analyse()
        text = visit(COMMIT)
        assert "lab?" not in text
        assert "tess decided" in text

    def test_a_page_that_is_out_of_date_is_refused_as_such(self, marked: Point) -> None:
        upload(measured("r300001", 1000, build_id="build 3"))
        text = post(person(), act="together", key=marked.uploads["key"])
        assert "no longer wait for a decision" in text
        assert not PoolingDecision.objects.exists()

    @pytest.mark.parametrize("form", [{}, {"key": "\0"}, {"act": "undo", "decision": "x"}])
    def test_a_wrong_form_changes_nothing(self, marked: Point, form: dict[str, str]) -> None:
        post(person(), **form)
        assert Point.objects.get(pk=marked.pk).disagrees

    def test_an_unknown_commit_is_not_found(self) -> None:
        client = person()
        assert client.post("/commits/freebsd-head/r1/runs/").status_code == 404
        assert client.post("/commits/none/r1/runs/").status_code == 404
        assert client.get(RUNS).status_code == 405


class TestElsewhere:
    def test_the_trend_page_states_it_in_words(self, visit: Visit, marked: Point) -> None:
        text = visit("/trends/")
        assert "Hollow, with lab?" in text
        assert "! lab? runs disagree: 120,000, 190,000" in text or (
            "! lab? runs disagree: 190,000, 120,000" in text
        )

    def test_the_figure_and_the_card_have_each_run(
        self, client: Client, visit: Visit, marked: Point
    ) -> None:
        shown = figure(client)
        series = shown["series"][0]
        assert series["low"][1] is None, "runs that disagree have no interval"
        assert series["apart"] == [1]
        card = visit(f"/trends/chosen/?b={series['id']}@{shown['revisions']['name'][1]}")
        assert re.search("its runs disagree: (120,000, 190,000|190,000, 120,000)", card)
        assert ">lab?<" in client.get("/trends/").content.decode()

    def test_a_chart_without_such_points_has_no_trace_of_it(self, client: Client) -> None:
        upload(measured("r300001", 1000, build_id="b"))
        shown = figure(client)
        assert shown["series"][0]["apart"] == []
        assert "lab?" not in client.get("/trends/").content.decode()

    def test_the_compare_page_and_its_report_state_it(
        self, client: Client, marked: Point, approved: Approvals
    ) -> None:
        query = "?a=freebsd-head:r300000&b=freebsd-head:r300001"
        approved(
            "pages/disagreements/the-compare-page-and-its-report",
            client.get(f"/compare/{query}"),
        )
        client = Client()
        approved(
            "pages/disagreements/the-compare-page-and-its-report-2",
            client.get(f"/compare.md{query}"),
        )

    def test_the_page_of_quality_lists_what_waits(self, visit: Visit, marked: Point) -> None:
        text = visit("/quality/")
        assert "r300001 freebsd-head · forwarding on bench nic · 2 runs" in text
        withdraw_run(run=Run.objects.get(kernel__build_id="build 1"), by=make.user(), reason="odd")
        assert "Runs that disagree" not in visit("/quality/")

    def test_that_list_is_bounded_and_one_statement(self, queries: Counted, visit: Visit) -> None:
        few = queries("/quality/")
        revisions = [f"r{310_000 + at}" for at in range(WAITING_SHOWN + 2)]
        upload(*(measured(one, 1000, build_id="build 0") for one in revisions))
        upload(*(measured(one, 1900, build_id="build 1") for one in revisions))
        assert queries("/quality/") == few
        text = visit("/quality/")
        assert text.count("2 runs") == WAITING_SHOWN
        assert "and more" in text
