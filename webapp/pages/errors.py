"""The page of a fault, which names what was asked. Others of its kind are Django's own views."""

from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.template.loader import get_template


def server_error(request: HttpRequest) -> HttpResponse:
    """500 without any context processor: what failed may be what they need."""
    html = get_template("500.html").render({"request_path": request.path})
    return HttpResponseServerError(html)
