"""What runs were sent as that aliases file under other names."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from webapp.results.models import AliasedRun, Run
from webapp.results.services.bulk import insert_rows


class Named(NamedTuple):
    """Hardware and mode, by their ids."""

    hardware: int
    mode: int


def names_as_sent(run: Run) -> AliasedRun | Run:
    """What bears the hardware and the mode that ``run`` was sent with; its `aliased` is loaded."""
    aliased: AliasedRun | None = getattr(run, "aliased", None)
    return aliased or run


def note_names(sent: Mapping[int, Named], *, of: Collection[int] = ()) -> None:
    """Keep what runs (ids) were ``sent`` as that are filed under other names; of all others among
    ``of`` nothing is kept: they are filed as they were sent.
    """
    if of:
        AliasedRun.objects.filter(run__in=list(of)).delete()
    insert_rows(
        AliasedRun,
        [
            {"run_id": pk, "hardware_id": names.hardware, "mode_id": names.mode}
            for pk, names in sent.items()
        ],
        unique=("run_id",),
    )
