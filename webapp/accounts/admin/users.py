"""Operators' pages of people: their accounts and roles."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from webapp.accounts.admin.operators import AuditedAdmin, ModelForm, confirmed
from webapp.accounts.models import User
from webapp.accounts.services.people import RoleError, ensure_operator_left, remove_people
from webapp.accounts.signing_in.factors import remove_factors

if TYPE_CHECKING:
    # The types take parameters, the classes do not.
    ChangeForm = UserChangeForm[User]
    PeopleAdmin = UserAdmin[User]
else:
    ChangeForm, PeopleAdmin = UserChangeForm, UserAdmin


admin.site.site_header = admin.site.site_title = "Driftline"
admin.site.index_title = "Operators"
# What a person may do follows from the role alone: Django's groups would say nothing.
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
