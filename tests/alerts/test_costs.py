"""Alerts about what an option costs: beside those of its parents they are no second alarm."""

from typing import Any

import pytest
from django.utils import timezone

from tests.alerts.steps import open_alerts
from tests.results.costs import pairs
from tests.results.steps import analyse, upload
from webapp.alerts.models import Alert
from webapp.alerts.queries import findings_of, open_losses

pytestmark = pytest.mark.django_db


def arrive(documents: list[dict[str, Any]]) -> None:
    upload(*documents)
    analyse()


def of_one_mode(documents: list[dict[str, Any]], *, is_with: bool, since: int, by: float) -> None:
    """Let the level of one side be ``by`` times as high from a revision (index) on."""
    for at, document in enumerate(documents):
        if at // 2 >= since and bool(document["mode"]["options"]) == is_with:
            metric = document["metrics"]["pps"]
            metric["samples"] = [by * value for value in metric["samples"]]


class TestOneAlarm:
    def test_a_loss_with_the_option_alone_is_one_alert_that_states_the_cost(self) -> None:
        documents = pairs(40, day=0.002)
        of_one_mode(documents, is_with=True, since=25, by=0.94)
        arrive(documents)
        ((revision, verdict, state, series),) = open_alerts()
        assert (revision, verdict, state) == ("r300026", "regression", "new")
        assert series == [
            "bench/nic forwarding+VIMAGE worse",
            "bench/nic forwarding+VIMAGE worse",
        ]
        worst, cost = findings_of([Alert.objects.get()]).with_subjects()
        assert not worst.series.is_cost
        assert cost.series.is_cost

    def test_a_gain_without_the_option_is_no_regression_though_the_cost_rose(self) -> None:
        documents = pairs(40, day=0.002)
        of_one_mode(documents, is_with=False, since=25, by=1.06)
        arrive(documents)
        ((_, verdict, _, series),) = open_alerts()
        assert verdict == "improvement"
        assert series == ["bench/nic forwarding better", "bench/nic forwarding+VIMAGE worse"]
        assert not open_losses(since=timezone.now(), most=1, beside=1)

    def test_a_cost_locates_its_beginning_better_than_its_parent(self) -> None:
        arrive(pairs(40, steps={25: 0.955}, day=0.03))
        ((revision, verdict, _, series),) = open_alerts()
        assert (revision, verdict, len(series)) == ("r300026", "regression", 2)
        parent = Alert.objects.get().findings.get(series__metric__of=None)
        assert (parent.after.name, parent.last.name) == ("r300023", "r300029")

    def test_a_cost_that_hides_in_the_days_of_its_parents_alerts_alone(self) -> None:
        arrive(pairs(40, steps={25: 0.963}, day=0.03))
        ((revision, verdict, _, series),) = open_alerts()
        assert (revision, verdict) == ("r300026", "regression")
        assert series == ["bench/nic forwarding+VIMAGE worse"]
        assert Alert.objects.get().findings.get().series.is_cost
        assert len(open_losses(since=timezone.now(), most=2, beside=1)) == 1
