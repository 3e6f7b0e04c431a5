"""Take runs in, and conclude what they changed: one file per step."""

from webapp.regressions.services.analysing import Analysed, analyse_dirty_series, mark_for_analysis
from webapp.regressions.services.taking_in import take_in

__all__ = ["Analysed", "analyse_dirty_series", "mark_for_analysis", "take_in"]
