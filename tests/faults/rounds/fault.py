"""What a fault is, and what comes of one."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.rounds.rig import Rig
from tests.faults.rounds.workload import Work


class Skipped(Exception):
    """This machine cannot do it."""


@dataclass(frozen=True)
class Broken:
    """What was done: how many kills, and what was seen that is wrong beside the digest."""

    kills: int = 0
    wrong: str = ""


Fault = Callable[[Rig, Work, random.Random], Broken]
