"""Imported history binds stored runs by the hashes of their kernels."""

from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command

from tests import make
from tests.documents import SAMPLES, run_document
from tests.results.steps import upload
from webapp.results.models import Point, WaitingRun
from webapp.results.services import decide_waiting
from webapp.results.services.reidentifying import Reidentified, reidentify

pytestmark = pytest.mark.django_db
HASH = "97be6fced7d"
WHOLE = f"{HASH}{'0' * 29}"


@pytest.fixture
def history(tmp_path: Path) -> Path:
    file = tmp_path / "history.csv"
    file.write_text(f"revision,aliases\nr303643,{WHOLE}\nr309257,\n", encoding="utf-8")
    return file


def send(revision: str, **evidence: str) -> UUID:
    found = {"label": "fbsd12", "label_revision": revision, "kernel_hash": HASH} | evidence
    recorded = upload(run_document(revision=revision, evidence=found))
    return recorded.stored[0]


def points() -> dict[str, int]:
    return {row.revision.name: row.n for row in Point.objects.select_related("revision")}


def imported(file: Path) -> str:
    out = StringIO()
    call_command("import_revisions", str(file), tree="freebsd-head", stdout=out)
    return out.getvalue()


def test_a_run_moves_to_the_commit_of_its_hash_where_a_rule_explains_the_difference(
    history: Path,
) -> None:
    send("r303640")
    assert points() == {"r303640": len(SAMPLES)}
    assert "1 runs moved" in imported(history)
    assert points() == {"r303643": len(SAMPLES)}
    assert "moved to" not in imported(history)


def test_a_run_waits_where_its_hash_is_another_commit_than_its_label(history: Path) -> None:
    send("r309257")
    assert "1 wait now" in imported(history)
    assert points() == {}
    row = WaitingRun.objects.get()
    assert [one["revision"] for one in row.candidates] == ["r303643", "r309257"]
    decide_waiting(runs=[row.run.uuid], choice="label", by=make.user())
    imported(history)
    assert points() == {"r309257": len(SAMPLES)}


def test_a_run_that_waited_is_settled_by_history(history: Path) -> None:
    uuid = send("r303643", kernel_revision="n257521")
    assert WaitingRun.objects.open().filter(run__uuid=uuid).exists()
    assert "1 wait no longer" in imported(history)
    assert points() == {"r303643": len(SAMPLES)}
    assert WaitingRun.objects.get().rule == "imported history"


def test_without_evidence_or_history_nothing_is_asked() -> None:
    upload(run_document())
    assert reidentify(tree_name="freebsd-head") == Reidentified()
    assert reidentify(tree_name="nobody knows it") == Reidentified()
