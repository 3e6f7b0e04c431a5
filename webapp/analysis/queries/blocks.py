"""How a ministat block is asked for: the options of the command as parts of an address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from webapp.analysis.queries.sides import SideError
from webapp.stats import ministat
from webapp.stats.ministat.numbers import Flavour
from webapp.stats.ministat.text import DEFAULT_WIDTH, LEAST_WIDTH

FLAVOURS: tuple[str, ...] = get_args(Flavour)
LEVELS = tuple(f"{level:g}" for level in ministat.LEVELS)
WIDEST = 400
BARS = ("separate", "shared")
SWITCHES = ("plot", "comparison", "names")
"""What can be left out: ``-A``, ``-n``, ``-q``."""

YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """The options of one block. ``separate_bars`` is ``-s``; without ``plot`` ``-A``, without
    ``comparison`` ``-n``, without ``names`` ``-q``; ``confidence`` is ``-c``, ``width`` ``-w``.
    """

    flavour: str = FLAVOURS[0]
    confidence: float = 95.0
    width: int = DEFAULT_WIDTH
    separate_bars: bool = True
    plot: bool = True
    comparison: bool = True
    names: bool = True

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "BlockOptions":
        """The options of an address; what is not given, or empty, is as by default.

        Raises SideError that names the part and what it may be.
        """
        switches = {name: _one_of(given, name, (YES, NO)) == YES for name in SWITCHES}
        return cls(
            flavour=_one_of(given, "flavour", FLAVOURS),
            confidence=float(_one_of(given, "confidence", LEVELS, "95")),
            width=_width(given.get("width", "")),
            separate_bars=_one_of(given, "bars", BARS) == BARS[0],
            **switches,
        )

    def render(self, sets: Sequence[tuple[str, Sequence[float]]]) -> str:
        """What the command prints. Raises webapp.stats.errors.TooFewSamplesError."""
        return ministat.render(
            sets,
            confidence=self.confidence,
            width=self.width,
            plot=self.plot,
            separate_bars=self.separate_bars,
            brief=not self.comparison,
            quiet=not self.names,
            flavour=cast("Flavour", self.flavour),
        )

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parts of an address that say the same; none for what is as by default."""
        said = {
            "flavour": self.flavour,
            "confidence": f"{self.confidence:g}",
            "width": str(self.width),
            "bars": BARS[0] if self.separate_bars else BARS[1],
            **{name: YES if getattr(self, name) else NO for name in SWITCHES},
        }
        usual = dict(PLAIN_QUERY)
        return [(name, value) for name, value in said.items() if value != usual[name]]


PLAIN_QUERY = (
    ("flavour", FLAVOURS[0]),
    ("confidence", "95"),
    ("width", str(DEFAULT_WIDTH)),
    ("bars", BARS[0]),
    *((name, YES) for name in SWITCHES),
)
PLAIN_BLOCK = BlockOptions()


def _one_of(given: Mapping[str, str], name: str, offered: Sequence[str], usual: str = "") -> str:
    value = given.get(name, "") or usual or offered[0]
    if value not in offered:
        raise SideError(f"{name}={value[:40]!r} is none of {', '.join(offered)}")
    return value


def _width(text: str) -> int:
    if not text:
        return DEFAULT_WIDTH
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise SideError(f"width={text[:40]!r} is no whole number")
    if not LEAST_WIDTH <= int(text) <= WIDEST:
        raise SideError(f"width={text}: from {LEAST_WIDTH} to {WIDEST} columns")
    return int(text)
