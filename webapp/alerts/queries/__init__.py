from webapp.alerts.queries.around_commit import PointsAround, points_around
from webapp.alerts.queries.around_findings import Surroundings, moves_of, surroundings_of
from webapp.alerts.queries.as_of import Past, members_at
from webapp.alerts.queries.at_commit import (
    Detected,
    Gated,
    Suspecting,
    detected_at,
    passing,
    why_not,
)
from webapp.alerts.queries.at_commits import (
    LargestFinding,
    VerdictAt,
    largest_at,
    tallies_at,
    verdicts_at,
)
from webapp.alerts.queries.beside_alert import MOST_PROFILED, facts_beside
from webapp.alerts.queries.commit_surroundings import BesideCommit, beside_commit
from webapp.alerts.queries.dry_runs import DryRun, dry_run
from webapp.alerts.queries.elsewhere import Elsewhere, machine_elsewhere
from webapp.alerts.queries.events import events_of
from webapp.alerts.queries.finding_at import FindingAt
from webapp.alerts.queries.findings import (
    by_alert,
    candidates_beside,
    findings_of,
    of_interest,
    why_withdrawn,
    worst_of,
)
from webapp.alerts.queries.holds import holds_in
from webapp.alerts.queries.inbox import Asked, Listed, choices, counts, listed, one_listed
from webapp.alerts.queries.judged import judged_by_kind
from webapp.alerts.queries.lab_hints import lab_hint
from webapp.alerts.queries.left_out import left_out_beside, left_out_of
from webapp.alerts.queries.losses import (
    MOST_COMMITS,
    OpenLoss,
    open_losses,
    open_losses_by_hardware,
)
from webapp.alerts.queries.machine import (
    FindingOnMachine,
    MachineFound,
    SeriesOnMachine,
    findings_on,
    machine_named,
    names_at,
    series_on,
)
from webapp.alerts.queries.members import Members
from webapp.alerts.queries.min_effects import DEFAULT, EffectInForce, MinEffects
from webapp.alerts.queries.neighbours import Unmoved, beside
from webapp.alerts.queries.noisy import noisiest
from webapp.alerts.queries.quality import mail_quality, open_by_age, triage_quality
from webapp.alerts.queries.releases import AlertBetween, ComparedReleases, compare_releases
from webapp.alerts.queries.rows import commits_between
from webapp.alerts.queries.scopes import Scope, ScopeError
from webapp.alerts.queries.sharper import SharperInterval, sharper_interval
from webapp.alerts.queries.suspicion import (
    Suspicion,
    suspicion_of,
    suspicions_of,
    suspicions_of_findings,
)

__all__ = [
    "DEFAULT",
    "MOST_COMMITS",
    "MOST_PROFILED",
    "AlertBetween",
    "Asked",
    "BesideCommit",
    "ComparedReleases",
    "Detected",
    "DryRun",
    "EffectInForce",
    "Elsewhere",
    "FindingAt",
    "FindingOnMachine",
    "Gated",
    "LargestFinding",
    "Listed",
    "MachineFound",
    "Members",
    "MinEffects",
    "OpenLoss",
    "Past",
    "PointsAround",
    "Scope",
    "ScopeError",
    "SeriesOnMachine",
    "SharperInterval",
    "Surroundings",
    "Suspecting",
    "Suspicion",
    "Unmoved",
    "VerdictAt",
    "beside",
    "beside_commit",
    "by_alert",
    "candidates_beside",
    "choices",
    "commits_between",
    "compare_releases",
    "counts",
    "detected_at",
    "dry_run",
    "events_of",
    "facts_beside",
    "findings_of",
    "findings_on",
    "holds_in",
    "judged_by_kind",
    "lab_hint",
    "largest_at",
    "left_out_beside",
    "left_out_of",
    "listed",
    "machine_elsewhere",
    "machine_named",
    "mail_quality",
    "members_at",
    "moves_of",
    "names_at",
    "noisiest",
    "of_interest",
    "one_listed",
    "open_by_age",
    "open_losses",
    "open_losses_by_hardware",
    "passing",
    "points_around",
    "series_on",
    "sharper_interval",
    "surroundings_of",
    "suspicion_of",
    "suspicions_of",
    "suspicions_of_findings",
    "tallies_at",
    "triage_quality",
    "verdicts_at",
    "why_not",
    "why_withdrawn",
    "worst_of",
]
