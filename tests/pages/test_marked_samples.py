"""Samples that may be wrong are shown wherever their figures are, and people decide about them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import Counted, words
from tests.pages.trends import figure
from tests.results.steps import analyse, measured, upload
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.results.models import Measurement, Point, SampleDecision
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
COMMIT = "/commits/freebsd-head/r300001/"
ACT = f"{COMMIT}samples/"
SIDES = "a=freebsd-head:r300000&b=freebsd-head:r300001"


def marked(*marks: tuple[int, str], revision: str = "r300001", **changes: Any) -> dict[str, Any]:
    document = measured(revision, **changes)
    document["metrics"]["pps"]["validity"] = [
        {"sample": sample, "kind": kind, "text": f"<b>{kind}</b> by 5.0 %"}
        for sample, kind in marks
    ]
    return document


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    forget_names()


@pytest.fixture
@kept
def one() -> Measurement:
    """A commit before, and one whose last sample warmed up."""
    upload(measured("r300000"), marked((4, "warm-up")))
    analyse()
    return Measurement.objects.get(validity__isnull=False)


def person(role: User.Role = User.Role.TRIAGER) -> Client:
    client = Client()
    client.force_login(make.user("tess", role=role))
    return client


def post(client: Client, **form: Any) -> str:
    return words(client.post(ACT, form, follow=True).content.decode())


class TestShown:
    def test_a_commit_states_which_sample_is_marked_why_and_its_value(
        self, client: Client, one: Any, approved: Approvals
    ) -> None:
        page = client.get(COMMIT)
        approved("pages/marked-samples/a-commit-states-which-sample-is-marked-why", page)
        text = words(page.content.decode())
        assert "warm-up: <b>warm-up</b> by 5.0 %" in text, "escaped"
        assert "99.5" in text

    def test_a_run_of_which_nothing_counts_is_still_listed(
        self, client: Client, approved: Approvals
    ) -> None:
        upload(marked(*((i, "sender-saturated") for i in range(5))))
        approved(
            "pages/marked-samples/a-run-of-which-nothing-counts-is-still-listed", client.get(COMMIT)
        )

    def test_a_mark_that_leaves_nothing_out_states_why(
        self, client: Client, approved: Approvals
    ) -> None:
        upload(marked((4, "all-arrived")))
        page = client.get(COMMIT)
        approved("pages/marked-samples/a-mark-that-leaves-nothing-out-states-why", page)
        text = words(page.content.decode())
        assert "left out:" not in text

    def test_compared_rows_and_reports_show_it(
        self, client: Client, visit: Visit, one: Any
    ) -> None:
        assert "1 of 5 samples left out: warm-up" in visit(f"/compare/?{SIDES}")
        for ending in ("compare.txt", "compare.md"):
            body = client.get(f"/{ending}?{SIDES}").content.decode()
            assert "1 of 5 samples left out: warm-up" in body

    def test_trends_show_it(self, client: Client, visit: Visit, one: Any) -> None:
        assert "1 of 5 samples left out" in visit("/trends/?tree=freebsd-head")
        shown = figure(client, "tree=freebsd-head")
        (series,), names = shown["series"], shown["revisions"]["name"]
        b = f"b={series['id']}@{names[series['revision'][1]]}"
        card = visit(f"/trends/chosen/?tree=freebsd-head&{b}")
        assert "1 of 5 samples left out: warm-up" in card

    def test_an_alert_shows_what_its_evidence_lacks(self, visit: Visit) -> None:
        for at in range(20):
            upload(measured(f"r{300000 + at}", 1.0 if at < 12 else 0.8))
        upload(marked((0, "clock-step"), revision="r300012", factor=0.8))
        analyse()
        point = Point.objects.get(revision__name="r300012")
        assert point.left_out is not None
        text = visit(Alert.objects.get().get_absolute_url())
        assert "r300012" in text
        assert "1 of 10 samples left out: clock step" in text

    def test_marks_cost_one_more_statement_however_many(self, queries: Counted, one: Any) -> None:
        before = queries(COMMIT)
        upload(marked((1, "warm-up"), build_id="b"), marked((2, "warm-up"), build_id="c"))
        analyse()
        assert queries(COMMIT) == before


class TestRights:
    def test_a_stranger_and_a_viewer_decide_nothing(self, client: Client, one: Any) -> None:
        assert "Sign in to decide" in words(client.get(COMMIT).content.decode())
        form = {"act": "count", "run": str(one.run.uuid), "metric": "pps"}
        assert "sign-in" in client.post(ACT, form)["Location"]
        assert person(User.Role.VIEWER).post(ACT, form).status_code == 403
        assert not SampleDecision.objects.exists()


class TestDeciding:
    def test_counted_left_out_and_undone(self, one: Any) -> None:
        client, run = person(), str(one.run.uuid)
        text = post(client, act="count", run=run, metric="pps")
        assert "The marked samples count" in text
        assert "tess decided" in text
        assert Point.objects.get(revision__name="r300001").n == 5
        text = post(client, act="undo", decision=SampleDecision.objects.get().pk)
        assert "Undone" in text
        assert Point.objects.get(revision__name="r300001").n == 4

    @pytest.mark.parametrize(
        "form",
        [{}, {"act": "count"}, {"act": "undo", "decision": "x"}, {"act": "x", "metric": "\0"}],
    )
    def test_a_wrong_form_changes_nothing(self, one: Any, form: dict[str, str]) -> None:
        post(person(), **({"run": str(one.run.uuid)} | form if "metric" in form else form))
        assert not SampleDecision.objects.exists()

    def test_an_unknown_commit_is_not_found(self, one: Any) -> None:
        assert person().post("/commits/freebsd-head/r9/samples/").status_code == 404
