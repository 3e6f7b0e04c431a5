"""Say that a name of a lab stands for another one, look what that would do, and take it back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results import models
from webapp.results.documents import Problem, Unprocessable
from webapp.results.queries import rows_of
from webapp.results.services import aliases
from webapp.results.services.database import begin_reshaping
from webapp.results.services.named_rows import HardwareAndMode, forget_names, hardware_named
from webapp.results.services.revisions import revision_given
from webapp.results.spellings import PART, PART_MAX

EXAMPLES = 20
# Of each pair of modes (with hardware) what was measured of both at one revision, and how far the
# means lie apart.
BESIDE = """
SELECT pair.number, count(DISTINCT point.revision_id),
       (array_agg(100 * (point.mean - target.mean) / abs(target.mean)
                  ORDER BY abs(point.mean - target.mean) / abs(target.mean) DESC))[1]
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
       AS pair (number, hardware, mode, into_hardware, into_mode)
  JOIN results_series AS series ON series.hardware_id = pair.hardware AND series.mode_id = pair.mode
  JOIN results_series AS other
    ON other.hardware_id = pair.into_hardware AND other.mode_id = pair.into_mode
   AND other.tree_id = series.tree_id AND other.metric_id = series.metric_id
  JOIN results_point AS point ON point.series_id = series.id
  JOIN results_point AS target
    ON target.series_id = other.id AND target.revision_id = point.revision_id
   AND target.mean <> 0
 WHERE EXISTS (
       SELECT FROM results_run AS run
        WHERE run.id = ANY(%s) AND run.revision_id = point.revision_id
          AND run.hardware_id = pair.hardware AND run.mode_id = pair.mode)
 GROUP BY pair.number
