"""Beat goes on at its pace whatever the clock is set to."""

from datetime import timedelta
from typing import Any

import pytest
from celery import Celery
from celery.beat import Scheduler
from celery.schedules import schedule

from webapp.config import settings
from webapp.config.celery import app
from webapp.config.steady import SteadyClock

DAYS = 3 * 86_400.0


class Recording(Scheduler):
    """Sends nothing, and counts."""

    sent = 0

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.sent += 1


@pytest.mark.parametrize("jump", [-DAYS, 0, DAYS], ids=["set back", "left", "set forward"])
def test_beat_goes_on_when_the_clock_is_set(jump: float) -> None:
    wall, counter = [1.8e9], [100.0]
    clock = SteadyClock(lambda: wall[0], lambda: counter[0])
    entry = {"task": "any", "schedule": schedule(timedelta(seconds=30), nowfun=clock)}
    scheduler = Recording(Celery("bare", broker="memory://"), schedule={})
    scheduler.update_from_dict({"any": entry})
    scheduler.tick()
    assert scheduler.sent == 0
    wall[0] += jump
    for sent in (1, 2, 3):
        counter[0] += 30
        scheduler.tick()
        scheduler.tick()
        assert scheduler.sent == sent


def test_every_entry_of_the_schedule_has_the_clock_that_nobody_sets() -> None:
    clocks = {entry["schedule"].nowfun for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert len(clocks) == 1
    assert isinstance(clocks.pop(), SteadyClock)


def test_everything_is_sent_when_beat_starts() -> None:
    scheduler = Recording(app, schedule={})
    scheduler.update_from_dict(settings.CELERY_BEAT_SCHEDULE)
    for _ in settings.CELERY_BEAT_SCHEDULE:
        scheduler.tick()
    assert scheduler.sent == len(settings.CELERY_BEAT_SCHEDULE)
