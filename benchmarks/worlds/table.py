"""All worlds, by the name that `--only` takes."""

from benchmarks.worlds import decisive, young
from benchmarks.worlds.figures import Measure

WORLDS: dict[str, Measure] = {
    "young": young.measure,
    "decisive": decisive.measure,
}
"""What each measures, and how, its module says."""
