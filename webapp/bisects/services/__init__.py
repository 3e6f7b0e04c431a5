"""Writes to bisects, one file per matter."""

from webapp.bisects.draft import BisectError, BisectRunning
from webapp.bisects.services.advancing import advance_bisect
from webapp.bisects.services.bisect_acts import (
    act_on_bisect,
    move_to_alert,
    paste_boots,
    refuse_merge,
    rename_along,
)
from webapp.bisects.services.drafting import MOST_BESIDE, draft_bisect, start_bisect
from webapp.bisects.services.settling import DONE
