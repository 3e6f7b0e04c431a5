"""Why an upload or an operator's change is refused."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend: where it is in the document, and what to do about it."""

    path: str
    message: str


class ResultsError(Exception):
    """Base of what ``results`` refuses; ``problems`` lists every reason, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems))
        self.problems = tuple(problems)


class Unprocessable(ResultsError):
    """The document is well formed, and cannot be stored as it is."""


class Forbidden(ResultsError):
    """The document is about things of another lab.

    ``attempted``: the stored runs (ids) that it was to take the place of, for the record.
    """

    def __init__(self, problems: Sequence[Problem], *, attempted: Sequence[int] = ()) -> None:
        super().__init__(problems)
        self.attempted = tuple(attempted)


class Conflict(ResultsError):
    """A run of this UUID is stored with other content."""
