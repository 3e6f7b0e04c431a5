from webapp.alerts.queries.agreeing import Agreeing, agreeing_of, with_agreeing
from webapp.alerts.queries.as_of import members_at
from webapp.alerts.queries.at_commit import Detected, detected_at, passing, why_not
from webapp.alerts.queries.dry_runs import DryRun, dry_run
from webapp.alerts.queries.findings import by_alert, findings_of, of_interest, worst_of
from webapp.alerts.queries.holds import holds_in
from webapp.alerts.queries.lab_hints import lab_hint
from webapp.alerts.queries.min_effects import DEFAULT, EffectInForce, MinEffects
from webapp.alerts.queries.neighbours import Unmoved, beside
from webapp.alerts.queries.noisy import noisiest
from webapp.alerts.queries.quality import mail_quality, open_by_age, triage_quality
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
    "Agreeing",
    "Detected",
    "DryRun",
    "EffectInForce",
    "MinEffects",
    "Scope",
    "ScopeError",
    "SharperInterval",
    "Suspicion",
    "Unmoved",
    "agreeing_of",
    "beside",
    "by_alert",
    "detected_at",
    "dry_run",
    "findings_of",
    "holds_in",
    "lab_hint",
    "mail_quality",
    "members_at",
    "noisiest",
    "of_interest",
    "open_by_age",
    "passing",
    "sharper_interval",
    "suspicion_of",
    "suspicions_of",
    "suspicions_of_findings",
    "triage_quality",
    "why_not",
    "with_agreeing",
    "worst_of",
]
