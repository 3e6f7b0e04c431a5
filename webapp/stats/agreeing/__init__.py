"""Several series of one commit, read together: for what is shown, never for what is mailed.

    recent = recent_of(state, "more")          # of each series, when it is analysed
    if suspects(rows):                         # cheap; `agreements` then needs more of the series
        found = agreements(rows, deviations, builds)
    place = common_location(places)               # where several proven changes of one alert began

The rule, with an example to redo by hand: docs/statistics.md.
"""

from webapp.stats.agreeing.locations import CommonLocation, Location, common_location
from webapp.stats.agreeing.recent import Recent, recent_of
from webapp.stats.agreeing.scan import Agreement, SeriesRecent, agreements, suspects

__all__ = [
    "Agreement",
    "CommonLocation",
    "Location",
    "Recent",
    "SeriesRecent",
    "agreements",
    "common_location",
    "recent_of",
    "suspects",
]
