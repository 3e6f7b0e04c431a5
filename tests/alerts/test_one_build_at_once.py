"""One build a side, while four processes analyse what arrives in any order."""

import random

import pytest

from tests.alerts.test_at_once import wait_until_analysed
from tests.alerts.test_four_workers import four_workers
from tests.alerts.test_one_build import FORWARDING, IPFW, shuffled, times
from tests.alerts.test_one_build import run as run_of
from tests.results.steps import an_agent, upload
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.analysis.services import mark_for_analysis
from webapp.results.models import Series
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db(transaction=True)
ENDS = [("forwarding", "confirmed"), ("ipfw", "one build"), ("pf", "confirmed")]
ROUNDS = 4


@pytest.mark.long
def test_pairs_that_arrive_beside_one_another_are_counted_together() -> None:
    """The eight pairs beside make the limit of their commit narrower for those that came before."""
    forget_names()
    an_agent()
    beside = [
        run_of(revision, times(samples, 1.001), workload=f"{name}{number}")
        for revision in (303642, 303643)
        for number in range(4)
        for name, samples in (("forwarding", FORWARDING), ("ipfw", IPFW))
    ]
    random.Random(3).shuffle(beside)
    with four_workers():
        for document in [*shuffled(5), *beside]:
            upload(document)
        wait_until_analysed()
        for _ in range(ROUNDS):
            mark_for_analysis(Series.objects.values_list("pk", flat=True))
            wait_until_analysed()

    judged = SeriesAnalysis.objects.exclude(pairs=[]).values_list("judged", flat=True)
    assert {pairs for rows in judged for pairs, *_ in rows} == {11, 1}
    found = Finding.objects.live().values_list("series__mode__name", "state", "one_build__pairs")
    assert sorted(found) == [(*end, 11) for end in ENDS]
    assert Alert.objects.count() == 1


def test_the_same_runs_end_in_the_same_whoever_analyses_them() -> None:
    forget_names()
    an_agent()
    with four_workers():
        for document in shuffled(7):
            upload(document)
        wait_until_analysed()

    ends = Finding.objects.live().values_list("series__mode__name", "state")
    assert sorted(ends) == ENDS
    alert = Alert.objects.get()
    assert (alert.state, alert.one_build) == ("new", False)
    assert alert.findings.count() == 3
