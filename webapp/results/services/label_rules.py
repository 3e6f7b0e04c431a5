"""The rules about parts of labels, and stored runs filed anew when one comes, goes or changes.

The identity and the samples of runs stay. These are steps: `webapp.merging` takes them, and has the
other rooms hand over what points at a series that ends.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from webapp.results.models import LabelRule, Measurement, Mode, Run, Series, Variant
from webapp.results.queries import rows_of
from webapp.results.services import named_rows
from webapp.results.services.aliases import file_by_names
from webapp.results.services.facts import machines_restated, rebuild_facts
from webapp.results.services.refiling import RunSeries, lock_series_of_runs, move_series_or_runs
from webapp.results.services.subjects import relations_to
from webapp.results.spellings import (
    BUILTIN_RULES,
    ModeAndVariant,
    ModeName,
    PartRule,
    VariantPart,
    read_options,
)

# One row for all runs that the rules cannot tell apart.
RUNS = """
SELECT mode.id, mode.name, COALESCE(run.variant_id, 0), run.as_sent::text,
       COALESCE(NULLIF(run.evidence->>'image', ''), run.facts->>'image', ''), hardware.lab_id,
       array_agg(run.id ORDER BY run.id)
  FROM results_run AS run
  LEFT JOIN results_aliasedrun AS aliased ON aliased.run_id = run.id
  JOIN results_mode AS mode ON mode.id = COALESCE(aliased.mode_id, run.mode_id)
  JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
 WHERE cardinality(mode.options) > 0 OR run.as_sent IS NOT NULL
 GROUP BY 1, 2, 3, 4, 5, 6
 ORDER BY 1, 3, 4, 5, 6
"""
# Of runs that aliases file elsewhere: the mode that they stand for.
FILE_ALIASED = """
UPDATE results_aliasedrun AS aliased SET mode_id = filed.mode
  FROM unnest(%s::bigint[], %s::bigint[]) AS filed (run, mode)
 WHERE aliased.run_id = filed.run
"""
FILE = """
UPDATE results_run AS run
   SET mode_id = filed.mode, variant_id = filed.variant, as_sent = filed.as_sent
  FROM json_to_recordset(%s::json) AS filed (run bigint, mode bigint, variant bigint, as_sent jsonb)
 WHERE run.id = filed.run
"""
STEP = 10
"""Between the orders of rules that come with the program: there is room for others."""


@dataclass(frozen=True, slots=True)
class RefiledRuns:
    """How many runs were filed anew. Of each pair of ``joined`` the first series is a part of the
    second one now, which has its measurements, and is to go. ``left`` and ``left_variants`` are
    modes and variants (ids) that lost runs.
    """

    runs: int = 0
    joined: Sequence[tuple[Series, Series]] = ()
    left: Collection[int] = ()
    left_variants: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a run belongs: mode and variant (ids, `PLAIN`: none), and its document's rest."""

    mode: int
    variant: int
    as_sent: dict[str, Any] | None


