"""The page of smallest effects, and that of a dry run."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import Counted, words
from webapp.alerts.models import Alert, MinEffect, MinEffectChange
from webapp.analysis.models import Finding
from webapp.results.models import Hardware, Mode

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
ATOM, XEON = "Atom/T540", "Xeon/T580"
DRY_RUN = "/thresholds/dry-run/"


@pytest.fixture(autouse=True)
@kept
def two_alerts() -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}, (XEON, "pf"): {20: 0.9}}))


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(make.user("root", role="operator"))
    return client


def post(client: Client, address: str, **form: object) -> str:
    return words(client.post(address, form, follow=True).content.decode())


def read(client: Client, address: str) -> str:
    return words(client.get(address).content.decode())


def test_it_states_what_is_in_force_and_what_that_hides(
    client: Client, visit: Visit, approved: Approvals
) -> None:
    MinEffect.objects.create(hardware=Hardware.objects.get(name=XEON), percent=4)
    page = client.get("/thresholds/")
    approved("pages/thresholds/it-states-what-is-in-force", page)
    text = words(page.content.decode())
    assert "hardware Xeon T580 4" in text
    assert "pf Atom T540" not in visit(f"/thresholds/?hardware={XEON}")
    assert "No series fits" in visit("/thresholds/?mode=nothing")


def test_a_dry_run_states_what_would_go_and_what_became_of_it(
    client: Client, approved: Approvals
) -> None:
    Alert.objects.filter(revision__name="r120").update(state="resolved", resolution="not real")
    approved(
        "pages/thresholds/a-dry-run-states-what-would-go",
        client.get(f"{DRY_RUN}?scope=hardware:{XEON}&percent=20&days=30"),
    )
    assert not MinEffectChange.objects.exists()


def test_a_percentage_is_shown_as_it_was_set(root: Client) -> None:
    assert "2.26 % for mode pf" in read(root, f"{DRY_RUN}?scope=mode:pf&percent=2.26")
    post(root, "/thresholds/set/", scope="mode:pf", percent="2.26")
    text = read(root, "/thresholds/")
    assert "mode pf 2.26 dry run" in text
    assert "2.26 % by mode instead of 2 % (default)" in text
    assert "from none to 2.26" in text
    alert = Alert.objects.get(revision__name="r112")
    assert "2.26 % (mode)" in read(root, f"/alerts/{alert.pk}/?show=findings")


def test_a_dry_run_without_effect_states_it(client: Client, approved: Approvals) -> None:
    approved(
        "pages/thresholds/a-dry-run-without-effect-states-it",
        client.get(f"{DRY_RUN}?scope=mode:pf&percent=3,5"),
    )


def test_a_dry_run_names_what_stays_because_of_another_machine(
    client: Client, approved: Approvals
) -> None:
    arrive(runs_of({("Atom/C2558", "pf"): {12: 0.88}}))
    (shared,) = Alert.objects.filter(revision__name="r112")
    assert shared.findings.count() == 2
    approved(
        "pages/thresholds/a-dry-run-names-what-stays-because-of-another",
        client.get(f"{DRY_RUN}?scope=hardware:{ATOM}&percent=50"),
    )


def test_a_dry_run_counts_older_alerts_and_names_series_of_their_own(
    client: Client, approved: Approvals
) -> None:
    Finding.all_kinds.update(first_detected_at=timezone.now() - timedelta(days=40))
    approved(
        "pages/thresholds/a-dry-run-counts-older-alerts-and-names-series",
        client.get(f"{DRY_RUN}?scope=hardware:{XEON}&percent=20&days=30"),
    )
    MinEffect.objects.create(mode=Mode.objects.get(name="pf"), percent=4)
    approved(
        "pages/thresholds/a-dry-run-counts-older-alerts-and-names-series-2",
        client.get(f"{DRY_RUN}?scope=hardware:{XEON}&percent=20&days=90"),
    )


def test_a_dry_run_names_the_alerts_that_it_does_not_cover(client: Client) -> None:
    address = f"{DRY_RUN}?scope=hardware:{XEON}&percent=20&days=30"
    assert "Not covered" not in read(client, address)
    alert = Alert.objects.get(revision__name="r120")
    Finding.all_kinds.filter(membership__alert=alert).update(state="retracted")
    text = read(client, address)
    assert f"Not covered: alert {alert.pk}" in text
    assert "no alerts with changes there" in text


def test_a_dry_run_of_nonsense_names_the_field(client: Client) -> None:
    for query, reason in (
        ("", "scope: nothing is called “”; write it as tree:NAME"),
        ("scope=hardware:none&percent=3", "scope: nothing is called “hardware:none”"),
        ("scope=mode:pf&percent=much", "percent: “much” is no number; write one like 2.5."),
        ("scope=mode:pf&percent=nan", "percent: “nan” is no number"),
        ("scope=mode:pf&percent=-1", "percent: -1 is not from 0 to 1000."),
    ):
        response = client.get(f"{DRY_RUN}?{query}")
        assert response.status_code == 400
        assert reason in words(response.content.decode())


def test_an_operator_sets_what_was_tried_and_takes_it_back(root: Client) -> None:
    tried = words(root.get(f"{DRY_RUN}?scope=tree:freebsd-head&percent=11").content.decode())
    assert "Set 11 %" in tried
    text = post(root, "/thresholds/set/", scope="tree:freebsd-head", percent="11", reason="noise")
    assert "Set: smallest effect of freebsd-head: not set, now 11 %" in text
    assert "root tree freebsd-head from none to 11 noise Undo" in text
    assert Alert.objects.filter(is_active=True).count() == 1
    text = post(root, "/thresholds/undo/", change=MinEffectChange.objects.get().pk)
    assert "Undone: smallest effect of freebsd-head: 11 %, now not set" in text
    assert Alert.objects.filter(is_active=True).count() == 2


def test_what_cannot_be_set_is_stated_and_not_done(root: Client) -> None:
    for form, reason in (
        ({"scope": "mode:none", "percent": "3"}, "scope: nothing is called “mode:none”"),
        ({"scope": "mode:pf", "percent": "1001"}, "percent: 1001 is not from 0 to 1000."),
        ({"scope": "mode:pf", "percent": ""}, "nothing is set for mode pf already"),
    ):
        assert reason in post(root, "/thresholds/set/", **form)
        assert not MinEffectChange.objects.exists()


def test_an_undo_of_nothing_is_stated(root: Client) -> None:
    assert "there is no change 7" in post(root, "/thresholds/undo/", change=7)


def test_it_leads_to_no_other_site(root: Client) -> None:
    for next_page in ("https://elsewhere.example/", "//elsewhere.example/", "x"):
        form = {"scope": "mode:pf", "percent": "3", "next": next_page}
        assert root.post("/thresholds/set/", form)["Location"] == "/thresholds/"


def test_whoever_is_no_operator_sets_nothing(client: Client) -> None:
    client.force_login(make.user(role="triager"))
    for address in ("/thresholds/set/", "/thresholds/undo/"):
        assert client.post(address, {"scope": "mode:pf", "percent": "3"}).status_code == 403
    assert "takes the role operator" in words(client.get("/thresholds/").content.decode())
    assert not MinEffect.objects.exists()


def test_the_pages_need_few_statements(queries: Counted) -> None:
    address = f"{DRY_RUN}?scope=tree:freebsd-head&percent=50"
    assert queries("/thresholds/") <= 8
    assert queries(address) <= 14
