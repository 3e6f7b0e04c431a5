"""Name points of a tree."""

from datetime import date

from django.db import transaction

from webapp.events.errors import ReleaseTaken
from webapp.events.models import Release
from webapp.events.models.releases import RELEASE_NAME_MAX
from webapp.results.models import Tree, wrong_with_line
from webapp.results.services import Problem, Unprocessable, answer_to, ensure_revision


@transaction.atomic
def record_release(
    *, tree: Tree, name: str, revision: str, kind: str, released_on: date | None = None
) -> tuple[Release, bool]:
    """Say that a revision (by name) of ``tree`` is a release or a branch point, and whether that is
    new. A revision that is not known is made where its id tells its place.

    Raises:
        Unprocessable: a field is wrong.
        ReleaseTaken: the name is stored with another revision, kind or date.
    """
    fault = wrong_with_line(name)
    if not name.strip() or len(name) > RELEASE_NAME_MAX or fault:
        message = fault or f"give a name of at most {RELEASE_NAME_MAX} characters"
        raise Unprocessable([Problem("name", message)])
    if kind not in Release.Kind.values:
        raise Unprocessable([Problem("kind", f"choose one of {', '.join(Release.Kind.values)}")])
    found = ensure_revision(tree=tree, name=revision)
    values = {"revision": found, "kind": kind, "released_on": released_on}
    release, is_new = Release.objects.get_or_create(tree=tree, name=name, defaults=values)
    answer_to(revision=found, names=release.ids)
    differing = [field for field, value in values.items() if getattr(release, field) != value]
    if differing:
        field = differing[0]
        message = f"{name!r} of {tree} is stored with {getattr(release, field)}"
        raise ReleaseTaken([Problem(field, f"{message}; an operator changes it in the admin")])
    return release, is_new
