"""Operators' pages of people, which are their accounts and roles, and what the admin pages of all
apps share: read-only pages, and actions that ask first.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.widgets import (
    AutocompleteMixin,
    AutocompleteSelect,
    AutocompleteSelectMultiple,
)
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Count, IntegerField, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode

from webapp.accounts.factors import remove_factors
from webapp.accounts.models import User
from webapp.accounts.services.people import RoleError, ensure_operator_left, remove_people

if TYPE_CHECKING:
    # The types take parameters, the classes do not.
    Admin = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
    ModelForm = forms.ModelForm[Any]
    InlineFormSet = forms.BaseInlineFormSet[Any, Any, Any]
    ChangeForm = UserChangeForm[User]
    PeopleAdmin = UserAdmin[User]
else:
    Admin = admin.ModelAdmin
    Inline = admin.TabularInline
    ModelForm = forms.ModelForm
    InlineFormSet = forms.BaseInlineFormSet
    ChangeForm, PeopleAdmin = UserChangeForm, UserAdmin


SHOWN = 20
LIKE_A_KEY = re.compile(r"[0-9]{1,18}")
ALL = Q()


def count_of(model: type[Model], field: str, only: Q = ALL) -> Coalesce:
    """How many rows of ``model`` (of them ``only`` some) point at each row by ``field``.

    For a column of a list, in the list's one query. A subquery runs only for the rows of the page,
    and two of them do not multiply one another.
    """
    rows = model._default_manager.filter(only, **{field: OuterRef("pk")}).order_by()  # noqa: SLF001
    number = rows.values(field).annotate(number=Count("*")).values("number")
    return Coalesce(Subquery(number, output_field=IntegerField()), 0)


def whether(field: str, title: str) -> type[admin.SimpleListFilter]:
    """A filter of a list by whether ``field`` is set: ``title``, yes or no."""

    class Whether(admin.SimpleListFilter):
        parameter_name = title.replace(" ", "_")

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return [("yes", "Yes"), ("no", "No")]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
            if self.value() is None:
                return None
            return queryset.filter(**{f"{field}__isnull": self.value() == "no"})

    Whether.title = title
    return Whether


class KeyOrNothing(AutocompleteMixin):
    """Of what was sent only what can be the key of a row: Django's widget fails on the rest."""

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        keys = [each for each in value if LIKE_A_KEY.fullmatch(each)]
        return super().optgroups(name, keys, attr)


class OneFound(KeyOrNothing, AutocompleteSelect):
    """One row, found by typing."""


class SomeFound(KeyOrNothing, AutocompleteSelectMultiple):
    """Several rows, found by typing."""


class StorableJSON(forms.JSONField):
    """JSON that Python reads and PostgreSQL holds; anything else is refused in the form."""

    def to_python(self, value: Any) -> Any:
        try:
            found = super().to_python(value)
            _check_storable(found)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(
                "Enter JSON without NaN, infinity, NUL, lone surrogates, numbers of thousands of "
                "digits and hundreds of levels."
            ) from error
        return found

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What cannot be stored is shown as it was typed."""
        try:
            found = super().bound_data(data, initial)
            _check_storable(found)
        except (ValueError, RecursionError):
            return InvalidJSONInput(data)
        return found


def _check_storable(value: Any) -> None:
    """Raises ValueError, RecursionError."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    text.encode()  # a lone surrogate has no encoding
    if "\\u0000" in text:
        raise ValueError("NUL")


class AuditedAdmin:
    """The audit log has what is done here; Django's own log stays empty."""

    def log_addition(self, *_: Any, **__: Any) -> Any:
        """Nothing: a trigger wrote the entry."""

    def log_change(self, *_: Any, **__: Any) -> Any:
        """Nothing: a trigger wrote the entry."""

    def log_deletions(self, *_: Any, **__: Any) -> Any:
        """Nothing: a trigger wrote the entry."""

    def history_view(self, request: HttpRequest, object_id: str, *_: Any) -> HttpResponse:
        """The entries of the row."""
        table = self.opts.db_table  # type: ignore[attr-defined]
        return redirect(f"{reverse('audit')}?{urlencode({'table': table, 'row': object_id})}")


