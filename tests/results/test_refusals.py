"""An attempt to replace another lab's run leaves a line and a mail to that lab."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from structlog.testing import capture_logs

from tests import make
from tests.operators import list_statements, operator, text_of, url
from tests.results.steps import an_agent, measured, upload
from webapp.accounts.models import User
from webapp.analysis import services
from webapp.api.schemas.runs import RunIn
from webapp.labs.models import Lab
from webapp.labs.services import issue_token
from webapp.outbox.messages import Message, compose
from webapp.outbox.models import Mail
from webapp.results.documents import Forbidden
from webapp.results.models import RefusedReplacement, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return make.user("root", role="operator", email="root@example.org")


def steal(*uuids: str, replace: bool = True) -> None:
    documents = [measured("r1", 0.5, uuid=uuid, hardware="evil/nic") for uuid in uuids]
    runs = [RunIn.model_validate(document).document() for document in documents]
    with pytest.raises(Forbidden):
        services.store_runs(agent=an_agent("evil"), runs=runs, register=True, replace=replace)


def stored(number: int = 1) -> list[str]:
    documents = [measured(f"r{20 + n}") for n in range(number)]
    upload(*documents)
    return [document["uuid"] for document in documents]


def message() -> Message:
    return compose(Mail.objects.get())


def test_the_attempt_is_kept_with_who_what_and_when(root: User) -> None:
    (uuid,) = stored()
    steal(uuid)
    line = RefusedReplacement.objects.get()
    assert (str(line.run.uuid), str(line.agent), line.tries) == (uuid, "evil/control", 1)
    assert line.first_at == line.last_at


def test_a_loop_of_attempts_is_one_line_a_run_and_one_mail(root: User) -> None:
    uuids = stored(3)
    for _ in range(4):
        steal(*uuids)
    lines = RefusedReplacement.objects.all()
    assert [line.tries for line in lines] == [4, 4, 4]
    assert all(line.first_at < line.last_at for line in lines)
    assert Mail.objects.count() == 1


def test_another_day_is_another_mail(root: User) -> None:
    steal(*stored())
    day = timedelta(days=1)
    RefusedReplacement.objects.update(first_at=F("first_at") - day, last_at=F("last_at") - day)
    mail = Mail.objects.get()
    mail.about = mail.about.replace(mail.data["day"], "2020-01-01")
    mail.save()
    steal(str(Run.objects.get().uuid))
    assert Mail.objects.count() == 2


def test_the_mail_names_who_tried_what_and_that_nothing_was_changed(root: User) -> None:
    uuids = stored(12)
    steal(*uuids)
    refusal = message()
    assert "evil/control" in refusal.subject
    assert "netlab" in refusal.subject
    assert "nothing was changed" in refusal.text.lower()
    assert "12 runs" in refusal.text
    assert "and 2 more" in refusal.text
    assert "r20" in refusal.text
    assert "bench nic" in refusal.html
    assert "{" not in refusal.text + refusal.html.split("<body")[1]


def test_every_operator_hears_of_it_unless_the_lab_names_people(root: User) -> None:
    viewer = make.user("vic", email="vic@example.org")
    uuids = stored()
    steal(*uuids)
    assert [mail.recipient for mail in Mail.objects.all()] == [root]
    Mail.objects.all().delete()
    Lab.objects.get(name="netlab").contacts.add(viewer)
    steal(*uuids)
    assert [mail.recipient for mail in Mail.objects.all()] == [viewer]


def test_it_is_logged_once(root: User) -> None:
    uuids = stored(2)
    with capture_logs() as logs:
        steal(*uuids)
        steal(*uuids)
    entries = [one for one in logs if "another lab" in one["event"]]
    assert [(one["agent"], one["runs"]) for one in entries] == [("evil/control", 2)]


def test_a_collision_without_replace_is_no_attempt(root: User) -> None:
    steal(*stored(), replace=False)
    assert not RefusedReplacement.objects.exists()
    assert not Mail.objects.exists()


def test_operators_see_the_lines(root: User) -> None:
    steal(*stored())
    page = text_of(operator().get(url(RefusedReplacement)))
    assert "evil/control" in page
    run = Run.objects.get()
    assert "evil/control" in text_of(operator().get(url(Run, "change", run.pk)))


def test_the_list_takes_as_many_statements_for_many_lines(root: User) -> None:
    uuids = stored(6)
    steal(uuids[0])
    few = list_statements(RefusedReplacement)
    steal(*uuids)
    assert list_statements(RefusedReplacement) == few


def test_the_api_answers_403_and_keeps_the_line(root: User, client: Any) -> None:
    """Through the endpoint, whose transaction is rolled back."""
    (uuid,) = stored()
    token = issue_token(agent=an_agent("evil")).text
    response = client.post(
        "/api/v1/runs?replace=true&register=true",
        measured("r1", 0.5, uuid=uuid, hardware="evil/nic"),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert response.status_code == 403
    assert response.json()["error"]["details"][0]["path"] == "runs[0].uuid"
    assert RefusedReplacement.objects.count() == 1
