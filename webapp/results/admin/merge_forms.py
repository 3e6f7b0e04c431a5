"""The question of every merge: into which one."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.operators import OperatedAdmin, ask
from webapp.results.errors import Unprocessable

Merge = Callable[..., None]


class IntoForm(forms.Form):
    """Chooses the one that stays."""

    def __init__(self, *args: Any, choices: QuerySet[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["into"] = forms.ModelChoiceField(choices, label="The one that stays")


def merge_chosen(
    page: OperatedAdmin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    form: forms.Form,
    merge: Merge,
    *,
    text: str,
) -> TemplateResponse | None:
    """Ask ``form`` for ``into``, then merge every chosen row into that; all of them or none."""
    if form.is_valid():
        into: Model = form.cleaned_data["into"]
        sources = [row for row in queryset if row != into]
        try:
            with transaction.atomic():
                for source in sources:
                    gone = str(source)
                    merge(source=source, into=into)
                    page.log_change(request, into, f"Merged {gone} into it")
        except Unprocessable as error:
            for problem in error.problems:
                form.add_error(None, problem.message)
        else:
            page.message_user(request, f"Merged into {into}: {len(sources)}", messages.SUCCESS)
            return None
    return ask(page, request, queryset, form, title="Merge", text=text)
