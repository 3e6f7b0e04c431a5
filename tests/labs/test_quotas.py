"""How much a lab may store."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import *  # noqa: F403 (an agent with a token)
from tests.api.conftest import Send
from tests.documents import run_document
from tests.profiles import boots_of
from tests.results.steps import measured, mode, upload
from webapp.labs.models import Lab, LabQuota
from webapp.labs.services import QuotaExceeded, set_quota
from webapp.results.models import Profile, Run, Series, Tree
from webapp.results.services import recount_quotas

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def allow(**most: int) -> None:
    lab, _ = Lab.objects.get_or_create(name="netlab")
    set_quota(lab=lab, **most)


def test_runs_beyond_the_quota_wait_for_the_next_day(send: Send) -> None:
    allow(runs=2)
    with time_machine.travel(NOON, tick=False):
        documents = [run_document(revision=f"r30000{number}") for number in range(3)]
        assert send({"runs": documents[:2]}).status_code == 201
        refused = send(documents[2])
        assert (refused.status_code, refused["Retry-After"]) == (429, str(12 * 3600))
        error = refused.json()["error"]
        assert error["code"] == "quota"
        assert "netlab is 2 runs a day" in error["message"]
        assert "2026-03-02 00:00 UTC" in error["remedy"]
        assert "/labs/" in error["remedy"]
        assert Run.objects.count() == 2
        # What is there already is answered as ever.
        assert send({"runs": documents[:2]}).status_code == 200
    with time_machine.travel(NOON.replace(day=2, hour=0), tick=False):
        assert send(documents[2]).status_code == 201


def test_an_operator_raises_it_at_once(send: Send) -> None:
    allow(runs=0)
    assert send(run_document()).status_code == 429
    allow()
    assert send(run_document()).status_code == 201


@pytest.mark.parametrize(
    ("quota", "changes"),
    [({"trees": 1}, {"tree": "other"}), ({"series": 1}, {"mode": mode("pf")})],
)
def test_more_trees_or_series_are_refused_and_the_known_ones_go_on(
    send: Send, quota: dict[str, int], changes: dict[str, Any]
) -> None:
    allow(**quota)
    assert send(measured("r300001")).status_code == 201
    refused = send(measured("r300002", **changes))
    assert refused.status_code == 429
    assert f"netlab is 1 {next(iter(quota))}" in refused.json()["error"]["message"]
    assert int(refused["Retry-After"]) == 3600
    assert (Tree.objects.count(), Series.objects.count(), Run.objects.count()) == (1, 1, 1)
    assert send(measured("r300003")).status_code == 201


def test_profiles_beyond_the_quota_are_refused_and_the_known_one_is_answered(send: Send) -> None:
    document = run_document()
    path = f"/api/v1/runs/{document['uuid']}/profiles"
    first, second = boots_of(boots=2)
    assert send(document).status_code == 201
    assert send(first, path=path, query="").status_code == 201
    allow(profiles=1)
    refused = send(second, path=path, query="")
    assert refused.status_code == 429
    error = refused.json()["error"]
    assert "netlab is 1 kB of profiles" in error["message"]
    assert "Have profiles removed" in error["remedy"]
    assert Profile.objects.count() == 1
    assert send(first, path=path, query="").status_code == 200
    assert LabQuota.objects.get().profiles == 1
    LabQuota.objects.update(profiles=7)
    recount_quotas()
    assert LabQuota.objects.get().profiles == 1
    Profile.objects.all().delete()
    recount_quotas()
    assert send(second, path=path, query="").status_code == 201


def test_a_replaced_run_counts_and_another_lab_does_not() -> None:
    allow(runs=2)
    document = measured("r300001")
    upload(document)
    upload(document | {"build_id": "another"}, replace=True)
    with pytest.raises(QuotaExceeded, match="would have 3"):
        upload(measured("r300002"))
    upload(measured("r300002", hardware="other/nic"), lab="elsewhere")
    assert set(LabQuota.objects.values_list("lab__name", "runs")) == {
        ("netlab", 2),
        ("elsewhere", 1),
    }


def test_a_quota_costs_two_statements_whatever_is_stored() -> None:
    upload(measured("r300001"))

    def about_quotas(*documents: dict[str, Any]) -> int:
        with CaptureQueriesContext(connection) as captured:
            upload(*documents)
        return sum("labs_labquota" in query["sql"] for query in captured)

    many = [measured(f"r3000{number}", mode=mode(f"w{number}")) for number in range(10, 40)]
    assert about_quotas(measured("r300002")) == about_quotas(*many) == 2
    assert about_quotas(*many) == 0


def test_counting_anew_finds_what_the_lab_has() -> None:
    upload(measured("r300001"), measured("r300001", mode=mode("pf")))
    LabQuota.objects.update(series=77)
    Lab.objects.create(name="new")
    recount_quotas()
    assert dict(LabQuota.objects.values_list("lab__name", "series")) == {"netlab": 2, "new": 0}
    assert LabQuota.objects.get(lab__name="netlab").runs == 2


@pytest.mark.django_db(transaction=True)
def test_uploads_at_once_do_not_pass_the_quota_together() -> None:
    upload(measured("r300001"))
    allow(runs=6)

    def send(number: int) -> bool:
        try:
            upload(measured(f"r3000{number}"))
        except QuotaExceeded:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(send, range(10, 34)))
    assert sent.count(True) == 5
    assert Run.objects.count() == LabQuota.objects.get().runs == 6


def test_the_metrics_count_the_refusals(send: Send, client: Client) -> None:
    allow(runs=0)
    send(run_document())
    assert 'driftline_refused_total{limit="quota"}' in client.get("/metrics").content.decode()
