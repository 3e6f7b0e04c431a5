"""Writes to what was measured, one file per matter."""

from webapp.results.documents import (
    Conflict,
    Forbidden,
    MetricDocument,
    Problem,
    Recorded,
    ResultsError,
    RunDocument,
    Unprocessable,
)
from webapp.results.fact_names import ChangedFact, as_text
from webapp.results.identity import Evidence
from webapp.results.services.aliases import file_by_names, move_whole_series
from webapp.results.services.costs import changed_costs, renew_costs
from webapp.results.services.database import (
    begin_reshaping,
    begin_writing,
    chunks,
    insert_rows,
    lock_trees,
    update_rows,
)
from webapp.results.services.facts import machines_restated, rebuild_facts
from webapp.results.services.identities import decide_waiting, reopen_waiting
from webapp.results.services.label_rules import drop_unused, make_missing_rules, refile_by_rules
from webapp.results.services.name_aliases import AliasNames, add_alias, end_alias, preview_alias
from webapp.results.services.named_rows import (
    foreign_hardware,
    forget_names,
    hardware_named,
    unknown_hardware,
)
from webapp.results.services.near_duplicates import dismiss_twins, suggest_again, suggested_twins
from webapp.results.services.points import mark_dirty
from webapp.results.services.profiling import NoSuchRun, ProfileDocument, store_profile
from webapp.results.services.reidentifying import (
    Unsettled,
    count_moves,
    place_counts,
    unsettled_counts,
)
from webapp.results.services.revisions import answer_to, ensure_revision, revision_given
from webapp.results.services.run_decisions import (
    count_together,
    decide_samples,
    restore_run,
    undo_pooling_decision,
    undo_sample_decision,
    withdraw_run,
)
from webapp.results.services.subjects import (
    begin_merge,
    end_subject,
    hand_over,
    move_runs,
    move_series,
    recount_quotas,
    register_hardware,
    set_source_template,
)
from webapp.results.services.upload import record_runs
from webapp.results.services.upload.identifying import note_refused_replacement
from webapp.results.services.upload_consistency import ask_for_epochs
