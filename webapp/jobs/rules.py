"""When an attempt that failed is made again."""

from dataclasses import dataclass
from datetime import timedelta

from webapp.jobs.models import Job

LEASE = timedelta(minutes=5)
"""How long a worker holds a job from its last word on."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``tries`` failures at a stage end the job; before that it waits for ``pause``."""

    tries: int
    pause: timedelta


# A revision that does not build will not build tomorrow; once more, for a full disk. Boots fail now
# and then. A lab that is out of order needs somebody's time, not ours.
RULES: dict[str, Rule] = {
    Job.Stage.BUILD: Rule(tries=2, pause=timedelta(0)),
    Job.Stage.BOOT: Rule(tries=3, pause=timedelta(minutes=1)),
    Job.Stage.RUN: Rule(tries=3, pause=timedelta(minutes=1)),
    Job.Stage.UPLOAD: Rule(tries=5, pause=timedelta(minutes=1)),
    Job.Stage.LAB: Rule(tries=5, pause=timedelta(minutes=5)),
}
LONGEST_PAUSE = max(rule.pause for rule in RULES.values())


def may_be_tried_again(job: Job, *, stage: str, failures: int) -> bool:
    """Whether a job that failed ``failures`` times at ``stage`` gets another attempt."""
    return failures < RULES[stage].tries and job.attempts < job.max_attempts
