"""Pages of jobs and workers, to look at."""

from django.contrib import admin

from webapp.accounts.admin import ReadOnlyAdmin, ReadOnlyInline
from webapp.jobs.models import Job, JobEvent, Worker


class EventsOfJob(ReadOnlyInline):
    model = JobEvent
    fields = ["at", "kind", "actor", "worker", "stage", "reason"]
    readonly_fields = ["at", "kind", "actor", "worker", "stage", "reason"]


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["pk", "state", "purpose", "revision", "hardware", "mode", "worker", "ended_at"]
    list_filter = ["state", "purpose", "hardware"]
    list_select_related = ["revision", "hardware", "mode", "worker"]
    search_fields = ["=pk", "=revision__name", "hardware__name", "mode__name"]
    exclude = ["lease"]
    inlines = [EventsOfJob]
    show_full_result_count = False


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "agent", "version", "draining", "last_seen_at"]
    list_filter = ["agent__lab", "draining"]
    list_select_related = ["agent__lab"]
    search_fields = ["name", "agent__name"]
