"""What apps above keep about a revision or a series goes over when it turns out to be another one.

Results know nothing of jobs, so these name their foreign keys; a row that must be thought about
(a finding, an alert) is moved by its own app instead, see ``merging.before_revisions_merge``.
"""

from collections.abc import Callable
from typing import Any

from django.db import models

Moved = Callable[[models.Model, models.Model], None]
_followers: list[tuple[type[models.Model], str]] = []
_others: list[Moved] = []


def goes_over(model: type[models.Model], *fields: str) -> None:
    """Let rows of ``model`` point at what is merged into by their foreign keys ``fields``."""
    _followers.extend((model, field) for field in fields if (model, field) not in _followers)


def on_merged(moved: Moved) -> Moved:
    """Have the function called with the source and what it is merged into: for other columns."""
    if moved not in _others:
        _others.append(moved)
    return moved


def move_followers(*, source: models.Model, into: models.Model) -> None:
    """Needs the exclusive side of the reshaping lock."""
    for model, field in _followers:
        if model._meta.get_field(field).related_model is type(source):  # noqa: SLF001 (documented)
            rows: Any = model._default_manager.filter(**{field: source})  # noqa: SLF001
            rows.update(**{field: into})
    for moved in _others:
        moved(source, into)
