"""The parts of the demonstration, each as an agent of its lab would bring it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from webapp.demo import published, simulated
from webapp.demo.benchdirs import Written, published_files, simulated_files
from webapp.stats.simulate import MACHINES, MEASURED_ON, Lab, bisect_lab, make_branch, make_lab


@dataclass(frozen=True, slots=True)
class History:
    """What is known of the commits of a tree, as `import_revisions` reads it."""

    tree: str
    commits: Sequence[Mapping[str, Any]]

    def json_lines(self) -> str:
        """One commit a line."""
        return "".join(json.dumps(commit) + "\n" for commit in self.commits)


@dataclass(frozen=True, slots=True)
class Part:
    """One lab: `directory` is where its files lie, `options` those of its upload. `revisions` are
    uploaded one by one, each from the directory of its name; none: the files state theirs.

    `has_agents`: simulated agents answer the jobs of a bisect there.
    """

    lab: str
    description: str
    is_simulated: bool
    directory: str
    options: tuple[str, ...]
    hardware: Mapping[str, str]
    written: Written
    histories: tuple[History, ...]
    has_agents: bool = False
    revisions: tuple[str, ...] = ()
    releases: tuple[simulated.PlantedRelease, ...] = ()


NO_MACHINE = "Simulated: there is no such machine"

PUBLISHED = """\
Five comparisons as a lab published them, their samples found again from the published figures. \
Where a set has five samples, they are those that were measured, in ascending order; where it has \
ten, they only have the same figures, so their plot differs from the published one."""

SIMULATED = """\
This lab does not exist. Its figures are drawn at random around levels that are known, and the \
subjects of its commits say what was planted."""


BISECT_LAB_TEXT = """\
This lab does not exist either. It measures every 64th commit, and one commit in between costs \
2 %: its two simulated agents find which, when a bisect asks them."""


STORAGE = """\
A third lab that does not exist reads from a drive. One commit makes the slowest 2 % of the reads \
40 % slower, which no median shows."""


def published_part() -> Part:
    """The published comparisons. They are history: nobody is mailed about them."""
    return Part(
        lab=published.LAB,
        description=PUBLISHED,
        is_simulated=False,
        directory="published",
        options=("--history",),
        hardware={one.machine.name: one.machine.description for one in published.PUBLICATIONS},
        written=published_files(published.PUBLICATIONS),
        histories=_known_histories(),
    )


def _simulated(lab: Lab, tree: str, directory: str, machines: Iterable[str]) -> Part:
    return Part(
        lab=simulated.LAB,
        description=SIMULATED,
        is_simulated=True,
        directory=directory,
        options=("--tree", tree),
        hardware=dict.fromkeys(machines, NO_MACHINE),
        written=simulated_files(lab),
        histories=(History(tree, _simulated_commits(lab)),),
    )


def simulated_part() -> Part:
    """The simulated lab."""
    machines = [machine.name for machine in MACHINES]
    part = _simulated(make_lab(), simulated.TREE, "simulated", machines)
    return replace(part, releases=simulated.RELEASES)


def branch_part() -> Part:
    """The stable branch of the simulated lab's tree."""
    machines = [machine.name for machine in MEASURED_ON]
    part = _simulated(make_branch(), simulated.BRANCH, "branch", machines)
    return replace(part, releases=simulated.BRANCH_RELEASES)


def bisect_part() -> Part:
    """The lab whose agents answer a bisect."""
    lab, machines = bisect_lab.make_bisect_lab(), [bisect_lab.HARDWARE]
    part = _simulated(lab, simulated.BISECT_TREE, "hunt", machines)
    return replace(part, lab=simulated.BISECT_LAB, description=BISECT_LAB_TEXT, has_agents=True)


def storage_part() -> Part:
    """The lab whose metric is a histogram."""
    files = dict(simulated.storage_results())
    return Part(
        lab=simulated.STORAGE_LAB,
        description=STORAGE,
        is_simulated=True,
        directory="storage",
        options=("--tree", simulated.STORAGE_TREE, "--hardware", simulated.STORAGE_HARDWARE),
        hardware={simulated.STORAGE_HARDWARE: NO_MACHINE},
        written=Written(files, tuple(files)),
        histories=(History(simulated.STORAGE_TREE, simulated.storage_commits()),),
        revisions=tuple(simulated.storage_revisions()),
    )


PARTS: tuple[Callable[[], Part], ...] = (
    storage_part,
    branch_part,
    simulated_part,
    published_part,
    bisect_part,
)
"""In the order of their upload: pages show first what arrived last."""


def _known_histories() -> tuple[History, ...]:
    known = published.KNOWN_REVISIONS
    return tuple(
        History(
            tree,
            [
                {"revision": one.revision, "author_name": one.author, "subject": one.subject}
                for one in known
                if one.tree == tree
            ],
        )
        for tree in sorted({one.tree for one in known})
    )


def _simulated_commits(lab: Lab) -> list[dict[str, Any]]:
    planted = {commit.revision: commit for commit in simulated.planted_commits(lab)}
    commits: list[dict[str, Any]] = []
    for revision in lab.revisions:
        truth = planted.get(revision.revision)
        commits.append(
            {
                "revision": revision.revision,
                "author_name": revision.author,
                "committed_at": revision.committed_at.isoformat(),
                "subject": truth.subject if truth else revision.subject,
                "message": f"{truth.subject}\n\n{truth.message}" if truth else revision.subject,
            }
        )
    return commits
