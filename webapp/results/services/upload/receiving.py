"""First step of an upload: rules about parts of labels give each run its mode and variant.

An upload whose runs have no options costs no statement here. A rule that is edited meanwhile waits
for this transaction, and then files these runs anew like all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from webapp.labs.models import Agent
from webapp.results.documents import RunDocument
from webapp.results.label_parts import PartRule, tell
from webapp.results.models import LabelRule
from webapp.results.modes import ModeName
from webapp.results.services.locks import begin_writing


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """``runs`` are in the order sent, with mode and variant by the rules of the lab; the rest as in
    `record_runs`.
    """

    agent: Agent
    runs: Sequence[RunDocument]
    register: bool
    history: bool
    replace: bool
    asked_for: bool


def receive(*, agent: Agent, runs: Sequence[RunDocument], **flags: bool) -> Received:
    """Hold off reshapings until the transaction ends, and apply the rules about labels."""
    begin_writing()
    return Received(agent=agent, runs=_by_rules(runs, agent.lab_id), **flags)


def _by_rules(runs: Sequence[RunDocument], lab: int) -> Sequence[RunDocument]:
    """``runs`` of a lab (id), each with the mode and the variant of the rules."""
    if not any(_has_parts(run) for run in runs):
        return runs
    rules = [row.rule() for row in LabelRule.objects.of_lab(lab)]
    return [_with_parts(run, rules) if _has_parts(run) else run for run in runs]


def _has_parts(run: RunDocument) -> bool:
    return bool(run.mode.options or run.variant or "+" in run.former_mode)


def _with_parts(run: RunDocument, rules: Sequence[PartRule]) -> RunDocument:
    found = tell(run.mode, rules, image=run.image, parts=run.variant)
    former = run.former_mode
    if former:
        former = str(tell(ModeName.parse(former), rules, image=run.image).mode)
    if (found.mode, found.parts) == (run.mode, run.variant):
        return replace(run, former=former)
    sent = run.as_sent or run
    return replace(run, mode=found.mode, variant=found.parts, as_sent=sent, former=former)
