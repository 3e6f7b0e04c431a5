"""The cost of an option as a series of its own: when it is there, and that it follows."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.documents import run_document
from tests.results.costs import OPTION, cost_series, costs, pair, pairs, stored
from tests.results.steps import analyse, mode, upload
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import Finding
from webapp.analysis.services import mark_for_analysis
from webapp.launcher.management.commands.digest import digest
from webapp.merging.services import merge_hardware, merge_modes, merge_revisions
from webapp.results.documents import Unprocessable
from webapp.results.models import CostSamples, Hardware, Metric, Mode, Point, Revision, Run, Series
from webapp.results.services import restore_run, withdraw_run
from webapp.results.services.subjects import change_metric, set_direction

pytestmark = pytest.mark.django_db


def arrive(documents: list[dict[str, Any]], **flags: bool) -> None:
    upload(*documents, **flags)
    analyse()


def run_at(revision: int, *options: str) -> Run:
    name = "+".join(["forwarding", *options])
    return Run.objects.current().get(revision__name=f"r{revision}", mode__name=name)


class TestComingIntoBeing:
    def test_five_revisions_with_and_without_make_a_series(self) -> None:
        arrive(pairs(4))
        assert not Series.objects.filter(metric__of__isnull=False).exists()
        arrive(pair(300_005))
        series = cost_series()
        assert str(series) == f"freebsd-head bench nic forwarding+VIMAGE cost of {OPTION} (pps)"
        assert (series.metric.unit, series.better, series.dirty_from) == (
            "% of without",
            "more",
            None,
        )
        assert list(costs()) == [f"r{300_001 + at}" for at in range(5)]

    def test_the_ratio_is_of_the_session(self) -> None:
        arrive(pairs(5))
        assert stored() == [(f"r{300_001 + at}", "forwarding+VIMAGE", 5) for at in range(5)]
        assert all(98.0 < one < 99.6 for one in costs().values())

    def test_each_option_of_a_mode_that_was_measured_without_it(self) -> None:
        documents = [
            run_document(revision=f"r{300_001 + at}", mode=mode("ipfw", *options))
            for at in range(5)
            for options in ((), ("INET6",), ("INET6", "VIMAGE"))
        ]
        arrive(documents)
        rows = Series.objects.filter(metric__of__isnull=False).order_by("mode__name")
        assert [
            (str(row.mode), row.metric.option) for row in rows.select_related("mode", "metric")
        ] == [
            ("ipfw+INET6", "INET6"),
            ("ipfw+INET6+VIMAGE", "VIMAGE"),
        ]

    def test_other_traffic_another_machine_or_two_options_are_no_pair(self) -> None:
        others = [
            {"mode": mode("forwarding", "VIMAGE"), "hardware": "other/nic"},
            {"mode": {"workload": "forwarding", "traffic": "inet6", "options": ["VIMAGE"]}},
            {"mode": mode("forwarding", "INET6", "VIMAGE")},
            {"mode": mode("forwarding")},
        ]
        arrive(
            [run_document(revision=f"r{300_001 + at}", **one) for at in range(6) for one in others]
        )
        assert not Series.objects.filter(metric__of__isnull=False).exists()

    def test_a_metric_of_less_costs_less(self) -> None:
        documents = [
            run_document(
                revision=f"r{300_001 + at}",
                mode=mode("latency", *options),
                metrics={"us": {"unit": "us", "better": "less", "samples": [10.0 + len(options)]}},
            )
            for at in range(5)
            for options in ((), ("VIMAGE",))
        ]
        arrive(documents)
        assert (cost_series().better, set(costs().values())) == ("less", {110.0})


class TestFollowing:
    def test_a_late_upload_makes_a_point(self) -> None:
        documents = pairs(8)
        arrive(documents[:6] + documents[7:])
        assert f"r{300_004}" not in costs()
        arrive([documents[6]])
        assert f"r{300_004}" in costs()

    @pytest.mark.parametrize("options", [(), (OPTION,)])
    def test_a_withdrawn_run_takes_its_point_away_and_brings_it_back(
        self, options: tuple[str, ...]
    ) -> None:
        arrive(pairs(7))
        before = costs()
        run = run_at(300_004, *options)
        withdraw_run(run=run, by=make.user(), reason="loose cable")
        analyse()
        assert costs() == {name: value for name, value in before.items() if name != "r300004"}
        restore_run(run=run)
        analyse()
        assert costs() == before

    def test_below_five_revisions_there_is_no_point(self) -> None:
        arrive(pairs(5))
        run = run_at(300_002)
        withdraw_run(run=run, by=make.user(), reason="loose cable")
        analyse()
        assert costs() == {}
        assert not CostSamples.objects.exists()
        restore_run(run=run)
        analyse()
        assert len(costs()) == 5

    def test_a_replaced_run_counts_as_it_is_now(self) -> None:
        documents = pairs(6)
        arrive(documents)
        before = costs()
        documents[5]["metrics"]["pps"]["samples"] = [500_000.0] * 5
        arrive([documents[5]], replace=True)
        assert 45 < costs()["r300003"] < 55
        assert {**costs(), "r300003": before["r300003"]} == before
        assert CostSamples.objects.count() == 6

    def test_runs_that_disagree_take_no_part(self) -> None:
        arrive(pairs(6))
        (plain, _) = pair(300_003, seed=9)
        plain["metrics"]["pps"]["samples"] = [3e6, 3.01e6, 2.99e6, 3e6, 3.02e6]
        arrive([plain | {"build_id": "another"}])
        assert Point.objects.get(
            revision__name="r300003", series__mode__name="forwarding"
        ).disagrees
        assert "r300003" not in costs()

    def test_analysing_again_changes_nothing(self) -> None:
        arrive(pairs(6))
        before = list(CostSamples.objects.order_by("pk").values()), cost_series().version
        mark_for_analysis(Series.objects.measured().values_list("pk", flat=True))
        analyse()
        assert (list(CostSamples.objects.order_by("pk").values()), cost_series().version) == before

    def test_the_digest_of_an_instance_counts_them(self) -> None:
        arrive(pairs(6))
        before = {line.name: line for line in digest()}
        assert before["cost-samples"].count == 6
        row = CostSamples.objects.first()
        assert row is not None
        CostSamples.objects.filter(pk=row.pk).update(samples=[1.0])
        after = {line.name: line for line in digest()}
        assert [name for name, line in after.items() if line != before[name]] == [
            "cost-samples",
            "all",
        ]

    def test_the_order_of_arrival_does_not_matter(self) -> None:
        documents = pairs(9)
        for document in reversed(documents):
            arrive([document])
        one_by_one = list(
            Point.objects.filter(series=cost_series()).order_by("position").values("mean", "levels")
        )
        Run.objects.all().delete()
        Series.objects.all().delete()
        arrive([document | {"uuid": str(uuid4())} for document in documents])
        at_once = Point.objects.filter(series=cost_series()).order_by("position")
        assert list(at_once.values("mean", "levels")) == one_by_one


class TestReshaping:
    def test_merged_machines_have_the_costs_of_both(self) -> None:
        arrive(pairs(6) + pairs(6, first=300_010, hardware="old/nic"))
        assert Series.objects.filter(metric__of__isnull=False).count() == 2
        old, new = (Hardware.objects.get(name=name) for name in ("old/nic", "bench/nic"))
        merge_hardware(source=old, into=new)
        analyse()
        assert cost_series().hardware.name == "bench/nic"
        assert len(costs()) == 12

    def test_a_mode_merged_into_the_one_without_has_no_cost(self) -> None:
        arrive(pairs(6))
        with_it, without = (
            Mode.objects.get(name=name) for name in ("forwarding+VIMAGE", "forwarding")
        )
        merge_modes(source=with_it, into=without)
        analyse()
        assert (costs(), CostSamples.objects.count()) == ({}, 0)

    def test_merged_revisions_are_one_point(self) -> None:
        arrive(pairs(6) + pair(300_020))
        before = costs()
        source, into = (Revision.objects.get(name=name) for name in ("r300020", "r300006"))
        merge_revisions(source=source, into=into)
        analyse()
        assert set(costs()) == set(before) - {"r300020"}
        assert Point.objects.get(series=cost_series(), revision=into).n == 10

    def test_a_turned_metric_turns_its_costs(self) -> None:
        arrive(pairs(6))
        pps = Metric.objects.get(name="pps")
        change_metric(metric=pps, unit="packets/s", better="less")
        analyse()
        assert cost_series().better == "less"
        with pytest.raises(Unprocessable, match="follows from pps: change that metric instead"):
            change_metric(metric=cost_series().metric, unit="%", better="more")

    def test_a_turned_series_turns_its_cost(self) -> None:
        arrive(pairs(6))
        with_it = Series.objects.get(mode__name="forwarding+VIMAGE", metric__of__isnull=True)
        set_direction(series=with_it, better="less")
        analyse()
        assert cost_series().better == "less"


def found() -> list[tuple[str, str, str]]:
    rows = (
        Finding.objects.live().filter(series__metric__of__isnull=False).select_related("revision")
    )
    return [(row.revision.name, row.verdict, row.state) for row in rows]


class TestFindings:
    def test_a_cost_that_grows_is_found(self) -> None:
        arrive(pairs(40, steps={25: 0.963}))
        assert found() == [("r300026", "worse", "confirmed")]
        row = Finding.objects.get(series=cost_series())
        assert row.low_pct < 100 * (0.963 / 0.988 - 1) < row.high_pct

    def test_what_both_sides_share_is_no_change_of_the_cost(self) -> None:
        documents = pairs(40)
        for document in documents[50:]:
            metric = document["metrics"]["pps"]
            metric["samples"] = [0.9 * value for value in metric["samples"]]
        arrive(documents)
        assert found() == []
        assert Finding.objects.live().count() == 2


def statements(documents: list[dict[str, Any]]) -> int:
    upload(*documents)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        analyse_dirty_series()
    return len(captured)


class TestStatements:
    def test_their_number_does_not_grow_with_the_pairs(self) -> None:
        machines = [f"m{at}/nic" for at in range(6)]
        arrive([one for name in machines for one in pairs(6, hardware=name)])
        few = statements(pair(300_007, hardware=machines[0]))
        analyse()
        many = statements([one for name in machines[1:] for one in pair(300_007, hardware=name)])
        assert many == few

    def test_a_pair_takes_as_many_more_as_the_documentation_states(self) -> None:
        arrive(pairs(6, hardware="a/nic"))
        arrive([one for one in pairs(6, hardware="b/nic") if not one["mode"]["options"]])
        alone = statements(pair(300_007, hardware="b/nic")[:1])
        analyse()
        both = statements(pair(300_007, hardware="a/nic")[:1])
        analyse()
        assert both - alone == 5
        complete = statements(pair(300_007, hardware="a/nic")[1:])
        assert complete - alone == 9

    def test_without_options_one_is_added(self) -> None:
        arrive([run_document(revision=f"r{300_001 + at}") for at in range(6)])
        upload(run_document(revision="r300007"))
        with CaptureQueriesContext(connection) as captured:
            analyse_dirty_series()
        about = [one["sql"] for one in captured if "cardinality(options)" in one["sql"]]
        assert len(about) == 1
        assert not any("cost" in one["sql"] or "with_it" in one["sql"] for one in captured)
