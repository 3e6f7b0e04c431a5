"""Join what turned out to be one: hardware, modes, revisions that go by two names.

Series that become one are joined: their measurements are pooled anew, and what was concluded is
concluded anew. The name of what goes stays as an alias, so later uploads under it land right.
"""

from collections.abc import Callable

from django.db import transaction
from django.db.models import ForeignObjectRel, Q

from webapp.results.errors import Problem, Unprocessable
from webapp.results.models import (
    Hardware,
    HardwareAlias,
    Measurement,
    Mode,
    ModeAlias,
    Point,
    Revision,
    RevisionAlias,
    Run,
    Series,
)
from webapp.results.services.following import move_followers
from webapp.results.services.names import forget_names
from webapp.results.services.pooling import mark_dirty, refresh_points
from webapp.results.services.reshaping import begin_reshaping
from webapp.results.services.subjects import lock_series_ids

Mover = Callable[[Revision, Revision], None]
_movers: list[Mover] = []


def before_revisions_merge(mover: Mover) -> Mover:
    """Have ``mover(source, into)`` called before ``source`` goes, in the same transaction.

    What the apps above say about a revision, they move themselves: this one does not know them.
    """
    _movers.append(mover)
    return mover


@transaction.atomic
def merge_hardware(*, source: Hardware, into: Hardware) -> None:
    """Everything measured on ``source`` counts as measured on ``into``; ``source`` goes.

    Raises:
        Unprocessable: the two are one, or belong to two labs.
    """
    _refuse_self(source.pk, into.pk)
    if source.lab_id != into.lab_id:
        raise Unprocessable([Problem("into", f"{into} belongs to another lab than {source}")])
    begin_reshaping()
    source.refresh_from_db()
    for series in _locked(Q(hardware__in=[source.pk, into.pk])):
        if series.hardware_id == source.pk:
            _move_series(series, hardware_id=into.pk, mode_id=series.mode_id)
    _hand_over(source, into)
    name = source.name
    source.delete()
    HardwareAlias.objects.create(name=name, hardware=into)
    transaction.on_commit(forget_names)


@transaction.atomic
def merge_modes(*, source: Mode, into: Mode) -> None:
    """Everything measured in ``source`` counts as measured in ``into``; ``source`` goes.

    Raises:
        Unprocessable: the two are one.
    """
    _refuse_self(source.pk, into.pk)
    begin_reshaping()
    source.refresh_from_db()
    for series in _locked(Q(mode__in=[source.pk, into.pk])):
        if series.mode_id == source.pk:
            _move_series(series, hardware_id=series.hardware_id, mode_id=into.pk)
    _hand_over(source, into)
    name = source.name
    source.delete()
    ModeAlias.objects.create(name=name, mode=into)
    transaction.on_commit(forget_names)


@transaction.atomic
def merge_revisions(*, source: Revision, into: Revision) -> None:
    """``source`` was the commit ``into`` under another id: its runs and names go over, and what
    was concluded about it.

    ``into`` keeps its position.

    Raises:
        Unprocessable: the two are one, or on two trees.
    """
    _refuse_self(source.pk, into.pk)
    if source.tree_id != into.tree_id:
        raise Unprocessable([Problem("into", f"{into} is on another tree than {source}")])
    begin_reshaping()
    source.refresh_from_db()
    into.refresh_from_db()
    measured = lock_series_ids(pk__in=_measured_at(source))
    Run.objects.filter(revision=source).update(revision=into)
    Point.objects.filter(revision=source).delete()
    refresh_points({(series, into.pk) for series in measured}, {into.pk: into.position})
    mark_dirty(dict.fromkeys(measured, min(source.position, into.position)))
    RevisionAlias.objects.filter(revision=source).update(revision=into)
    for mover in _movers:
        mover(source, into)
    move_followers(source=source, into=into)
    source.delete()


def _measured_at(revision: Revision) -> list[int]:
    """The series (ids) measured there. A revision that waits for its place has no points."""
    found = Measurement.objects.filter(run__revision=revision)
    return list(found.order_by().values_list("series", flat=True).distinct())


def _refuse_self(source: int, into: int) -> None:
    if source == into:
        raise Unprocessable([Problem("into", "choose another one than itself")])


def _hand_over(source: Hardware | Mode, into: Hardware | Mode) -> None:
    """What names ``source`` names ``into``: runs, aliases, and what layers above refer to it.

    Of what each can have but one, that of ``into`` stays.
    """
    for relation in source._meta.get_fields(include_hidden=True):  # noqa: SLF001
        if not isinstance(relation, ForeignObjectRel) or relation.related_model is Series:
            continue
        rows = relation.related_model._default_manager  # noqa: SLF001
        field = relation.field.name
        if relation.one_to_many or not rows.filter(**{field: into}).exists():
            rows.filter(**{field: source}).update(**{field: into})


def _locked(about: Q) -> list[Series]:
    return list(Series.objects.filter(about).order_by("pk").select_for_update())


def _move_series(series: Series, *, hardware_id: int, mode_id: int) -> None:
    """Let ``series`` be about other hardware or another mode, joining one that is already."""
    target = Series.objects.filter(
        tree_id=series.tree_id,
        hardware_id=hardware_id,
        mode_id=mode_id,
        metric_id=series.metric_id,
    ).first()
    if target is None:
        Series.objects.filter(pk=series.pk).update(hardware_id=hardware_id, mode_id=mode_id)
        mark_dirty({series.pk: 0})
    else:
        _join(series, target)


def _join(series: Series, target: Series) -> None:
    measured = Measurement.objects.filter(series=series)
    places = dict(measured.values_list("run__revision_id", "run__revision__position"))
    measured.update(series=target)
    refresh_points({(target.pk, revision) for revision in places}, places)
    _keep_direction(series, target)
    move_followers(source=series, into=target)
    series.delete()


def _keep_direction(series: Series, target: Series) -> None:
    """The direction set for ``series`` holds on, unless another one is set for ``target``."""
    if series.own_better and not target.own_better:
        Series.objects.filter(pk=target.pk).update(own_better=series.own_better)
        mark_dirty({target.pk: 0})
