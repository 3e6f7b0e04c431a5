"""All worlds, by the name that `--only` takes."""

from benchmarks.worlds import (
    beginning,
    calm,
    comparing,
    decisive,
    disagreeing,
    elsewhere,
    excursions,
    grouping,
    inserting,
    machines,
    noises,
    parts,
    planning,
    returning,
    sessions,
    slow,
    standing,
    stepping,
    sweeps,
    young,
)
from benchmarks.worlds.figures import Measure

WORLDS: dict[str, Measure] = {
    "young": young.measure,
    "comparing": comparing.measure,
    "machines": machines.measure,
    "decisive": decisive.measure,
    "planning": planning.measure,
    "disagreeing": disagreeing.measure,
    "sessions": sessions.measure,
    "elsewhere": elsewhere.measure,
    "excursions": excursions.measure,
    "grouping": grouping.measure,
    "returning": returning.measure,
    "inserting": inserting.measure,
    "noises": noises.measure,
    "parts": parts.measure,
    "slow": slow.measure,
    "calm": calm.measure,
    "standing": standing.measure,
    "stepping": stepping.measure,
    "beginning": beginning.measure,
    "sweeps": sweeps.measure,
}
"""What each measures, and how, its module says."""
