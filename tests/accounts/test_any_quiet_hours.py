"""Whatever quiet hours and time zone a person has, a mail goes out within two days."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzzing import cases
from webapp.accounts.models import User

pytestmark = pytest.mark.fuzz
ZONES = sorted(available_timezones())
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.times(), st.times(), st.sampled_from(ZONES), moments)
@example(time(1), time(2, 30), "Europe/Paris", datetime(2026, 10, 25, 1, 15, tzinfo=UTC))
@example(time(22), time(7), "Pacific/Apia", datetime(2011, 12, 30, 9, tzinfo=UTC))
@cases()
def test_a_mail_waits_less_than_two_days_and_never_goes_back(
    start: time, end: time, zone: str, due: datetime
) -> None:
    ada = User(quiet_from=start, quiet_until=end, time_zone=zone)
    sent = ada.after_quiet_hours(due)
    assert due <= sent < due + timedelta(days=2)
    assert sent == due or start != end
