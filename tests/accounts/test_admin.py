"""Pages of people, and the rules that hold for every page of operators."""

import pytest
from django.contrib import admin
from django.core.management import call_command
from django.test import Client

from tests.operators import list_statements, operator, signed_in, text_of, url
from tests.results.steps import analyse, measured, mode, upload
from webapp.accounts.models import User
from webapp.analysis.models import SeriesSettings
from webapp.results.models import Series

pytestmark = pytest.mark.django_db
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
OURS = [model for model in MODELS if not model._meta.app_label.startswith(("auth", "accounts"))]


def fill(start: int, count: int) -> None:
    """Rows of every kind, all about different things."""
    for i in range(start, start + count):
        upload(
            measured(f"r{i}", hardware=f"machine{i}", mode=mode(f"load{i}"), tree=f"tree{i}"),
            measured(
                f"r{i + 1000}", hardware=f"machine{i}", mode=mode(f"load{i}"), tree=f"tree{i}"
            ),
            lab=f"lab{i}",
        )
    analyse()


def test_a_stranger_is_sent_to_sign_in() -> None:
    for model in MODELS:
        response = Client().get(url(model))
        assert response.status_code == 302, model
        assert "/login/" in response["Location"], model


def test_staff_without_rights_is_refused() -> None:
    eve = signed_in(User.objects.create_user("eve", is_staff=True))
    assert {eve.get(url(model)).status_code for model in MODELS} == {403}


def test_a_person_who_is_no_staff_is_refused() -> None:
    response = signed_in(User.objects.create_user("eve")).get("/admin/")
    assert response.status_code == 302


def test_every_list_and_change_page_opens_and_can_be_searched() -> None:
    fill(1, 2)
    client = operator()
    for model in MODELS:
        row = model._default_manager.first()
        assert client.get(url(model)).status_code == 200, model
        assert client.get(url(model), {"q": "machine1"}).status_code == 200, model
        if row is not None:
            assert client.get(url(model, "change", row.pk)).status_code == 200, model


def test_every_list_takes_as_many_statements_for_many_rows_as_for_few() -> None:
    def statements() -> dict[str, int]:
        return {model.__name__: list_statements(model) for model in MODELS}

    fill(1, 2)
    few = statements()
    fill(3, 2)
    assert statements() == few


def test_no_page_needs_a_script_in_its_text() -> None:
    """Our Content-Security-Policy allows scripts from files only."""
    fill(1, 1)
    client = operator()
    rows = [(model, model._default_manager.first()) for model in MODELS]
    changes = [url(model, "change", row.pk) for model, row in rows if row is not None]
    for page in [*map(url, MODELS), *changes]:
        response = client.get(page)
        assert "script-src 'self';" in response["Content-Security-Policy"] + ";"
        for tag in text_of(response).split("<script")[1:]:
            attributes, _, content = tag.partition(">")
            assert "src=" in attributes or 'type="application/json"' in attributes, (page, tag[:80])
            assert "src=" not in attributes or not content.partition("</script")[0].strip()
        assert " onclick=" not in text_of(response), page


def test_what_is_measured_or_concluded_is_only_looked_at() -> None:
    looked_at = {"Finding", "Run", "SeriesAnalysis", "Token"}
    client = operator()
    found = [model for model in OURS if model.__name__ in looked_at]
    assert {model.__name__ for model in found} == looked_at
    for model in found:
        page = admin.site._registry[model]
        request = client.get(url(model)).wsgi_request
        assert not page.has_add_permission(request), model
        assert not page.has_change_permission(request), model
        assert not page.has_delete_permission(request), model


def test_an_operator_is_made_by_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a long password")
    arguments = ("--noinput", "--username=ada", "--email=ada@bsd.example")
    call_command("createsuperuser", *arguments, verbosity=0)
    client = Client()
    assert client.login(username="ada", password="a long password")
    assert client.get("/admin/").status_code == 200


def test_settings_of_a_series_stay_with_it_and_are_not_deleted() -> None:
    fill(1, 2)
    one, other = Series.objects.order_by("pk")[:2]
    SeriesSettings.objects.create(series=one, min_effect_pct=5)
    form = {"series": other.pk, "margin_pct": "", "is_canary": "on"}
    assert operator().post(url(SeriesSettings, "change", one.pk), form).status_code == 302
    held = SeriesSettings.objects.values_list("series", "min_effect_pct", "is_canary")
    assert list(held) == [(one.pk, 5, True)]
    assert operator().get(url(SeriesSettings, "delete", one.pk)).status_code == 403


def test_which_way_is_better_in_a_series_is_an_operators_to_set_and_analyses_it_anew() -> None:
    fill(1, 2)
    series = Series.objects.order_by("pk")[0]
    Series.objects.update(dirty_from=None, dirty_since=None)
    page = url(Series, "change", series.pk)
    someone = operator()
    assert someone.post(page, {"own_better": "less"}).status_code == 302
    series.refresh_from_db()
    assert (series.own_better, series.dirty_from) == ("less", 0)
    answer = someone.post(page, {"own_better": "sideways"})
    assert "sideways is not one of the available choices" in answer.content.decode()
    assert Series.objects.get(pk=series.pk).own_better == "less"
