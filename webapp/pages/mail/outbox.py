"""`/outbox/`: the mails that wait, left or were given up, and why."""

from dataclasses import asdict, dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.services import operator_required
from webapp.outbox import services
from webapp.outbox.models import Mail, MailServer
from webapp.pages.parts.links import newest, read_number, read_text, with_parts

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
        given = {name: read_text(request.GET, name, 254) for name in PARTS}
        if given["state"] not in Mail.State.values:
            given["state"] = ""
        return cls(**given)

    def address(self, **more: str) -> str:
        """The page with these filters, and ``more``."""
        return with_parts(reverse("outbox"), asdict(self) | more)


@operator_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Mails by state and receiver, newest first. For operators."""
    filters = Filters.of(request)
    found = Mail.objects.in_state(filters.state).to(filters.to).with_recipients()
    rows, before = newest(found, request, ROWS)
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
        "settings": services.mail_settings.in_force(),
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
    chosen = [read_number(text) for text in request.POST.getlist("mail")[:ROWS]]
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
