"""Other detectors, called alike: (revisions, samples) arrays in, first indices of changes out."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import ruptures
from numpy.typing import NDArray
from scipy import stats

from benchmarks import edivisive
from webapp.stats.changes.scatter import partition

Floats = NDArray[np.float64]
Detector = Callable[[Sequence[Floats]], list[list[int]]]

ORACLES = Path(__file__).parents[1] / ".venv-oracles" / "bin" / "python"
WORKER = Path(__file__).parent / "otava_worker.py"


@dataclass(frozen=True, slots=True)
class Peer:
    """A detector with its setting. `stride` thins the replays of slow ones."""

    name: str
    detect: Detector
    stride: int = 1


def ministat(level: float = 0.05) -> Detector:
    """Consecutive revisions by Student's t with pooled variance, as ministat compares them."""

    def each(values: Floats) -> list[int]:
        result = stats.ttest_ind(values[1:], values[:-1], axis=1)
        return [int(i) + 1 for i in np.flatnonzero(np.asarray(result.pvalue) < level)]

    return lambda many: [each(values) for values in many]


def pelt(penalty: float) -> Detector:
    """PELT with the l2 cost on the logs of medians, penalty x ln n, noise from differences."""

    def each(values: Floats) -> list[int]:
        logs = np.log(np.median(values, axis=1))
        sd = 1.4826 * np.median(np.abs(np.diff(logs))) / np.sqrt(2)
        search = ruptures.KernelCPD(kernel="linear", min_size=1).fit(logs[:, None] / max(sd, 1e-9))
        return [int(i) for i in search.predict(pen=penalty * np.log(len(logs)))[:-1]]

    return lambda many: [each(values) for values in many]


def baseline(penalty: float = 12.0, level: float = 0.001) -> Detector:
    """Optimal partitioning of the logs of medians, and nothing else.

    A revision costs the square of its distance in standard deviations (of differences of
    neighbours), 16 at most; a level `penalty`, and two revisions at least. A change stands where
    Student's t of both levels reaches `level`. What all else of our method buys is measured beside.
    """

    def each(values: Floats) -> list[int]:
        logs = np.log(np.median(values, axis=1))
        sd = max(1.4826 * float(np.median(np.abs(np.diff(logs)))) / np.sqrt(2), 1e-5)
        grid = np.unique(np.round(logs / sd * 4)) / 4
        costs = np.minimum((logs[:, None] / sd - grid) ** 2, 16.0)
        starts, _ = partition(costs, penalty, 2)
        edges = [0, *starts[1:], len(logs)]
        return [
            at
            for first, at, stop in zip(edges, edges[1:], edges[2:], strict=False)
            if stats.ttest_ind(logs[first:at], logs[at:stop]).pvalue < level
        ]

    return lambda many: [each(values) for values in many]


def mongodb(level: float = 0.01) -> Detector:
    """E-divisive on means, as MongoDB runs it (p .01 by permutations)."""
    return lambda many: [edivisive.changes(values.mean(axis=1), level) for values in many]


class Otava:
    """Apache Otava, as a subprocess that stays."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [str(ORACLES), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(
        self, many: Sequence[Floats], p: float, magnitude: float = 0.0
    ) -> tuple[list[list[int]], list[float]]:
        """Return the changes of each series, and the CPU seconds each took."""
        request = {
            "p": p,
            "magnitude": magnitude,
            "series": [np.median(values, axis=1).tolist() for values in many],
        }
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the worker was started without pipes")
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise RuntimeError("the Otava worker ended: is benchmarks/oracles.txt installed?")
        answer = json.loads(line)
        return answer["changes"], answer["seconds"]

    def detector(self, p: float, magnitude: float = 0.0) -> Detector:
        """Return one setting of it."""
        return lambda many: self.ask(many, p, magnitude)[0]

    def close(self) -> None:
        """End the worker."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


def all_peers(otava: Otava | None) -> list[Peer]:
    """Return every peer that can run here: Otava needs its own environment."""
    peers = [
        Peer("ministat 95 %", ministat()),
        Peer("PELT 2 ln n", pelt(2.0)),
        Peer("PELT 4 ln n", pelt(4.0)),
        Peer("partitioning alone", baseline(), stride=5),
        Peer("MongoDB p .01", mongodb(), stride=10),
    ]
    if otava is not None:
        peers += [Peer(f"Otava p {p:g}", otava.detector(p)) for p in (1e-3, 1e-4, 1e-5)]
        peers.append(Peer("Otava p 0.001, 2 %", otava.detector(1e-3, 0.02)))
    return peers
