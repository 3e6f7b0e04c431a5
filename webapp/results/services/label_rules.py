"""The rules about parts of labels: read for an upload, and made where the program brings new ones.

An upload whose runs have no options costs no statement here. The caller has begun writing, so a
rule that is edited meanwhile waits, and then files these runs anew like all others.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from webapp.results.documents import RunDocument
from webapp.results.label_parts import BUILTIN_RULES, ModeAndVariant, PartRule, VariantPart, tell
from webapp.results.models import LabelRule
from webapp.results.modes import ModeName

STEP = 10
"""Between the orders of rules that come with the program: there is room for others."""


def rules_of(lab: int | None) -> list[PartRule]:
    """The rules for the runs of a lab (id), in the order in which they are asked."""
    return [row.rule() for row in LabelRule.objects.of_lab(lab)]


def rules_of_labs(labs: Iterable[int]) -> Mapping[int, Sequence[PartRule]]:
    """The same for several labs, in one statement."""
    own: defaultdict[int | None, list[PartRule]] = defaultdict(list)
    for row in LabelRule.objects.filter(is_active=True).order_by("order", "pk"):
        own[row.lab_id].append(row.rule())
    return {lab: [*own[lab], *own[None]] for lab in labs}


def tell_parts(runs: Sequence[RunDocument], lab: int) -> list[RunDocument]:
    """``runs`` of a lab (id), each with the mode and the variant that the rules tell."""
    if not any(_has_parts(run) for run in runs):
        return list(runs)
    rules = rules_of(lab)
    return [_with_parts(run, rules) if _has_parts(run) else run for run in runs]


def as_sent_data(run: RunDocument) -> dict[str, Any] | None:
    """What is kept of a document's own mode and variant; None: it is filed under that mode, and
    named no variant.
    """
    sent = run.as_sent or run
    if str(sent.mode) == str(run.mode) and not sent.variant:
        return None
    return {"mode": str(sent.mode), "variant": [part.to_data() for part in sent.variant]}


def tell_stored(
    mode: str, as_sent: Mapping[str, Any] | None, image: str, rules: Sequence[PartRule]
) -> ModeAndVariant:
    """What the rules tell of a stored run by what is kept of its document."""
    sent = as_sent or {"mode": mode, "variant": []}
    parts = map(VariantPart.from_data, sent["variant"])
    return tell(ModeName.parse(sent["mode"]), rules, image=image, parts=parts)


def missing_rules() -> list[LabelRule]:
    """The rules that come with the program and are not stored yet, unsaved."""
    stored = set(LabelRule.objects.filter(lab=None).values_list("pattern", "of_image"))
    return [
        LabelRule(
            order=STEP * number,
            pattern=rule.pattern,
            of_image=rule.of_image,
            kind=rule.kind,
            name=rule.name,
            is_builtin=True,
        )
        for number, rule in enumerate(BUILTIN_RULES, 1)
        if (rule.pattern, rule.of_image) not in stored
    ]


def _has_parts(run: RunDocument) -> bool:
    return bool(run.mode.options or run.variant or "+" in run.former_mode)


def _with_parts(run: RunDocument, rules: Sequence[PartRule]) -> RunDocument:
    told = tell(run.mode, rules, image=run.image, parts=run.variant)
    former = run.former_mode
    if former:
        former = str(tell(ModeName.parse(former), rules, image=run.image).mode)
    if (told.mode, told.parts) == (run.mode, run.variant):
        return replace(run, former=former)
    sent = run.as_sent or run
    return replace(run, mode=told.mode, variant=told.parts, as_sent=sent, former=former)
