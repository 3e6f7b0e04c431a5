"""Pages that people come back to, under names of their own."""

from django.db.models import Q, QuerySet
from django.utils.http import url_has_allowed_host_and_scheme

from webapp.accounts.models import SavedView, User

NAME_MAX = 100
ADDRESS_MAX = 8000
MOST_VIEWS = 200
"""Of one person."""


class ViewError(ValueError):
    """The view cannot be saved; the message names the field and the remedy."""


def save_view(*, owner: User, name: str, address: str) -> SavedView:
    """Save the page at ``address`` (path and query of this site) as ``name``; a view of that name
    moves there. Raises ViewError."""
    name, address = name.replace("\0", "").strip(), address.replace("\0", "").strip()
    if not name or len(name) > NAME_MAX:
        raise ViewError(f"Name: give one of at most {NAME_MAX} characters.")
    is_ours = address.startswith("/") and url_has_allowed_host_and_scheme(address, None)
    if not is_ours or len(address) > ADDRESS_MAX:
        raise ViewError(f"Address: only pages of this site, up to {ADDRESS_MAX:,} characters.")
    if "?" not in address:
        raise ViewError("Address: this page has no query; choose something on it first.")
    others = owner.saved_views.exclude(name=name)
    if others.count() >= MOST_VIEWS:
        raise ViewError(f"You have {MOST_VIEWS} saved views: delete one first.")
    view, _ = SavedView.objects.update_or_create(
        owner=owner, name=name, defaults={"address": address}
    )
    return view


def views_for(user: User) -> QuerySet[SavedView]:
    """The person's own, and those that others share."""
    found = SavedView.objects.filter(Q(owner=user) | Q(is_shared=True))
    return found.select_related("owner").order_by("name", "pk")


def share_view(*, view: SavedView, is_shared: bool) -> None:
    """Let everybody who signs in find it, or nobody else."""
    view.is_shared = is_shared
    view.save(update_fields=["is_shared"])
