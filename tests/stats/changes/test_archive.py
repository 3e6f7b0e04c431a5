"""The labelled year series of a real lab: every sure change, at its revision."""

import json
from pathlib import Path

import pytest

from benchmarks.online import detect
from tests.stats.series import confirmed, mirrored
from webapp.stats.changes import Point

SHARED = Path(__file__).parents[3].parent / "shared"
LABELS = SHARED / "goldens" / "changes.json"

pytestmark = [
    pytest.mark.archive,
    pytest.mark.skipif(not LABELS.exists(), reason="the lab archive is not beside the checkout"),
]


def year_series():
    if not LABELS.exists():
        return
    for entry in json.loads(LABELS.read_text())["labels"]:
        folder = SHARED / "netbenches" / entry["results"]
        for workload, labels in entry["series"].items():
            pattern = entry["value_files"].replace("<workload>", workload)
            files = sorted(folder.glob(pattern.replace("<revision>", "*")))
            yield pytest.param(_read(files), labels, id=f"{Path(entry['results']).name}-{workload}")


def _read(files):
    revisions = [file.name.split(".")[0] for file in files]
    return [
        Point(int(revision), f"r{revision}", [float(line) for line in file.read_text().split()])
        for revision, file in zip(revisions, files, strict=True)
    ]


YEARS = list(year_series())


@pytest.mark.parametrize(("points", "labels"), YEARS)
@pytest.mark.parametrize("way", ["more", "less"])
def test_every_sure_change_is_found_within_one_revision_and_nothing_else(points, labels, way):
    order = {point.label: i for i, point in enumerate(points)}
    analysis = detect(points if way == "more" else mirrored(points), better=way)

    found = [order[label] for label in confirmed(analysis)]
    sure = [order[item["revision"]] for item in labels["sure"]]
    known = sure + [order[item["revision"]] for item in labels["probable"]]

    assert all(any(abs(at - location) <= 1 for at in found) for location in sure)
    assert [at for at in found if all(abs(at - location) > 1 for location in known)] == []
    assert analysis.retracted == ()


@pytest.mark.parametrize(("points", "labels"), YEARS)
def test_the_sizes_agree_with_the_labels(points, labels):
    found = {change.revision.label: change for change in detect(points).changes}
    for item in labels["sure"]:
        if item["revision"] in found:
            change = found[item["revision"]]
            assert (change.change_pct > 0) == (item["change_pct"] > 0)
            assert change.low_pct - 5 < item["change_pct"] < change.high_pct + 8
