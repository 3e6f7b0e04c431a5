"""Finding things by what one remembers of them: pages and API ask the same questions here."""

from webapp.search.asked import LONGEST, Asked
from webapp.search.finding import find

__all__ = ["LONGEST", "Asked", "find"]
