"""`/webhooks/`: who hears of events, and what was sent there."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.models import User
from webapp.accounts.services import operator_required
from webapp.bisects.services import DONE
from webapp.notifications.queries import NEWS
from webapp.outbox import services
from webapp.outbox.models import Endpoint, HookDelivery
from webapp.pages.parts.links import NUMBER_MAX, newest, read_number, with_query

ROWS = 50
BAD_REQUEST = 400
ABOUT_TO = timedelta(seconds=30)
"""Before a delivery is due. While one is due or being sent the page reads its log again."""

FIELDS = ("name", "url", "kinds", "allow_private")
KINDS = (*dict.fromkeys(NEWS.values()), DONE)
"""All kinds of notifications: an endpoint that listens to a misspelt kind would hear of nothing."""


@operator_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """All endpoints; a POST adds one, and its answer is where the secret is shown."""
    given = _given(request)
    context: dict[str, object] = {"given": given}
    if request.method == "POST" and isinstance(request.user, User):
        try:
            added = services.add_endpoint(**_typed(given), by=request.user)
            context = {"added": added, "given": dict.fromkeys(FIELDS, "")}
        except services.EndpointError as error:
            context["error"] = {"field": error.field, "text": str(error)}
    context["kinds"] = KINDS
    context["endpoints"] = Endpoint.objects.with_last_sent().select_related("created_by")
    return render(
        request,
        "pages/mail/webhooks.html",
        context,
        status=BAD_REQUEST if "error" in context else 200,
    )


@operator_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def one(request: HttpRequest, number: int) -> HttpResponse:
    """An endpoint with its log; a POST changes what was typed."""
    endpoint = get_object_or_404(Endpoint.objects.select_related("created_by"), pk=number)
    context = _log(request, endpoint)
    if request.method == "POST":
        context["given"] = given = _given(request)
        try:
            services.change_endpoint(endpoint=endpoint, **_typed(given))
        except services.EndpointError as error:
            endpoint.refresh_from_db()
            context["error"] = {"field": error.field, "text": str(error)}
            return render(request, "pages/mail/webhook.html", context, status=BAD_REQUEST)
        messages.success(request, "Saved.")
        return redirect(endpoint)
    return render(request, "pages/mail/webhook.html", context)


@operator_required
@never_cache
@require_POST
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Do one thing to an endpoint, or to the chosen deliveries."""
    endpoint = Endpoint.objects.filter(pk=min(number, NUMBER_MAX)).first()
    if endpoint is None:
        messages.info(request, "That endpoint is deleted already.")
        return redirect("webhooks")
    if request.POST.get("act") == "renew-secret":
        secret = services.renew_secret(endpoint=endpoint)
        return render(
            request, "pages/mail/webhook.html", _log(request, endpoint) | {"secret": secret}
        )
    do = ACTS.get(request.POST.get("act", ""))
    if do and isinstance(request.user, User):
        try:
            messages.success(request, do(request, endpoint, request.user))
        except services.EndpointError as error:
            messages.error(request, str(error))
    return redirect(endpoint if endpoint.pk else "webhooks")


def _delete(request: HttpRequest, endpoint: Endpoint, by: User) -> str:
    services.delete_endpoint(endpoint=endpoint)
    return f"{endpoint} is deleted."


def _ping(request: HttpRequest, endpoint: Endpoint, by: User) -> str:
    delivery = services.ping_endpoint(endpoint=endpoint, by=by)
    return f"Test delivery {delivery.pk} is on its way."


def _enable(request: HttpRequest, endpoint: Endpoint, by: User) -> str:
    services.enable_endpoint(endpoint=endpoint)
    return "It hears of events from now on."


def _disable(request: HttpRequest, endpoint: Endpoint, by: User) -> str:
    services.disable_endpoint(endpoint=endpoint, reason=f"By {by}.")
    return "It hears of nothing more, and what waited for it was dropped."


def _retry(request: HttpRequest, endpoint: Endpoint, by: User) -> str:
    chosen = [read_number(text) for text in request.POST.getlist("delivery")[:ROWS]]
    return f"Sent again: {services.retry_deliveries(endpoint=endpoint, numbers=chosen)}."


ACTS: dict[str, Callable[[HttpRequest, Endpoint, User], str]] = {
    "ping": _ping,
    "enable": _enable,
    "disable": _disable,
    "retry": _retry,
    "delete": _delete,
}


def _given(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "")[:600] for name in FIELDS}


def _typed(given: dict[str, str]) -> dict[str, Any]:
    """The endpoint that a form describes. Raises EndpointError."""
    kinds = [kind.strip() for kind in given["kinds"].split(",") if kind.strip()]
    for kind in kinds:
        if kind not in KINDS:
            raise services.EndpointError(
                "kinds", f"“{kind}” is no kind of event; there are {', '.join(KINDS)}."
            )
    return {
        "name": given["name"],
        "url": given["url"],
        "kinds": kinds,
        "allow_private": bool(given["allow_private"]),
    }


def _is_under_way(delivery: HookDelivery) -> bool:
    is_due = delivery.is_waiting and delivery.due <= timezone.now() + ABOUT_TO
    return is_due or delivery.state == HookDelivery.State.CLAIMED


def _log(request: HttpRequest, endpoint: Endpoint) -> dict[str, object]:
    """An endpoint with its newest deliveries, or those before one."""
    rows, before = newest(HookDelivery.objects.filter(endpoint=endpoint), request, ROWS)
    given = {
        "name": endpoint.name,
        "url": "" if endpoint.is_channel else endpoint.url,
        "kinds": ", ".join(endpoint.kinds),
        "allow_private": "yes" if endpoint.allow_private else "",
    }
    return {
        "endpoint": endpoint,
        "deliveries": rows,
        "is_under_way": not read_number(request.GET.get("before", ""))
        and any(map(_is_under_way, rows)),
        "older": with_query(endpoint.get_absolute_url(), [("before", before)]) if before else "",
        "given": given,
        "kinds": KINDS,
    }
