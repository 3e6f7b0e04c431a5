"""Writes about experiments: made from a comparison or a directory, then noted on and concluded."""

from webapp.experiments.services.combining import TOGETHER, are_beside, beside, combine
from webapp.experiments.services.importing import Directory, import_directory
from webapp.experiments.services.keeping import (
    add_note,
    conclude,
    give_up,
    keep_comparison,
    set_baseline,
    set_margin,
)
