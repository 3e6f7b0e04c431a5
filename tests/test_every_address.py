"""Who may use which address. A new one fails here until it has its line in ``RIGHTS``.

Each is tried as a stranger and in every role, on a public and on a private instance, by every
method that its view may take. Whoever has the right is not refused (the answer may still be that
there is no such row, or that the method makes no sense); whoever has not is refused as is due.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.addresses import Address, every_address
from webapp.accounts.models import User
from webapp.labs import services
from webapp.labs.models import Agent, Lab

pytestmark = pytest.mark.django_db

OPEN = "always open"  # even on a private instance
SECRET = "secret in the address"  # whoever knows it, like a link in a mail
READ = "read"  # everybody on a public instance, viewers on a private one; agents in the API
VIEWER = "viewer"  # one's own things
TRIAGER = "triager"
OPERATOR = "operator"
AGENT = "agent's token"

# A name → who may; or who may read (GET) and who may write (anything else).
RIGHTS: Mapping[str, str | tuple[str, str]] = {
    # What programs ask
    "healthz": OPEN,
    "readyz": OPEN,
    "metrics": OPEN,
    "agent_file": OPEN,
    "api-docs": READ,
    "api:openapi-json": READ,
    "api:api-root": READ,
    "api:upload": AGENT,
    "api:list_trees": READ,
    "api:set_source": OPERATOR,
    "api:list_hardware": READ,
    "api:add_hardware": AGENT,
    "api:hardware_csv": READ,
    "api:hardware_facts": READ,
    "api:hardware_facts_csv": READ,
    "api:whoami": AGENT,
    "api:list_series": READ,
    "api:points": READ,
    "api:points_csv": READ,
    "api:list_knobs": READ,
    "api:search": READ,
    "api:list_variants": READ,
    "api:variants_csv": READ,
    "api:list_sessions": READ,
    "api:sessions_csv": READ,
    "api:compare": READ,
    "api:compare_ranges": READ,
    "api:compare_releases": READ,
    "api:compare_releases_csv": READ,
    "api:poll": AGENT,
    "api:heartbeat": AGENT,
    "api:fail": AGENT,
    "api:result": AGENT,
    "api:list_jobs": READ,
    "api:one_job": READ,
    "api:list_alerts": READ,
    "api:one_alert": READ,
    "api:list_waiting": READ,
    "api:waiting_csv": READ,
    "api:choose_commit": AGENT,
    "api:list_marked": READ,
    "api:list_profiles": READ,
    "api:upload_profile": AGENT,
    "api:list_functions": READ,
    "api:choose_samples": AGENT,
    "api:list_events": READ,
    "api:events_csv": READ,
    "api:add_event": OPERATOR,  # or the token of an agent, of its own lab
    "api:list_releases": READ,
    "api:releases_csv": READ,
    "api:add_release": OPERATOR,
    "api:list_aliases": READ,
    "api:aliases_csv": READ,
    "api:add_alias": OPERATOR,
    "api:preview_moves": OPERATOR,
    "api:undo_alias": OPERATOR,
    "api:list_canaries": READ,
    "api:add_canary": OPERATOR,
    "api:one_canary": READ,
    "api:canary_values_csv": READ,
    # Pages
    "overview": READ,
    "overview_progress": READ,
    "first_steps": READ,
    "lately": READ,
    "hardware_list": READ,
    "hardware": READ,
    "hardware_subscribe": VIEWER,
    "knob": READ,
    "trends": READ,
    "trends_chosen": READ,
    "trends_figure": READ,
    "trends_svg": READ,
    "trends_png": READ,
    **dict.fromkeys(("compare_svg", "compare_png", "releases_svg", "releases_png"), READ),
    **dict.fromkeys(("alert_svg", "alert_png", "bisect_svg", "bisect_png"), READ),
    "badge": READ,
    "trees": READ,
    "commits": READ,
    "commit": READ,
    "commit_runs": TRIAGER,
    "commit_samples": TRIAGER,
    "waiting_runs": READ,
    "waiting_runs_act": TRIAGER,
    "alerts": READ,
    "alerts_act": TRIAGER,
    "alert": READ,
    "alert_act": TRIAGER,
    "alert_evidence": READ,
    "alert_ministat": READ,
    "quality": READ,
    "events": READ,
    "event_new": TRIAGER,
    "event": (READ, TRIAGER),
    "event_withdraw": TRIAGER,
    "aliases": READ,
    "alias_new": OPERATOR,
    "alias_undo": OPERATOR,
    "canaries": READ,
    "canary": READ,
    "canary_act": OPERATOR,
    "thresholds": READ,
    "thresholds_dry_run": READ,
    "thresholds_set": OPERATOR,
    "thresholds_undo": OPERATOR,
    "agents": READ,
    "labs": OPERATOR,
    "status": OPERATOR,
    **dict.fromkeys(("audit", "audit_csv", "audit_jsonl"), OPERATOR),
    "lab_quota": OPERATOR,
    "job_new": TRIAGER,
    "job_request": TRIAGER,
    "job": READ,
    "job_act": TRIAGER,
    "bisects": READ,
    "bisect_new": (READ, TRIAGER),
    "bisect": READ,
    "bisect_json": READ,
    "bisect_markdown": READ,
    "bisect_act": TRIAGER,
    "bisect_paste": TRIAGER,
    "api:list_bisects": READ,
    "api:one_bisect": READ,
    **dict.fromkeys(("profiles", "profiled_side", "profile_functions"), READ),
    **dict.fromkeys(("profile", "profile_folded", "profile_svg", "profile_png"), READ),
    **dict.fromkeys(("profile_diff", "profile_diff_svg", "profile_diff_png"), READ),
    "experiments": READ,
    "experiment": READ,
    "experiment_markdown": READ,
    "experiment_text": READ,
    "experiment_zip": READ,
    "experiment_svg": READ,
    "experiment_png": READ,
    "experiment_keep": TRIAGER,
    "experiment_act": TRIAGER,
    "api:list_experiments": READ,
    "api:one_experiment": READ,
    "api:add_experiment": OPERATOR,  # or the token of an agent, of its own lab
    "compare": READ,
    "compare_row": READ,
    "compare_suggestions": READ,
    "compare_text": READ,
    "compare_markdown": READ,
    "picked_releases": READ,
    "releases": READ,
    "releases_markdown": READ,
    "account": VIEWER,
    "account_address": SECRET,
    "account_password": VIEWER,
    # Signing in
    **dict.fromkeys(("account_login", "mfa_login_webauthn", "mfa_authenticate"), OPEN),
    **dict.fromkeys(("openid_connect_login", "openid_connect_callback"), OPEN),
    **dict.fromkeys(("account_reset_password", "account_logout"), OPEN),
    "account_reset_password_from_key": SECRET,
    **dict.fromkeys(("account_reauthenticate", "mfa_reauthenticate"), VIEWER),
    **dict.fromkeys(("mfa_reauthenticate_webauthn", "mfa_index", "mfa_activate_totp"), VIEWER),
    **dict.fromkeys(("mfa_deactivate_totp", "mfa_add_webauthn", "mfa_remove_webauthn"), VIEWER),
    **dict.fromkeys(("mfa_view_recovery_codes", "mfa_generate_recovery_codes"), VIEWER),
    "socialaccount_connections": VIEWER,
    "subscriptions": VIEWER,
    "subscription": VIEWER,
    "subscription_act": VIEWER,
    "subscription_preview": VIEWER,
    "subscription_preview_html": VIEWER,
    "subscription_feed": SECRET,
    "unsubscribe": SECRET,
    "hardware_feed": READ,
    "tree_feed": READ,
    "outbox": OPERATOR,
    "outbox_act": OPERATOR,
    "outbox_test": OPERATOR,
    "outbox_mail": OPERATOR,
    "webhooks": OPERATOR,
    "webhook": OPERATOR,
    "webhook_act": OPERATOR,
    "mailbox": READ,
    "mailbox_mail": READ,
    "mailbox_html": READ,
    "search": READ,
    "search_suggestions": READ,
    "saved_views": VIEWER,
    "saved_view_act": VIEWER,
    # The admin: what is not named is for operators
    "admin:logout": READ,
}
FOR_OPERATORS_ALONE = {
    *("api:add_release", "api:add_canary", "api:add_alias", "api:preview_moves", "api:undo_alias"),
    "api:set_source",
}
"""In the API: no token opens them."""
WHO = ["stranger", VIEWER, TRIAGER, OPERATOR]
ADDRESSES = every_address()
OF_THE_ADMIN = [one for one in ADDRESSES if one.is_admin and one.name not in RIGHTS]
OTHERS = [one for one in ADDRESSES if one not in OF_THE_ADMIN]
SIGNS_OUT = ("account_logout", "admin:logout")


@pytest.fixture
def clients() -> dict[str, Client]:
    """A stranger, and somebody of every role."""
    found = {who: Client() for who in ("stranger", *User.Role.values)}
    for role in User.Role.values:
        User.objects.create(username=role, role=role)
    sign_in(found)
    return found


def sign_in(clients: Mapping[str, Client]) -> None:
    for user in User.objects.filter(username__in=clients):
        clients[user.username].force_login(user)


def rights(address: Address, method: str) -> str:
    given = RIGHTS.get(address.name, OPERATOR)
    if isinstance(given, str):
        return given
    return given[0] if method == "GET" else given[1]


def may(who: str, right: str, *, public: bool) -> bool:
    if right in (OPEN, SECRET):
        return True
    if right == READ:
        return public or who != "stranger"
    return right in WHO and WHO.index(who) >= WHO.index(right)


def outcome(response: HttpResponse) -> str:
    to = response.headers.get("Location", "")
    if to.startswith(("/sign-in/?next=", "/admin/login/")):
        return "sent to sign in"
    names = {401: "unauthenticated", 403: "refused", 405: "wrong method"}
    return names.get(response.status_code, "let in")


def refusals(address: Address, who: str) -> set[str]:
    """How somebody without the right may be answered."""
    if address.is_api:
        return {"unauthenticated"}
    return {"sent to sign in" if who == "stranger" else "refused"}


def expected(address: Address, who: str, right: str, *, public: bool) -> set[str]:
    """How somebody may be answered: let in, or refused as is due."""
    if may(who, right, public=public):
        return {"let in", "wrong method"}
    # May be answered before it matters who asks, but a private instance reveals nothing.
    unfit = {"wrong method"} if public or who != "stranger" else set[str]()
    return refusals(address, who) | unfit


class Answer(NamedTuple):
    """How somebody is answered at an address, and what ``Cache-Control`` has of that."""

    address: Address
    method: str
    who: str
    outcome: str
    kept: str


Answers = Callable[[bool], Sequence[Answer]]
ASKED: dict[bool, Sequence[Answer]] = {}
"""By whether the instance is public: asked once for the tests below."""


@pytest.fixture
def answers(clients: Mapping[str, Client], settings: Any) -> Answers:
    """Everybody's answers at every address, by every method, on a public instance or not."""

    def ask_all(public: bool) -> Sequence[Answer]:
        if public not in ASKED:
            settings.PUBLIC = public
            ASKED[public] = [one for address in OTHERS for one in answers_at(address, clients)]
        return ASKED[public]

    return ask_all


