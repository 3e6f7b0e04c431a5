"""Runs whose kernel and names mean two commits: they wait, are decided, and come back."""

from typing import Any
from uuid import UUID

import pytest

from tests import make
from tests.documents import SAMPLES, run_document
from tests.results.steps import names_of, upload
from webapp.labs.models import Lab
from webapp.results.documents import Recorded, Unprocessable
from webapp.results.models import (
    Choice,
    IdentityRule,
    Point,
    Revision,
    RevisionAlias,
    Run,
    Tree,
    WaitingRun,
)
from webapp.results.services import decide_waiting, reopen_waiting, restore_run, withdraw_run
from webapp.results.services.identities import apply_rule

pytestmark = pytest.mark.django_db
HASH = "97be6fced7d"


def evidence(kernel: str = "r309257", label: str = "r303642", **fields: str) -> dict[str, str]:
    return {
        "label": f"fbsd12-head.{label}",
        "directory": f"bench/nic/firewalls/results/fbsd12-head.{label}",
        "kernel_revision": kernel,
        "label_revision": label,
        **fields,
    }


def document(revision: str = "r303642", **fields: Any) -> dict[str, Any]:
    return run_document(revision=revision, **{"evidence": evidence(label=revision), **fields})


def points() -> dict[str, int]:
    rows = Point.objects.select_related("revision")
    return {row.revision.name: row.n for row in rows}


def only(recorded: Recorded) -> UUID:
    [uuid] = recorded.waiting
    return uuid


def test_a_run_that_names_two_commits_is_stored_and_takes_no_part() -> None:
    recorded = upload(sent := document())
    assert [str(uuid) for uuid in recorded.stored] == [sent["uuid"]]
    waiting = WaitingRun.objects.get(run__uuid=only(recorded))
    assert [one["revision"] for one in waiting.candidates] == ["r309257", "r303642"]
    assert waiting.is_open
    assert waiting.run.is_withdrawn
    assert waiting.run.measurements.get().samples == SAMPLES
    assert points() == {}


def test_it_stands_at_no_commit_that_only_a_name_gives() -> None:
    """A typing error of a label would be a commit to bisect over."""
    upload(document("r654937"))
    assert list(Revision.objects.values_list("name", flat=True)) == ["r309257"]


def test_sent_again_it_still_waits_and_is_stored_once() -> None:
    first = upload(sent := document())
    second = upload(sent)
    assert second.known == first.stored
    assert second.waiting == first.waiting
    assert not second.stored
    assert WaitingRun.objects.count() == Run.objects.count() == 1


@pytest.mark.parametrize(
    ("choice", "revision"),
    [("kernel", "r309257"), ("label", "r303642"), ("r309257", "r309257"), ("r303642", "r303642")],
)
def test_decided_it_counts_there_without_another_upload(choice: str, revision: str) -> None:
    uuid = only(upload(sent := document()))
    ada = make.user("ada")
    assert decide_waiting(runs=[uuid], choice=choice, by=ada) == 1
    assert points() == {revision: len(SAMPLES)}
    row = WaitingRun.objects.select_related("chosen", "decided_by").get()
    assert (row.chosen and row.chosen.name, row.decided_by) == (revision, ada)
    assert not row.run.is_withdrawn
    again = upload(sent)
    assert again.known
    assert not again.waiting
    assert points() == {revision: len(SAMPLES)}


def test_left_out_it_stays_stored_and_never_counts() -> None:
    uuid = only(upload(sent := document()))
    assert decide_waiting(runs=[uuid], choice="none", by=make.user()) == 1
    assert points() == {}
    assert not upload(sent).waiting
    with pytest.raises(Unprocessable, match=r"/runs/waiting/"):
        restore_run(run=Run.objects.get())


def test_a_waiting_run_is_not_restored_past_the_decision() -> None:
    upload(document())
    with pytest.raises(Unprocessable, match=r"/runs/waiting/"):
        restore_run(run=Run.objects.get())
    assert points() == {}


def test_what_was_decided_is_not_decided_again() -> None:
    uuid = only(upload(document()))
    decide_waiting(runs=[uuid], choice="kernel", by=make.user())
    assert decide_waiting(runs=[uuid], choice="label", by=make.user("bob")) == 0
    assert points() == {"r309257": len(SAMPLES)}


