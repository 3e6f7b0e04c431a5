"""The client: what it sends, what it makes of answers, when it tries again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest
from labagent.client import Client, Flags, Patience
from labagent.errors import Detail, RefusedError, UnavailableError

from agents.tests.server import TOKEN, FakeServer, error

RUN = {"uuid": "u1", "facts": {}}


def client(server: FakeServer, token: str = TOKEN, **patience) -> Client:
    return Client(
        "https://driftline.test",
        token,
        transport=server.transport,
        patience=Patience(**patience) if patience else None,
    )


def test_runs_are_sent_packed_with_their_flags(server):
    receipt = client(server).send_runs([RUN], Flags(register=True, history=True))
    assert receipt.status == {"u1": "stored"}
    assert server.requests == [("POST", "/api/v1/runs", {"register": "true", "history": "true"})]
    assert server.runs["u1"] == RUN


def test_flags_not_given_are_not_sent(server):
    client(server).send_runs([RUN], Flags())
    assert server.requests[0][2] == {}


def test_what_the_server_knew_is_distinguished(server):
    client(server).send_runs([RUN], Flags())
    receipt = client(server).send_runs([RUN, {"uuid": "u2"}], Flags())
    assert (receipt.count("stored"), receipt.count("known")) == (1, 1)


@pytest.mark.parametrize(
    "trouble",
    [
        httpx2.ConnectError("refused"),
        httpx2.ReadTimeout("slow"),
        httpx2.RemoteProtocolError("cut"),
        error(429),
        error(502),
        error(503),
        error(504),
    ],
)
def test_passing_trouble_is_tried_again(server, no_waiting, trouble):
    server.script = [trouble, trouble]
    assert client(server).send_runs([RUN], Flags()).count("stored") == 1
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422])
def test_a_refusal_is_not_tried_again(server, no_waiting, status):
    server.script = [error(status, "no", "do this", **{"runs[0].tree": "unknown"})]
    with pytest.raises(RefusedError) as raised:
        client(server).send_runs([RUN], Flags())
    assert len(server.requests) == 1
    assert (raised.value.status, raised.value.message, raised.value.remedy) == (
        status,
        "no",
        "do this",
    )
    assert raised.value.details == (Detail("runs[0].tree", "unknown"),)


def test_a_failure_of_the_server_itself_is_not_tried_again(server, no_waiting):
    server.script = [error(500)]
    with pytest.raises(UnavailableError, match="server's log"):
        client(server).send_runs([RUN], Flags())
    assert len(server.requests) == 1


def test_patience_ends_with_the_last_error_and_a_remedy(server, no_waiting):
    server.script = [httpx2.ConnectError("refused")] * 8
    with pytest.raises(UnavailableError, match=r"cannot reach .*refused.*nothing is lost"):
        client(server).send_runs([RUN], Flags())
    assert len(server.requests) == 8


def wait_for(server: FakeServer, retry_after: str, **patience) -> bool | float:
    status, body = error(429)
    server.script = [(status, {**body, "headers": {"Retry-After": retry_after}})]
    asking = client(server, **patience)
    with pytest.raises(UnavailableError) as raised:
        asking.whoami()
    return asking._wait(raised.value)


def test_the_server_states_how_long_to_wait(server):
    assert wait_for(server, "7") == 7.0


def test_the_server_may_state_it_as_a_date(server):
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    assert 17 < wait_for(server, moment) <= 20


def test_a_wait_beyond_our_patience_is_not_begun(server):
    assert wait_for(server, "3600", seconds=60.0) is False


@pytest.mark.parametrize("text", ["", "soon", "-1"])
def test_a_wait_that_states_nothing_leaves_the_usual_back_off(server, text):
    assert wait_for(server, text) is True


def test_an_error_that_is_not_worded_by_driftline_still_has_a_remedy(server):
    server.script = [(404, {"detail": "nginx"})]
    with pytest.raises(RefusedError, match=r"404 Not Found.*check the server's address"):
        client(server).hardware()


@pytest.mark.parametrize("body", [{"runs": None}, {"other": 1}, {"runs": [{"uuid": "u1"}]}])
def test_an_answer_of_something_else_is_recognised(server, body):
    server.script = [(200, body)]
    with pytest.raises(RefusedError, match="does not answer as Driftline does"):
        client(server).send_runs([RUN], Flags())


def test_an_answer_that_is_no_json_is_recognised():
    transport = httpx2.MockTransport(lambda _request: httpx2.Response(200, text="<html>"))
    with pytest.raises(RefusedError, match="does not answer"):
        Client("https://driftline.test", transport=transport).hardware()


def test_a_redirect_names_the_address_to_use():
    moved = httpx2.Response(301, headers={"Location": "https://new.test/"})
    transport = httpx2.MockTransport(lambda _request: moved)
    with pytest.raises(RefusedError, match=r"https://new\.test/"):
        Client("http://driftline.test", transport=transport).send_runs([RUN], Flags())


def test_the_token_goes_with_each_request_and_only_there(server):
    with pytest.raises(RefusedError) as raised:
        client(server, token="wrong-token").whoami()
    assert raised.value.status == 401
    assert "wrong-token" not in str(raised.value)
    assert client(server).whoami()["agent"] == "agent-1"


def test_numbers_that_json_does_not_know_never_leave(server):
    with pytest.raises(ValueError, match="JSON"):
        client(server).send_runs([{"uuid": "u", "x": float("nan")}], Flags())
    assert not server.requests
