"""`/unsubscribe/<token>/`: GET shows, POST acts. The signed address is the right to do so.

Programs that look into mails follow every link, so following it changes nothing. One click in a
mail program is a POST without a session or a form token (RFC 8058).
"""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from webapp.notifications.queries import BadToken, Target
from webapp.notifications.services import switch

NOT_FOUND = 404


@login_not_required
@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, token: str) -> HttpResponse:
    """What the link of a mail stops; POST stops it, or switches it on again. Needs no sign-in."""
    try:
        target = Target.read(token)
    except BadToken as error:
        refusal = {"error": str(error)}
        return render(request, "pages/unsubscribe.html", refusal, status=NOT_FOUND)
    if request.method == "POST":
        switch(target.subscriptions(), on=request.POST.get("act") == "on")
    context = {"subscriptions": target.subscriptions(), "done": request.method == "POST"}
    return render(request, "pages/unsubscribe.html", context)
