"""Runs Apache Otava in an environment of its own: JSON lines in, JSON lines out.

Started by benchmarks.peers with that environment's Python (benchmarks/oracles.txt); imports
nothing of this project. A request is {"p": …, "magnitude": …, "series": [[…], …]}; the answer is
{"changes": [[indices], …], "seconds": [CPU seconds of each series]}.
"""

import json
import sys
from time import process_time

from otava.analysis import compute_change_points  # type: ignore[import-not-found]


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        changes, seconds = [], []
        for series in request["series"]:
            begin = process_time()
            points, _ = compute_change_points(
                series, max_pvalue=request["p"], min_magnitude=request["magnitude"]
            )
            seconds.append(process_time() - begin)
            changes.append([int(point.index) for point in points])
        sys.stdout.write(json.dumps({"changes": changes, "seconds": seconds}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
