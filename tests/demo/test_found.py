"""What is found in the simulated lab as it is uploaded: everything planted, as what it is."""

import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.test import Client
from labagent.model import Overrides, runs_of
from labagent.readers.benchlab import read_directories

from tests.kept import kept
from webapp.alerts.models import Alert
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import Finding
from webapp.analysis.services import store_runs
from webapp.api.schemas.runs import RunIn
from webapp.demo import simulated
from webapp.demo.benchdirs import simulated_files
from webapp.demo.loading import name_release
from webapp.demo.parts import branch_part, simulated_part
from webapp.labs.services import create_agent
from webapp.results.models import Hardware
from webapp.stats.simulate.lab import (
    ARM,
    EXCURSION_PCT,
    MACHINE_AT,
    MEASURED_ON,
    MIXED_AT,
    STEPS,
    XEON,
    Planted,
    make_branch,
    make_lab,
)

pytestmark = pytest.mark.django_db
LAB = make_lab()
ORDER = {revision.revision: index for index, revision in enumerate(LAB.revisions)}
KINDS = {
    "step": Finding.Kind.LEVEL,
    "mixed": Finding.Kind.LEVEL,
    "machine change": Finding.Kind.LEVEL,
    "excursion": Finding.Kind.EXCURSION,
    "slow loss": Finding.Kind.SLOW,
    "drift": Finding.Kind.SLOW,
    "noise": Finding.Kind.NOISE,
    "cost": Finding.Kind.LEVEL,
}
"""As what each kind is to be found; the other, an odd sample, is not found at all."""

NEAR = {"noise": 5, "drift": 20}
"""Revisions that it may lie elsewhere: a change of noise shows by and by, and a drift that ended
twenty revisions ago is reported up to the newest one."""


@kept
def arrive() -> None:
    """All runs of the lab are uploaded and analysed."""
    agent = create_agent(name="demo", lab_name=simulated.LAB, simulated=True)
    runs: list[dict[str, Any]] = []
    for tree, lab in ((simulated.BRANCH, make_branch()), (simulated.TREE, LAB)):
        with TemporaryDirectory() as directory:
            simulated_files(lab).write(Path(directory))
            read = runs_of(read_directories([Path(directory)], Overrides(tree=tree)))
            runs += [RunIn.model_validate(run.document()).document() for run in read]
    for first in range(0, len(runs), 300):
        store_runs(agent=agent, runs=runs[first : first + 300], register=True)
    while analyse_dirty_series().finished:
        pass


@pytest.fixture
def found(db: None) -> list[Finding]:
    arrive()
    shown = (
        Finding.all_kinds.live().shown_alone().select_related("series__hardware", "series__mode")
    )
    return list(shown.select_related("series__hardware", "series__mode", "revision"))


def is_of(planted: Planted, one: Finding) -> bool:
    here = one.series.hardware.name, str(one.series.mode)
    away = abs(ORDER[planted.last] - ORDER[one.revision.name])
    is_there = here in planted.pct and away <= NEAR.get(planted.kind, 1)
    return is_there and KINDS.get(planted.kind) == one.kind


def test_everything_planted_is_found_as_what_it_is_and_nothing_else(
    found: list[Finding], client: Client
) -> None:
    wanted = [planted for planted in LAB.planted if planted.kind in KINDS]

    for planted in wanted:
        rows = [one for one in found if is_of(planted, one)]
        series = {(one.series.hardware.name, str(one.series.mode)) for one in rows}
        assert series == set(planted.pct), planted.description
        assert len(rows) == len(series)
        for one in rows:
            pct = planted.pct[one.series.hardware.name, str(one.series.mode)]
            size = one.change_pct
            if planted.kind == "noise":
                size = 100 * (one.details["ratio"] - 1)
            assert size == pytest.approx(pct, rel=0.2), planted.description
    assert all(any(is_of(planted, one) for planted in wanted) for one in found)

    kinds = Counter(Alert.objects.filter(is_active=True).values_list("kind", flat=True))
    assert kinds == {"level": 4, "slow": 2, "excursion": 1}

    page = client.get("/trends/").content.decode()
    sentence = r"pf-statefull lost 7\.[5-9] to 8\.[0-5] % at r363457"
    assert re.search(sentence, page), "the last change that was planted, of 8 %"


