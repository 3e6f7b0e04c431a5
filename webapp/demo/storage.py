"""A simulated storage lab: results of fio, and a commit that lengthens the tail alone."""

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

LAB = "simulated storage lab"
TREE = "simulated-storage"
HARDWARE = "Simulated_NVMe"
REVISIONS, BOOTS, READS = 20, 4, 20_000
FIRST = 400_010
APART = 30
PLANTED_AT = 12
SLOWEST, LONGER = 0.98, 1.4
MEDIAN_NS, SPREAD, BOOT_NOISE = 82_000, 0.35, 0.01
FIRST_DAY = datetime(2025, 9, 1, 4, 0, tzinfo=UTC)
SUBJECT = "Planted step: the slowest 2 % of reads take 40 % longer, the median stays"


def revisions() -> list[str]:
    """The commits that were measured, in order."""
    return [f"r{FIRST + APART * at}" for at in range(REVISIONS)]


def commits() -> list[dict[str, Any]]:
    """The same with day and subject, as `import_revisions` reads them."""
    return [
        {
            "revision": revision,
            "author_name": "simulated",
            "committed_at": (FIRST_DAY + timedelta(days=at)).isoformat(),
            "subject": SUBJECT if at == PLANTED_AT else "nvme: tidy up",
        }
        for at, revision in enumerate(revisions())
    ]


def results() -> Iterator[tuple[str, str]]:
    """Each file below the directory of its revision: `fio --output-format=json+` of one boot."""
    for at, revision in enumerate(revisions()):
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
