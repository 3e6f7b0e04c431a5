"""Where the changes that an alert holds began, read together."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.analysis.models import Finding
from webapp.stats.common_location import Location, common_location

FEWEST_SERIES = 2


@dataclass(frozen=True, slots=True)
class SharperInterval:
    """The commits later than ``after`` up to ``last``, by name, hold the beginning of the changes
    of ``series`` series on ``machines`` machines with 95 %, if it is one; ``likeliest`` is the
    likeliest first revision at the new levels, with the chance ``here``. ``alone`` is what the
    clearest of them says by itself.
    """

    after: str
    likeliest: str
    last: str
    here: float
    series: int
    machines: int
    alone: Finding


def sharper_interval(findings: Sequence[Finding]) -> SharperInterval | None:
    """What findings of one alert, read with builds and revisions, say together of their place;
    None where that is no sharper than the clearest of them alone.
    """
    rows = [row for row in findings if row.locations and row.state in Finding.PROVEN]
    if len({row.series_id for row in rows}) < FEWEST_SERIES:
        return None
    found = common_location([_location(row) for row in rows])
    clearest = max(rows, key=lambda row: (row.score, -row.pk))
    if not _is_sharper((found.after, found.last), clearest):
        return None
    names = {position: name for row in rows for position, name, _ in row.locations}
    return SharperInterval(
        names[found.after],
        names[found.likeliest],
        names[found.last],
        found.here,
        len({row.series_id for row in rows}),
        len({row.series.hardware_id for row in rows}),
        clearest,
    )


def _location(row: Finding) -> Location:
    positions, _, masses = zip(*row.locations, strict=True)
    return Location(row.series.hardware_id, positions, masses, getattr(row, "build", None) or "")


def _is_sharper(found: tuple[int, int], alone: Finding) -> bool:
    """Inside what the clearest says, and shorter."""
    after, last = found
    ends = alone.after.position, alone.last.position
    return ends[0] <= after < last <= ends[1] and (after, last) != ends
