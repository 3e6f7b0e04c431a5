"""The simulated storage lab: the tail is found by its quantiles, and the median stays."""

import json
from pathlib import Path

import pytest
from labagent.model import Overrides, runs_of
from labagent.result_files import Naming, runs_of_file
from labagent.settings import Directions

from tests.results.steps import analyse, upload
from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.demo import simulated
from webapp.demo.parts import storage_part
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db


def test_its_commit_is_found_in_the_tail_alone(tmp_path: Path) -> None:
    forget_names()
    part = storage_part()
    part.written.write(tmp_path)
    for revision in simulated.storage_revisions():
        overrides = Overrides(simulated.STORAGE_TREE, simulated.STORAGE_HARDWARE, revision=revision)
        directions = Directions(tmp_path / "none")
        found = [
            run
            for file in sorted((tmp_path / revision).iterdir())
            for run in runs_of(runs_of_file(file, None, overrides, directions, Naming()))
        ]
        upload(*(json.loads(json.dumps(run.document())) for run in found))
    analyse()
    findings = Finding.objects.filter(
        series__tree__name=simulated.STORAGE_TREE, kind=Finding.Kind.LEVEL
    )
    changed = dict(findings.values_list("series__metric__name", "revision__name"))
    planted = simulated.storage_revisions()[simulated.PLANTED_AT]
    assert changed["read_latency_p99"] == changed["read_latency_p99.9"] == planted
    assert "read_latency_p50" not in changed
    assert "read_latency_p90" not in changed
    alert = Alert.objects.get(tree__name=simulated.STORAGE_TREE)
    assert alert.revision.name == planted
