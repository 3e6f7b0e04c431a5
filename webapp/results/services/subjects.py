"""Writes to hardware and modes: register, rename, merge."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Lab
from webapp.results.errors import Forbidden, Problem, Unprocessable
from webapp.results.models import (
    Hardware,
    HardwareAlias,
    Measurement,
    Mode,
    ModeAlias,
    Run,
    Series,
)
from webapp.results.services.pooling import refresh_points


@transaction.atomic
def register_hardware(
    *, lab: Lab, name: str, description: str = "", facts: dict[str, Any] | None = None
) -> tuple[Hardware, bool]:
    """The hardware ``name`` of ``lab``, and whether it is new; an old one is left as it is.

    Raises:
        Forbidden: it belongs to another lab.
    """
    alias = HardwareAlias.objects.filter(name=name).select_related("hardware__lab").first()
    if alias is not None:
        row, created = alias.hardware, False
    else:
        row, created = Hardware.objects.select_related("lab").get_or_create(
            name=name,
            defaults={"lab": lab, "description": description, "facts": facts or {}},
        )
    if row.lab_id != lab.pk:
        raise Forbidden([Problem("name", f"{name!r} belongs to another lab than this token")])
    return row, created


@transaction.atomic
def rename_hardware(*, hardware: Hardware, name: str) -> None:
    """Give ``hardware`` another name; uploads under the former one still arrive.

    Raises:
        Unprocessable: the name is taken.
    """
    if hardware.name == name:
        return
    HardwareAlias.objects.filter(name=name, hardware=hardware).delete()
    taken = Hardware.objects.filter(name=name).exists()
    if taken or HardwareAlias.objects.filter(name=name).exists():
        raise Unprocessable([Problem("name", f"{name!r} is taken; merge the two instead")])
    HardwareAlias.objects.create(name=hardware.name, hardware=hardware)
    hardware.name = name
    hardware.save(update_fields=["name"])


@transaction.atomic
def merge_hardware(*, source: Hardware, into: Hardware) -> None:
    """Everything measured on ``source`` counts as measured on ``into``; ``source`` goes.

    Raises:
        Unprocessable: the two are one, or belong to two labs.
    """
    _refuse_self(source.pk, into.pk)
    if source.lab_id != into.lab_id:
        raise Unprocessable([Problem("hardware", "the two belong to different labs")])
    moving = _locked(Series.objects.filter(hardware__in=[source.pk, into.pk]))
    for series in [one for one in moving if one.hardware_id == source.pk]:
        _move_series(series, hardware_id=into.pk, mode_id=series.mode_id)
    Run.objects.filter(hardware=source).update(hardware=into)
    HardwareAlias.objects.filter(hardware=source).update(hardware=into)
    name = source.name
    source.delete()
    HardwareAlias.objects.create(name=name, hardware=into)


@transaction.atomic
def merge_modes(*, source: Mode, into: Mode) -> None:
    """Everything measured in ``source`` counts as measured in ``into``; ``source`` goes.

    Raises:
        Unprocessable: the two are one.
    """
    _refuse_self(source.pk, into.pk)
    moving = _locked(Series.objects.filter(mode__in=[source.pk, into.pk]))
    for series in [one for one in moving if one.mode_id == source.pk]:
        _move_series(series, hardware_id=series.hardware_id, mode_id=into.pk)
    Run.objects.filter(mode=source).update(mode=into)
    ModeAlias.objects.filter(mode=source).update(mode=into)
    name = source.name
    source.delete()
    ModeAlias.objects.create(name=name, mode=into)


def _refuse_self(source: int, into: int) -> None:
    if source == into:
        raise Unprocessable([Problem("into", "choose another one than itself")])


def _locked(series: Any) -> list[Series]:
    return list(series.order_by("pk").select_for_update())


def _move_series(series: Series, *, hardware_id: int, mode_id: int) -> None:
    """Let ``series`` be about other hardware or another mode, joining one that exists already."""
    target, _ = Series.objects.get_or_create(
        tree_id=series.tree_id,
        hardware_id=hardware_id,
        mode_id=mode_id,
        metric_id=series.metric_id,
        defaults={
            "version": series.version + 1,
            "dirty_from": 0,
            "dirty_since": timezone.now(),
        },
    )
    places = list(
        Measurement.objects.filter(series=series).values_list(
            "run__revision_id", "run__revision__position"
        )
    )
    Measurement.objects.filter(series=series).update(series=target)
    refresh_points({(target.pk, revision) for revision, _ in places}, dict(places))
    series.delete()
