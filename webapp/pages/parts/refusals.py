"""Acts that were refused: the reason that somebody typed comes back with the refusal."""

from django.contrib import messages
from django.http import HttpRequest


def refuse(request: HttpRequest, why: str) -> None:
    """A message for the next page, which takes the reason of the form there."""
    reason = request.POST.get("reason", "").replace("\0", "")
    messages.error(request, why, extra_tags=reason[:2000])


def typed_reason(request: HttpRequest) -> str:
    """The reason of an act whose refusal this page shows; empty where none was typed."""
    shown = messages.get_messages(request)
    typed = [one.extra_tags for one in shown if one.level == messages.ERROR]
    return next(filter(None, typed), "")
