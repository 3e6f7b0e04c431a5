"""Times as labs' shells print them."""

import pytest
from labagent.readers.benchlab.info import parse_time


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Thu Sep 10 08:11:48 CEST 2015", "2015-09-10T08:11:48+02:00"),
        ("Tue Feb  2 17:25:28 CET 2016", "2016-02-02T17:25:28+01:00"),
        ("May  8, 2016 at 06:43:48 PM CEST", "2016-05-08T18:43:48+02:00"),
        ("February  3, 2016 at 12:33:24 AM CET", "2016-02-03T00:33:24+01:00"),
    ],
)
def test_a_time_becomes_aware(text, iso):
    assert parse_time(text).isoformat() == iso


@pytest.mark.parametrize(
    "text", ["", "Thu Sep 10 08:11:48 IST 2015", "Thu Sep 31 08:11:48 CET 2015"]
)
def test_a_time_that_could_be_wrong_is_unknown(text):
    assert parse_time(text) is None
