"""What operators do with releases and canaries in the admin."""

import pytest

from tests import make
from tests.events.steps import canary, event
from tests.operators import list_statements, operator, text_of, url
from webapp.events.models import Canary, LabEvent, Release

pytestmark = pytest.mark.django_db


def test_a_release_is_of_its_own_tree() -> None:
    other = make.revision("r1", of=make.tree("stable-11"))
    form = {"tree": make.tree().pk, "name": "11.0", "kind": "release", "revision": other.pk}
    assert "This is no revision of freebsd-head" in text_of(
        operator().post(url(Release, "add"), form)
    )
    operator().post(url(Release, "add"), form | {"revision": make.revision("r2").pk})
    assert Release.objects.get().revision.name == "r2"


def test_a_canary_needs_a_kernel_with_a_place_and_names_who_made_it() -> None:
    waiting = make.revision("deadbee", position=2**62 + 3)
    form = {
        "hardware": make.hardware().pk,
        "mode": make.mode().pk,
        "metric": make.metric().pk,
        "revision": waiting.pk,
        "interval_days": 7,
        "boots": 3,
        "is_active": "on",
    }
    answer = operator().post(url(Canary, "add"), form)
    assert "It waits for its place on the tree" in text_of(answer)
    operator().post(url(Canary, "add"), form | {"revision": make.revision("r2").pk})
    made = Canary.objects.get()
    assert (str(made.created_by), made.interval_days) == ("root", 7)
    again = operator().post(url(Canary, "add"), form | {"revision": made.revision.pk})
    assert again.status_code == 200
    assert Canary.objects.count() == 1


def test_events_are_looked_at_there_and_canaries_are_not_deleted() -> None:
    made = event()
    assert operator().get(url(LabEvent, "add")).status_code == 403
    assert operator().post(url(LabEvent, "delete", made.pk), {"post": "yes"}).status_code == 403
    assert operator().post(url(Canary, "delete", canary().pk), {"post": "yes"}).status_code == 403


def test_the_lists_do_not_ask_row_by_row() -> None:
    event()
    canary()
    few = [list_statements(model) for model in (LabEvent, Canary)]
    for number in range(4):
        event(hardware=make.hardware(f"Machine-{number}/em0"))
        canary(mode=make.mode(f"mode-{number}"))
    assert [list_statements(model) for model in (LabEvent, Canary)] == few
