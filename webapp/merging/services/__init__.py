"""What concerns every room at once: joining what is one, and removing a lab."""

from webapp.merging.services.joining import (
    adopt_builtin_rules,
    make_name_alias,
    merge_hardware,
    merge_modes,
    merge_revisions,
    refile_by_label_rules,
    settle_counts,
    undo_name_alias,
)
from webapp.merging.services.lab_removal import LabError, Removed, remove_lab
