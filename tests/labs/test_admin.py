"""Operators' pages of agents and tokens."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from tests.operators import act, operator, signed_in, text_of, url
from webapp.accounts.models import User
from webapp.labs import services
from webapp.labs.models import Agent, Lab, Token

pytestmark = pytest.mark.django_db
SENT = {"confirmed": "yes", "scopes": ["upload", "jobs", "read"]}
TOKEN = re.compile(r"dl_[0-9a-f]+_[\w-]+")


@pytest.fixture
def agent(db: None) -> Agent:
    return services.create_agent(name="control", lab_name="netlab")


def test_a_token_is_issued_after_a_question_and_shown_once(agent: Agent) -> None:
    assert "Its earlier tokens stay good" in text_of(act(Agent, "issue_token", [agent]))
    assert not Token.objects.exists()
    shown = TOKEN.findall(text_of(act(Agent, "issue_token", [agent], **SENT)))
    assert len(shown) == 1
    found = Token.objects.matching(shown[0])
    assert found is not None
    assert found.agent == agent
    assert "no-store" in act(Agent, "issue_token", [agent], **SENT)["Cache-Control"]
    for page in (url(Agent), url(Agent, "change", agent.pk), url(Token)):
        assert shown[0] not in text_of(operator().get(page))


def test_a_token_is_issued_to_one_agent_at_a_time(agent: Agent) -> None:
    other = services.create_agent(name="other", lab_name="netlab")
    response = act(Agent, "issue_token", [agent, other], confirmed="yes")
    assert "Choose one agent." in text_of(response)
    assert not Token.objects.exists()


def test_tokens_are_revoked_after_a_question(agent: Agent) -> None:
    issued = [services.issue_token(agent=agent) for _ in range(3)]
    chosen = [one.token for one in issued[:2]]
    assert "cannot be taken back" in text_of(act(Token, "revoke", chosen))
    assert Token.objects.usable().count() == 3
    assert "Revoked: 2" in text_of(act(Token, "revoke", chosen, confirmed="yes"))
    assert [Token.objects.matching(one.text) is None for one in issued] == [True, True, False]


def test_all_tokens_of_a_filtered_list_are_revoked_at_once(agent: Agent) -> None:
    token = services.issue_token(agent=agent).token
    services.issue_token(agent=agent)
    act(Token, "revoke", [token], select_across="1", confirmed="yes")
    assert not Token.objects.usable().exists()


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({}, "good, never expires"),
        ({"expires_at": timedelta(days=40)}, r"good until \d{4}-\d\d-\d\d"),
        ({"expires_at": timedelta(days=2, minutes=5)}, "expires in 2 d"),
        ({"expires_at": timedelta(hours=3, minutes=5)}, "expires in 3 h"),
        ({"expires_at": -timedelta(days=1)}, r"expired on \d{4}-\d\d-\d\d"),
        (
            {"expires_at": timedelta(days=2), "revoked_at": -timedelta(days=1)},
            r"revoked on \d{4}-\d\d-\d\d",
        ),
    ],
)
def test_the_list_and_the_agents_page_name_what_a_token_is_good_for(
    agent: Agent, changed: dict[str, timedelta], state: str
) -> None:
    token = services.issue_token(agent=agent).token
    now = timezone.now()
    Token.objects.update(**{name: now + after for name, after in changed.items()})
    for page in (url(Token), url(Token, "change", token.pk), url(Agent, "change", agent.pk)):
        assert re.search(state, text_of(operator().get(page))), page


@pytest.mark.parametrize(("model", "action"), [(Agent, "issue_token"), (Token, "revoke")])
def test_who_may_only_look_finds_no_action(
    agent: Agent, model: type[Agent] | type[Token], action: str
) -> None:
    token = services.issue_token(agent=agent).token
    looker = User.objects.create_user("eve", is_staff=True)
    looker.user_permissions.set(
        Permission.objects.filter(codename__in=["view_agent", "view_token"])
    )
    client = signed_in(looker)
    assert f'value="{action}"' not in text_of(client.get(url(model)))
    row = agent if model is Agent else token
    client.post(url(model), {"action": action, "_selected_action": [row.pk], "confirmed": "yes"})
    assert Token.objects.usable().count() == 1


def test_the_lists_count_agents_and_good_tokens(agent: Agent) -> None:
    first = services.issue_token(agent=agent).token
    services.issue_token(agent=agent)
    services.revoke_token(token=first)
    assert '<td class="field-good_tokens">1</td>' in text_of(operator().get(url(Agent)))
    assert '<td class="field-agents">1</td>' in text_of(operator().get(url(Lab)))


def test_a_lab_with_agents_is_not_deleted(agent: Agent) -> None:
    operator().post(url(Lab, "delete", agent.lab.pk), {"post": "yes"})
    assert Lab.objects.exists()


def test_a_token_has_the_scopes_that_are_chosen_all_at_first_and_its_days(agent: Agent) -> None:
    asked = text_of(act(Agent, "issue_token", [agent]))
    assert len(re.findall(r'name="scopes"[^>]*checked', asked)) == 3
    given = {"confirmed": "yes", "scopes": ["jobs", "read"], "days": "30"}
    act(Agent, "issue_token", [agent], **given)
    token = Token.objects.get()
    assert token.scopes == ["jobs", "read"]
    assert token.expires_at is not None
    assert round((token.expires_at - token.created_at) / timedelta(days=1)) == 30
    for bad in ({"days": "0"}, {"days": "x"}, {"scopes": []}, {"scopes": ["root"]}):
        assert "errorlist" in text_of(act(Agent, "issue_token", [agent], **given | bad))
    assert Token.objects.count() == 1
