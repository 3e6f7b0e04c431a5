"""One build a side, and epochs: a pair within one may alert, a pair across a beginning never."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from tests import make
from tests.alerts.steps import arrive
from tests.alerts.test_one_build import PF, PF_SLOWER, run, times
from tests.events.test_epochs import at, conclusions, epoch, found
from tests.results.steps import analyse
from webapp.analysis.models import SeriesAnalysis
from webapp.results.models import Hardware, Series, Tree
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def begin_at(revision: str) -> None:
    row, tree = at(revision), Tree.objects.get()
    epoch(hardware=Hardware.objects.get(), tree=tree, first=row, last=row)


def steady(count: int, level: float = 1.0) -> list[dict[str, Any]]:
    """Revisions that differ by noise alone, each with builds and boots that are not known."""
    return [run(100 + i, times(PF, level * (1 + 0.001 * (-1) ** i))) for i in range(count)]


def test_a_pair_across_the_beginning_of_an_epoch_opens_nothing() -> None:
    arrive([run(303642, PF), run(303643, PF_SLOWER)])
    assert found() == ["r303643 one build"]
    begin_at("r303643")
    analyse()
    assert found() == []


def test_a_pair_at_the_start_of_a_later_epoch_is_seen_as_in_a_new_series() -> None:
    arrive(steady(2))
    arrive([run(300, PF)])
    begin_at("r300")
    arrive([run(301, PF_SLOWER)])
    assert found() == ["r301 one build"]


def test_what_pairs_of_an_epoch_that_is_over_showed_stays() -> None:
    """Also where later analyses begin after it, and whether it is read in pieces or at once."""
    with patch("webapp.analysis.services.checkpoints.CHECKPOINT_EVERY", 2):
        arrive([run(100, PF), run(101, PF_SLOWER)])
        arrive([run(300, PF)])
        begin_at("r300")
        analyse()
        assert found() == ["r101 one build"]
        arrive([run(301, PF_SLOWER)])
        assert found() == ["r101 one build", "r301 one build"]
        asked = SeriesAnalysis.objects.get().asked
        piecewise = conclusions()
    Series.objects.update(dirty_from=0, dirty_since=make.DAY_ONE + timedelta(days=1))
    analyse()
    assert SeriesAnalysis.objects.get().asked == asked
    assert conclusions() == piecewise
