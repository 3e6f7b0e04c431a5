"""Finding things by what one remembers of them: pages and API ask the same questions here."""

from webapp.search.finding import LONGEST, Asked, find
