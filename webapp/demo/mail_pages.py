"""`/mail/`: what the demonstration's mail server took. There are no such pages elsewhere."""

import ipaddress
from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from webapp.accounts.services import operator_required
from webapp.demo.links import is_local
from webapp.demo.mail_server import Entry, Mailbox

SHOWN = 100
HEADERS = (
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "In-Reply-To",
    "References",
    "List-Id",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "Auto-Submitted",
)
SANDBOX = ["allow-popups", "allow-popups-to-escape-sandbox"]
MAIL_POLICY: dict[str, Any] = {
    "default-src": [NONE],
    "style-src": [UNSAFE_INLINE],
    "img-src": ["data:"],
    "base-uri": [NONE],
    "form-action": [NONE],
    "frame-ancestors": [SELF],
    "sandbox": SANDBOX,
}
"""Of a mail's own HTML: it may look as it likes, and load, run and send nothing. Its links open
in a page of their own, for the frame may show nothing else."""
LINKS_OPEN_OUTSIDE = '<base target="_blank">'

View = Callable[..., HttpResponseBase]

# csp's own type knows only views without parameters.
mail_policy: Callable[[View], View] = csp(MAIL_POLICY)


def demonstration_only(view: View) -> View:
    """Not found where no demonstration runs. Where others than this machine reach it, mails (they
    hold links that act) are for operators."""
    guarded = operator_required(view)

    @wraps(view)
    def found(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        _mailbox()
        shown = view if _is_private() else guarded
        return shown(request, *args, **kwargs)

    return found


@demonstration_only
@never_cache
@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """The newest mails that the demonstration's server took."""
    mailbox = _mailbox()
    names = mailbox.names()
    found = [mailbox.read(name) for name in names[:SHOWN]]
    context = {"mails": [_line(entry) for entry in found if entry], "number": len(names)}
    return render(request, "pages/demo/mailbox.html", context)


@demonstration_only
@never_cache
@require_safe
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One mail: headers, text and source. Http404 where there is none of this name."""
    entry = _entry(name)
    message = entry.message
    context = _line(entry) | {
        "headers": [(header, message[header]) for header in HEADERS if message[header]],
        "text": entry.text,
        "has_html": bool(entry.html),
        "source": entry.raw.decode(errors="replace"),
    }
    return render(request, "pages/demo/mailbox_mail.html", context)


@demonstration_only
@never_cache
@require_safe
@xframe_options_sameorigin
@mail_policy
def html(request: HttpRequest, name: str) -> HttpResponse:
    """The HTML of a mail, for the frame in its page."""
    html = _entry(name).html
    return HttpResponse(html.replace("<head>", f"<head>{LINKS_OPEN_OUTSIDE}", 1))


def _is_private() -> bool:
    """Whether the pages are served to this machine alone."""
    host = settings.BIND.rpartition(":")[0].strip("[]")
    try:
        bound = ipaddress.ip_address(host).is_loopback
    except ValueError:
        bound = host == "localhost"
    return bound and is_local(settings.PUBLIC_URL)


def _mailbox() -> Mailbox:
    if settings.MAILBOX is None:
        raise Http404("Mails are shown in a demonstration only.")
    return Mailbox(settings.MAILBOX)


def _entry(name: str) -> Entry:
    entry = _mailbox().read(name)
    if entry is None:
        raise Http404("There is no such mail (any more).")
    return entry


def _line(entry: Entry) -> dict[str, Any]:
    message = entry.message
    date = message["Date"]
    return {
        "name": entry.name,
        "subject": message["Subject"] or "(no subject)",
        "to": message["To"],
        "at": date.datetime if date else None,
    }