class OperatedAdmin(AuditedAdmin, Admin):
    """Actions with ``permissions=["operate"]`` are for who may change the model."""

    formfield_overrides = {models.JSONField: {"form_class": StorableJSON}}

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs["widget"] = OneFound(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs["widget"] = SomeFound(db_field, self.admin_site)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")


class ReadOnlyAdmin(OperatedAdmin):
    """For what is measured or concluded: looked at, never edited by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline(Inline):
    """Rows that belong to the page's object, to look at."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Confirmation(forms.Form):
    """Asks nothing but whether to do it."""

    required_css_class = "required"


def bind(form: type[forms.Form], request: HttpRequest, **options: Any) -> Any:
    """``form`` with what was sent from the page that asks, empty before that page was shown."""
    return form(request.POST if "confirmed" in request.POST else None, **options)


def ask(
    page: Admin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    form: forms.Form,
    *,
    title: str,
    text: str,
    describe: Callable[[Any], str] = str,
) -> TemplateResponse:
    """The page between choosing an action and doing it. ``describe`` names which row one is."""
    context = page.admin_site.each_context(request) | {
        "opts": page.opts,
        "title": title,
        "text": text,
        "form": form,
        "objects": [describe(row) for row in queryset[:SHOWN]],
        "more": max(0, queryset.count() - SHOWN),
        "action": request.POST["action"],
        "checkbox": ACTION_CHECKBOX_NAME,
        "chosen": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
    }
    return TemplateResponse(request, "admin/driftline/ask.html", context)


def confirmed(
    page: Admin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    do: Callable[[Any], None],
    *,
    title: str,
    text: str,
    done: str,
    describe: Callable[[Any], str] = str,
) -> TemplateResponse | None:
    """Ask, then ``do`` it to each row and show ``done`` with their number."""
    form = bind(Confirmation, request)
    if not form.is_valid():
        return ask(page, request, queryset, form, title=title, text=text, describe=describe)
    rows = list(queryset)
    for row in rows:
        do(row)
    page.message_user(request, f"{done}: {len(rows)}", messages.SUCCESS)
    return None


admin.site.site_header = admin.site.site_title = "Driftline"
admin.site.index_title = "Operators"
# What a person may do follows from the role alone: Django's groups would add nothing.
admin.site.unregister(Group)


class PersonForm(ChangeForm):
    """An account; the last operator stays one."""

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        try:
            ensure_operator_left(
                user=self.instance,
                role=data.get("role", User.Role.OPERATOR),
                is_active=data["is_active"],
            )
        except RoleError as error:
            self.add_error(None, str(error))
        return data


@admin.register(User)
class PersonAdmin(AuditedAdmin, PeopleAdmin):
    form = PersonForm
    add_form = AdminUserCreationForm
    list_display = ["username", "email", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    filter_horizontal = []
    actions = ["remove_factors"]

    fieldsets = [
        (None, {"fields": ["username", "password", "role", "is_active"]}),
        ("About", {"fields": ["first_name", "last_name", "email"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (
            None,
            {
                "classes": ["wide"],
                "fields": [
                    *("username", "email", "role"),
                    *("usable_password", "password1", "password2"),
                ],
            },
        )
    ]

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        obj.take_role(obj.role)
        super().save_model(request, obj, form, change)

    @admin.action(description="Remove second factors")
    def remove_factors(
        self, request: HttpRequest, queryset: QuerySet[User]
    ) -> TemplateResponse | None:
        """For who lost app, keys and recovery codes."""
        return confirmed(
            self,
            request,
            queryset,
            _remove_factors,
            title="Remove second factors",
            text="They sign in with the password alone, and may add factors again. Be sure that "
            "who asked for it is who has the account.",
            done="Signing in with the password alone",
        )

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        self.delete_queryset(request, User.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Somebody else may have deleted an operator since the page asked whether to."""
        try:
            remove_people(people=queryset)
        except RoleError as error:
            raise PermissionDenied(str(error)) from error

    def get_deleted_objects(
        self, objs: Sequence[User] | QuerySet[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Whose name would be erased; somebody must be left who operates the instance."""
        left = User.objects.operators().exclude(pk__in=[user.pk for user in objs])
        protected = [] if left.exists() else ["the only operators: make another one first"]
        names = [f"{user}: the account, its settings and mails; what it did stays" for user in objs]
        return names, {"people": len(objs)}, set(), protected


def _remove_factors(user: User) -> None:
    remove_factors(user=user)
