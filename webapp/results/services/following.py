"""What apps above keep about a revision goes over when it turns out to be another one.

Results know nothing of jobs, so these name their foreign keys; a row that must be thought about
(a finding, an alert) is moved by its own app instead, see ``merging.before_revisions_merge``.
"""

from typing import Any

from django.db import models

from webapp.results.models import Revision

_followers: list[tuple[type[models.Model], str]] = []


def goes_over(model: type[models.Model], *fields: str) -> None:
    """Let rows of ``model`` point at what is merged into by their foreign keys ``fields``."""
    _followers.extend((model, field) for field in fields if (model, field) not in _followers)


def move_followers(*, source: Revision, into: Revision) -> None:
    """Needs the exclusive side of the reshaping lock."""
    for model, field in _followers:
        rows: Any = model._default_manager.filter(**{field: source})  # noqa: SLF001 (documented)
        rows.update(**{field: into})
