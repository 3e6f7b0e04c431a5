"""Writes to hardware: register, rename."""

import re
from typing import Any

from django.db import transaction

from webapp.labs.models import Lab
from webapp.results.bounds import HALVES, HARDWARE_MAX, INVISIBLE
from webapp.results.errors import Forbidden, Problem, Unprocessable
from webapp.results.models import Hardware, HardwareAlias
from webapp.results.services.facts import call_by_facts
from webapp.results.services.locks import begin_reshaping, lock_series_ids
from webapp.results.services.named_rows import forget_names
from webapp.results.services.points import mark_dirty

_PART = rf"[^\s:?#&/{INVISIBLE}{HALVES}]+"
HARDWARE_NAME = re.compile(rf"(?=.{{1,{HARDWARE_MAX}}}\Z){_PART}(/{_PART})*")


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
        Unprocessable: the name is taken, or is no name of hardware.
    """
    begin_reshaping()
    hardware.refresh_from_db()
    if hardware.name == name:
        return
    check_hardware_name(name=name, hardware=hardware)
    HardwareAlias.objects.filter(name=name, hardware=hardware).delete()
    HardwareAlias.objects.create(name=hardware.name, hardware=hardware)
    hardware.name = name
    hardware.save(update_fields=["name"])
    call_by_facts([hardware.pk])
    # The name is part of what is shown of a series, hence of its version.
    mark_dirty(dict.fromkeys(lock_series_ids(hardware=hardware.pk), 0))
    transaction.on_commit(forget_names)


def check_hardware_name(*, name: str, hardware: Hardware) -> None:
    """Raise Unprocessable unless ``hardware`` (or new hardware, unsaved) may be called so."""
    if not HARDWARE_NAME.fullmatch(name):
        message = f"{name!r} is no name; write machine/nic, without spaces, :, ?, # and &"
        raise Unprocessable([Problem("name", message)])
    now = Hardware.objects.filter(name=name).exclude(pk=hardware.pk)
    former = HardwareAlias.objects.filter(name=name).exclude(hardware_id=hardware.pk)
    if now.exists() or former.exists():
        raise Unprocessable([Problem("name", f"{name!r} is taken; merge the two instead")])
