"""Why something about a job is refused."""


class JobsError(Exception):
    """Base; the message says what is wrong and what to do instead."""


class NoSuchJob(JobsError):
    """No job has this number."""


class ForeignJob(JobsError):
    """The job is for hardware of another lab than the agent's."""


class LeaseLost(JobsError):
    """The sender no longer holds the job."""


class ActRefused(JobsError):
    """What a person asked for makes no sense now, or is out of bounds."""


class ResultRefused(JobsError):
    """The result is not what the job asked for; ``code`` says which way."""

    code = "wrong_job"


class WrongKernel(ResultRefused):
    """Another revision was measured than the job's."""

    code = "wrong_kernel"
