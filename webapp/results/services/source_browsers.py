"""Say where the commits of a tree are in a source browser."""

from django.core.exceptions import ValidationError

from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import Tree
from webapp.results.source_links import check_source_template


def set_source_template(*, tree: str, template: str) -> Tree:
    """Store the template of ``tree`` (by name); empty: its commits link nowhere.

    Raises Unprocessable for an unknown tree, and for what is no template, with the remedy.
    """
    found = Tree.objects.filter(name=tree).first()
    if found is None:
        raise Unprocessable([Problem("tree", f"there is no tree {tree!r}")])
    if template:
        try:
            check_source_template(template)
        except ValidationError as error:
            said = " ".join(error.messages)
            raise Unprocessable([Problem("source_template", said)]) from error
    found.source_template = template
    found.save(update_fields=["source_template"])
    return found
