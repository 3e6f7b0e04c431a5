"""File stored runs under the names that those they were sent with stand for.

What a run is filed as is a function of what it was sent as, of where it lies and of the aliases
that hold, so it is found anew whenever one of these changes: an alias is made or taken back, the
run is filed at another commit, a mode or hardware is merged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from webapp.results.aliases import Alias, meant
from webapp.results.models import Measurement, Mode, NameAlias, Run, Series
from webapp.results.modes import ModeName
from webapp.results.services.aliased_runs import Named, names_as_sent, note_names
from webapp.results.services.matching import chunks
from webapp.results.services.moving import key_of, move_to_series
from webapp.results.services.names_in_force import aliases_in_force, filing_of
from webapp.results.services.pooling import mark_dirty
from webapp.results.services.resolving import SeriesKey, modes_named

Meaning = tuple[int, ModeName]
"""Hardware (id) and mode that a run means."""


@dataclass(frozen=True, slots=True)
class Move:
    """A run (id) that is filed elsewhere under the aliases than it is now: the present hardware and
    mode, those it was sent with, and what these stand for.
    """

    run: int
    present: Named
    sent: Named
    mode: Mode
    meaning: Meaning


def moves_of(runs: QuerySet[Run], aliases: Sequence[Alias]) -> Iterator[Move]:
    """Which of ``runs``, all of one lab, ``aliases`` file elsewhere than they lie now."""
    for chunk in chunks(list(runs.order_by("pk").values_list("pk", flat=True))):
        rows = Run.objects.filter(pk__in=chunk).order_by("pk").defer("facts", "sources", "warnings")
        named = rows.select_related(
            "hardware", "mode", "revision", "aliased__hardware", "aliased__mode"
        )
        for row in named:
            as_sent = names_as_sent(row)
            filing = filing_of(
                tree=row.revision.tree_id,
                position=row.revision.position,
                evidence=row.evidence,
                session=row.session,
            )
            found = meant(as_sent.hardware.pk, as_sent.mode.parts, filing, aliases)
            if found != (row.hardware_id, row.mode.parts):
                yield Move(
                    run=row.pk,
                    present=Named(row.hardware_id, row.mode_id),
                    sent=Named(as_sent.hardware.pk, as_sent.mode.pk),
                    mode=row.mode,
                    meaning=found,
                )


def file_by_names(runs: Iterable[int]) -> int:
    """File stored runs (ids) of any lab by the aliases that hold; how many moved.

    One statement where there is no alias.
    """
    labs = set(NameAlias.objects.in_force().order_by().values_list("lab", flat=True).distinct())
    moved = 0
    ids = list(runs) if labs else []
    for lab in sorted(labs):
        its = Run.objects.filter(pk__in=ids, hardware__lab=lab)
        names = _targets(list(moves_of(its, aliases_in_force(lab))))
        if names:
            move_to_series(names)
            moved += len(names)
    return moved


def move_whole_series(moves: Sequence[Move]) -> list[tuple[Series, Series]]:
    """Let all ``moves`` happen. The caller reshapes: nobody else writes.

    A series all of whose runs go to one that is not there yet is that one from now on, with
    everything that hangs on it. Returns those all of whose runs went to one that was there, each
    with that one: they are empty now.
    """
    names = _targets(moves)
    if not names:
        return []
    joined = [(series, key) for series, key in _whole(names) if not _renamed(series, key)]
    move_to_series(names)
    return [(series, _series_at(key)) for series, key in joined]


def _targets(moves: Sequence[Move]) -> dict[int, Named]:
    """Run → the hardware and mode (ids) it goes to; what it was sent as is kept."""
    if not moves:
        return {}
    modes = modes_named(mode for _, mode in (one.meaning for one in moves))
    names = {one.run: Named(one.meaning[0], modes[str(one.meaning[1])].pk) for one in moves}
    sent = {one.run: one.sent for one in moves if names[one.run] != one.sent}
    note_names(sent, of=names)
    present = {one.run: one.present for one in moves}
    return {run: target for run, target in names.items() if target != present[run]}


def _whole(names: Mapping[int, Named]) -> list[tuple[Series, SeriesKey]]:
    """The series all of whose measurements go to one other, with what that one is about."""
    going: dict[int, set[SeriesKey]] = {}
    counts: dict[int, int] = {}
    series: dict[int, Series] = {}
    for one in Measurement.objects.filter(run__in=list(names)).select_related("series"):
        series[one.series_id] = one.series
        counts[one.series_id] = counts.get(one.series_id, 0) + 1
        going.setdefault(one.series_id, set()).add(
            key_of(one, names[one.run_id], one.series.variant_id)
        )
    held = Series.objects.filter(pk__in=list(series)).annotate(n=Count("measurements"))
    whole = [pk for pk, n in held.order_by("pk").values_list("pk", "n") if n == counts[pk]]
    return [(series[pk], key) for pk in whole if len(going[pk]) == 1 for key in going[pk]]


def _renamed(series: Series, key: SeriesKey) -> bool:
    """Let ``series`` be about ``key``, unless another one is."""
    if Series.objects.filter(_about(key)).exists():
        return False
    Series.objects.filter(pk=series.pk).update(hardware=key[1], mode=key[2])
    mark_dirty({series.pk: 0})
    return True


def _series_at(key: SeriesKey) -> Series:
    return Series.objects.get(_about(key))


def _about(key: SeriesKey) -> Q:
    tree, hardware, mode, metric, variant = key
    return Q(tree=tree, hardware=hardware, mode=mode, metric=metric, variant=variant or None)
