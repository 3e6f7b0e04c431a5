"""Uploads and analyses at the same moment."""

import random
import threading
from collections.abc import Callable

import pytest
from django.db import connections

from tests import make
from tests.results.steps import an_agent, analyse, measured, mode, upload
from webapp.alerts.services import analyse_dirty_series
from webapp.results.models import Point, Run
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db(transaction=True)
MODES = 40


def at_once(*works: Callable[[], object]) -> list[Exception]:
    """Run ``works`` in threads; what they raised."""
    raised: list[Exception] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (the test looks at every one)
            raised.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def uploads(seed: int) -> Callable[[], None]:
    """Batches of many series in an order of their own, of revisions that others make too."""
    choose = random.Random(seed)
    batches = [
        [
            measured(f"r{choose.randrange(1, 40)}", mode=mode(f"load{i}"))
            for i in choose.sample(range(MODES), MODES // 2)
        ]
        for _ in range(8)
    ]

    def work() -> None:
        for batch in batches:
            upload(*batch)

    return work


def analyses() -> None:
    for _ in range(40):
        analyse_dirty_series()


def test_nobody_is_refused_and_nothing_is_lost() -> None:
    forget_names()
    an_agent()
    assert at_once(uploads(1), uploads(2), uploads(3), analyses, analyses) == []
    analyse()
    assert Run.objects.count() == 3 * 8 * MODES // 2
    series = Point.objects.values("series").distinct().count()
    assert len(make.compared()) == Point.objects.count() - series
