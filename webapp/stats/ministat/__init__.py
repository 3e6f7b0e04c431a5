"""``ministat(1)`` of FreeBSD: the names for other code; the command is in ``__main__``.

The text is the original's, byte for byte; where they knowingly differ is listed in
``docs/statistics.md``. Nothing here imports NumPy, SciPy or Django.
"""

from webapp.stats.intervals import LEVELS, true_level
from webapp.stats.ministat.block import (
    LEAST_POINTS,
    Difference,
    Flavour,
    Summary,
    difference,
    difference_from_moments,
    difference_lines,
    render,
    summarize,
)