def answers_at(address: Address, clients: Mapping[str, Client]) -> Iterator[Answer]:
    for method in address.methods:
        # What a stranger may always, everybody may.
        is_open = rights(address, method) in (OPEN, SECRET)
        for who in ("stranger", OPERATOR) if is_open else clients:
            answer: Any = clients[who].generic(method, address.path)
            kept = answer.headers.get("Cache-Control", "")
            yield Answer(address, method, who, outcome(answer), kept)
    if address.name in SIGNS_OUT:
        sign_in(clients)


def ask(client: Client, address: Address, method: str) -> str:
    return outcome(client.generic(method, address.path))  # type: ignore[arg-type]


def test_every_address_has_a_line_with_who_may_use_it() -> None:
    named = {one.name for one in ADDRESSES if not one.is_admin}
    missing = named - RIGHTS.keys()
    assert not missing, f"name in RIGHTS who may use {sorted(missing)}"
    gone = RIGHTS.keys() - {one.name for one in ADDRESSES}
    assert not gone, f"RIGHTS names what is no address: {sorted(gone)}"


@pytest.mark.parametrize("public", [True, False], ids=["public", "private"])
def test_whoever_has_the_right_gets_in_and_nobody_else(public: bool, answers: Answers) -> None:
    wrong = []
    for one in answers(public):
        right = rights(one.address, one.method)
        if one.outcome not in expected(one.address, one.who, right, public=public):
            wrong.append(f"{one.who}: {one.method} {one.address.path} ({right}) is {one.outcome}")
    assert wrong == []


