"""The changes of a series: what begins where, how large it is, and how sure.

    report = detect(points)                      # everything at once
    state = advance(start(), points)             # the same, kept for later …
    state = advance(state, [one_more])           # … at a cost that does not grow with history
    report = present(state, "more")              # equal to detect(points + [one_more])

Read in this order: `points` (one value a revision), `online` (the online update, revision by
revision, with `noise`, `regimes` and `breaks`), `levels` (what stands in the newest few hundred
revisions, with `scatter`, `turns` and `curves`), `detector` (both as one). What is found depends on
the points alone, never on batches. Points come in order of their position: one that arrives out of
order, is withdrawn or measured again makes everything from its position on be read again, from the
newest stored state before it. States are plain data (`to_data`, `from_data`) and bounded.

The method, in words, and how to check it by hand: docs/statistics.md.
"""

from webapp.stats.changes.detector import Report, State, advance, detect, present, start
from webapp.stats.changes.explain import (
    LEFT_OUT,
    mean_change_pct,
    what_helps,
    why_excursion,
    why_flagged,
    why_modes,
    why_noise,
    why_not,
    why_not_at,
    why_retracted,
    why_slow,
    why_withdrawn,
)
from webapp.stats.changes.findings import (
    Analysis,
    At,
    Change,
    Finding,
    Findings,
    Loss,
    ModeChange,
    NetLoss,
    Noise,
    NoiseChange,
    Segment,
    net_loss,
    recoveries,
)
from webapp.stats.changes.online_state import VERSION
from webapp.stats.changes.points import BadSeriesError, Point
from webapp.stats.changes.scale import probability
