"""Somebody who operates the instance, in the admin."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from webapp.accounts.models import User


def operator() -> Client:
    """Signed in with every right."""
    user, _ = User.objects.get_or_create(username="root", role="operator")
    return signed_in(user)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def url(model: type[Model], page: str = "changelist", *arguments: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


def act(model: type[Model], action: str, rows: Sequence[Model], **fields: Any) -> HttpResponse:
    """The page that asks; with ``confirmed="yes"`` what follows it."""
    data = {"action": action, "_selected_action": [row.pk for row in rows], **fields}
    return operator().post(url(model), data, follow=True)


def text_of(response: HttpResponse) -> str:
    return response.content.decode()


def list_statements(model: type[Model], query: str = "") -> int:
    """How many statements the list takes. One look before fills what is cached by the process."""
    client = operator()
    client.get(url(model))
    with CaptureQueriesContext(connection) as captured:
        response = client.get(url(model) + query)
    assert response.status_code == 200
    return len(captured)


def registered(app: str) -> list[type[Model]]:
    models = admin.site._registry
    return sorted(
        (model for model in models if model._meta.app_label == app), key=lambda m: m.__name__
    )
