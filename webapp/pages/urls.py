"""The addresses of the pages, and the page of a fault."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.http.response import HttpResponseBase
from django.template.loader import get_template
from django.urls import URLPattern, path

from webapp.pages import jobs, pictures, search
from webapp.pages.account import account, subscriptions
from webapp.pages.alerts import alert, alerts
from webapp.pages.bisects import bisect, bisects
from webapp.pages.commits import commit, commits
from webapp.pages.compare import compare, releases
from webapp.pages.experiments import experiment
from webapp.pages.hardware import hardware_list, knobs, machine
from webapp.pages.lab import aliases, events, operators, outbox, quality, thresholds, waiting_runs
from webapp.pages.overview import overview
from webapp.pages.profiles import diff as profile_diff
from webapp.pages.profiles import functions, profile
from webapp.pages.trends import chosen, trends


def picture(address: str, view: Callable[..., HttpResponseBase], name: str) -> list[URLPattern]:
    """The addresses of a picture as SVG and as PNG."""
    return [
        path(f"{address}.{form}", view, {"form": form}, name=f"{name}_{form}")
        for form in ("svg", "png")
    ]


urlpatterns = [
    path("", overview.overview, name="overview"),
    path("progress/", overview.progress, name="overview_progress"),
    path("first-steps/", overview.first_steps_progress, name="first_steps"),
    path("lately/", overview.lately, name="lately"),
    path("hardware/", hardware_list.page, name="hardware_list"),
    path("hardware/<path:name>/knobs/<str:knob>/", knobs.page, name="knob"),
    path("hardware/<path:name>/subscribe/", machine.subscribe, name="hardware_subscribe"),
    path("hardware/<path:name>/", machine.page, name="hardware"),
    path("trends/", trends.page, name="trends"),
    *picture("trends", pictures.trends_picture, "trends"),
    *picture("compare", pictures.compare_picture, "compare"),
    *picture("alerts/<int:number>", pictures.alert_picture, "alert"),
    *picture("bisects/<int:number>", pictures.bisect_picture, "bisect"),
    path("badge.svg", pictures.badge_svg, name="badge"),
    path("trends/chosen/", chosen.page, name="trends_chosen"),
    path("trends/figure.json", pictures.trends_figure, name="trends_figure"),
    path("commits/", commits.listing, name="trees"),
    path("commits/<str:tree>/", commits.page, name="commits"),
    path("commits/<str:tree>/<str:revision>/", commit.page, name="commit"),
    path("commits/<str:tree>/<str:revision>/runs/", quality.act, name="commit_runs"),
    path(
        "commits/<str:tree>/<str:revision>/samples/",
        quality.decide_samples_of,
        name="commit_samples",
    ),
    path("runs/waiting/", waiting_runs.page, name="waiting_runs"),
    path("runs/waiting/act/", waiting_runs.act, name="waiting_runs_act"),
    path("alerts/", alerts.page, name="alerts"),
    path("alerts/act/", alerts.act_on_many, name="alerts_act"),
    path("alerts/<int:number>/", alert.page, name="alert"),
    path("alerts/<int:number>/evidence/", alert.evidence, name="alert_evidence"),
    path(
        "alerts/<int:number>/ministat/<int:finding>/",
        alert.ministat,
        name="alert_ministat",
    ),
    path("alerts/<int:number>/act/", alert.act_on_one, name="alert_act"),
    path("agents/", jobs.agents, name="agents"),
    path("labagent/<str:name>", jobs.agent_file, name="agent_file"),
    path("labs/", operators.labs, name="labs"),
    path("labs/<int:number>/quota/", operators.quota, name="lab_quota"),
    path("jobs/new/", jobs.new_page, name="job_new"),
    path("jobs/request/", jobs.request_job, name="job_request"),
    path("jobs/<int:number>/", jobs.page, name="job"),
    path("jobs/<int:number>/act/", jobs.act_on_job, name="job_act"),
    path("events/", events.page, name="events"),
    path("events/new/", events.new, name="event_new"),
    path("events/<int:number>/", events.one, name="event"),
    path("events/<int:number>/withdraw/", events.withdraw, name="event_withdraw"),
    path("aliases/", aliases.page, name="aliases"),
    path("aliases/new/", aliases.new, name="alias_new"),
    path("aliases/<int:number>/undo/", aliases.undo, name="alias_undo"),
    path("canaries/", machine.canaries, name="canaries"),
    path("canaries/<int:number>/", machine.one_canary, name="canary"),
    path("canaries/<int:number>/act/", machine.act_on_canary, name="canary_act"),
    path("status/", operators.status, name="status"),
    path("audit/", operators.audit, name="audit"),
    path("audit.csv", operators.audit_file, {"form": "csv"}, name="audit_csv"),
    path("audit.jsonl", operators.audit_file, {"form": "jsonl"}, name="audit_jsonl"),
    path("quality/", quality.page, name="quality"),
    path("thresholds/", thresholds.page, name="thresholds"),
    path("thresholds/dry-run/", thresholds.dry_run_page, name="thresholds_dry_run"),
    path("thresholds/set/", thresholds.set_one, name="thresholds_set"),
    path("thresholds/undo/", thresholds.undo_one, name="thresholds_undo"),
    path("bisects/", bisects.page, name="bisects"),
    path("bisects/new/", bisects.new, name="bisect_new"),
    path("bisects/<int:number>/", bisect.page, name="bisect"),
    path("bisects/<int:number>.json", bisect.as_json, name="bisect_json"),
    path("bisects/<int:number>.md", bisect.as_text, name="bisect_markdown"),
    path("bisects/<int:number>/act/", bisect.act, name="bisect_act"),
    path("bisects/<int:number>/boots/", bisect.paste, name="bisect_paste"),
    path("experiments/", experiment.listing, name="experiments"),
    path("experiments/keep/", experiment.keep, name="experiment_keep"),
    path("experiments/<int:number>/", experiment.page, name="experiment"),
    path("experiments/<int:number>/act/", experiment.act, name="experiment_act"),
    path("experiments/<int:number>.md", experiment.markdown, name="experiment_markdown"),
    path("experiments/<int:number>.txt", experiment.text, name="experiment_text"),
    path("experiments/<int:number>.zip", experiment.packed, name="experiment_zip"),
    *picture("experiments/<int:number>", experiment.picture, "experiment"),
    path("compare/", compare.page, name="compare"),
    path("compare/row/", compare.row, name="compare_row"),
    path("compare/suggestions/", compare.suggestions, name="compare_suggestions"),
    path("compare.txt", compare.text, name="compare_text"),
    path("compare.md", compare.markdown, name="compare_markdown"),
    path("releases/", releases.picked, name="picked_releases"),
    path("releases/<path:pair>.md", releases.markdown, name="releases_markdown"),
    *picture("releases/<path:pair>", pictures.releases_picture, "releases"),
    path("releases/<path:pair>/", releases.page, name="releases"),
    path("profiles/", profile.listing, name="profiles"),
    path("profiles/side/", profile.side_page, name="profiled_side"),
    path("profiles/<int:number>/", profile.page, name="profile"),
    path("profiles/<int:number>.folded", profile.folded, name="profile_folded"),
    path("profiles/diff/", profile_diff.page, name="profile_diff"),
    path("profiles/functions/", functions.page, name="profile_functions"),
    *picture("profiles", profile.picture, "profile"),
    *picture("profiles/diff", profile_diff.picture, "profile_diff"),
    path("account/", account.page, name="account"),
    path("account/password/", account.Password.as_view(), name="account_password"),
    path("account/address/<str:token>/", account.address, name="account_address"),
    path("subscriptions/", subscriptions.page, name="subscriptions"),
    path("subscriptions/<int:number>/", subscriptions.one, name="subscription"),
    path("subscriptions/<int:number>/act/", subscriptions.act, name="subscription_act"),
    path("subscriptions/preview/<int:number>/", subscriptions.preview, name="subscription_preview"),
    path(
        "subscriptions/preview/<int:number>/mail.html",
        subscriptions.preview_html,
        name="subscription_preview_html",
    ),
    path("feeds/hardware/<path:name>.atom", outbox.feed_of_hardware, name="hardware_feed"),
    path(
        "feeds/subscription/<str:token>.atom",
        outbox.feed_of_subscription,
        name="subscription_feed",
    ),
    path("feeds/<str:tree>.atom", outbox.feed_of_tree, name="tree_feed"),
    path("unsubscribe/<str:token>/", subscriptions.unsubscribe_page, name="unsubscribe"),
    path("views/", account.views_page, name="saved_views"),
    path("views/<int:number>/act/", account.act_on_view, name="saved_view_act"),
    path("search/", search.page, name="search"),
    path("search/suggestions/", search.suggestions, name="search_suggestions"),
    path("outbox/", outbox.page, name="outbox"),
    path("outbox/act/", outbox.act, name="outbox_act"),
    path("outbox/test/", outbox.test, name="outbox_test"),
    path("outbox/<int:number>/", outbox.one, name="outbox_mail"),
    path("webhooks/", outbox.webhooks, name="webhooks"),
    path("webhooks/<int:number>/", outbox.webhook, name="webhook"),
    path("webhooks/<int:number>/act/", outbox.act_on_webhook, name="webhook_act"),
]


def server_error(request: HttpRequest) -> HttpResponse:
    """500 without any context processor: what failed may be what they need."""
    html = get_template("500.html").render({"request_path": request.path})
    return HttpResponseServerError(html)
