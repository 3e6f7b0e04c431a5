"""What facts say of the machines, kernels and traffic of an experiment: its bullets."""

import re
from collections.abc import Sequence

from webapp.analysis.queries import ComparedTable
from webapp.experiments.models import Experiment
from webapp.results.models import Run

MOST_MACHINES = 20
_LENGTH = re.compile(r"(?:^|\s)-l\s+(\d{1,5})\b", re.ASCII)
_FACTS = ("release", "senders", "sender_command")


def machine_lines(experiment: Experiment, table: ComparedTable) -> list[str]:
    """Machines, kernels, traffic; what no fact says is left out. One statement."""
    machines = dict.fromkeys(row.sets[0].hardware.shown_name for row in table.rows)
    shown = list(machines)[:MOST_MACHINES]
    more = len(machines) - len(shown)
    facts = _facts(experiment, table)
    kernels = dict.fromkeys(side.kernel for side in table.sides)
    releases = " and ".join(_values(facts, 0))
    return [
        *shown,
        *([f"{more} more machines"] if more else []),
        " ".join(filter(None, [releases, experiment.tree.name, ", ".join(kernels)])),
        *_traffic(facts),
        *(f"Session {one}" for one in dict.fromkeys(side.session for side in table.sides) if one),
    ]


def _facts(experiment: Experiment, table: ComparedTable) -> list[tuple[str | None, ...]]:
    """The facts that its runs have, each combination once."""
    runs = Run.objects.filter(
        revision__in=table.revisions,
        hardware__in={one.hardware.pk for row in table.rows for one in row.sets},
        received_at__lte=experiment.asof,
    )
    sessions = {side.session for side in table.sides}
    if "" not in sessions:
        runs = runs.filter(session__in=sessions)
    return list(runs.order_by().values_list(*(f"facts__{name}" for name in _FACTS)).distinct())


def _values(facts: Sequence[tuple[object, ...]], column: int) -> list[str]:
    return sorted({str(row[column]) for row in facts if row[column] is not None})


def _traffic(facts: Sequence[tuple[object, ...]]) -> list[str]:
    senders = _values(facts, 1)
    lengths = {found[1] for text in _values(facts, 2) if (found := _LENGTH.search(text))}
    frames = ", ".join(sorted(lengths, key=int))
    count = f"{senders[0]} sender{'s' if senders[0] != '1' else ''}" if len(senders) == 1 else ""
    length = f"frames of {frames} bytes" if frames else ""
    return [", ".join(filter(None, [count, length]))] if count or length else []
