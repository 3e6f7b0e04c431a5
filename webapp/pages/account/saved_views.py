"""`/views/`: pages that people named, their own and those that others share."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.models import SavedView
from webapp.accounts.services import (
    ViewError,
    save_view,
    share_view,
    signed_in_required,
    signed_in_user,
    views_for,
)
from webapp.pages.parts.links import NUMBER_MAX


@signed_in_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The views that the person can open; POST saves the page `address` as `name`."""
    user = signed_in_user(request)
    if request.method != "POST":
        return render(request, "pages/account/saved_views.html", {"views": views_for(user)})
    name, address = request.POST.get("name", ""), request.POST.get("address", "")
    try:
        view = save_view(owner=user, name=name, address=address)
    except ViewError as error:
        messages.error(request, f"The view was not saved. {error}")
        return redirect("saved_views")
    messages.success(request, f"Saved as “{view}”.")
    return redirect("saved_views")


@signed_in_required
@require_POST
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Share one of one's own, stop sharing it, or delete it."""
    owned = SavedView.objects.filter(owner=signed_in_user(request))
    view = owned.filter(pk=min(number, NUMBER_MAX)).first()
    wanted = request.POST.get("act", "")
    if view is None:
        messages.info(request, "You have no such view; it may be deleted already.")
    elif wanted == "delete":
        view.delete()
    elif wanted in ("share", "keep"):
        share_view(view=view, is_shared=wanted == "share")
    else:
        messages.error(request, "Choose what to do.")
    return redirect("saved_views")
