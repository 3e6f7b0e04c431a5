"""The simulated lab as the demonstration shows it: its names, and commits that tell the truth."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # The web server needs the names below, and not NumPy.
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