@pytest.fixture
def named(found: list[Finding]) -> None:
    """The releases and branch points of the demonstration."""
    for part in (branch_part(), simulated_part()):
        for release in part.releases:
            name_release(release)


@pytest.mark.usefixtures("named")
def test_two_releases_show_what_was_planted_between_them(client: Client) -> None:
    page = client.get("/releases/11.0...12.0/")
    note, left_out = page.context["notes"]
    assert note.startswith("12.0 (r365600) was not measured: r365575 is the nearest measured")
    assert left_out.endswith("leave out 1 comparison of other revisions")
    assert page.context["unmatched"] == []
    recovered = [text for text, _ in page.context["recovered"]]
    assert sum("at r362420, back at " in text for text in recovered) == len(EXCURSION_PCT)
    assert len(page.context["trades"]) == 2, "forwarding gained and pf lost on two machines"
    rows = client.get("/api/v1/compare/releases?a=11.0&b=12.0").json()["rows"]
    proven = {(row["hardware"], row["mode"]): row["proven"] for row in rows}
    for (hardware, mode), percent in {**STEPS[MIXED_AT], **STEPS[MACHINE_AT]}.items():
        if mode != "ipfw-statefull" or hardware == ARM:
            wanted = "better" if percent > 0 else "worse"
            assert proven[hardware, mode] == wanted, (hardware, mode)


@pytest.mark.usefixtures("named")
def test_a_release_of_the_branch_is_compared_with_the_one_of_the_tree_it_left(
    client: Client,
) -> None:
    """ipfw was lost before the branch left; what came later on the tree is not on the branch."""
    (offered,) = (
        one for one in client.get("/compare/").context["ready"]["releases"] if "11.1" in one.label
    )
    assert (offered.label, offered.over) == (
        "11.1 against 11.0",
        f"from {simulated.TREE} to {simulated.BRANCH}",
    )
    page = client.get(offered.link)
    assert page.context["answer"].startswith("11.1 against 11.0: ipfw-statefull 7.")
    assert "over 2 machines" in page.context["answer"]
    (note,) = page.context["notes"]
    assert note.startswith("11.1 (r363000) was not measured: r362805 is the nearest measured")
    lost, slow = (text for text, _ in page.context["alerts"])
    assert f"regression at r354675 of {simulated.TREE}" in lost
    assert "slow loss" in slow, "the one that goes on all year"
    rows = client.get("/api/v1/compare/releases?a=11.0&b=11.1").json()["rows"]
    assert {one["hardware"] for one in rows} == {machine.name for machine in MEASURED_ON}
    moved = {(one["hardware"], one["mode"]) for one in rows if one["proven"] in {"worse", "better"}}
    assert moved == {(XEON, "ipfw-statefull")}, "on the Atom builds scatter more"
    third = str(Hardware.objects.get(name=ARM))
    missing = [text for text in page.context["unmatched"] if third in str(text)]
    assert missing, "the branch was measured on two machines"


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("stable-11", ["stable/11", "simulated-stable-11"]),
        ("releng", ["releng/11.1"]),
        ("11.1", ["11.1", "releng/11.1"]),
        ("12.0", ["12.0"]),
    ],
)
def test_search_finds_trees_releases_and_branch_points(
    client: Client, text: str, labels: list[str]
) -> None:
    found = client.get("/search/suggestions/", {"q": text}).context["found"]
    (group,) = (one for one in found.groups if one.name == "Releases and trees")
    assert [hit.label for hit in group.hits] == labels
