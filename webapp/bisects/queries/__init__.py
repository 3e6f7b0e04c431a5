from webapp.bisects.by_hand import command_for
from webapp.bisects.document import detail_document, summary_document
from webapp.bisects.draft import Draft
from webapp.bisects.forecasting import forecast_of
from webapp.bisects.sentences import chance_words, with_what_is_left
from webapp.bisects.standing import NOT_YET, Standing, standing_of
from webapp.bisects.workers import workers_for

__all__ = [
    "NOT_YET",
    "Draft",
    "Standing",
    "chance_words",
    "command_for",
    "detail_document",
    "forecast_of",
    "standing_of",
    "summary_document",
    "with_what_is_left",
    "workers_for",
]
