"""The page of modes that may be one in two spellings."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.operators import act, operator, signed_in, text_of, url
from tests.results.steps import measured, mode, upload
from webapp.results.models import DismissedTwins, Mode, Run
from webapp.results.services import suggested_twins

pytestmark = pytest.mark.django_db
TWINS = url(Mode, "twins")


def pairs() -> list[tuple[str, str]]:
    return [(one.goes.name, one.stays.name) for one in suggested_twins()]


def measure(name: str, revision: str = "r1", hardware: str = "bench/nic", runs: int = 1) -> None:
    for number in range(runs):
        fields = {"mode": mode(name), "hardware": hardware, "build_id": f"build {number}"}
        upload(measured(revision, **fields))


def send(act: str, one: str, other: str, client: Client | None = None) -> str:
    data = {"act": act, "one": one, "other": other}
    return text_of((client or operator()).post(TWINS, data, follow=True))


def test_the_one_with_fewer_runs_is_suggested_to_go() -> None:
    measure("pf-statefull", "r1")
    measure("pf-stateful", "r2", runs=2)
    assert pairs() == [("pf-statefull", "pf-stateful")]
    text = text_of(operator().get(TWINS))
    assert "only a doubled letter differs" in text
    assert "(1 run)" in text
    assert "(2 runs)" in text


def test_an_alias_within_a_scope_is_offered_where_one_part_differs() -> None:
    upload(measured("r1", mode=mode("pf", "NUMA")))
    upload(measured("r2", mode=mode("pf", "numa")))
    upload(measured("r3", mode=mode("pf", "numa")))
    link = "/aliases/new/?kind=option&amp;name=NUMA&amp;means=numa"
    assert link in operator().get(TWINS).content.decode()


def test_what_was_measured_on_one_machine_at_one_revision_is_not_suggested() -> None:
    measure("pf-statefull", "r1")
    measure("pf-stateful", "r1", "other/nic")
    assert pairs()
    measure("pf-stateful", "r1")
    assert pairs() == []


def test_the_button_leads_to_the_question_with_the_other_one_chosen() -> None:
    measure("pf-statefull", "r1")
    measure("pf-stateful", "r2", runs=2)
    source, into = Mode.objects.get(name="pf-statefull"), Mode.objects.get(name="pf-stateful")
    asked = act(Mode, "merge", [source], into=into.pk)
    assert f'<option value="{into.pk}" selected>' in text_of(asked)
    assert Mode.objects.count() == 2
    act(Mode, "merge", [source], confirmed="yes", into=into.pk)
    assert set(Run.objects.values_list("mode__name", flat=True)) == {"pf-stateful"}
    assert pairs() == []


def test_a_dismissal_is_kept_and_can_be_taken_back() -> None:
    measure("Yandex", "r1")
    measure("yandex", "r2")
    ((goes, stays),) = pairs()
    assert "not suggested again" in send("dismiss", goes, stays)
    assert pairs() == []
    send("dismiss", stays, goes)
    row = DismissedTwins.objects.select_related("dismissed_by").get()
    assert row.dismissed_by.username == "root"
    assert "by root on" in text_of(operator().get(TWINS))
    send("again", stays, goes)
    assert pairs() == [(goes, stays)]


@pytest.mark.parametrize(("one", "other"), [("", ""), ("pf", "none"), ("pf", "pf"), ("\0", "pf")])
def test_what_is_no_pair_of_modes_is_not_dismissed(one: str, other: str) -> None:
    make.mode("pf")
    assert "Name two modes" in send("dismiss", one, other)
    assert not DismissedTwins.objects.exists()


def test_names_are_shown_as_text() -> None:
    measure("<b>Forwarding</b>".replace("/", ""), "r1")
    measure("<b>forwarding<b>", "r2")
    assert "<b>forwarding<b>" not in text_of(operator().get(TWINS))


def test_triagers_neither_see_nor_dismiss() -> None:
    client = signed_in(make.user("tim", role="triager"))
    assert client.get(TWINS).status_code in {302, 403}
    send("dismiss", "Yandex", "yandex", client)
    assert not DismissedTwins.objects.exists()


def test_the_list_of_modes_leads_there() -> None:
    assert TWINS in text_of(operator().get(url(Mode)))


def test_the_statements_do_not_grow_with_the_suggestions() -> None:
    counts = []
    for number in ("a", "bbb"):
        for one in number:
            measure(f"pf{one}-statefull{len(number)}", "r1")
            measure(f"pf{one}-stateful{len(number)}", "r2")
        operator().get(TWINS)
        client = operator()
        with CaptureQueriesContext(connection) as captured:
            client.get(TWINS)
        counts.append(len(captured))
    assert counts[0] == counts[1]
