"""What can go wrong, as one tree. Messages carry the remedy; only the CLI reads `exit_code`.

AgentError
├── NothingFoundError    1  the directories hold no benchmark
├── IncompleteError      1  some files could not be read; the others are done
├── RunsRejectedError    1  the server took part of it
├── SettingsError        3  no server, no token, an unreadable configuration, a malformed option
├── RefusedError         4  the server understood and refused (401, 403, 404, 409, 413, 422)
└── UnavailableError     5  no answer, the server failed, or "later" until patience ran out
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Detail:
    """One field the server objects to: its `path` in what was sent (`runs[3].revision`) and why."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


MOST_NAMED = 5
"""Fields that a message names."""


class AgentError(Exception):
    """Anything the agent reports to its user instead of a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class NothingFoundError(AgentError):
    """No benchmark result below the given directories."""


class IncompleteError(AgentError):
    """Some files or directories could not be read, and their runs were left out."""


class RunsRejectedError(AgentError):
    """The server refused some runs; they are kept in the spool under `rejected/`."""


class SettingsError(AgentError):
    """The agent was not given enough, or was given something malformed."""

    exit_code = 3


class RefusedError(AgentError):
    """The server answered with an error that sending again would not change."""

    exit_code = 4

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        status: int = 0,
        code: str = "",
        details: Sequence[Detail] = (),
    ) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.code = code
        self.details = tuple(details)

    def __str__(self) -> str:
        named = "; ".join(str(one) for one in self.details[:MOST_NAMED])
        message = f"{self.message} {named}" if named else self.message
        return f"{message} ({self.remedy})" if self.remedy else message


class UnavailableError(AgentError):
    """No answer, or one that asks for later. Nothing is lost; `passing` where trying again may
    help, after `retry_after` seconds where the server named them."""

    exit_code = 5

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        retry_after: float | None = None,
        passing: bool = True,
    ) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after
        self.passing = passing
