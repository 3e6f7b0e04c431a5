"""What a search text may mean."""

import re
from dataclasses import dataclass
from functools import cached_property

from webapp.results.models import as_total

LONGEST = 200
MOST_WORDS = 8
LETTERS = "rnc"
"""Before the number of a revision; people leave them out."""

FEWEST_OF_A_REVISION = 3
"""Characters of a revision from which on the names that begin so are looked for."""

_NUMBER = re.compile(r"(?:(alert|bisect)s?\s*)?#?\s*(\d{1,9})", re.IGNORECASE)
_REVISION = re.compile(r"[\w.-]+")
_TOKEN = re.compile(r"\d+(?:\.\d+)+|\w+")


@dataclass(frozen=True)
class Asked:
    """A search text, cut to `LONGEST` characters and `MOST_WORDS` words."""

    text: str

    @classmethod
    def of(cls, text: str) -> "Asked":
        """What was typed, without what no database takes."""
        clean = "".join(each if each.isprintable() else " " for each in text)
        return cls(" ".join(clean.split())[:LONGEST].strip())

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The words of the question, in their order, each once."""
        return tuple(dict.fromkeys(self.text.split()))[:MOST_WORDS]

    @property
    def names(self) -> list[str]:
        """The ids of revisions that it may be: as typed, in small letters, with a letter before a
        number."""
        if len(self.terms) != 1:
            return []
        text = self.text
        numbers = [letter + text for letter in LETTERS] if text.isascii() and text.isdigit() else []
        total = as_total(text.lower())  # as directories write a count of all commits
        return list(dict.fromkeys([text, text.lower(), *numbers, *([total] if total else [])]))

    @property
    def beginnings(self) -> list[str]:
        """What the ids of revisions may begin with; none where it is too short or no id."""
        enough = len(self.text.lstrip(LETTERS)) >= FEWEST_OF_A_REVISION
        return self.names if enough and _REVISION.fullmatch(self.text) else []

    @property
    def number(self) -> tuple[str, int] | None:
        """The number of an alert or a bisect, and which of them (empty: either)."""
        match = _NUMBER.fullmatch(self.text)
        return ((match[1] or "").lower(), int(match[2])) if match else None

    @property
    def tsquery(self) -> str:
        """For `to_tsquery`: every word, or what begins so; empty where there is none. A version
        (``11.1``) is one word, as the database takes it.
        """
        tokens = dict.fromkeys(_TOKEN.findall(self.text.lower()))
        return " & ".join(f"'{token}':*" for token in tokens if len(token) > 1)
