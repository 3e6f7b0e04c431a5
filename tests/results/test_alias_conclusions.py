"""What was concluded and noted of a series outlives an alias and its undo."""

import pytest

from tests.alerts.steps import arrive, log, runs_of
from tests.results.aliasing import ada, alias, run, undo
from tests.results.steps import analyse, upload
from webapp.alerts import services as alerts
from webapp.alerts.models import Alert

pytestmark = pytest.mark.django_db


def acknowledged(alert: Alert) -> Alert:
    alerts.acknowledge(alert=alert.pk, actor=ada(), version=alert.version, reason="mine")
    return alert


def standing() -> list[tuple[int, str]]:
    return list(Alert.objects.filter(is_active=True).values_list("pk", "state"))


class TestConclusions:
    def test_alert_state_and_what_people_decided_outlive_alias_and_undo(self) -> None:
        arrive(runs_of({("bench/nic", "fastforwarding"): {15: 0.8}}))
        alert = acknowledged(Alert.objects.get())
        before = log(alert)
        row = alias()
        analyse()
        assert standing() == [(alert.pk, "acknowledged")]
        assert log(alert) == before
        undo(row)
        analyse()
        assert standing() == [(alert.pk, "acknowledged")]
        assert log(alert) == before

    def test_joined_with_another_series_the_change_stays_one_alert(self) -> None:
        places = {("bench/nic", name): {15: 0.8} for name in ("fastforwarding", "forwarding")}
        documents = runs_of(places)
        arrive(documents)
        alert = acknowledged(Alert.objects.get(is_active=True))
        alias()
        analyse()
        assert standing() == [(alert.pk, "acknowledged")]
        assert [row.series.mode.name for row in alert.findings.filter(state="confirmed")] == [
            "forwarding"
        ]

    @pytest.mark.parametrize("part", ["whole", "the newer half"])
    def test_a_change_that_goes_to_a_series_without_it_stays_the_same_alert(
        self, part: str
    ) -> None:
        """The first revisions were measured under one name, the others under both."""
        under_one = runs_of({("bench/nic", "fastforwarding"): {15: 0.8}})
        arrive(under_one)
        upload(*(run(f"r{n}", "forwarding", factor=10_000, label="") for n in (97, 98)))
        alert = acknowledged(Alert.objects.get(is_active=True))
        scope = {} if part == "whole" else {"tree": "freebsd-head", "first": "r101"}
        alias(**scope)
        analyse()
        assert standing() == [(alert.pk, "acknowledged")]
