"""Settings of bisects; bisects themselves are only looked at."""

from django.contrib import admin

from webapp.accounts.admin import Admin, ReadOnlyAdmin
from webapp.bisects.models import Bisect, BisectSettings


@admin.register(BisectSettings)
class BisectSettingsAdmin(Admin):
    """What begins by itself, the budget, the command to measure by hand, unlikely paths."""

    list_display = ["tree", "automatic", "confirm_candidates", "most_boots", "most_hours"]
    list_select_related = ["tree"]


@admin.register(Bisect)
class BisectAdmin(ReadOnlyAdmin):
    exclude = ["hold"]
    list_display = ["pk", "series", "good", "bad", "state", "outcome", "culprit", "probability"]
    list_filter = ["state", "outcome", "series__tree"]
    list_select_related = [
        "good",
        "bad",
        "culprit",
        *(f"series__{part}" for part in ("tree", "hardware", "mode", "metric")),
    ]
    ordering = ["-pk"]
    show_full_result_count = False
