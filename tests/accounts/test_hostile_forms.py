"""Nothing that an operator types into a form of the admin gives a 500, now or on the next page."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from tests.accounts.test_admin import MODELS, fill
from tests.fuzzing import portions
from tests.operators import operator, url
from tests.test_hostile_input import HOSTILE, undone
from webapp.results.models import Hardware

pytestmark = [pytest.mark.django_db, pytest.mark.fuzz]
Form = Mapping[str, Any]


def sent_back(client: Client, address: str) -> Form | None:
    """The form of a page as a browser would send it back, None where nothing can be changed."""
    answer = client.get(address)
    if answer.status_code != 200 or b'name="_save"' not in answer.content:
        return None
    of = answer.context["adminform"].form
    forms = [of, *(one for held in answer.context["inline_admin_formsets"] for one in every(held))]
    found = {}
    for form in forms:
        for name in form.fields:
            value = form[name].value()
            found[form.add_prefix(name)] = "" if value is None or value is False else value
    return found


def every(inline: Any) -> Iterator[Any]:
    yield inline.formset.management_form
    yield from inline.formset.forms


@pytest.mark.parametrize("step", portions(test=46, release=15, fuzz=1))
def test_no_value_in_a_form_breaks_its_page_or_the_list(step: int) -> None:
    fill(1, 1)
    client = operator()
    client.raise_request_exception = False
    rows = [(model, model._default_manager.first()) for model in MODELS]
    pages = [(model, url(model, "add")) for model in MODELS]
    pages += [(model, url(model, "change", row.pk)) for model, row in rows if row is not None]
    broken = []
    for model, page in pages:
        for field, value, form in hostile(sent_back(client, page) or {}, step):
            with undone():
                answer = client.post(page, form)
                follow = url(model) if answer.status_code == 302 else None
                seen = client.get(follow).status_code if follow else 200
            if answer.status_code >= 500 or seen >= 500:
                broken.append(f"{page} {field}={value[:30]!r}: {answer.status_code}, {seen}")
    assert not broken


def hostile(form: Form, step: int) -> Iterator[tuple[str, str, Form]]:
    """One hostile value in ``step`` in each field, beginning with another one for each field."""
    for number, field in enumerate(form):
        for value in HOSTILE[number % step :: step]:
            yield field, value, {**form, field: value}


def test_there_are_forms_to_try() -> None:
    fill(1, 1)
    client = operator()
    rows = {model: model._default_manager.first() for model in MODELS}
    tried = {
        model.__name__
        for model, row in rows.items()
        if row is not None and sent_back(client, url(model, "change", row.pk))
    }
    assert {"Agent", "Hardware", "Lab", "Metric", "Series", "Tree", "User"} <= tried
    assert len(admin.site._registry) == len(MODELS)


def test_facts_that_cannot_be_stored_are_refused_by_their_field() -> None:
    fill(1, 1)
    client = operator()
    page = url(Hardware, "change", Hardware.objects.earliest("pk").pk)
    form = sent_back(client, page) or {}
    for facts in (
        *("9" * 5000, "[" * 100_000, "NaN", "[1e999]", '"\\u0000"', '"\\ud800"'),
        *('{"a": Infinity}', "{"),
    ):
        answer = client.post(page, {**form, "facts": facts})
        assert answer.status_code == 200, facts[:20]
        assert list(answer.context["adminform"].form.errors) == ["facts"], facts[:20]


def test_facts_that_can_be_stored_are() -> None:
    fill(1, 1)
    client = operator()
    row = Hardware.objects.earliest("pk")
    page = url(Hardware, "change", row.pk)
    assert (
        client.post(
            page, {**(sent_back(client, page) or {}), "facts": '{"cpu": "Atom", "cores": 4}'}
        ).status_code
        == 302
    )
    row.refresh_from_db()
    assert row.facts == {"cpu": "Atom", "cores": 4}
