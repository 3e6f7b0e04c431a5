"""What a lab's names stand for: aliases, where they hold, and stored runs filed by them.

What a run is filed as is a function of what it was sent as, of where it lies and of the aliases
that hold, so it is found anew whenever one of these changes: an alias is made or taken back, the
run is filed at another commit, a mode or hardware is merged.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from django.db.models import QuerySet

from webapp.results import models
from webapp.results.queries import rows_of
from webapp.results.services.database import chunks, insert_rows
from webapp.results.services.facts import machines_restated, rebuild_facts
from webapp.results.services.named_rows import HardwareAndMode, hardware_named, modes_named
from webapp.results.services.refiling import file_runs, key_of, move_series_or_runs, move_to_series
from webapp.results.spellings import ModeName

IN_FORCE = """
SELECT alias.id, alias.kind, alias.name, alias.means,
       alias.tree_id, first.position, last.position, alias.directory
  FROM results_namealias AS alias
  LEFT JOIN results_revision AS first ON first.id = alias.first_id
  LEFT JOIN results_revision AS last ON last.id = alias.last_id
 WHERE alias.lab_id = %s AND alias.undone_at IS NULL
 ORDER BY alias.id
"""
Kind = Literal["workload", "traffic", "option", "hardware"]
Meaning = tuple[int, ModeName]
"""Hardware (id) and mode that a run means."""
NEWEST = 2**63
"""The number of an alias that is not stored yet: it counts as the one made last."""


@dataclass(frozen=True, slots=True)
class Filing:
    """Where a run lies: its tree (id), the position of its revision (None: it has none yet), and
    what its result directory and its session are called.
    """

    tree: int
    position: int | None
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an alias holds; None and "" leave it open. In ``directory`` ``*`` is anything."""

    tree: int | None = None
    first: int | None = None
    last: int | None = None
    directory: str = ""

    @property
    def has_range(self) -> bool:
        """Whether the place of a revision decides."""
        return self.first is not None or self.last is not None

    def contains(self, filing: Filing) -> bool:
        """Whether a run that lies there is meant."""
        if self.tree is not None and filing.tree != self.tree:
            return False
        if self.has_range:
            if filing.position is None:
                return False
            if self.first is not None and filing.position < self.first:
                return False
            if self.last is not None and filing.position > self.last:
                return False
        return not self.directory or any(
            fnmatchcase(name, self.directory) for name in filing.called if name
        )

    def may_meet(self, other: "Scope") -> bool:
        """Whether some run may lie in both. Two patterns are taken to meet."""
        if self.tree is None or other.tree is None:
            return True
        if self.tree != other.tree:
            return False
        return not (_before(self.last, other.first) or _before(other.last, self.first))


@dataclass(frozen=True, slots=True)
class Alias:
    """``name`` stands for ``means`` within ``scope``. Those of hardware are ids as text."""

    number: int
    kind: Kind
    name: str
    means: str
    scope: Scope

    @property
    def particular(self) -> tuple[int, bool, bool, int]:
        """How narrowly it holds: of several that fit, the greatest counts."""
        scope = self.scope
        return len(scope.directory), scope.has_range, scope.tree is not None, self.number


def meant(
    hardware: int, mode: ModeName, filing: Filing, aliases: Iterable[Alias]
) -> tuple[int, ModeName]:
    """The hardware (id) and the mode that a run means which was sent as of these.

    Each part is looked up once: what an alias gives is not looked up again.
    """
    fitting = sorted(
        (one for one in aliases if one.scope.contains(filing)), key=lambda one: one.particular
    )
    if not fitting:
        return hardware, mode
    found = {(one.kind, one.name): one.means for one in fitting}
    traffic = mode.traffic
    return int(found.get(("hardware", str(hardware)), hardware)), ModeName.of(
        found.get(("workload", mode.workload), mode.workload),
        found.get(("traffic", traffic), traffic) if traffic else None,
        [found.get(("option", option), option) for option in mode.options],
    )


def wrong_with(new: Alias, others: Sequence[Alias]) -> str:
    """Why ``new`` cannot be beside ``others``: a repetition, a chain or a circle. Empty: it can."""
    for one in others:
        if one.kind != new.kind or not one.scope.may_meet(new.scope):
            continue
        if one.name == new.name and one.scope == new.scope:
            return f"alias {one.number} defines what this name stands for there; undo it first"
        if one.name == new.means and one.means == new.name:
            return f"alias {one.number} is the opposite: the two would go in a circle"
        if one.name == new.means:
            return (
                f"alias {one.number} lets that name stand for another one: name what is meant in "
                "the end, or undo it first"
            )
        if one.means == new.name:
            return (
                f"alias {one.number} lets another name stand for this one, and aliases do not go "
                "on from one to the next: undo it first, then make both anew"
            )
    return ""


@dataclass(frozen=True, slots=True)
class RunMove:
    """A run (id) that is filed elsewhere under the aliases than it is now: the present hardware and
    mode, those it was sent with, and what these stand for.
    """

    run: int
    present: HardwareAndMode
    sent: HardwareAndMode
    mode: models.Mode
    meaning: Meaning


def aliases_in_force(lab: int) -> list[Alias]:
    """Aliases in force of a lab (an id), hardware by its id. One statement; two more where there
    are aliases of hardware, which is looked up each time because it may be renamed and merged.

    They are not remembered from one upload to the next: a run would be stored under the wrong name.
    """
    rows = rows_of(IN_FORCE, [lab])
    return with_hardware(
        [
            Alias(number, kind, name, means, Scope(tree, first, last, directory))
            for number, kind, name, means, tree, first, last, directory in rows
        ]
    )