def make_missing_rules() -> int:
    """Store the rules that come with the program and are not stored yet; how many."""
    stored = set(LabelRule.objects.filter(lab=None).values_list("pattern", "of_image"))
    missing = [
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
    LabelRule.objects.bulk_create(missing, ignore_conflicts=True)
    return len(missing)


def refile_by_rules() -> RefiledRuns:
    """File every stored run as the rules that there are now say. The caller reshapes."""
    named_rows.forget_names()
    places = _places()
    if not places:
        return RefiledRuns()
    modes, variants = _left(places)
    lock_series_of_runs(places)
    targets = _targets(places)
    machines = _machines_restated(places)
    _file(places)
    joined = move_series_or_runs(targets)
    file_by_names(places)
    for machine in sorted(machines):
        rebuild_facts(machine)
    transaction.on_commit(named_rows.forget_names)
    return RefiledRuns(len(places), joined, modes, variants)


def drop_unused(refiled: RefiledRuns) -> None:
    """Delete the modes and variants that lost runs and that nothing is about any more."""
    for model, ids in ((Mode, refiled.left), (Variant, refiled.left_variants)):
        unused = set(ids)
        for relation in relations_to(model):
            rows: Any = relation.related_model._default_manager  # noqa: SLF001 (documented)
            name = relation.field.name
            found = rows.filter(**{f"{name}__in": unused}).order_by()
            unused -= set(found.values_list(name, flat=True).distinct())
        model._default_manager.filter(pk__in=unused).delete()  # noqa: SLF001 (documented)


def _places() -> dict[int, _Place]:
    """Of each run (id) that is filed otherwise than the rules say: where it belongs."""
    rows = rows_of(RUNS)
    rules = _rules_of({row[5] for row in rows})
    parted = [_by_rules(row, rules) for row in rows]
    modes = named_rows.modes_named(one.mode for one in parted)
    variants = named_rows.variants_of(one.parts for one in parted if one.parts)
    found: dict[int, _Place] = {}
    for (mode, name, variant, as_sent, _, _, runs), one in zip(rows, parted, strict=True):
        into = variants[one.variant].pk if one.parts else named_rows.PLAIN
        place = _Place(modes[str(one.mode)].pk, into, _kept(name, as_sent, one))
        if (place.mode, place.variant) != (mode, variant):
            found |= dict.fromkeys(runs, place)
    return found


def _rules_of(labs: Iterable[int]) -> Mapping[int, Sequence[PartRule]]:
    """The rules for the runs of each lab (id), in the order in which they are asked."""
    own: defaultdict[int | None, list[PartRule]] = defaultdict(list)
    for row in LabelRule.objects.filter(is_active=True).order_by("order", "pk"):
        own[row.lab_id].append(row.rule())
    return {lab: [*own[lab], *own[None]] for lab in labs}


def _by_rules(row: tuple[Any, ...], rules: Mapping[int, Sequence[PartRule]]) -> ModeAndVariant:
    """Mode and variant of the runs of a row, by what is kept of their documents."""
    _, name, _, as_sent, image, lab, _ = row
    sent = json.loads(as_sent) if as_sent else {"mode": name, "variant": []}
    parts = map(VariantPart.from_data, sent["variant"])
    return read_options(ModeName.parse(sent["mode"]), rules[lab], image=image, parts=parts)


def _kept(name: str, as_sent: str | None, found: ModeAndVariant) -> dict[str, Any] | None:
    sent: dict[str, Any] = json.loads(as_sent) if as_sent else {"mode": name, "variant": []}
    is_as_filed = sent["mode"] == str(found.mode) and not sent["variant"]
    return None if is_as_filed else sent


def _left(places: Mapping[int, _Place]) -> tuple[set[int], set[int]]:
    """The modes and the variants (ids) that the runs are filed under so far."""
    statement = "SELECT DISTINCT mode_id, variant_id FROM results_run WHERE id = ANY(%s)"
    rows = rows_of(statement, [list(places)])
    return {mode for mode, _ in rows}, {variant for _, variant in rows if variant is not None}


def _machines_restated(places: Mapping[int, _Place]) -> set[int]:
    """Those whose facts change with the options of their runs."""
    rows = Run.objects.filter(pk__in=list(places)).order_by().values_list("pk", "hardware")
    return machines_restated({pk: (hardware, places[pk].mode) for pk, hardware in rows})


def _targets(places: Mapping[int, _Place]) -> dict[RunSeries, named_rows.SeriesKey]:
    """The series that each measurement of the runs belongs to."""
    rows = Measurement.objects.filter(run__in=list(places)).order_by("pk")
    parts = ("run_id", "series_id", "series__tree_id", "series__hardware_id", "series__metric_id")
    return {
        (run, series): (tree, hardware, places[run].mode, metric, places[run].variant)
        for run, series, tree, hardware, metric in rows.values_list(*parts)
    }


def _file(places: Mapping[int, _Place]) -> None:
    rows = [
        {
            "run": run,
            "mode": place.mode,
            "variant": place.variant or None,
            "as_sent": place.as_sent,
        }
        for run, place in places.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(FILE, [json.dumps(rows)])
        cursor.execute(FILE_ALIASED, [list(places), [place.mode for place in places.values()]])
