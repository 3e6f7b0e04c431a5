"""Acts upon what runs are about: hardware, metrics, series, trees and what labs have of them; and
what becomes of two hardware, modes or revisions that turn out to be one.

The steps of a merge are taken by `webapp.merging` between those of the other rooms, in one
transaction. The name of what goes stays as an alias, so later uploads under it land right.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import ForeignKey, ForeignObjectRel, Model, OneToOneRel, Q

from webapp.labs.models import Lab
from webapp.results import models
from webapp.results.bounds import HALVES, HARDWARE_MAX, INVISIBLE, wrong_with_name
from webapp.results.documents import Forbidden, Problem, Unprocessable
from webapp.results.services.database import begin_reshaping, begin_writing, lock_series_ids
from webapp.results.services.facts import call_by_facts
from webapp.results.services.named_rows import forget_names
from webapp.results.services.points import mark_dirty, refresh_points
from webapp.results.spellings import check_source_template

_PART = rf"[^\s:?#&/{INVISIBLE}{HALVES}]+"
HARDWARE_NAME = re.compile(rf"(?=.{{1,{HARDWARE_MAX}}}\Z){_PART}(/{_PART})*")
RECOUNT = """
INSERT INTO labs_labquota AS quota (lab_id, day, runs, trees, series, profiles)
SELECT lab.id, (now() AT TIME ZONE 'UTC')::date, 0, 0,
       (SELECT count(*) FROM results_series AS series
          JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
          JOIN results_metric AS metric ON metric.id = series.metric_id
         WHERE hardware.lab_id = lab.id AND metric.of_id IS NULL),
       (SELECT coalesce(sum(ceil((octet_length(profile.calls) + 4 * cardinality(profile.functions))
                                 / 1000.0)), 0)
          FROM results_profile AS profile
          JOIN results_run AS run ON run.id = profile.run_id
          JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
         WHERE hardware.lab_id = lab.id)
  FROM labs_lab AS lab ORDER BY lab.id
    ON CONFLICT (lab_id) DO UPDATE SET series = EXCLUDED.series, profiles = EXCLUDED.profiles
