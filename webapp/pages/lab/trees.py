"""`/commits/`: the trees; one tree alone is opened at once."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from webapp.results.models import Tree


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """Every tree with the way to its commits."""
    trees = list(Tree.objects.all())
    if len(trees) == 1:
        return redirect(trees[0])
    return render(request, "pages/trees.html", {"trees": trees})
