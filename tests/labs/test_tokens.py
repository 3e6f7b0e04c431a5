"""Agents and their tokens."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.utils import timezone

from webapp.labs import services
from webapp.labs.models import MOST_DAYS, Agent, Lab, Token

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def agent(db: None) -> Agent:
    return services.create_agent(name="control", lab_name="netlab")


def test_creating_an_agent_twice_makes_it_once() -> None:
    first = services.create_agent(name="control", lab_name="netlab")
    assert services.create_agent(name="control", lab_name="netlab") == first
    assert services.create_agent(name="control", lab_name="elsewhere") != first
    assert Lab.objects.count() == 2


def test_a_tokens_text_is_not_kept(agent: Agent) -> None:
    issued = services.issue_token(agent=agent)
    kept = Token.objects.values().get()
    assert issued.text.startswith(f"dl_{kept['prefix']}_")
    assert not any(issued.text.rpartition("_")[2] in str(value) for value in kept.values())
    assert issued.text not in str(issued.token)


def test_a_token_is_found_by_its_text_with_agent_and_lab_in_one_query(
    agent: Agent, django_assert_num_queries: object
) -> None:
    issued = services.issue_token(agent=agent)
    with django_assert_num_queries(1):  # type: ignore[operator]
        found = Token.objects.matching(issued.text)
        assert found is not None
        assert found.agent.lab.name == "netlab"


@pytest.mark.parametrize("change", ["{0}x", "x{0}", "dl_{1}_", "dl_{1}_wrong", "{1}", ""])
def test_text_that_differs_finds_no_token(agent: Agent, change: str) -> None:
    issued = services.issue_token(agent=agent)
    assert Token.objects.matching(change.format(issued.text, issued.token.prefix)) is None


def test_a_revoked_token_is_good_for_nothing_and_others_stay(agent: Agent) -> None:
    first, second = services.issue_token(agent=agent), services.issue_token(agent=agent)
    services.revoke_token(token=first.token, now=NOW)
    services.revoke_token(token=first.token, now=NOW + timedelta(days=1))
    assert Token.objects.matching(first.text) is None
    assert Token.objects.matching(second.text) == second.token
    assert Token.objects.get(pk=first.token.pk).revoked_at == NOW


def test_use_is_noted_at_most_once_a_minute(agent: Agent) -> None:
    token = services.issue_token(agent=agent).token
    for seconds in (0, 30, 90):
        services.note_use(token=token, now=NOW + timedelta(seconds=seconds))
        token.refresh_from_db()
        agent.refresh_from_db()
        assert token.last_used_at == agent.last_seen_at
    assert token.last_used_at == NOW + timedelta(seconds=90)


def test_a_digest_that_is_none_is_refused(agent: Agent) -> None:
    with pytest.raises(IntegrityError):
        Token.objects.create(agent=agent, prefix="x", digest="secret")


def test_the_command_prints_a_good_token_and_nothing_else() -> None:
    out = io.StringIO()
    call_command("create_agent", "control", "--lab", "netlab", stdout=out)
    token = Token.objects.matching(out.getvalue().strip())
    assert token is not None
    assert str(token.agent) == "netlab/control"


def test_the_command_limits_scopes_and_days() -> None:
    out = io.StringIO()
    arguments = ("--scope", "upload", "--scope", "read", "--days", "7")
    call_command("create_agent", "control", "--lab", "netlab", *arguments, stdout=out)
    token = Token.objects.matching(out.getvalue().strip())
    assert token is not None
    assert token.scopes == ["upload", "read"]
    for refused in (("--scope", "root"), ("--days", "0"), ("--days", str(MOST_DAYS + 1))):
        with pytest.raises(CommandError, match=refused[0]):
            call_command("create_agent", "control", "--lab", "netlab", *refused)


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("bee", "--lab", ""), "argument --lab: '' is no name: write 1 to 100 characters"),
        (("bee", "--lab", "x" * 101), "argument --lab: .* 1 to 100 characters"),
        (("b\u202ee", "--lab", "hive"), r"argument name: 'b.u202ee' is no name"),
        (("bee", "--lab", "hive", "--days", "-5"), "argument --days: '-5' is no .* 1 to 3660$"),
        (("bee", "--lab", "hive", "--days", "x"), "argument --days: 'x' is no .* 1 to 3660$"),
    ],
)
def test_the_command_names_the_argument_and_its_bounds(
    arguments: tuple[str, ...], refusal: str
) -> None:
    with pytest.raises(CommandError, match=refusal):
        call_command("create_agent", *arguments)
    assert not Lab.objects.exists()


def test_the_command_takes_the_most_days_that_a_token_may_be_good_for() -> None:
    out = io.StringIO()
    call_command("create_agent", "bee", "--lab", "hive", "--days", str(MOST_DAYS), stdout=out)
    assert Token.objects.matching(out.getvalue().strip()) is not None


def test_a_token_that_expired_is_good_for_nothing(agent: Agent) -> None:
    issued = services.issue_token(agent=agent, days=1)
    assert Token.objects.matching(issued.text) == issued.token
    Token.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert Token.objects.matching(issued.text) is None
    assert not Token.objects.usable().exists()


def test_tokens_in_use_are_named_a_week_before_they_expire(agent: Agent) -> None:
    now, week = timezone.now(), timedelta(days=7)
    used, unused = (services.issue_token(agent=agent, days=6).token for _ in range(2))
    services.issue_token(agent=agent, days=8)
    services.issue_token(agent=agent)
    Token.objects.exclude(pk=unused.pk).update(last_used_at=now)
    assert list(Token.objects.expiring(now, within=week)) == [used]
    later = now + timedelta(days=10)  # it expired and may still be sent
    assert used in Token.objects.expiring(later, within=week)
    services.revoke_token(token=used)
    assert used not in Token.objects.expiring(now, within=week)
