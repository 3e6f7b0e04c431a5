"""What people decided of runs that disagree."""

from django.contrib import admin

from webapp.accounts.admin import ReadOnlyAdmin, whether
from webapp.results.models import PoolingDecision


@admin.register(PoolingDecision)
class PoolingDecisionAdmin(ReadOnlyAdmin):
    """Who counted which runs together, and who took that back. It is decided on commit pages."""

    list_display = ["decided_at", "decided_by", "__str__", "undone_at", "undone_by"]
    list_filter = [whether("undone_at", "undone")]
    list_select_related = ["decided_by", "undone_by"]
    search_fields = ["runs", "=decided_by__username"]
    search_help_text = "A part of a run's UUID, or who decided"
    show_full_result_count = False
