"""`/outbox/`: the mails that wait, left or were given up, and why. `/webhooks/`: who hears of
events, and what was sent there. `/feeds/…atom`: what became of alerts, for readers of feeds.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.http import http_date
from django.views.decorators.cache import never_cache
from django.views.decorators.http import (
    conditional_page,
    require_http_methods,
    require_POST,
    require_safe,
)

from webapp.accounts.models import User
from webapp.accounts.services import operator_required
from webapp.alerts.models import AlertEvent
from webapp.alerts.queries import suspicions_of, worst_of
from webapp.bisects.services import DONE
from webapp.notifications.models import Subscription
from webapp.notifications.queries import (
    NEWS,
    events_of_hardware,
    events_of_subscription,
    events_of_tree,
)
from webapp.notifications.services import alert_line, one_line
from webapp.outbox import services
from webapp.outbox.models import Endpoint, HookDelivery, Mail, MailServer
from webapp.outbox.services import absolute
from webapp.pages.parts import links
from webapp.results.models import Hardware, Tree

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
    return render(request, "pages/lab/outbox.html", context)


@operator_required
@require_safe
def one(request: HttpRequest, number: int) -> HttpResponse:
    """One mail as it was composed, and what became of it. For operators."""
    mail = get_object_or_404(Mail.objects.select_related("recipient"), pk=number)
    return render(request, "pages/lab/outbox_mail.html", {"mail": mail})


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
        "pages/lab/webhooks.html",
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
            return render(request, "pages/lab/webhook.html", context, status=BAD_REQUEST)
        messages.success(request, "Saved.")
        return redirect(endpoint)
    return render(request, "pages/lab/webhook.html", context)


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
            request, "pages/lab/webhook.html", _log(request, endpoint) | {"secret": secret}
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


TITLE_MAX = 300
BEGAN = "2026-01-01"
"""A tag URI needs a day on which the name of the host was ours."""


@require_safe
@conditional_page
def feed_of_tree(request: HttpRequest, tree: str) -> HttpResponse:
    """An Atom feed of the alerts of a tree."""
    found = get_object_or_404(Tree, name=tree)
    return _feed(request, f"Alerts of {found}", found.get_absolute_url(), events_of_tree(found))


@require_safe
@conditional_page
def feed_of_hardware(request: HttpRequest, name: str) -> HttpResponse:
    """An Atom feed of the alerts on one machine."""
    found = get_object_or_404(Hardware, name=name)
    events = events_of_hardware(found)
    return _feed(request, f"Alerts on {found}", found.get_absolute_url(), events)


@login_not_required
@require_safe
@conditional_page
def feed_of_subscription(request: HttpRequest, token: str) -> HttpResponse:
    """A feed whose address is the key (readers cannot sign in), as long as its person may."""
    readable = Subscription.objects.with_parts().filter(user__is_active=True)
    found = get_object_or_404(readable, feed_token=token)
    title = f"Alerts: {found.name} ({found.describe()})"
    return _feed(request, title, reverse("subscriptions"), events_of_subscription(found))


def _feed(
    request: HttpRequest, title: str, page: str, events: Sequence[AlertEvent]
) -> HttpResponse:
    feed = Atom1Feed(
        title=one_line(f"Driftline: {title}", TITLE_MAX),
        link=absolute(page),
        description=None,
        feed_url=absolute(request.path),
        feed_guid=absolute(request.path),
        language="en",
    )
    worst = worst_of({event.alert_id for event in events})
    suspicions = suspicions_of({event.alert_id: event.alert for event in events}.values())
    for event in events:
        _add(
            feed,
            event,
            alert_line(event.alert, worst.get(event.alert_id), suspicions[event.alert_id]),
        )
    response = HttpResponse(content_type=feed.content_type)
    feed.write(response, "utf-8")
    if events:
        response["Last-Modified"] = http_date(max(event.at for event in events).timestamp())
    return response


def _add(feed: Atom1Feed, event: AlertEvent, about: str) -> None:
    """``about`` is the present text on the alert."""
    what = event.get_kind_display().capitalize()
    sentence = one_line(f"{what}: {event.reason}" if event.reason else what, TITLE_MAX)
    line = one_line(about, TITLE_MAX)
    feed.add_item(
        title=f"{what}: {line}",
        link=absolute(event.alert.get_absolute_url()),
        description=escape(f"{sentence}. As it is now: {line}"),  # readers take it as HTML
        unique_id=_tag(event),
        unique_id_is_permalink=False,
        pubdate=event.at,
        updateddate=event.at,
        categories=[event.alert.verdict],
    )


def _tag(event: AlertEvent) -> str:
    """The same for ever, whatever the address of the page becomes (RFC 4151)."""
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    return f"tag:{host},{BEGAN}:alert/{event.alert_id}/event/{event.pk}"
