"""Commits of people who were removed: their author is a pseudonym, now and when imported again."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Lower
from django.dispatch import receiver

from webapp.accounts import services
from webapp.results.commit_documents import CommitDocument
from webapp.results.models import Revision

SHORTEST = 5
"""Characters of a name that is also looked for within messages."""

IN_MESSAGES = """
UPDATE results_revision
   SET subject = regexp_replace(subject, %(pattern)s, %(pseudonym)s, 'gi'),
       message = regexp_replace(message, %(pattern)s, %(pseudonym)s, 'gi')
 WHERE subject ~* %(pattern)s OR message ~* %(pattern)s
"""


def without_removed(commits: Sequence[CommitDocument]) -> Sequence[CommitDocument]:
    """The commits as they are stored: with pseudonyms in place of people who were removed."""
    known = services.pseudonyms()
    return [_without(commit, known) for commit in commits] if known else commits


def _without(commit: CommitDocument, known: services.Pseudonyms) -> CommitDocument:
    gone = services.pseudonym_of(commit.author_email, known) or services.pseudonym_of(
        commit.author_name, known
    )
    return replace(
        commit,
        author_name=gone or commit.author_name,
        author_email="" if gone else commit.author_email,
        subject=services.without_addresses(commit.subject, known),
        message=services.without_addresses(commit.message, known),
    )


@receiver(services.person_removed, dispatch_uid="results.erase_author")
def erase_author(names: set[str], pseudonym: str, counts: Counter[str], **_: Any) -> None:
    """Put the pseudonym in place of the author, and of the names within messages."""
    if not names:
        return
    own = Q(author_name_lower__in=names) | Q(author_email_lower__in=names)
    found = Revision.objects.alias(
        author_name_lower=Lower("author_name"), author_email_lower=Lower("author_email")
    ).filter(own)
    called = {name.lower() for name in found.values_list("author_name", flat=True).distinct()}
    counts["results_revision"] += found.update(author_name=pseudonym, author_email="")
    terms = [
        name for name in sorted(names | called, key=len, reverse=True) if len(name) >= SHORTEST
    ]
    if terms:
        pattern = "|".join(re.sub(r"(\W)", r"\\\1", term) for term in terms)
        with connection.cursor() as cursor:
            cursor.execute(IN_MESSAGES, {"pattern": pattern, "pseudonym": pseudonym})
            counts["results_revision"] += cursor.rowcount
