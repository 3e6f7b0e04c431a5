from webapp.bisects.by_hand import command_for
from webapp.bisects.document import detail_document, summary_document
from webapp.bisects.draft import Draft
from webapp.bisects.forecasting import forecast_of
from webapp.bisects.queries.running import RunningBisect, running_bisects
from webapp.bisects.sentences import LEAST_LEAD, chance_text, with_what_is_left
from webapp.bisects.view import NOT_YET, BisectView, Suspect, view_of
from webapp.bisects.workers import agents_for

__all__ = [
    "LEAST_LEAD",
    "NOT_YET",
    "BisectView",
    "Draft",
    "RunningBisect",
    "Suspect",
    "agents_for",
    "chance_text",
    "command_for",
    "detail_document",
    "forecast_of",
    "running_bisects",
    "summary_document",
    "view_of",
    "with_what_is_left",
]