@pytest.mark.parametrize("public", [True, False], ids=["public", "private"])
def test_nothing_of_the_admin_is_for_others_than_operators(
    public: bool, clients: Mapping[str, Client], settings: Any
) -> None:
    """What operators find there is tried in tests/accounts/test_admin.py."""
    settings.PUBLIC = public
    for address in OF_THE_ADMIN:
        for who in ("stranger", TRIAGER):
            answered = {ask(clients[who], address, method) for method in address.methods}
            assert answered == {"sent to sign in"}, f"{who}: {address.path}"


def test_every_address_takes_some_method(answers: Answers) -> None:
    """Else the test above would take “wrong method” for a refusal of everything."""
    asked = [one for one in answers(True) if one.who == OPERATOR]
    taken = {one.address.name for one in asked if one.outcome != "wrong method"}
    assert taken == {one.name for one in OTHERS}


def test_no_shared_cache_keeps_what_a_person_is_answered(answers: Answers) -> None:
    """On a private instance nothing at all, whoever asks."""
    wrong = []
    for public, who in ((True, OPERATOR), (False, "stranger")):
        asked = [one for one in answers(public) if one.who == who]
        assert {one.address.name for one in asked} == {one.name for one in OTHERS}
        wrong += [one for one in asked if "private" not in one.kept]
    assert wrong == []


def test_an_agents_token_opens_the_api_of_a_private_instance(settings: Any) -> None:
    settings.PUBLIC = False
    agent = Agent.objects.create(lab=Lab.objects.create(name="netlab"), name="control")
    text = services.issue_token(agent=agent).text
    client = Client(headers={"Authorization": f"Bearer {text}"})
    wrong = []
    for address in filter(lambda one: one.is_api, ADDRESSES):
        alone = address.name in FOR_OPERATORS_ALONE
        opened = {"unauthenticated"} if alone else {"let in", "wrong method"}
        found = [(method, ask(client, address, method)) for method in address.methods]
        wrong += [(address.name, *one) for one in found if one[1] not in opened]
    assert wrong == []


def test_a_forged_form_is_refused_everywhere() -> None:
    """What only a token authorises is not forged: no browser sends that by itself."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create(username="root", role=OPERATOR))
    for address in ADDRESSES:
        for method in {*address.methods, "POST"} - {"GET"}:
            if rights(address, method) != SECRET:
                answered = ask(client, address, method)
                assert answered in ("refused", "unauthenticated", "wrong method"), address
