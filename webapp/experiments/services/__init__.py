"""Writes about experiments: made from a comparison or a directory, then noted on and concluded."""

from webapp.experiments.services.importing import (
    TOGETHER,
    Directory,
    are_beside,
    beside,
    combine,
    import_directory,
)
from webapp.experiments.services.keeping import (
    add_note,
    conclude,
    give_up,
    keep_comparison,
    set_baseline,
    set_margin,
)
