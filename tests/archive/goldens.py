"""The golden files of the lab archive, and the same groups as a database holds them."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tests.system.running import System
from webapp.results.packed import SamplesField

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
ARCHIVE = SHARED / "netbenches"
GOLDENS = SHARED / "goldens"
# What the lab's names call a commit and what its kernels do, by label: filed at the kernel's
FILED = {
    ("fbsd11-stable.r320490.BSDRP.1.80.5k", "r320490"): "r320487",
    ("fbsd13-head.340244.D17901", "r340244"): "r340242",
    ("fbsd14-n277567-D33658", "n277567"): "n257521",
}
# A count that only a name gives is one of all commits
COUNTED = {
    ("fbsd14-n272525", "n272525"): "c272525",
    ("fbsd16-n311215", "n311215"): "c311215",
    ("fbsd16-n311215.D58513", "n311215"): "c311215",
}
NAMED = {(label, filed): named for (label, named), filed in (FILED | COUNTED).items()}
# Runs that were series of modes of their own and are variants of the kernel, by label
VARIANTS = {
    ("fbsd11-head.r295150.mbuf", "mbuf"): 3,
    ("fbsd11-stable.r320490.BSDRP.1.80.5k", "BSDRP.1.80.5k"): 13,
    ("fbsd11.1-yandex", "yandex"): 18,
    ("fbsd12-head.r323724.D12439", "D12439"): 2,
    ("fbsd12-head.r325006.yandex.D12685", "yandex"): 2,
    ("fbsd12-head.r325006.yandex.D12685", "yandex+D12685"): 2,
    ("fbsd13-head.340244.D17901", "D17901"): 1,
    ("fbsd13-r368287.D27401v2", "D27401v2"): 2,
    ("fbsd13-r368606.D27401v4", "D27401v4"): 2,
    ("fbsd14-n277567-D33658", "D33658"): 2,
    ("fbsd16-n311215.D58513", "D58513"): 6,
}
# The unit of a golden row → the metric it was measured in
METRIC = {"pps": "pps", "Mb/s": "equilibrium", "Mb/s (max)": "equilibrium_max"}


class Group(NamedTuple):
    """What was measured together: one image and configuration in one directory, one metric."""

    hardware: str
    topic: str
    label: str
    revision: str
    variant: str
    configuration: str
    traffic: str
    metric: str


class Stored(NamedTuple):
    """The values of a group, one an iteration, and the file that the lab stored them in."""

    values: list[float]
    file: str


def golden_groups() -> dict[Group, Stored]:
    """`archive.csv` by group, without the rows that name no revision."""
    values: dict[Group, list[float]] = defaultdict(list)
    files: dict[Group, str] = {}
    for row in golden_rows():
        if row["revision"]:
            group = _group_of(row)
            values[group].append(float(row["value"]))
            files[group] = row["source_path"]
    return {group: Stored(found, files[group]) for group, found in values.items()}


def golden_rows() -> list[dict[str, str]]:
    with (GOLDENS / "archive.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _group_of(row: dict[str, str]) -> Group:
    label = row["source_path"].split("/results/")[1].split("/")[0]
    return Group(
        hardware=f"{row['hardware']}/{row['nic']}",
        topic=row["bench_topic"],
        label="/".join(filter(None, (label, row["subdir"]))),
        revision=row["revision"],
        variant=row["variant"],
        configuration=row["mode"],
        traffic=row["pktgen"],
        metric=METRIC[row["unit"]],
    )


def stored_groups(system: System) -> dict[Group, list[float]]:
    """The samples of every measurement in the database, by group, with the lab's revisions."""
    rows = system.rows("""
        SELECT hardware.name, run.facts->>'topic', run.facts->>'label', revision.name,
               COALESCE(run.facts->>'image', ''), COALESCE(run.facts->>'cfg', ''),
               COALESCE(run.facts->>'pktgen', ''), metric.name, samples
          FROM results_measurement AS measurement
          JOIN results_run AS run ON run.id = measurement.run_id
          JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
          JOIN results_revision AS revision ON revision.id = run.revision_id
          JOIN results_series AS series ON series.id = measurement.series_id
          JOIN results_metric AS metric ON metric.id = series.metric_id""")
    found = {}
    for hardware, topic, label, filed, image, configuration, traffic, metric, samples in rows:
        revision = NAMED.get((label, filed), filed)
        variant = image.removeprefix(revision).removeprefix(revision[1:])
        group = Group(hardware, topic, label, revision, variant, configuration, traffic, metric)
        assert group not in found, f"{group} was stored twice"
        found[group] = SamplesField.unpack(samples)
    return found


def raw_medians() -> dict[str, list[float]]:
    """What the logs contain, by the file that the lab stored its own medians in."""
    groups = json.loads((GOLDENS / "receiver_medians.json").read_text())
    return {
        group["stored_file"]: [float(value) for value in group["expected_median"] if value]
        for group in groups
        if group["stored_file"] and "/PMC/" not in group["dir"]
    }
