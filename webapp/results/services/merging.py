"""What results do when two of them turn out to be one: hardware, modes, revisions.

These are steps. `webapp.merging` takes them between those of the other rooms, in one transaction.
The name of what goes stays as an alias, so later uploads under it land right.
"""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import ForeignKey, ForeignObjectRel, Model, OneToOneRel, Q

from webapp.results.documents import Problem, Unprocessable
from webapp.results.models import (
    Hardware,
    HardwareAlias,
    Measurement,
    Mode,
    ModeAlias,
    Point,
    Revision,
    Run,
    Series,
)
from webapp.results.services.locks import begin_reshaping, lock_series_ids
from webapp.results.services.named_rows import forget_names
from webapp.results.services.points import mark_dirty, refresh_points

Subject = Hardware | Mode


def begin_merge(source: Subject | Revision, into: Subject | Revision) -> None:
    """Nobody else reshapes or uploads until the transaction ends, and both rows are fresh.

    Raises:
        Unprocessable: the two are one, of two labs, or on two trees.
    """
    if source.pk == into.pk:
        raise _refused("choose another one than itself")
    if isinstance(source, Hardware) and isinstance(into, Hardware) and source.lab_id != into.lab_id:
        raise _refused(f"{into} belongs to another lab than {source}")
    if (
        isinstance(source, Revision)
        and isinstance(into, Revision)
        and source.tree_id != into.tree_id
    ):
        raise _refused(f"{into} is on another tree than {source}")
    begin_reshaping()
    source.refresh_from_db()
    into.refresh_from_db()


def move_series(source: Subject, into: Subject) -> list[tuple[Series, Series]]:
    """Let the series of ``source`` be about ``into``.

    Returns those that another one is about already, each with that one, which has its measurements
    now: the first of each pair goes when everything that points at it was handed over.
    """
    field = "hardware" if isinstance(source, Hardware) else "mode"
    about = Q(**{f"{field}__in": [source.pk, into.pk]})
    series = list(Series.objects.filter(about).order_by("pk").select_for_update())
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
    if isinstance(into, Hardware):
        HardwareAlias.objects.create(name=name, hardware=into)
    else:
        ModeAlias.objects.create(name=name, mode=into)
    transaction.on_commit(forget_names)


def move_runs(source: Revision, into: Revision) -> None:
    """The runs of ``source`` are of ``into``, which keeps its position; points are pooled anew."""
    measured = lock_series_ids(pk__in=_measured_at(source))
    Run.objects.filter(revision=source).update(revision=into)
    Point.objects.filter(revision=source).delete()
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


def _measured_at(revision: Revision) -> list[int]:
    """The series (ids) measured there. A revision that waits for its place has no points."""
    found = Measurement.objects.filter(run__revision=revision)
    return list(found.order_by().values_list("series", flat=True).distinct())


def _refused(message: str) -> Unprocessable:
    return Unprocessable([Problem("into", message)])


def _twin(series: Series) -> Series | None:
    """Another series that is about the same."""
    of_variant = Q(variant=series.variant_id) if series.variant_id else Q(variant=None)
    return (
        Series.objects.filter(
            of_variant,
            tree_id=series.tree_id,
            hardware_id=series.hardware_id,
            mode_id=series.mode_id,
            metric_id=series.metric_id,
        )
        .exclude(pk=series.pk)
        .first()
    )


def _move_measurements(series: Series, target: Series) -> None:
    measured = Measurement.objects.filter(series=series)
    positions = dict(measured.values_list("run__revision_id", "run__revision__position"))
    measured.update(series=target)
    refresh_points({(target.pk, revision) for revision in positions}, positions)
    # The direction set for the one holds on, unless another one is set for the other.
    if series.own_better and not target.own_better:
        Series.objects.filter(pk=target.pk).update(own_better=series.own_better)
        mark_dirty({target.pk: 0})
