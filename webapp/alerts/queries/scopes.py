"""What a threshold can be set for: one tree, one hardware, one mode or one series, and its name."""

from dataclasses import dataclass
from typing import Literal, Self, get_args

from webapp.alerts.models import MinEffect
from webapp.analysis.models import SeriesSettings
from webapp.results.models import Hardware, Mode, Series, Tree

Part = Literal["tree", "hardware", "mode", "series"]
Thing = Tree | Hardware | Mode | Series
NAMED: dict[str, type[Tree | Hardware | Mode]] = {"tree": Tree, "hardware": Hardware, "mode": Mode}
REMEDY = "write it as tree:NAME, hardware:NAME, mode:NAME or series:NUMBER"
ID_MAX = 2**63 - 1


class ScopeError(Exception):
    """The scope is not known; the message says how to write one."""


@dataclass(frozen=True, slots=True)
class Scope:
    """``part`` says which kind of thing ``of`` is."""

    part: Part
    of: Thing

    @classmethod
    def around(cls, thing: Thing) -> Self:
        """The scope of a series, mode, machine or tree. Raises TypeError for anything else."""
        for part in get_args(Part):
            if type(thing).__name__.lower() == part:
                return cls(part, thing)
        raise TypeError(f"no threshold is set for a {type(thing).__name__}")

    @classmethod
    def named(cls, text: str) -> Self:
        """The scope that is written ``hardware:NAME``. Raises ScopeError."""
        part, _, name = text.replace("\0", "").partition(":")
        thing: Thing | None = None
        if part in NAMED:
            thing = NAMED[part].objects.filter(name=name).first()
        elif part == "series" and name.isascii() and name.isdigit():
            thing = Series.objects.named().filter(pk=min(int(name[:19]), ID_MAX)).first()
        if thing is None:
            raise ScopeError(f"scope: nothing is called “{text[:200]}”; {REMEDY}.")
        return cls.around(thing)

    def __str__(self) -> str:
        return f"{self.part}:{self.of.pk if isinstance(self.of, Series) else self.of.name}"

    @property
    def text(self) -> str:
        """``hardware Atom_C2758/T540-CR``."""
        return f"{self.part} {self.of}"

    def holds(self, series: Series) -> bool:
        """Whether the series lies in it."""
        pk = series.pk if self.part == "series" else getattr(series, f"{self.part}_id")
        return bool(pk == self.of.pk)

    def trees(self) -> list[int]:
        """Ids of the trees with series in it, in order."""
        if self.part == "series":
            return list(Series.objects.filter(pk=self.of.pk).values_list("tree_id", flat=True))
        of_it = Series.objects.filter(**{self.part: self.of}).order_by("tree_id")
        return list(of_it.values_list("tree_id", flat=True).distinct())

    def percent(self) -> float | None:
        """What is set for the thing itself; None when nothing is."""
        if self.part == "series":
            own = SeriesSettings.objects.filter(series=self.of.pk)
            return own.values_list("min_effect_pct", flat=True).first()
        rows = MinEffect.objects.filter(**{self.part: self.of})
        return rows.values_list("percent", flat=True).first()
