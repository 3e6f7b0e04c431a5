"""Directories beside one another, as one report."""

import pytest
from django.test import Client
from django.utils import timezone

from tests.experiments.steps import imported, of_directory, readme, store
from webapp.experiments.models import Experiment
from webapp.experiments.services import beside, combine
from webapp.experiments.services.importing import are_beside
from webapp.results.services import Unprocessable

pytestmark = pytest.mark.django_db


def again(experiment: Experiment) -> Experiment:
    return Experiment.objects.with_subjects().get(pk=experiment.pk)


@pytest.fixture
def siblings() -> tuple[Experiment, Experiment]:
    """Reports of `X` and `X.D58513`; the README of the second compares both."""
    plain = imported(runs=of_directory("X", "tx"), source="bench/nic/tx/X")
    runs = of_directory("X.D58513", "tx", "D58513")
    return plain, imported(readme(), runs=runs, source="bench/nic/tx/X.D58513")


def test_a_directory_beside_another_is_offered_as_one_report(
    siblings: tuple[Experiment, Experiment],
) -> None:
    plain, patched = siblings
    imported(runs=of_directory("Y", "ty"), source="bench/nic/ty/X.D58513")
    ((offered),) = beside(plain)
    assert (offered.sibling, offered.both) == (patched, None)
    both = combine(experiment=plain, sibling=patched, now=timezone.now())
    assert [side.compared.kernel for side in again(both).sides.all()] == [
        "r300000",
        "r300000~D58513",
    ]
    assert both.source == "bench/nic/tx/X + X.D58513"
    assert both.question == "Impact of r300001 on pf"
    assert [cell.mode.name for cell in both.cells.all()] == ["tx_off@inet4", "tx_on@inet4"]
    for one, other in ((plain, patched), (patched, plain)):
        (found,) = beside(one)
        assert (found.sibling, found.both) == (other, both)
        assert combine(experiment=one, sibling=other, now=timezone.now()) == both
    assert beside(again(both)) == []


@pytest.mark.usefixtures("siblings")
def test_the_list_names_what_lies_beside(client: Client) -> None:
    first, second = client.get("/experiments/").context["lines"]
    assert [one.source for one in first.beside] == ["bench/nic/tx/X"]
    assert [one.source for one in second.beside] == ["bench/nic/tx/X.D58513"]
    assert "Beside it: " in client.get("/experiments/").content.decode()


def test_directories_that_share_nothing_are_not_offered() -> None:
    plain = imported(runs=of_directory("X", "tx"), source="bench/nic/tx/X")
    store()
    other = imported(runs=store(label="X.vti", build="#5"), source="bench/nic/tx/X.vti")
    assert beside(plain) == []
    with pytest.raises(Unprocessable, match="cannot be one report"):
        combine(experiment=plain, sibling=other, now=timezone.now())


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("fbsd16-n311215", "fbsd16-n311215.D58513", True),
        ("fbsd14-n1.RSS", "fbsd14-n1.noRSS", True),
        ("fbsd14-n1-RSS", "fbsd14-n1", True),
        ("fbsd10.2", "fbsd10.3", False),
        ("fbsd13-r1.D1", "fbsd13-r2.D1", False),
        ("fbsd13", "fbsd13", False),
    ],
)
def test_directories_are_beside_one_another_by_their_names(one: str, other: str, are: bool) -> None:
    assert are_beside(one, other) == are_beside(other, one) == are
