"""When mails wait for the morning, in the person's time zone."""

from datetime import UTC, datetime, time

import pytest

from webapp.accounts.models import User


def someone(start: str, end: str, zone: str = "Europe/Paris") -> User:
    return User(
        quiet_from=time.fromisoformat(start),
        quiet_until=time.fromisoformat(end),
        time_zone=zone,
    )


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "end", "due", "sent"),
    [
        ("22:00", "07:00", "2026-01-10 20:59", "2026-01-10 20:59"),
        ("22:00", "07:00", "2026-01-10 21:00", "2026-01-11 06:00"),
        ("22:00", "07:00", "2026-01-11 05:59", "2026-01-11 06:00"),
        ("22:00", "07:00", "2026-01-11 06:00", "2026-01-11 06:00"),
        ("12:00", "14:00", "2026-01-10 12:30", "2026-01-10 13:00"),
        ("12:00", "12:00", "2026-01-10 11:00", "2026-01-10 11:00"),
    ],
)
def test_a_mail_waits_for_the_end(start: str, end: str, due: str, sent: str) -> None:
    assert someone(start, end).after_quiet_hours(moment(due)) == moment(sent)


def test_the_end_is_by_the_clock_on_the_wall_when_that_is_set() -> None:
    # Paris goes from UTC+1 to UTC+2 on 29 March 2026 at 1:00 UTC, and back on 25 October.
    ada = someone("22:00", "07:00")
    assert ada.after_quiet_hours(moment("2026-03-28 22:00")) == moment("2026-03-29 05:00")
    assert ada.after_quiet_hours(moment("2026-10-24 21:00")) == moment("2026-10-25 06:00")


def test_an_end_that_does_not_exist_or_exists_twice_still_comes() -> None:
    ada = someone("01:00", "02:30")
    assert ada.after_quiet_hours(moment("2026-03-29 00:30")) == moment("2026-03-29 01:30")
    second = moment("2026-10-25 01:15")  # 02:15 for the second time
    assert ada.after_quiet_hours(second) == moment("2026-10-25 01:30")


def test_without_quiet_hours_nothing_waits() -> None:
    assert User().after_quiet_hours(moment("2026-01-10 03:00")) == moment("2026-01-10 03:00")
