"""What a comparison states as a whole: sentences, panels, long and hostile tables, strangers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.events.steps import release
from tests.pages.conftest import Counted, words

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
OFFSETS = (0.0, -1.0, 1.0, -0.4, 0.5)
TWO = "/compare/?a=freebsd-head:r1&b=freebsd-head:r2"


def measured(
    machine: str, mode: str, factor: float, scatter: float = 0.004, of_metric: Any = None
) -> None:
    """A machine in a mode at r1, and at r2 ``factor`` times as much; its builds do not scatter."""
    series = make.series(on=make.hardware(machine), in_mode=mode, of_metric=of_metric)
    for name, level in (("r1", 100.0), ("r2", 100.0 * factor)):
        samples = [level * (1 + scatter * offset) for offset in OFFSETS]
        make.run(
            make.revision(name),
            on=series.hardware,
            in_mode=mode,
            samples=samples,
            of_metric=series.metric,
        )
        make.point(series, make.revision(name), samples)
    make.known_builds(series)


def test_proven_here_beside_cannot_tell_there_is_no_interaction(visit: Visit) -> None:
    for number in range(3):
        measured(f"sharp-{number}/nic", "pf", 0.96)
    for number in range(2):
        measured(f"blurred-{number}/nic", "pf", 0.96, scatter=0.1)
    text = visit(TWO)
    assert "r2 against r1: slower on 3 of 5 machines, cannot tell on 2" in text
    assert "depends on the machine" not in text


def test_a_proven_interaction_is_stated(visit: Visit) -> None:
    measured("one/nic", "pf", 0.9)
    measured("two/nic", "pf", 1.1)
    assert "slower on 1 of 2 machines, faster on 1: it depends on the machine" in visit(TWO)


def test_the_sizes_may_depend_on_the_machine(visit: Visit) -> None:
    measured("one/nic", "pf", 0.9)
    measured("two/nic", "pf", 0.5)
    assert (
        "r2 against r1: 32.9 % slower [32.6, 33.2] over 2 machines; alone slower on 2: "
        "by how much depends on the machine" in visit(TWO)
    )


def test_changes_that_do_not_matter_depend_on_nothing(visit: Visit) -> None:
    measured("one/nic", "pf", 1.01, scatter=0.0005)
    measured("two/nic", "pf", 0.99, scatter=0.0005)
    text = visit(TWO)
    assert "equivalent on 2 of 2 machines" in text
    assert "depends" not in text


def test_one_machine_in_several_modes_is_counted_by_modes(visit: Visit) -> None:
    for mode, factor in (("a", 0.9), ("b", 0.8), ("c", 1.2), ("d", 1.0)):
        measured("one/nic", mode, factor)
    assert "slower in 2 of 4 modes, faster in 1" in visit(TWO)


def test_several_metrics_of_one_mode_are_no_modes(visit: Visit) -> None:
    for quantile, factor in (("p50", 1.0), ("p99", 1.2), ("max", 1.3)):
        metric = make.metric(f"latency_{quantile}", unit="us", better="less")
        measured("one/nic", "fio", factor, of_metric=metric)
    assert "slower in 2 of 3 comparisons" in visit(TWO)


def test_one_pair_has_its_change_in_the_headline(visit: Visit) -> None:
    measured("one/nic", "pf", 0.9)
    assert "r2 against r1: 10.0 % slower" in visit(TWO)


def test_less_is_better_turns_the_words_and_the_axis(client: Client) -> None:
    series = make.series(of_metric=make.metric("latency", unit="us", better="less"))
    for name, factor in (("r1", 1.0), ("r2", 1.3)):
        samples = [factor * (100 + offset) for offset in OFFSETS]
        make.run(make.revision(name), samples=samples, of_metric=series.metric)
        make.point(series, make.revision(name), samples)
    make.known_builds(series)
    html = client.get(TWO).content.decode()
    assert "30.0 % slower" in words(html)
    assert '<text class="better" x="2" y="12">faster</text>' in html


def test_hostile_names_are_shown_as_they_are(client: Client) -> None:
    machine = '<i>"x"/&amp;'
    measured(machine, "pf", 0.9)
    measured("two/nic", "pf", 0.9)
    html = client.get(TWO).content.decode()
    assert "<i>" not in html
    assert "&lt;i&gt;" in html


def test_of_a_thousand_series_the_first_rows_come_and_the_rest_is_counted(
    client: Client, queries: Counted
) -> None:
    for number in range(130):
        measured(f"machine-{number % 13}/nic", f"mode-{number // 13}", 0.9 if number < 70 else 1.0)
    page = client.get(TWO)
    html = page.content.decode()
    assert html.count('<details class="compared"') == 120
    assert "All rows: 10 more" in words(html)
    assert page.context["panels"].more == 4
    assert queries(TWO) <= 7
    everything = client.get(page.context["all_link"]).content.decode()
    assert everything.count('<details class="compared"') == 130


def test_a_stranger_to_a_private_instance_sees_nothing(client: Client, settings: Any) -> None:
    settings.PUBLIC = False
    measured("secret-machine/nic", "pf", 0.9)
    for path in (TWO, "/compare/", "/compare/suggestions/?part=hardware&hardware=secret"):
        assert b"secret-machine" not in client.get(path, follow=True).content


def test_names_are_suggested_as_they_are_typed(client: Client) -> None:
    measured("Atom_C2758/T540-CR", "pf+VIMAGE", 0.9)
    for part, text, found in (
        ("hardware", "c2758", "Atom_C2758/T540-CR"),
        ("mode", "pf", "pf+VIMAGE"),
        ("revision", "1", "r1"),
        ("tree", "free", "freebsd-head"),
        ("metric", "pp", "pps"),
    ):
        html = client.get("/compare/suggestions/", {"part": part, part: text}).content.decode()
        assert f'value="{found}"' in html, part
    assert client.get("/compare/suggestions/?part=nothing").content.strip() == b""


def test_a_release_names_its_one_revision(client: Client) -> None:
    measured("one/nic", "pf", 0.9)
    release("stable/11", make.revision("r1"))
    page = client.get("/compare/?a=freebsd-head:stable/11&b=freebsd-head:r2")
    assert page.status_code == 200
    assert page.context["table"].revisions[0].name == "r1"
    assert 'value="stable/11"' in client.get("/compare/").content.decode()


def test_the_form_is_filled_with_what_is_compared(client: Client) -> None:
    measured("one/nic", "pf", 0.9)
    columns = client.get(f"{TWO}&change=1").context["columns"]
    assert [column.revision for column in columns] == ["r1", "r2", ""]
    form = {"pick": "sets", "tree": ["freebsd-head", ""], "revision": ["r1", "r2"]}
    empty = {part: ["", ""] for part in ("variant", "hardware", "mode", "option", "metric")}
    response = client.get("/compare/", form | empty | {"session": ["", ""]})
    assert response["Location"] == TWO
