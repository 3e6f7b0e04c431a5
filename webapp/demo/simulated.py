"""The simulated labs as the demonstration shows them: names, commits that tell the truth, and the
results of a storage lab with a commit that lengthens the tail alone.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    # The web server needs the names below, and no simulation.
    from webapp.stats.simulate import Lab, Planted

LAB = "simulated lab"
TREE = "simulated-head"

BRANCH = "simulated-stable-11"
"""The tree that left `TREE` at its branch point."""


class PlantedRelease(NamedTuple):
    """A release of a tree, or a branch point; its revision need not have been measured."""

    tree: str
    name: str
    revision: str
    released_on: date | None = None
    kind: str = "release"


RELEASES = (
    PlantedRelease(TREE, "11.0", "r353135", date(2025, 2, 26)),
    PlantedRelease(TREE, "stable/11", "r355651", kind="branch point"),
    PlantedRelease(TREE, "12.0", "r365600", date(2025, 12, 6)),
)
"""Nobody measured r365600, which lies between two measured revisions, and one machine missed a mode
at r353135.
"""

BRANCH_RELEASES = (
    PlantedRelease(BRANCH, "releng/11.1", "r362805", kind="branch point"),
    PlantedRelease(BRANCH, "11.1", "r363000", date(2025, 10, 8)),
)

BISECT_LAB = "simulated lab with agents"
BISECT_TREE = "simulated-next"

PLANTED = "Planted"
BEGINS = f"{PLANTED} {{kind}}: {{description}}"
NAMES_OF_KINDS = {"mixed": "mixed commit"}
ENDS = f"{PLANTED} {{kind}} ends here: {{description}}"


@dataclass(frozen=True, slots=True)
class PlantedCommit:
    """A commit with its subject, which names what was planted, and the sizes as its message."""

    revision: str
    subject: str
    message: str


def planted_commits(lab: "Lab") -> tuple[PlantedCommit, ...]:
    """The commits at which something was planted or ends, in the order of the plan."""
    return tuple(commit for planted in lab.planted for commit in _commits_of(planted))


def _commits_of(planted: "Planted") -> list[PlantedCommit]:
    kind = NAMES_OF_KINDS.get(planted.kind, planted.kind)
    places = [(planted.revision, BEGINS)]
    if planted.last != planted.revision:
        places.append((planted.last, ENDS))
    return [
        PlantedCommit(
            revision, form.format(kind=kind, description=planted.description), _message(planted)
        )
        for revision, form in places
    ]


def _message(planted: "Planted") -> str:
    of_what = " of scatter" if planted.kind == "noise" else ""
    sizes = (
        f"{hardware} {workload}: {percent:+g} %{of_what}"
        for (hardware, workload), percent in planted.pct.items()
    )
    return "\n".join(["This commit is simulated. What was planted:", *sizes])


STORAGE_LAB = "simulated storage lab"
STORAGE_TREE = "simulated-storage"
STORAGE_HARDWARE = "Simulated_NVMe"
REVISIONS, BOOTS, READS = 20, 4, 20_000
FIRST = 400_010
APART = 30
PLANTED_AT = 12
SLOWEST, LONGER = 0.98, 1.4
MEDIAN_NS, SPREAD, BOOT_NOISE = 82_000, 0.35, 0.01
FIRST_DAY = datetime(2025, 9, 1, 4, 0, tzinfo=UTC)
SUBJECT = "Planted step: the slowest 2 % of reads take 40 % longer, the median stays"


def storage_revisions() -> list[str]:
    """The commits that were measured, in order."""
    return [f"r{FIRST + APART * at}" for at in range(REVISIONS)]


def storage_commits() -> list[dict[str, Any]]:
    """The same with day and subject, as `import_revisions` reads them."""
    return [
        {
            "revision": revision,
            "author_name": "simulated",
            "committed_at": (FIRST_DAY + timedelta(days=at)).isoformat(),
            "subject": SUBJECT if at == PLANTED_AT else "nvme: tidy up",
        }
        for at, revision in enumerate(storage_revisions())
    ]


def storage_results() -> Iterator[tuple[str, str]]:
    """Each file below the directory of its revision: `fio --output-format=json+` of one boot."""
    for at, revision in enumerate(storage_revisions()):
        for boot in range(BOOTS):
            yield f"{revision}/boot{boot}.json", _result(revision, boot, has_tail=at >= PLANTED_AT)


def _result(revision: str, boot: int, *, has_tail: bool) -> str:
    random = np.random.default_rng(zlib.crc32(f"{revision} {boot}".encode()))
    reads = random.lognormal(np.log(MEDIAN_NS), SPREAD, READS)
    slow = reads > np.quantile(reads, SLOWEST)
    reads *= np.where(slow & has_tail, LONGER, 1) * np.exp(random.normal(0, BOOT_NOISE))
    bins = Counter(map(_bin, reads.astype(int).tolist()))
    mean = float(reads.mean())
    latency = {
        "min": int(reads.min()),
        "max": int(reads.max()),
        "mean": round(mean, 3),
        "N": READS,
        "bins": {str(value): bins[value] for value in sorted(bins)},
    }
    read = {"io_bytes": 4096 * READS, "iops": round(1e9 / mean, 3), "clat_ns": latency}
    job = {"jobname": "randread", "read": read}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]}, indent=1) + "\n"


def _bin(value: int) -> int:
    """The middle of the bin of fio that holds a latency: 64 to each power of two."""
    shift = max(value.bit_length() - 7, 0)
    return (value >> shift << shift) + (1 << shift >> 1)
