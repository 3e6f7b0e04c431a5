"""What an option costs, on pages, in pictures, mails and the API."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pydantic import ValidationError

from tests import make
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import words
from tests.pages.trends import figure
from tests.results.costs import cost_series, pairs
from tests.results.steps import analyse, upload
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.analysis.queries import compare_link, sides_of, trend_link
from webapp.api.schemas.runs import RunIn
from webapp.bisects.draft import BisectError
from webapp.bisects.services import draft_bisect
from webapp.notifications.mails.phrases import gather, subject_line, verdict_sentence
from webapp.results.models import Series

pytestmark = pytest.mark.django_db

HARDWARE = "tree=freebsd-head&metric=pps&hardware=bench/nic"


@pytest.fixture
@kept
def grown() -> Alert:
    """A cost that grew alone: the days of both sides hide what happened to them."""
    upload(*pairs(40, steps={25: 0.963}, day=0.03))
    analyse()
    return Alert.objects.get()


class TestExplorer:
    def test_the_lane_is_the_stored_series(self, client: Client, grown: Alert) -> None:
        shown = figure(client, HARDWARE)
        (cost,) = shown["costs"]
        assert cost["id"] == cost_series().pk
        assert (
            "VIMAGE costs 3.6 % since r300026: cost of VIMAGE in forwarding, with in % of without "
            "(bench nic)"
        ) in shown["texts"]
        assert [one for one in shown["texts"] if one.endswith("\u202f%")] == ["−2.5\u202f%"], (
            "a loss"
        )
        assert len(cost["value"]) == 40
        assert len(cost["levels"]) == 2
        assert None not in cost["low"]

    def test_it_shows_wherever_its_mode_does_and_nowhere_else(
        self, client: Client, grown: Alert
    ) -> None:
        assert figure(client, f"{HARDWARE}&mode=forwarding%2BVIMAGE")["costs"]
        assert not figure(client, f"{HARDWARE}&mode=forwarding")["costs"]

    def test_the_axis_is_that_of_the_series_in_a_short_window(
        self, client: Client, grown: Alert
    ) -> None:
        shown = figure(client, f"{HARDWARE}&last=10")
        assert len(shown["revisions"]["name"]) == len(shown["costs"][0]["value"]) == 10

    def test_the_page_states_what_it_costs_since_when(
        self, client: Client, grown: Alert, approved: Approvals
    ) -> None:
        approved(
            "pages/costs/the-page-states-what-it-costs-since-when",
            client.get(f"/trends/?{HARDWARE}"),
        )

    def test_a_series_of_its_own_page(self, visit: Any, grown: Alert) -> None:
        page = visit(trend_link(cost_series()))
        assert "The cost of VIMAGE in forwarding rose from 1.2 to 3.6 % at r300026" in page
        assert "% of without" in page

    def test_the_picture_has_the_lane(self, client: Client, grown: Alert) -> None:
        response = client.get(f"/trends.svg?{HARDWARE}")
        assert "VIMAGE costs 3.6 % since r300026" in response.content.decode()

    def test_more_costs_need_no_more_statements(
        self, client: Client, queries: Any, grown: Alert
    ) -> None:
        before = queries(f"/trends/?{HARDWARE}&hardware=other/nic")
        upload(*pairs(40, hardware="other/nic", seed=8))
        analyse()
        assert queries(f"/trends/?{HARDWARE}&hardware=other/nic") == before


class TestAlert:
    def test_its_page_states_it_in_words_of_its_own(
        self, client: Client, grown: Alert, approved: Approvals
    ) -> None:
        page = client.get(grown.get_absolute_url())
        approved("pages/costs/its-page-states-it-in-words-of-its-own", page)
        page = words(page.content.decode())
        assert "+2.4 points [+2.3, +2.6]" in page

    def test_its_row_and_the_front_page(self, visit: Any, grown: Alert) -> None:
        assert "cost of VIMAGE in forwarding" in visit("/alerts/")
        front = visit("/")
        assert "cost of VIMAGE in forwarding rose from 1.2 to 3.6 %" in front
        assert "+2.4 points" in front

    def test_the_page_of_its_commit_states_what_its_cells_are(
        self, client: Client, grown: Alert
    ) -> None:
        page = client.get(reverse("commit", args=["freebsd-head", "r300026"])).content.decode()
        assert "values with the option in percent of those without, more is better" in page
        assert page.count("values with the option") == 1

    def test_the_machine_lists_its_alert_in_points_of_the_cost(
        self, visit: Callable[[str], str], grown: Alert
    ) -> None:
        page = visit(f"/hardware/{cost_series().hardware.name}/")
        here = page[page.index("Open here") :][:200]
        assert re.search(r"\+2\.\d points cost of VIMAGE in forwarding", here), here

    def test_a_list_of_commits_has_what_the_cost_grew_by(
        self, visit: Callable[[str], str], grown: Alert
    ) -> None:
        row = r"\+2\.\d ± 0\.\d+ points cost of VIMAGE in forwarding"
        assert re.search(row, visit("/commits/freebsd-head/"))

    def test_no_cell_of_a_cost_links_to_measure_more(self, client: Client, grown: Alert) -> None:
        client.force_login(make.user("tess", role=User.Role.TRIAGER))
        page = client.get(reverse("commit", args=["freebsd-head", "r300026"])).content.decode()
        asked = {int(number) for number in re.findall(r"/jobs/new/\?series=(\d+)", page)}
        assert asked
        assert not Series.objects.filter(pk__in=asked).exclude(metric__option="")

    def test_its_mail_states_it_too(self, grown: Alert) -> None:
        facts = gather(grown.pk)
        assert subject_line(facts) == (
            "+2.4 points: cost of VIMAGE in forwarding on bench nic by r300026 (>99%)"
        )
        assert verdict_sentence(facts) == (
            "Regression: cost of VIMAGE in forwarding on bench nic rose from 1.2 to 3.6 %, by 2.4 "
            "points [+2.3, +2.6] since r300026."
        )
        assert facts.block.startswith("x ")

    def test_everything_about_it_answers(self, client: Client, grown: Alert) -> None:
        finding = grown.findings.select_related(
            "series__tree", "series__hardware", "series__mode", "series__metric"
        ).get()
        compared = compare_link(*sides_of(finding))
        commit = reverse("commit", args=["freebsd-head", "r300026"])
        machine = reverse("hardware", args=["bench/nic"])
        pages = [
            compared,
            commit,
            machine,
            "/quality/",
            "/commits/freebsd-head/",
            "/search/?q=VIMAGE",
        ]
        pages += [compare_link(*sides_of(finding), page="compare_text")]
        pages += [f"{grown.get_absolute_url().rstrip('/')}.svg", "/thresholds/", "/hardware/"]
        for page in pages:
            assert client.get(page, follow=True).status_code == 200, page

    def test_in_the_alert_of_its_parent_it_is_listed_last(self, visit: Any) -> None:
        upload(*pairs(40, steps={25: 0.945}, day=0.002))
        analyse()
        page = visit(Alert.objects.get().get_absolute_url())
        assert "forwarding+VIMAGE lost 4.5 % at r300026; the cost of VIMAGE in forwarding" in page


class TestApi:
    def test_a_series_states_of_what_kind_it_is(self, client: Client, grown: Alert) -> None:
        rows = client.get("/api/v1/series").json()["series"]
        assert [row["kind"] for row in rows].count("cost") == 1
        kinds = {(row["metric"], row["mode"]): row["cost"] for row in rows}
        parents = {
            one.mode.name: one.pk for one in Series.objects.measured().select_related("mode")
        }
        assert kinds == {
            ("pps", "forwarding"): None,
            ("pps", "forwarding+VIMAGE"): None,
            ("cost of VIMAGE (pps)", "forwarding+VIMAGE"): {
                "option": "VIMAGE",
                "metric": "pps",
                "with_option": parents["forwarding+VIMAGE"],
                "without_option": parents["forwarding"],
            },
        }

    def test_its_points_are_those_of_any_series(self, client: Client, grown: Alert) -> None:
        content = client.get(f"/api/v1/series/{cost_series().pk}/points").json()
        assert len(content["mean"]) == 40
        assert content["series"]["unit"] == "% of without"

    def test_nobody_uploads_to_it(self, grown: Alert) -> None:
        (document, *_) = pairs(1, first=310_000)
        document["metrics"] = {cost_series().metric.name: document["metrics"]["pps"]}
        with pytest.raises(ValidationError, match="metrics"):
            RunIn.model_validate(document)


def test_a_bisect_of_it_is_refused_with_what_to_bisect_instead(grown: Alert) -> None:
    series = cost_series()
    with pytest.raises(BisectError, match=r"Bisect pps of forwarding\+VIMAGE instead"):
        draft_bisect(series=series, good=grown.after, bad=grown.revision, effect_pct=-2.4)


def test_the_form_of_a_bisect_proposes_the_series_with_the_option(
    client: Client, grown: Alert
) -> None:
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    page = client.get(f"/bisects/new/?alert={grown.pk}").content.decode()
    assert 'value="pps"' in page
    assert 'value="forwarding+VIMAGE"' in page
    assert 'name="metric" value="cost of' not in page
