"""Asking for more runs: nothing is measured twice because it was asked for twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests import make
from tests.jobs.steps import request
from webapp.jobs.models import Job
from webapp.jobs.services import Asked, request_more_runs
from webapp.jobs.services.events import ActRefused
from webapp.results.models import Revision


def ask(*revisions: Revision, **fields: Any) -> Asked:
    return request_more_runs(
        **{
            "revisions": revisions,
            "hardware": make.hardware(),
            "mode": make.mode(),
            "boots": 5,
            "requested_by": None,
            **fields,
        }
    )


@pytest.mark.django_db
def test_what_waits_is_named_and_only_the_rest_is_queued() -> None:
    first, second = make.revisions(2)
    (job,) = ask(first).queued
    asked = ask(first, second, purpose="confirm", boots=9)
    assert list(asked.already_queued) == [job]
    assert [(one.revision, one.boots) for one in asked.queued] == [(second, 9)]


@pytest.mark.django_db
def test_another_mode_and_what_a_bisect_measures_are_something_else() -> None:
    at = make.revision("r1")
    request("r1", purpose="bisect")
    ask(at)
    assert ask(at, mode=make.mode("pf")).already_queued == []
    assert Job.objects.count() == 3


@pytest.mark.django_db
def test_a_job_for_one_metric_does_not_stand_for_all() -> None:
    at = make.revision("r1")
    ask(at, metric=make.metric())
    assert len(ask(at).queued) == 1
    assert len(ask(at, metric=make.metric("latency", unit="µs", better="less")).already_queued) == 1


@pytest.mark.django_db
def test_nothing_is_queued_when_a_number_is_out_of_bounds() -> None:
    with pytest.raises(ActRefused, match="boots"):
        ask(*make.revisions(2), boots=0)
    assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_several_who_ask_at_once_one_is_heard() -> None:
    at = make.revision("r1")
    make.hardware(), make.mode()

    def one(_: int) -> int:
        try:
            return len(ask(at).queued)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as people:
        assert sum(people.map(one, range(4))) == 1
    assert Job.objects.count() == 1
