"""The alerts of the two year series that people labelled."""

from typing import Any

import pytest

from tests.alerts.steps import arrive
from tests.analysis.test_findings import ARCHIVE, archive_documents, year_labels
from webapp.alerts.models import Alert
from webapp.results.models import Revision
from webapp.results.services import forget_names

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.archive,
    pytest.mark.skipif(
        not year_labels(), reason=f"no lab archive at {ARCHIVE.name} beside the checkout"
    ),
]


@pytest.mark.parametrize(("label", "workload"), year_labels() or [(None, None)])
def test_every_sure_change_opens_an_alert_and_at_most_one_other_is_opened(
    label: dict[str, Any], workload: str
) -> None:
    forget_names()
    documents = archive_documents(label, workload)
    arrive(documents)
    order = sorted(Revision.objects.tested().values_list("position", flat=True))
    alerts = Alert.objects.filter(is_active=True).select_related("likeliest")
    found = [order.index(alert.likeliest.position) for alert in alerts]
    sure = [order.index(int(one["revision"][1:])) for one in label["series"][workload]["sure"]]
    assert all(any(abs(at - index) <= 1 for index in found) for at in sure), (sure, found)
    assert len(found) - len(sure) <= 1, found
