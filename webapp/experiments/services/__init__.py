"""Writes about experiments: made from a comparison or a directory, then noted on and concluded."""

from webapp.experiments.services.concluding import add_note, conclude, give_up, set_margin
from webapp.experiments.services.importing import Directory, import_directory
from webapp.experiments.services.keeping import keep_comparison

__all__ = [
    "Directory",
    "add_note",
    "conclude",
    "give_up",
    "import_directory",
    "keep_comparison",
    "set_margin",
]
