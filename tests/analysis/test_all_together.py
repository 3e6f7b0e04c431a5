"""A lab's whole archive in one instance finds what its year directories find alone."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.test_findings import ARCHIVE, agent, analyse
from tests.documents import run_document
from webapp.analysis import services
from webapp.analysis.models import Finding
from webapp.api.schemas.runs import RunIn
from webapp.labs.models import Agent
from webapp.results.services import forget_names

__all__ = ["agent"]

pytestmark = pytest.mark.django_db
NETBENCHES = ARCHIVE / "netbenches"
Change = tuple[str, str, str, str]
"""Hardware, mode, revision and verdict."""


def store(agent: Agent, documents: list[dict[str, Any]]) -> set[Change]:
    """Confirmed changes of level after an upload of all of them, of the smallest effect on."""
    forget_names()
    runs = [RunIn.model_validate(document).document() for document in documents]
    for first in range(0, len(runs), 50):
        services.store_runs(agent=agent, runs=runs[first : first + 50], register=True)
    analyse()
    rows = Finding.objects.filter(state__in=Finding.PROVEN)
    names = ("series__hardware__name", "series__mode__name", "revision__name", "verdict")
    large = [row for row in rows if row.change_pct is None or abs(row.change_pct) >= 2]
    return set(Finding.objects.filter(pk__in=[row.pk for row in large]).values_list(*names))


def parsed() -> list[dict[str, Any]]:
    """What ``labagent parse`` prints of the archive."""
    command = [sys.executable, "-m", "labagent", "parse", str(NETBENCHES), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_the_years(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of directories that hold at least ten revisions of a mode."""
    revisions = defaultdict(set)
    for document in documents:
        revisions[_directory(document)].add(document["revision"])
    return [one for one in documents if len(revisions[_directory(one)]) >= 10]


def _directory(document: dict[str, Any]) -> str:
    return f"{document['hardware']}/{Path(document['sources'][0]['path']).parts[0]}"


@pytest.mark.archive
@pytest.mark.skipif(not NETBENCHES.is_dir(), reason="the lab archive is not beside the checkout")
def test_all_directories_together_find_what_the_year_directories_find_alone(agent: Agent) -> None:
    documents = parsed()
    years = of_the_years(documents)
    alone = store(agent, years)
    known = {document["uuid"] for document in years}

    together = store(agent, [one for one in documents if one["uuid"] not in known])

    machine = "Atom_C2758_8Cores/Chelsio_T540-CR"
    assert (machine, "pf-statefull", "r303643", "worse") in alone
    assert alone <= together


def test_a_second_build_beside_a_change_hides_no_change(agent: Agent) -> None:
    # As a directory of its own brings it: two revisions measured again, each by another build that
    # lies a little off, and one of which has a wild run.
    rng = np.random.default_rng(3)
    documents = []
    for i in range(40):
        level = 1e6 * (0.88 if i >= 25 else 1.0) * np.exp(rng.normal(0, 0.006))
        samples = (level * np.exp(rng.normal(0, 0.01, 5))).tolist()
        documents.append(run_document(revision=f"r{100 + i}", samples=samples, build_id=f"a{i}"))
    alone = store(agent, documents)
    stray = [
        run_document(
            revision=f"r{100 + i}",
            samples=[0.93e6, *(level * np.exp(rng.normal(0, 0.01, 4))).tolist()],
            build_id=f"b{i}",
        )
        for i, level in ((24, 1.01e6), (25, 0.87e6))
    ]

    together = store(agent, stray)

    assert [name for *_, name, _ in alone] == ["r125"]
    assert together == alone
