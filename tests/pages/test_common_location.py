"""Where the series of an alert see its change begin together."""

from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.test import Client

from tests.alerts.steps import LEVEL, arrive
from tests.approved import Approvals
from tests.documents import run_document
from webapp.alerts.models import Alert
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db

MACHINES, MODES = 3, 3
MOVED = MACHINES * MODES * 2 // 3
COUNT, AT = 40, 24


@pytest.fixture(autouse=True)
def no_names() -> None:
    forget_names()


def runs(*, factor: float = 0.975, scatter: float = 0.012, only: int = 9) -> list[dict[str, Any]]:
    """Runs of nine series, of which the first six change by ``factor`` at the revision `AT`, or of
    the first of them ``only``; builds scatter by themselves.
    """
    noise = np.random.default_rng(5)
    documents = []
    for i in range(COUNT):
        for number in range(MACHINES * MODES):
            moved = factor if i >= AT and number < MOVED else 1.0
            level = LEVEL * moved * np.exp(noise.normal(0, scatter))
            samples = (level * np.exp(noise.normal(0, scatter, 5))).tolist()
            hardware, workload = f"Box-{number // MODES}/em0", f"mode-{number % MODES}"
            documents.append(
                run_document(
                    uuid=str(uuid4()),
                    revision=f"r{100 + i}",
                    hardware=hardware,
                    mode={"workload": workload, "traffic": None, "options": []},
                    samples=samples,
                    build_id=f"r{100 + i} built for {hardware}",
                )
            )
    return [each for at, each in enumerate(documents) if at % (MACHINES * MODES) < only]


def test_an_alert_states_where_its_series_together_see_the_change(
    client: Client, approved: Approvals
) -> None:
    arrive(runs())
    alert = Alert.objects.get()
    found = client.get(f"/api/v1/alerts/{alert.pk}").json()["together"]
    assert found is not None
    assert int(found["after"][1:]) < 100 + AT <= int(found["last"][1:])
    assert found["series"] >= 2
    approved("pages/alerts/where-its-series-together-see-it", client.get(alert.get_absolute_url()))


def test_one_series_alone_has_no_place_in_common(client: Client) -> None:
    arrive(runs(factor=0.95, only=1))
    alert = Alert.objects.get()
    assert client.get(f"/api/v1/alerts/{alert.pk}").json()["together"] is None
