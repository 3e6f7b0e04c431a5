"""What happened to an alert: each line is a sentence."""

from datetime import UTC, datetime

import pytest

from webapp.accounts.models import User
from webapp.alerts.models import AlertEvent
from webapp.pages.alerts.alert import DID, lines_of_events
from webapp.pages.parts.filters import listed

AT = datetime(2026, 11, 1, tzinfo=UTC)


def test_every_kind_of_event_has_its_verb() -> None:
    assert set(DID) == set(AlertEvent.Kind)


@pytest.mark.parametrize(
    ("kind", "reason", "actor", "line"),
    [
        ("opened", "", None, "Driftline opened the alert"),
        ("opened", "slow loss", None, "Driftline opened the alert: slow loss"),
        ("joined", "pf on Atom T540", None, "Driftline added findings: pf on Atom T540"),
        ("acknowledged", "mine", "tess", "tess acknowledged the alert: mine"),
    ],
)
def test_a_line_states_who_did_what(kind: str, reason: str, actor: str | None, line: str) -> None:
    user = User(username=actor) if actor else None
    (row,) = lines_of_events([AlertEvent(at=AT, kind=kind, reason=reason, actor=user)])
    assert (f"{row.who} {row.did}", row.at) == (line, AT)


def test_revisions_stand_as_a_list_in_a_sentence() -> None:
    assert listed(["r1"]) == "r1"
    assert listed(["r1", "r2", "r3"]) == "r1, r2 and r3"
