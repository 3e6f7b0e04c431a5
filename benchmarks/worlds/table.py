"""All worlds, by the name that `--only` takes."""

from benchmarks.worlds import agreeing, comparing, decisive, disagreeing, planning, young
from benchmarks.worlds.figures import Measure

WORLDS: dict[str, Measure] = {
    "young": young.measure,
    "comparing": comparing.measure,
    "agreeing": agreeing.measure,
    "decisive": decisive.measure,
    "planning": planning.measure,
    "disagreeing": disagreeing.measure,
}
"""What each measures, and how, its module says."""