def test_another_commit_than_the_candidates_is_refused_and_nothing_changes() -> None:
    uuid = only(upload(document()))
    with pytest.raises(Unprocessable, match="r309257, r303642"):
        decide_waiting(runs=[uuid], choice="r1", by=make.user())
    assert WaitingRun.objects.open().count() == 1


def test_a_run_that_a_person_withdrew_after_the_decision_stays_withdrawn_when_sent_again() -> None:
    uuid = only(upload(sent := document()))
    decide_waiting(runs=[uuid], choice="kernel", by=(ada := make.user()))
    withdraw_run(run=Run.objects.get(), by=ada, reason="the fan was broken")
    upload(sent)
    assert points() == {}


@pytest.mark.parametrize("near", ["r303640", "r303652"])
def test_a_working_copy_nearby_is_filed_at_the_kernels(near: str) -> None:
    recorded = upload(document(evidence=evidence(near)))
    assert not recorded.waiting
    assert points() == {near: len(SAMPLES)}
    assert "commits away" in recorded.warnings[recorded.stored[0]][0]


COUNTED = {"kernel_revision": "n257521", "kernel_hash": HASH, "label_revision": "n277567"}


def test_two_counts_of_one_commit_are_one_commit_with_an_alias() -> None:
    upload(document("n277567", evidence=COUNTED))
    assert points() == {"n257521": len(SAMPLES)}
    assert names_of("n257521") == {"n257521", "c277567"}
    named = {"label_revision": "n277567"}
    upload(document("n277567", evidence=named, build_id="another"))
    assert points() == {"n257521": 2 * len(SAMPLES)}
    upload(document("n277567", evidence={**named, "kernel_revision": "n277567"}))
    assert points()["n277567"] == len(SAMPLES), "the first parent of that number, years later"


def test_a_tree_may_count_all_commits() -> None:
    Tree.objects.create(name="freebsd-head", counts_all=True)
    upload(document("n277567", evidence=COUNTED))
    assert points() == {"n277567": len(SAMPLES)}
    assert names_of("n277567") == {"n257521", "n277567"}


def test_known_pairs_of_the_tree_show_how_far_counts_are_apart() -> None:
    at = make.revision("n257000")
    RevisionAlias.objects.create(tree=at.tree, revision=at, name="n269000")
    assert upload(document("n277567", evidence=COUNTED)).waiting


def test_history_binds_by_hash_and_two_commits_with_that_beginning_bind_nothing() -> None:
    at = make.revision("r309250")
    RevisionAlias.objects.create(tree=at.tree, revision=at, name=f"{HASH}{'0' * 29}")
    labelled = {"kernel_hash": HASH, "label_revision": "r309257"}
    upload(document("r309257", evidence=labelled))
    assert points() == {"r309250": len(SAMPLES)}
    other = make.revision("r309240")
    RevisionAlias.objects.create(tree=at.tree, revision=other, name=f"{HASH}{'1' * 29}")
    recorded = upload(document("r309257", evidence=labelled))
    assert points() == {"r309250": len(SAMPLES), "r309257": len(SAMPLES)}
    assert "no imported history" in recorded.warnings[recorded.stored[0]][0]


def test_a_run_of_an_agent_that_sent_no_evidence_is_known_and_moves() -> None:
    sent = document(evidence=None)
    upload(sent)
    assert points() == {"r303642": len(SAMPLES)}
    recorded = upload(sent | {"evidence": evidence("r303640")})
    assert not recorded.stored
    assert recorded.refiled == set(recorded.known)
    assert points() == {"r303640": len(SAMPLES)}
    assert Run.objects.get().evidence["kernel_revision"] == "r303640"


def test_a_run_that_counted_waits_when_its_evidence_comes() -> None:
    sent = document(evidence=None)
    upload(sent)
    recorded = upload(sent | {"evidence": evidence()})
    assert points() == {}
    decide_waiting(runs=[only(recorded)], choice="label", by=make.user())
    assert points() == {"r303642": len(SAMPLES)}


def test_evidence_that_agrees_changes_nothing() -> None:
    sent = document(evidence=None)
    upload(sent)
    before = (
        Run.objects.values_list("series__version") if False else Point.objects.values_list("pk")
    )
    kept = list(before)
    recorded = upload(sent | {"evidence": evidence("r303642")})
    assert recorded.known
    assert not recorded.refiled
    assert list(before.all()) == kept