"""


@dataclass(frozen=True, slots=True)
class AliasNames:
    """An alias by names; empty: left open. ``kind`` is a `NameAlias.Kind`."""

    lab: str
    kind: str
    name: str
    means: str
    tree: str = ""
    first: str = ""
    last: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class Moving:
    """``runs`` of one mode on one hardware that would go to another. ``beside``: how many revisions
    were measured under both; ``apart``: by how many percent the former mean is off there at most.
    """

    hardware: str
    mode: str
    into_hardware: str
    into_mode: str
    runs: int
    beside: int
    apart: float | None


@dataclass(frozen=True, slots=True)
class Preview:
    """How many stored runs an alias would move, and the greatest groups of them."""

    runs: int
    groups: Sequence[Moving]

    @property
    def contradicted(self) -> Sequence[Moving]:
        """Groups of which both names were measured at one revision: two things, as a rule."""
        return [one for one in self.groups if one.beside]


def preview_alias(names: AliasNames) -> Preview:
    """What making the alias would do. Nothing is stored. Raises Unprocessable: as `add_alias`."""
    row = _checked(names)
    held = [*aliases.aliases_in_force(row.lab_id), *aliases.with_hardware([aliases.alias_of(row)])]
    return _seen(list(aliases.moves_of(_candidates(row), held)))


def add_alias(*, names: AliasNames, by: User) -> tuple[models.NameAlias, list[aliases.RunMove]]:
    """Store an alias; the runs that it moves, for `move_whole_series`. Nobody else uploads or
    reshapes until the transaction ends. Raises Unprocessable: a name is not known, or the alias
    repeats, continues or contradicts another.
    """
    begin_reshaping()
    row = _checked(names)
    row.made_by, row.made_at, row.moved = by, timezone.now(), 0
    row.save()
    moves = list(aliases.moves_of(_candidates(row), aliases.aliases_in_force(row.lab_id)))
    row.moved = _seen(moves).runs
    row.save(update_fields=["moved"])
    transaction.on_commit(forget_names)
    return row, moves


def end_alias(*, number: int, by: User) -> tuple[models.NameAlias, list[aliases.RunMove]]:
    """Take an alias back; the runs that go where they belong without it. Idempotent. Raises
    Unprocessable: there is none of this number.
    """
    begin_reshaping()
    row = models.NameAlias.objects.named().filter(pk=number).select_for_update(of=["self"]).first()
    if row is None:
        raise Unprocessable([Problem("number", f"there is no alias {number}")])
    if row.is_undone:
        return row, []
    row.undone_by, row.undone_at = by, timezone.now()
    row.save(update_fields=["undone_by", "undone_at"])
    runs = models.Run.objects.filter(hardware__lab=row.lab_id, aliased__isnull=False)
    moves = list(aliases.moves_of(runs, aliases.aliases_in_force(row.lab_id)))
    transaction.on_commit(forget_names)
    return row, moves


def _checked(names: AliasNames) -> models.NameAlias:
    """An unsaved row."""
    problems: list[Problem] = []
    lab = Lab.objects.filter(name=names.lab).first()
    tree = models.Tree.objects.filter(name=names.tree).first() if names.tree else None
    for field, given, found in (("lab", names.lab, lab), ("tree", names.tree, tree)):
        if found is None and (given or field == "lab"):
            problems.append(Problem(field, f"there is no {field} {given!r}"))
    problems += _wrong_with_names(names)
    first, last = (
        revision_given(tree, end, getattr(names, end), problems) for end in ("first", "last")
    )
    if first and last and first.position > last.position:
        problems.append(Problem("last", f"{last} comes before {first}"))
    if len(names.directory) > models.DIRECTORY_MAX or models.wrong_with_line(names.directory):
        message = f"give a line of at most {models.DIRECTORY_MAX} characters; * stands for anything"
        problems.append(Problem("directory", message))
    if lab is not None and names.kind == models.NameAlias.Kind.HARDWARE:
        problems += _wrong_with_hardware(names, lab)
    if problems or lab is None:
        raise Unprocessable(problems)
    row = models.NameAlias(
        lab=lab,
        kind=names.kind,
        name=names.name,
        means=names.means,
        tree=tree,
        first=first,
        last=last,
        directory=names.directory,
    )
    new = aliases.with_hardware([aliases.alias_of(row)])[0]
    if fault := aliases.wrong_with(new, aliases.aliases_in_force(lab.pk)):
        raise Unprocessable([Problem("means", fault)])
    return row


def _wrong_with_names(names: AliasNames) -> Iterator[Problem]:
    if names.kind not in models.NameAlias.Kind.values:
        yield Problem("kind", f"choose one of {', '.join(models.NameAlias.Kind.values)}")
    elif names.kind != models.NameAlias.Kind.HARDWARE:
        for field, text in (("name", names.name), ("means", names.means)):
            if len(text) > PART_MAX or not PART.fullmatch(text):
                message = f"write 1 to {PART_MAX} characters without spaces, @, +, /, ?, # and &"
                yield Problem(field, message)
        if fault := models.wrong_with_name(names.means):
            yield Problem("means", fault)
    if names.name == names.means:
        yield Problem("means", "name another one than itself")


def _wrong_with_hardware(names: AliasNames, lab: Lab) -> Iterator[Problem]:
    """Both are to be registered: what runs would be filed under is no typing error then."""
    found = hardware_named({names.name, names.means})
    for field, name in (("name", names.name), ("means", names.means)):
        row = found.get(name)
        if row is None or row.lab_id != lab.pk:
            yield Problem(field, f"{lab} has no hardware {name!r}")
    if len({row.pk for row in found.values()}) == 1 and len(found) == 2:
        yield Problem("means", f"both are names of {found[names.means]} already")


def _candidates(row: models.NameAlias) -> QuerySet[models.Run]:
    """The runs of its lab that were sent under its name, as far as the database holds."""
    found = models.Run.objects.filter(hardware__lab=row.lab)
    wanted: Mapping[str, tuple[str, object]] = {
        models.NameAlias.Kind.WORKLOAD: ("mode__workload", row.name),
        models.NameAlias.Kind.TRAFFIC: ("mode__traffic", row.name),
        models.NameAlias.Kind.OPTION: ("mode__options__contains", [row.name]),
        models.NameAlias.Kind.HARDWARE: ("hardware", _hardware(row)),
    }
    field, value = wanted[row.kind]
    found = found.filter(
        Q(aliased__isnull=True, **{field: value}) | Q(**{f"aliased__{field}": value})
    )
    if row.tree:
        found = found.filter(revision__tree=row.tree)
    if row.first:
        found = found.filter(revision__position__gte=row.first.position)
    if row.last:
        found = found.filter(revision__position__lte=row.last.position)
    return found


def _hardware(row: models.NameAlias) -> int:
    if row.kind != models.NameAlias.Kind.HARDWARE:
        return 0
    return hardware_named({row.name})[row.name].pk


def _seen(moves: Sequence[aliases.RunMove]) -> Preview:
    """Moves to what is another mode by now, in groups."""
    names = {str(mode) for _, mode in (one.meaning for one in moves)}
    modes = dict(models.ModeAlias.objects.filter(name__in=names).values_list("name", "mode"))
    modes |= dict(models.Mode.objects.filter(name__in=names).values_list("name", "pk"))
    groups: dict[tuple[HardwareAndMode, int, str], list[aliases.RunMove]] = {}
    for one in moves:
        hardware, mode = one.meaning
        if HardwareAndMode(hardware, modes.get(str(mode), 0)) != one.present:
            groups.setdefault((one.present, hardware, str(mode)), []).append(one)
    shown = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:EXAMPLES]
    beside = _beside([(*key[:2], modes.get(key[2], 0), of) for key, of in shown])
    machines = models.Hardware.objects.in_bulk(
        {pk for (present, into, _), _ in shown for pk in (present.hardware, into)}
    )
    none: tuple[int, float | None] = (0, None)
    return Preview(
        sum(map(len, groups.values())),
        [
            Moving(
                hardware=machines[present.hardware].name,
                mode=of[0].mode.name,
                into_hardware=machines[into].name,
                into_mode=mode,
                runs=len(of),
                beside=beside.get(number, none)[0],
                apart=beside.get(number, none)[1],
            )
            for number, ((present, into, mode), of) in enumerate(shown)
        ],
    )


def _beside(
    groups: Sequence[tuple[HardwareAndMode, int, int, Sequence[aliases.RunMove]]],
) -> dict[int, tuple[int, float | None]]:
    """Index of a group → revisions measured under both names, greatest difference in percent."""
    if not groups:
        return {}
    rows = rows_of(
        BESIDE,
        [
            list(range(len(groups))),
            [present.hardware for present, _, _, _ in groups],
            [present.mode for present, _, _, _ in groups],
            [hardware for _, hardware, _, _ in groups],
            [mode for _, _, mode, _ in groups],
            [one.run for _, _, _, of in groups for one in of],
        ],
    )
    return {number: (count, apart) for number, count, apart in rows}