"""

Subject = models.Hardware | models.Mode


@transaction.atomic
def register_hardware(
    *, lab: Lab, name: str, description: str = "", facts: dict[str, Any] | None = None
) -> tuple[models.Hardware, bool]:
    """The hardware ``name`` of ``lab``, and whether it is new; an old one is left as it is. Raises
    Forbidden: it belongs to another lab.
    """
    alias = models.HardwareAlias.objects.filter(name=name).select_related("hardware__lab").first()
    if alias is not None:
        row, created = alias.hardware, False
    else:
        row, created = models.Hardware.objects.select_related("lab").get_or_create(
            name=name, defaults={"lab": lab, "description": description, "facts": facts or {}}
        )
    if row.lab_id != lab.pk:
        raise Forbidden([Problem("name", f"{name!r} belongs to another lab than this token")])
    return row, created


@transaction.atomic
def rename_hardware(*, hardware: models.Hardware, name: str) -> None:
    """Give ``hardware`` another name; uploads under the former one still arrive. Raises
    Unprocessable: the name is taken, or is no name of hardware.
    """
    begin_reshaping()
    hardware.refresh_from_db()
    if hardware.name == name:
        return
    check_hardware_name(name=name, hardware=hardware)
    models.HardwareAlias.objects.filter(name=name, hardware=hardware).delete()
    models.HardwareAlias.objects.create(name=hardware.name, hardware=hardware)
    hardware.name = name
    hardware.save(update_fields=["name"])
    call_by_facts([hardware.pk])
    # The name is part of what is shown of a series, hence of its version.
    mark_dirty(dict.fromkeys(lock_series_ids(hardware=hardware.pk), 0))
    transaction.on_commit(forget_names)


def check_hardware_name(*, name: str, hardware: models.Hardware) -> None:
    """Raise Unprocessable unless ``hardware`` (or new hardware, unsaved) may be called so."""
    message = wrong_with_name(name)
    if not HARDWARE_NAME.fullmatch(name):
        message = f"{name!r} is no name; write machine/nic, without spaces, :, ?, # and &"
    if message:
        raise Unprocessable([Problem("name", message)])
    now = models.Hardware.objects.filter(name=name).exclude(pk=hardware.pk)
    former = models.HardwareAlias.objects.filter(name=name).exclude(hardware_id=hardware.pk)
    if now.exists() or former.exists():
        raise Unprocessable([Problem("name", f"{name!r} is taken; merge the two instead")])


@transaction.atomic
def change_metric(*, metric: models.Metric, unit: str, better: str) -> None:
    """Decide unit and direction; the stored numbers stay as they are, and every series of the
    metric is analysed anew. What options cost in it has the same direction. Raises Unprocessable:
    it is what an option costs in another metric.
    """
    if metric.is_cost:
        message = f"{metric} follows from {metric.of}: change that metric instead"
        raise Unprocessable([Problem("better", message)])
    begin_reshaping()
    models.Metric.objects.filter(pk=metric.pk).update(unit=unit, better=better)
    models.Metric.objects.filter(of=metric.pk).update(better=better)
    series = lock_series_ids(
        metric__in=models.Metric.objects.filter(Q(pk=metric.pk) | Q(of=metric.pk))
    )
    if series:
        mark_dirty(dict.fromkeys(series, 0))
    transaction.on_commit(forget_names)


@transaction.atomic
def set_direction(*, series: models.Series, better: str) -> None:
    """Say which way is better in ``series``, empty meaning that of its metric; it is analysed anew,
    and what is concluded turns round. What was stated before, in mails, stays as it was.
    """
    begin_writing()
    lock_series_ids(pk=series.pk)
    models.Series.objects.filter(pk=series.pk).update(own_better=better)
    mark_dirty({series.pk: 0})


@transaction.atomic
def analyse_again(*, series: Iterable[int]) -> int:
    """Mark series (ids) dirty from their first point on; the number of those there are.

    The next sweep finds them.
    """
    begin_writing()
    found = lock_series_ids(pk__in=list(series))
    if found:
        mark_dirty(dict.fromkeys(found, 0))
    return len(found)


def set_source_template(*, tree: str, template: str) -> models.Tree:
    """Store the template of ``tree`` (by name); empty: its commits link nowhere.

    Raises Unprocessable for an unknown tree, and for what is no template, with the remedy.
    """
    found = models.Tree.objects.filter(name=tree).first()
    if found is None:
        raise Unprocessable([Problem("tree", f"there is no tree {tree!r}")])
    if template:
        try:
            check_source_template(template)
        except ValidationError as error:
            reason = " ".join(error.messages)
            raise Unprocessable([Problem("source_template", reason)]) from error
    found.source_template = template
    found.save(update_fields=["source_template"])
    return found


def recount_quotas() -> None:
    """Count the series and profiles of every lab: merges, moves and pruning change them."""
    with connection.cursor() as cursor:
        cursor.execute(RECOUNT)


def begin_merge(source: Subject | models.Revision, into: Subject | models.Revision) -> None:
    """Nobody else reshapes or uploads until the transaction ends, and both rows are fresh. Raises
    Unprocessable: the two are one, of two labs, or on two trees.
    """
    if source.pk == into.pk:
        raise _refused("choose another one than itself")
    if (
        isinstance(source, models.Hardware)
        and isinstance(into, models.Hardware)
        and source.lab_id != into.lab_id
    ):
        raise _refused(f"{into} belongs to another lab than {source}")
    if (
        isinstance(source, models.Revision)
        and isinstance(into, models.Revision)
        and source.tree_id != into.tree_id
    ):
        raise _refused(f"{into} is on another tree than {source}")
    begin_reshaping()
    source.refresh_from_db()
    into.refresh_from_db()


def move_series(source: Subject, into: Subject) -> list[tuple[models.Series, models.Series]]:
    """Let the series of ``source`` be about ``into``.

    Returns those that another one is about already, each with that one, which has its measurements
    now: the first of each pair goes when everything that points at it was handed over.
    """
    field = "hardware" if isinstance(source, models.Hardware) else "mode"
    about = Q(**{f"{field}__in": [source.pk, into.pk]})
    series = list(models.Series.objects.filter(about).order_by("pk").select_for_update())
    joined = []
    for one in series:
        if getattr(one, f"{field}_id") == source.pk:
            setattr(one, field, into)
            if target := _twin(one):
                _move_measurements(one, target)
                joined.append((one, target))
            else:
                one.save(update_fields=[field])
                mark_dirty({one.pk: 0})
    return joined


def end_subject(source: Subject, into: Subject) -> None:
    """``source`` goes, and its name is one of ``into``."""
    name = source.name
    source.delete()
    if isinstance(into, models.Hardware):
        models.HardwareAlias.objects.create(name=name, hardware=into)
    else:
        models.ModeAlias.objects.create(name=name, mode=into)
    transaction.on_commit(forget_names)


def move_runs(source: models.Revision, into: models.Revision) -> None:
    """The runs of ``source`` are of ``into``, which keeps its position; points are pooled anew."""
    measured = lock_series_ids(pk__in=_measured_at(source))
    models.Run.objects.filter(revision=source).update(revision=into)
    models.Point.objects.filter(revision=source).delete()
    refresh_points({(series, into.pk) for series in measured}, {into.pk: into.position})
    mark_dirty(dict.fromkeys(measured, min(source.position, into.position)))


def hand_over(source: Model, into: Model, *, goes: Collection[ForeignKey[Any, Any]] = ()) -> None:
    """Let every row of every room that points at ``source`` point at ``into``.

    Of what each can have but one, that of ``into`` stays. Rows that point by a field of ``goes``
    are left to go with ``source``. Found from the models, so that no room is forgotten.
    """
    for relation in relations_to(type(source)):
        if relation.field in goes:
            continue
        rows: Any = relation.related_model._default_manager  # noqa: SLF001 (documented)
        field = relation.field.name
        if not isinstance(relation, OneToOneRel) or not rows.filter(**{field: into}).exists():
            rows.filter(**{field: source}).update(**{field: into})


def relations_to(model: type[Model]) -> list[ForeignObjectRel]:
    """The foreign keys, of whatever room, that point at ``model``."""
    found = model._meta.get_fields(include_hidden=True)  # noqa: SLF001 (documented)
    return [one for one in found if isinstance(one, ForeignObjectRel) and not one.many_to_many]


def _measured_at(revision: models.Revision) -> list[int]:
    """The series (ids) measured there. A revision that waits for its place has no points."""
    found = models.Measurement.objects.filter(run__revision=revision)
    return list(found.order_by().values_list("series", flat=True).distinct())


def _refused(message: str) -> Unprocessable:
    return Unprocessable([Problem("into", message)])


def _twin(series: models.Series) -> models.Series | None:
    """Another series that is about the same."""
    of_variant = Q(variant=series.variant_id) if series.variant_id else Q(variant=None)
    return (
        models.Series.objects.filter(
            of_variant,
            tree_id=series.tree_id,
            hardware_id=series.hardware_id,
            mode_id=series.mode_id,
            metric_id=series.metric_id,
        )
        .exclude(pk=series.pk)
        .first()
    )


def _move_measurements(series: models.Series, target: models.Series) -> None:
    measured = models.Measurement.objects.filter(series=series)
    positions = dict(measured.values_list("run__revision_id", "run__revision__position"))
    measured.update(series=target)
    refresh_points({(target.pk, revision) for revision in positions}, positions)
    # The direction set for the one holds on, unless another one is set for the other.
    if series.own_better and not target.own_better:
        models.Series.objects.filter(pk=target.pk).update(own_better=series.own_better)
        mark_dirty({target.pk: 0})
