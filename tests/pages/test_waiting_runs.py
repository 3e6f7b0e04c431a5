"""Runs that wait for a decision, as the page shows it, and deciding there."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from tests import make
from tests.documents import run_document
from tests.pages.conftest import Counted, words
from tests.results.steps import mode, upload
from webapp.accounts.models import User
from webapp.pages.lab.waiting_runs import GROUPS_SHOWN, RUNS_SHOWN
from webapp.results.models import Point, WaitingRun
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
PAGE = "/runs/waiting/"
ACT = "/runs/waiting/act/"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_names()


def waiting(*workloads: str, label: str = "fbsd12-head.r303642", **fields: Any) -> list[str]:
    """UUIDs of runs whose kernel names r309257."""
    found = {"label": label, "label_revision": "r303642", "kernel_revision": "r309257"}
    documents = [
        run_document(revision="r303642", mode=mode(one), evidence=found, **fields)
        for one in workloads
    ]
    upload(*documents)
    return [document["uuid"] for document in documents]


def post(client: Client, **form: object) -> str:
    return words(client.post(ACT, form, follow=True).content.decode())


def still_waiting() -> set[str]:
    rows = WaitingRun.objects.open().values_list("run__uuid", flat=True)
    return {str(uuid) for uuid in rows}


def test_nothing_waits(visit: Visit) -> None:
    assert "No run waits" in visit(PAGE)


def test_runs_without_a_place_wait_as_well(visit: Visit) -> None:
    upload(run_document(revision="9f3ac1e02b11"))
    text = visit(PAGE)
    assert "1 run waits for the place of a revision" in text
    assert "every kernel agrees" not in text


def test_it_lists_directories_with_both_candidates_and_the_evidence_of_each(visit: Visit) -> None:
    waiting("forwarding", "pf")
    waiting("forwarding", label="fbsd12 <b>other</b>")
    text = visit(PAGE)
    assert "3 runs wait: the kernel and the names mean two commits" in text
    assert "the kernel names r309257" in text
    assert "the label fbsd12-head.r303642 names r303642" in text
    assert "fbsd12 <b>other</b>" in text
    assert "2 runs on bench nic" in text
    assert "File at" not in text  # a reader decides nothing


def test_a_directory_is_decided_at_once_and_others_wait_on(tess: Client) -> None:
    first, _ = waiting("forwarding", "pf")
    (other,) = waiting("forwarding", label="another")
    assert "File at r309257, as the kernel has it" in words(tess.get(PAGE).content.decode())
    text = post(tess, example=first, which="directory", choice="r309257")
    assert "2 runs filed: r309257" in text
    assert still_waiting() == {other}
    assert {point.revision.name for point in Point.objects.all()} == {"r309257"}


def test_only_what_is_ticked_is_decided(tess: Client) -> None:
    first, second = waiting("forwarding", "pf")
    assert "1 run filed: r303642" in post(
        tess, example=first, which="ticked", run=[second], choice="r303642"
    )
    assert still_waiting() == {first}


def test_all_that_name_the_same_two_commits_are_decided_alike(tess: Client) -> None:
    first, *_ = waiting("forwarding", "pf")
    waiting("forwarding", label="another")
    waiting("forwarding", label="elsewhere", hardware="other/nic")
    different = run_document(
        evidence={"label": "x", "label_revision": "r303643", "kernel_revision": "r309257"}
    )
    upload(different)
    assert "4 runs left out" in post(tess, example=first, which="alike", choice="none")
    assert still_waiting() == {different["uuid"]}


def test_one_button_files_all_that_waits_by_the_kernel(tess: Client, visit: Visit) -> None:
    """The button as it is rendered, with what its form holds."""
    assert "by the kernel" not in visit(PAGE)
    assert "File all" not in words(tess.get(PAGE).content.decode())
    waiting("forwarding", "pf")
    waiting("forwarding", label="another")
    other = {"label": "x", "label_revision": "r303643", "kernel_revision": "r303600"}
    upload(run_document(evidence=other))
    html = tess.get(PAGE).content.decode()
    assert "File all 4 by the kernel" in words(html)
    (form,) = [one for one in html.split("<form")[1:] if "File all" in one]
    fields = dict(re.findall(r'name="(which|choice)"\s+value="(\w+)"', form.split("</form>")[0]))
    assert "4 runs filed by the kernel" in post(tess, **fields)
    assert still_waiting() == set()
    filed = Point.objects.values_list("revision__name", flat=True)
    assert set(filed) == {"r309257", "r303600"}
    assert "File all" not in visit(PAGE)


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"which": "directory", "example": "no uuid", "choice": "kernel"},
        {"which": "directory", "example": str(uuid4()), "choice": "kernel"},
        {"which": "ticked", "choice": "kernel", "run": ["'; drop table"]},
        {"which": "else", "example": str(uuid4()), "choice": "kernel"},
    ],
)
def test_a_form_that_means_no_waiting_run_is_answered_so(
    tess: Client, form: dict[str, object]
) -> None:
    (uuid,) = waiting("forwarding")
    assert "No waiting run was chosen" in post(tess, **form)
    assert still_waiting() == {uuid}


def test_a_choice_that_is_no_candidate_names_them(tess: Client) -> None:
    (uuid,) = waiting("forwarding")
    text = post(tess, which="directory", example=uuid, choice="r1\x00")
    assert "choose one of r309257, r303642" in text
    assert still_waiting() == {uuid}


def test_who_lost_the_race_is_shown_it(tess: Client) -> None:
    (uuid,) = waiting("forwarding")
    post(tess, which="ticked", run=[uuid], choice="kernel")
    assert "0 runs" in post(tess, which="ticked", run=[uuid], choice="label")
    assert {point.revision.name for point in Point.objects.all()} == {"r309257"}


def test_what_was_decided_lately_is_shown_and_taken_back(tess: Client) -> None:
    uuids = waiting("forwarding", "pf")
    post(tess, example=uuids[0], which="directory", choice="none")
    text = words(tess.get(PAGE).content.decode())
    assert "fbsd12-head.r303642: 2 runs left out now by tess Let them wait again" in text
    assert "2 runs wait again" in post(tess, act="reopen", run=uuids)
    assert still_waiting() == set(uuids)
    assert "Decided lately" not in words(tess.get(PAGE).content.decode())


def test_a_reader_may_not_decide(client: Client) -> None:
    (uuid,) = waiting("forwarding")
    form = {"which": "ticked", "run": [uuid], "choice": "kernel"}
    assert client.post(ACT, form).status_code == 302
    client.force_login(make.user("vic", role=User.Role.VIEWER))
    assert client.post(ACT, form).status_code == 403
    assert still_waiting() == {uuid}


def test_the_list_goes_on_and_statements_do_not_grow(queries: Counted, visit: Visit) -> None:
    waiting("forwarding")
    few = queries(PAGE)
    for number in range(GROUPS_SHOWN + 1):
        waiting("forwarding", label=f"directory-{number:02}")
    waiting(*(f"w{number}" for number in range(RUNS_SHOWN + 1)))
    assert queries(PAGE) <= few + 1
    assert "Page 1 of 2" in visit(PAGE)
    assert "and 2 more" in visit(PAGE)
    assert "Page 2 of 2" in visit(f"{PAGE}?page=2")
    assert "Page 2 of 2" in visit(f"{PAGE}?page=99")


def test_revisions_without_a_place_wait_in_the_same_list(visit: Visit) -> None:
    make.revisions(20, first=300_000)
    upload(run_document(revision="r99999999"))
    text = visit(PAGE)
    assert "r99999999 of freebsd-head, at 99999999 by netlab/control" in text
