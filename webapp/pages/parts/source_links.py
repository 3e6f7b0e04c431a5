"""Where the source of a commit can be read: the address that its tree's template makes."""

from webapp.results.models import Revision


def source_url(revision: Revision) -> str:
    """The commit in the source browser of its tree (which must be loaded); empty without one."""
    return revision.tree.source_of(revision.name)
