"""Which runs of a lab a name that stands for another one moves, and at what cost."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.results.aliasing import alias, modes, points, run, undo
from tests.results.steps import upload
from webapp.results.models import (
    AliasedRun,
    Hardware,
)
from webapp.results.services.subjects import rename_hardware

pytestmark = pytest.mark.django_db


class TestScope:
    def test_all_runs_of_the_lab(self) -> None:
        upload(run("r1"), run("r2"), run("r3", "pf"))
        row = alias()
        assert row.moved == 2
        assert modes() == {"r1": "forwarding", "r2": "forwarding", "r3": "pf"}
        upload(run("r4"))
        assert modes()["r4"] == "forwarding"

    def test_another_lab_keeps_its_names(self) -> None:
        upload(run("r1", hardware="other/nic"), lab="another")
        upload(run("r2"))
        assert alias().moved == 1
        assert modes() == {"r1": "fastforwarding", "r2": "forwarding"}
        upload(run("r3", hardware="other/nic"), lab="another")
        assert modes()["r3"] == "fastforwarding"

    def test_a_tree(self) -> None:
        upload(run("r1"), run("r2", tree="other"))
        alias(tree="other")
        upload(run("r3"), run("r4", tree="other"))
        assert modes() == {
            "r1": "fastforwarding",
            "r2": "forwarding",
            "r3": "fastforwarding",
            "r4": "forwarding",
        }

    def test_a_range_of_revisions_with_both_ends(self) -> None:
        upload(*(run(f"r{n}") for n in range(1, 6)))
        alias(tree="freebsd-head", first="r2", last="r4")
        aliased = {name for name, mode in modes().items() if mode == "forwarding"}
        assert aliased == {"r2", "r3", "r4"}

    def test_an_open_range_holds_for_what_comes(self) -> None:
        upload(run("r5"))
        alias(tree="freebsd-head", first="r5")
        upload(run("r4"), run("r6"))
        assert modes() == {"r4": "fastforwarding", "r5": "forwarding", "r6": "forwarding"}

    @pytest.mark.parametrize(
        "directory", ["seed-000", "seed-0*", "bench/nic/seed-000", "*/seed-000"]
    )
    def test_a_directory_by_its_path_or_its_last_part(self, directory: str) -> None:
        upload(run("r1"), run("r2", label="seed-004"), run("r3", label=""))
        assert alias(directory=directory).moved == (2 if directory == "seed-0*" else 1)
        upload(run("r4"), run("r5", label="else"))
        found = modes()
        assert (found["r1"], found["r4"]) == ("forwarding", "forwarding")
        assert (found["r3"], found["r5"]) == ("fastforwarding", "fastforwarding")

    def test_a_session(self) -> None:
        sent = run("r1")
        sent["evidence"] |= {"session": "night 7"}
        upload(sent, run("r2"))
        alias(directory="night *")
        assert modes() == {"r1": "forwarding", "r2": "fastforwarding"}

    def test_of_several_the_most_particular_counts(self) -> None:
        upload(run("r1"), run("r2", label="seed-004"))
        alias(means="forwarding")
        alias(means="slow-forwarding", directory="seed-004")
        assert modes() == {"r1": "forwarding", "r2": "slow-forwarding"}


class TestKinds:
    def test_an_option(self) -> None:
        upload(run("r1", "pf", options=["lro", "numa"]), run("r2", "pf", options=["NUMA"]))
        alias("NUMA", "numa", "option")
        assert modes() == {"r1": "pf+lro+numa", "r2": "pf+numa"}

    def test_traffic(self) -> None:
        sent = run("r1", "pf") | {"mode": {"workload": "pf", "traffic": "2k", "options": []}}
        upload(sent)
        alias("2k", "2000-flows", "traffic")
        assert modes() == {"r1": "pf@2000-flows"}

    def test_hardware(self) -> None:
        upload(run("r1", hardware="a/nic"), run("r2", hardware="b/nic"))
        row = alias("a/nic", "b/nic", "hardware")
        upload(run("r3", hardware="a/nic"))
        assert {point.split()[0] for point in points()} == {"b/nic"}
        assert AliasedRun.objects.filter(hardware__name="a/nic").count() == 2
        undo(row)
        assert {point for point in points() if point.startswith("a/nic")} == {
            "a/nic fastforwarding r1",
            "a/nic fastforwarding r3",
        }

    def test_hardware_goes_on_under_its_new_name(self) -> None:
        upload(run("r1", hardware="a/nic"), run("r2", hardware="b/nic"))
        alias("a/nic", "b/nic", "hardware")
        rename_hardware(hardware=Hardware.objects.get(name="b/nic"), name="c/nic")
        upload(run("r3", hardware="a/nic"))
        assert {point.split()[0] for point in points()} == {"c/nic"}


def statements(*documents: dict[str, Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        upload(*documents)
    return len(captured)


def test_an_upload_costs_the_same_for_many_runs_under_aliases() -> None:
    upload(run("r1"), run("r1", "forwarding"))
    without = statements(run("r2", "forwarding"))
    alias()
    upload(run("r3"))
    few = statements(run("r4"))
    many = statements(*(run(f"r{n}") for n in range(10, 30)))
    assert many == few
    assert few <= without + 2