def alias_of(row: models.NameAlias) -> Alias:
    """A row, stored or not, by its names as they are written."""
    first, last = (one.position if one else None for one in (row.first, row.last))
    kind: Any = row.kind
    scope = Scope(row.tree_id, first, last, row.directory)
    return Alias(row.pk or NEWEST, kind, row.name, row.means, scope)


def with_hardware(aliases: Sequence[Alias]) -> list[Alias]:
    """Aliases of hardware by ids, of present or former names; without hardware that is gone."""
    named = [one for one in aliases if one.kind == "hardware"]
    if not named:
        return list(aliases)
    ids = {
        name: str(row.pk)
        for name, row in hardware_named({n for one in named for n in (one.name, one.means)}).items()
    }
    found = []
    for one in aliases:
        if one.kind != "hardware":
            found.append(one)
        elif one.name in ids and one.means in ids:
            found.append(replace(one, name=ids[one.name], means=ids[one.means]))
    return found


def names_as_sent(run: models.Run) -> models.AliasedRun | models.Run:
    """What bears the hardware and the mode that ``run`` was sent with; its `aliased` is loaded."""
    aliased: models.AliasedRun | None = getattr(run, "aliased", None)
    return aliased or run


def note_names(sent: Mapping[int, HardwareAndMode], *, of: Collection[int] = ()) -> None:
    """Keep what runs (ids) were ``sent`` as that are filed under other names; of all others among
    ``of`` nothing is kept: they are filed as they were sent.
    """
    if of:
        models.AliasedRun.objects.filter(run__in=list(of)).delete()
    insert_rows(
        models.AliasedRun,
        [
            {"run_id": pk, "hardware_id": names.hardware, "mode_id": names.mode}
            for pk, names in sent.items()
        ],
        unique=("run_id",),
    )


def moves_of(runs: QuerySet[models.Run], aliases: Sequence[Alias]) -> Iterator[RunMove]:
    """Which of ``runs``, all of one lab, ``aliases`` file elsewhere than they lie now."""
    for chunk in chunks(list(runs.order_by("pk").values_list("pk", flat=True))):
        rows = (
            models.Run.objects.filter(pk__in=chunk)
            .order_by("pk")
            .defer("facts", "sources", "warnings")
        )
        named = rows.select_related(
            "hardware", "mode", "revision", "aliased__hardware", "aliased__mode"
        )
        for row in named:
            as_sent = names_as_sent(row)
            filing = _filing_of(
                tree=row.revision.tree_id,
                position=row.revision.position,
                evidence=row.evidence,
                session=row.session,
            )
            found = meant(as_sent.hardware.pk, as_sent.mode.parts, filing, aliases)
            if found != (row.hardware_id, row.mode.parts):
                yield RunMove(
                    run=row.pk,
                    present=HardwareAndMode(row.hardware_id, row.mode_id),
                    sent=HardwareAndMode(as_sent.hardware.pk, as_sent.mode.pk),
                    mode=row.mode,
                    meaning=found,
                )


def file_by_names(runs: Iterable[int]) -> int:
    """File stored runs (ids) of any lab by the aliases that hold; how many moved.

    One statement where there is no alias.
    """
    labs = set(
        models.NameAlias.objects.in_force().order_by().values_list("lab", flat=True).distinct()
    )
    moved = 0
    ids = list(runs) if labs else []
    for lab in sorted(labs):
        its = models.Run.objects.filter(pk__in=ids, hardware__lab=lab)
        names = _targets(list(moves_of(its, aliases_in_force(lab))))
        if names:
            move_to_series(names)
            moved += len(names)
    return moved


def move_whole_series(moves: Sequence[RunMove]) -> list[tuple[models.Series, models.Series]]:
    """Let all ``moves`` happen. The caller reshapes: nobody else writes. Returns series that became
    a part of another one, as `move_series_or_runs`.
    """
    names = _targets(moves)
    if not names:
        return []
    machines = machines_restated(names)
    file_runs(names)
    measured = models.Measurement.objects.filter(run__in=list(names)).select_related("series")
    joined = move_series_or_runs(
        {
            (one.run_id, one.series_id): key_of(one, names[one.run_id], one.series.variant_id)
            for one in measured.order_by("pk")
        }
    )
    for machine in sorted(machines):
        rebuild_facts(machine)
    return joined


def _before(end: int | None, start: int | None) -> bool:
    return end is not None and start is not None and end < start


def _filing_of(
    *, tree: int, position: int, evidence: Mapping[str, Any] | None, session: str
) -> Filing:
    """Where a run lies. ``evidence`` is as it is stored."""
    found = evidence or {}
    called = (found.get("directory", ""), found.get("label", ""), session)
    return Filing(tree, position if position < models.WAITING_FROM else None, called)


def _targets(moves: Sequence[RunMove]) -> dict[int, HardwareAndMode]:
    """Run → the hardware and mode (ids) it goes to; what it was sent as is kept."""
    if not moves:
        return {}
    modes = modes_named(mode for _, mode in (one.meaning for one in moves))
    names = {
        one.run: HardwareAndMode(one.meaning[0], modes[str(one.meaning[1])].pk) for one in moves
    }
    sent = {one.run: one.sent for one in moves if names[one.run] != one.sent}
    note_names(sent, of=names)
    present = {one.run: one.present for one in moves}
    return {run: target for run, target in names.items() if target != present[run]}
