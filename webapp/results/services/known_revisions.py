"""A revision that a person names: a known one, or one whose id tells its place."""

from django.db import transaction

from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Revision, RevisionAlias, Tree
from webapp.results.revision_ids import position_of
from webapp.results.services.locks import begin_writing


@transaction.atomic
def ensure_revision(*, tree: Tree, name: str, field: str = "revision") -> Revision:
    """The revision that ``name`` means in ``tree``; it is made where it is new and its id tells its
    place (r123, n123).

    Raises:
        Unprocessable: it is not known and tells no place, waits for its place, or that place is
            another's; the problem is that of ``field``.
    """
    begin_writing()
    found = Revision.objects.named(tree=tree, name=name) or _made(tree, name)
    if found is None:
        raise Unprocessable([Problem(field, _unknown(tree, name))])
    if found.is_waiting:
        message = f"{name!r} waits for its place on {tree}; an operator decides where it belongs"
        raise Unprocessable([Problem(field, message)])
    found.tree = tree
    return found


def _made(tree: Tree, name: str) -> Revision | None:
    """None where the id tells no place, or one that another revision has."""
    position = position_of(name)
    if position is None:
        return None
    row = Revision(tree=tree, name=name, position=position)
    Revision.objects.bulk_create([row], ignore_conflicts=True)
    made = Revision.objects.filter(tree=tree, name=name).first()
    if made is not None:
        alias = RevisionAlias(tree=tree, revision=made, name=name)
        RevisionAlias.objects.bulk_create([alias], ignore_conflicts=True)
    return made


def _unknown(tree: Tree, name: str) -> str:
    position = position_of(name)
    if position is not None:
        holder = Revision.objects.get(tree=tree, position=position)
        return f"position {position} of {tree} is that of {holder.name}; name that one"
    return (
        f"{name!r} is not known in {tree}, and its id does not tell its place; import the history "
        f"(`manage.py import_revisions --tree {tree} …`)"
    )