def rule(pattern: str, believe: Choice) -> IdentityRule:
    lab = Lab.objects.get_or_create(name="netlab")[0]
    return IdentityRule.objects.create(lab=lab, pattern=pattern, believe=believe)


@pytest.mark.parametrize(
    ("believe", "found"),
    [
        (Choice.KERNEL, {"r309257": 5}),
        (Choice.LABEL, {"r303642": 5}),
        (Choice.NONE, {}),
    ],
)
def test_a_rule_decides_on_arrival_and_what_waits(believe: Choice, found: dict[str, int]) -> None:
    upload(sent := document())
    made = rule("fbsd12-*", believe)
    assert apply_rule(made, by=None) == 1
    assert points() == found
    assert "fbsd12-*" in WaitingRun.objects.get().rule
    arrived = upload(document(build_id="another", samples=SAMPLES))
    assert not arrived.waiting
    assert points() == {name: 2 * n for name, n in found.items()}
    assert not upload(sent).waiting


def test_the_longest_pattern_that_fits_decides_and_rules_of_other_labs_do_not() -> None:
    rule("*", Choice.NONE)
    rule("fbsd12-head.*", Choice.LABEL)
    other = Lab.objects.create(name="other")
    IdentityRule.objects.create(lab=other, pattern="fbsd12-head.r303642", believe=Choice.KERNEL)
    upload(document())
    assert points() == {"r303642": len(SAMPLES)}


def test_the_uploader_may_choose_whom_to_believe() -> None:
    upload(document(evidence=evidence(trust="kernel")))
    assert points() == {"r309257": len(SAMPLES)}


@pytest.mark.parametrize("trust", ["kernel", "label"])
def test_sent_again_with_whom_to_believe_it_is_decided(trust: str) -> None:
    only(upload(sent := document()))
    recorded = upload(sent | {"evidence": evidence(trust=trust)})
    assert recorded.refiled == set(recorded.known)
    assert not recorded.waiting
    assert points() == {"r309257" if trust == "kernel" else "r303642": len(SAMPLES)}
    assert WaitingRun.objects.get().rule == f"sent with --trust {trust}"


def test_another_lab_decides_nothing_by_sending_it_again() -> None:
    only(upload(sent := document()))
    recorded = upload(sent | {"evidence": evidence(trust="kernel")}, lab="other")
    assert recorded.waiting
    assert points() == {}


@pytest.mark.parametrize("choice", ["kernel", "label", "none"])
def test_a_decision_is_taken_back_and_kept_on_record(choice: str) -> None:
    uuid = only(upload(sent := document()))
    ada = make.user("ada")
    decide_waiting(runs=[uuid], choice=choice, by=ada)
    assert reopen_waiting(runs=[uuid], by=make.user("bob")) == 1
    assert points() == {}
    assert upload(sent).waiting == {uuid}
    (former,) = WaitingRun.objects.get().former
    assert (former["decided_by"], former["taken_back_by"]) == ("ada", "bob")
    assert reopen_waiting(runs=[uuid], by=ada) == 0
    assert decide_waiting(runs=[uuid], choice="label", by=ada) == 1
    assert points() == {"r303642": len(SAMPLES)}


def test_taking_a_decision_back_leaves_a_persons_withdrawal_alone() -> None:
    uuid = only(upload(document()))
    ada = make.user("ada")
    decide_waiting(runs=[uuid], choice="kernel", by=ada)
    withdraw_run(run=Run.objects.get(), by=ada, reason="the fan was broken")
    reopen_waiting(runs=[uuid], by=ada)
    decide_waiting(runs=[uuid], choice="kernel", by=ada)
    assert points() == {}
    assert Run.objects.get().withdrawn_reason == "the fan was broken"


def test_replacing_a_waiting_run_judges_the_new_content() -> None:
    only(upload(sent := document()))
    changed = sent | {"build_id": "built again", "evidence": evidence("r303642")}
    recorded = upload(changed, replace=True)
    assert recorded.replaced
    assert not recorded.waiting
    assert points() == {"r303642": len(SAMPLES)}
    assert not WaitingRun.objects.open().filter(run__superseded_by__isnull=True).exists()


def test_a_batch_costs_no_more_statements_for_its_runs(
    django_assert_max_num_queries: Any,
) -> None:
    upload(document())
    batch = [document(build_id=f"build {n}") for n in range(20)]
    with django_assert_max_num_queries(25):  # two of them about the quota
        upload(*batch)
