"""`/outbox/`: the mails that wait, left or were given up, and why. `/webhooks/`: who hears of
events, and what was sent there.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.services import operator_required
from webapp.bisects.services import DONE
from webapp.notifications.queries import NEWS
from webapp.outbox import services
from webapp.outbox.models import Endpoint, HookDelivery, Mail, MailServer
from webapp.pages.parts import links

ROWS = 50
PARTS = ("state", "to")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which mails are shown; an empty part means all."""

    state: str
    to: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        """The filters of the address; an unknown state means all."""
        given = {name: links.read_text(request.GET, name, 254) for name in PARTS}
        if given["state"] not in Mail.State.values:
            given["state"] = ""
        return cls(**given)

    def address(self, **more: str) -> str:
        """The page with these filters, and ``more``."""
        return links.with_parts(reverse("outbox"), asdict(self) | more)


@operator_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Mails by state and receiver, newest first. For operators."""
    filters = Filters.of(request)
    found = Mail.objects.in_state(filters.state).to(filters.to).with_recipients()
    rows, before = links.newest(found, request, ROWS)
    numbers = Mail.objects.numbers()
    context = {
        "filters": filters,
        "here": filters.address(),
        "states": [
            (state, label, numbers[state], Filters(state, filters.to).address())
            for state, label in Mail.State.choices
        ],
        "mails": rows,
        "any": bool(sum(numbers.values())),
        "older": filters.address(before=before) if before else "",
        "server": MailServer.objects.filter(failures__gt=0).first(),
        "settings": services.mail_settings(),
    }
    return render(request, "pages/mail/outbox.html", context)


@operator_required
@require_safe
def one(request: HttpRequest, number: int) -> HttpResponse:
    """One mail as it was composed, and what became of it. For operators."""
    mail = get_object_or_404(Mail.objects.select_related("recipient"), pk=number)
    return render(request, "pages/mail/outbox_mail.html", {"mail": mail})


@operator_required
@require_POST
def act(request: HttpRequest) -> HttpResponse:
    """Retry or drop the chosen mails, or retry all."""
    chosen = [links.read_number(text) for text in request.POST.getlist("mail")[:ROWS]]
    name = request.POST.get("act", "")
    if name == "retry-all":
        messages.success(request, f"Sent again: {services.retry_all_mails()}.")
    elif not chosen:
        messages.error(request, "Choose one mail or more.")
    elif name == "retry":
        messages.success(request, f"Sent again: {services.retry_mails(chosen)}.")
    elif name == "drop":
        dropped = services.drop_mails(chosen, by=request.user.get_username())
        messages.success(request, f"Dropped: {dropped}.")
    else:
        messages.error(request, "Choose what to do.")
    return redirect(Filters.of(request).address())


@operator_required
@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Send a test mail, and report the result."""
    address = request.POST.get("address", "").strip()[:254]
    try:
        services.send_test_mail(address)
    except services.TestMailError as error:
        messages.error(request, f"The test mail did not leave. {error}")
    else:
        messages.success(request, f"The test mail to {address} left.")
    return redirect("outbox")


BAD_REQUEST = 400
ABOUT_TO = timedelta(seconds=30)
"""Before a delivery is due. While one is due or being sent the page reads its log again."""

FIELDS = ("name", "url", "kinds", "allow_private")
KINDS = (*dict.fromkeys(NEWS.values()), DONE)
"""All kinds of notifications: an endpoint that listens to a misspelt kind would hear of nothing."""


@operator_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
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
def webhook(request: HttpRequest, number: int) -> HttpResponse:
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
def act_on_webhook(request: HttpRequest, number: int) -> HttpResponse:
    """Do one thing to an endpoint, or to the chosen deliveries."""
    endpoint = Endpoint.objects.filter(pk=min(number, links.NUMBER_MAX)).first()
    if endpoint is None:
        messages.info(request, "That endpoint is deleted already.")
        return redirect("webhooks")
    if request.POST.get("act") == "renew-secret":
        secret = services.renew_secret(endpoint=endpoint)
        return render(
            request, "pages/mail/webhook.html", _log(request, endpoint) | {"secret": secret}
        )
    if isinstance(request.user, User):
        try:
            if done := _do(request, endpoint, request.user):
                messages.success(request, done)
        except services.EndpointError as error:
            messages.error(request, str(error))
    return redirect(endpoint if endpoint.pk else "webhooks")


def _do(request: HttpRequest, endpoint: Endpoint, by: User) -> str:
    """Do what was asked, and state what became of it; empty: nothing was. Raises EndpointError."""
    match request.POST.get("act"):
        case "ping":
            delivery = services.ping_endpoint(endpoint=endpoint, by=by)
            return f"Test delivery {delivery.pk} is on its way."
        case "enable":
            services.enable_endpoint(endpoint=endpoint)
            return "It hears of events from now on."
        case "disable":
            services.disable_endpoint(endpoint=endpoint, reason=f"By {by}.")
            return "It hears of nothing more, and what waited for it was dropped."
        case "retry":
            chosen = [links.read_number(text) for text in request.POST.getlist("delivery")[:ROWS]]
            return f"Sent again: {services.retry_deliveries(endpoint=endpoint, numbers=chosen)}."
        case "delete":
            services.delete_endpoint(endpoint=endpoint)
            return f"{endpoint} is deleted."
    return ""


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
    rows, before = links.newest(HookDelivery.objects.filter(endpoint=endpoint), request, ROWS)
    given = {
        "name": endpoint.name,
        "url": "" if endpoint.is_channel else endpoint.url,
        "kinds": ", ".join(endpoint.kinds),
        "allow_private": "yes" if endpoint.allow_private else "",
    }
    return {
        "endpoint": endpoint,
        "deliveries": rows,
        "is_under_way": not links.read_number(request.GET.get("before", ""))
        and any(map(_is_under_way, rows)),
        "older": links.with_query(endpoint.get_absolute_url(), [("before", before)])
        if before
        else "",
        "given": given,
        "kinds": KINDS,
    }
