"""Why a write about surroundings is refused, where results have no word for it."""

from webapp.results.services import ResultsError


class ReleaseTaken(ResultsError):
    """A release of this name is stored with another revision, kind or date."""
