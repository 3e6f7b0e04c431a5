from webapp.alerts.queries.alert_page import (
    MOST_PROFILED,
    Elsewhere,
    Unmoved,
    beside,
    facts_beside,
    machine_elsewhere,
)
from webapp.alerts.queries.commit_findings import (
    FindingAt,
    FindingRow,
    LargestFinding,
    VerdictAt,
    findings_shown,
    largest_at,
    tallies_at,
    verdicts_at,
)
from webapp.alerts.queries.commits import (
    BesideCommit,
    Detected,
    Gated,
    PointsAround,
    Suspecting,
    beside_commit,
    compared_elsewhere,
    detected_at,
    passing,
    points_around,
    why_not,
)
from webapp.alerts.queries.dry_runs import DryRun, dry_run
from webapp.alerts.queries.evidence import holds_in
from webapp.alerts.queries.findings import (
    Past,
    Surroundings,
    by_alert,
    candidates_beside,
    events_of,
    findings_of,
    left_out_beside,
    left_out_of,
    members_at,
    moves_of,
    of_interest,
    surroundings_of,
    why_withdrawn,
    worst_of,
)
from webapp.alerts.queries.inbox import Asked, Listed, choices, counts, listed, one_listed
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
from webapp.alerts.queries.min_effects import (
    DEFAULT,
    EffectInForce,
    MinEffects,
    Scope,
    ScopeError,
    noisiest,
)
from webapp.alerts.queries.quality import judged_by_kind, mail_quality, open_by_age, triage_quality
from webapp.alerts.queries.releases import AlertBetween, ComparedReleases, compare_releases
from webapp.alerts.queries.suspicion import (
    SharperInterval,
    Suspicion,
    lab_hint,
    sharper_interval,
    suspicion_of,
    suspicions_of,
    suspicions_of_findings,
)
