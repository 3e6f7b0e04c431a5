"""The addresses of the pages."""

from django.contrib.auth import views as auth
from django.urls import path

from webapp.pages import pictures, search
from webapp.pages.account import account
from webapp.pages.alerts import alert, alerts
from webapp.pages.bisects import bisect, bisects
from webapp.pages.bisects import new as bisect_new
from webapp.pages.commits import commit, commits
from webapp.pages.compare import compare
from webapp.pages.experiments import experiment, experiments
from webapp.pages.hardware import canaries, hardware_list, knobs, machine
from webapp.pages.jobs import agents, job, labs
from webapp.pages.jobs import new as job_new
from webapp.pages.lab import (
    aliases,
    disagreements,
    events,
    marked_samples,
    quality,
    threshold_dry_run,
    thresholds,
    trees,
    waiting_runs,
)
from webapp.pages.mail import feeds, outbox, subscriptions, unsubscribe, webhooks
from webapp.pages.overview import first_steps, lately, overview
from webapp.pages.parts.compressed import gzip_page
from webapp.pages.trends import trends

urlpatterns = [
    path("", gzip_page(overview.overview), name="overview"),
    path("progress/", overview.progress, name="overview_progress"),
    path("first-steps/", first_steps.progress, name="first_steps"),
    path("lately/", gzip_page(lately.page), name="lately"),
    path("hardware/", gzip_page(hardware_list.page), name="hardware_list"),
    path("hardware/<path:name>/knobs/<str:knob>/", gzip_page(knobs.page), name="knob"),
    path("hardware/<path:name>/subscribe/", machine.subscribe, name="hardware_subscribe"),
    path("hardware/<path:name>/", gzip_page(machine.page), name="hardware"),
    path("trends/", gzip_page(trends.page), name="trends"),
    path("trends.svg", gzip_page(pictures.trends_svg), name="trends_svg"),
    path("trends.png", pictures.trends_png, name="trends_png"),
    path("compare.svg", gzip_page(pictures.compare_svg), name="compare_svg"),
    path("compare.png", pictures.compare_png, name="compare_png"),
    path("alerts/<int:number>.svg", gzip_page(pictures.alert_svg), name="alert_svg"),
    path("alerts/<int:number>.png", pictures.alert_png, name="alert_png"),
    path("bisects/<int:number>.svg", gzip_page(pictures.bisect_svg), name="bisect_svg"),
    path("bisects/<int:number>.png", pictures.bisect_png, name="bisect_png"),
    path("badge.svg", pictures.badge_svg, name="badge"),
    path("trends/figure.json", gzip_page(trends.figure), name="trends_figure"),
    path("commits/", trees.listing, name="trees"),
    path("commits/<str:tree>/", gzip_page(commits.page), name="commits"),
    path("commits/<str:tree>/<str:revision>/", gzip_page(commit.page), name="commit"),
    path("commits/<str:tree>/<str:revision>/runs/", disagreements.act, name="commit_runs"),
    path("commits/<str:tree>/<str:revision>/samples/", marked_samples.act, name="commit_samples"),
    path("runs/waiting/", gzip_page(waiting_runs.page), name="waiting_runs"),
    path("runs/waiting/act/", waiting_runs.act, name="waiting_runs_act"),
    path("alerts/", gzip_page(alerts.page), name="alerts"),
    path("alerts/act/", alerts.act_on_many, name="alerts_act"),
    path("alerts/<int:number>/", gzip_page(alert.page), name="alert"),
    path("alerts/<int:number>/evidence/", gzip_page(alert.evidence), name="alert_evidence"),
    path(
        "alerts/<int:number>/ministat/<int:finding>/",
        gzip_page(alert.ministat),
        name="alert_ministat",
    ),
    path("alerts/<int:number>/act/", alert.act_on_one, name="alert_act"),
    path("agents/", gzip_page(agents.page), name="agents"),
    path("labs/", labs.page, name="labs"),
    path("labs/<int:number>/quota/", labs.quota, name="lab_quota"),
    path("jobs/new/", gzip_page(job_new.page), name="job_new"),
    path("jobs/request/", job.request_job, name="job_request"),
    path("jobs/<int:number>/", gzip_page(job.page), name="job"),
    path("jobs/<int:number>/act/", job.act_on_job, name="job_act"),
    path("events/", gzip_page(events.page), name="events"),
    path("events/new/", events.new, name="event_new"),
    path("events/<int:number>/", gzip_page(events.one), name="event"),
    path("events/<int:number>/withdraw/", events.withdraw, name="event_withdraw"),
    path("aliases/", gzip_page(aliases.page), name="aliases"),
    path("aliases/new/", aliases.new, name="alias_new"),
    path("aliases/<int:number>/undo/", aliases.undo, name="alias_undo"),
    path("canaries/", gzip_page(canaries.page), name="canaries"),
    path("canaries/<int:number>/", gzip_page(canaries.one), name="canary"),
    path("canaries/<int:number>/act/", canaries.act, name="canary_act"),
    path("quality/", gzip_page(quality.page), name="quality"),
    path("thresholds/", gzip_page(thresholds.page), name="thresholds"),
    path("thresholds/dry-run/", gzip_page(threshold_dry_run.page), name="thresholds_dry_run"),
    path("thresholds/set/", thresholds.set_one, name="thresholds_set"),
    path("thresholds/undo/", thresholds.undo_one, name="thresholds_undo"),
    path("bisects/", gzip_page(bisects.page), name="bisects"),
    path("bisects/new/", gzip_page(bisect_new.page), name="bisect_new"),
    path("bisects/<int:number>/", gzip_page(bisect.page), name="bisect"),
    path("bisects/<int:number>.json", gzip_page(bisect.as_json), name="bisect_json"),
    path("bisects/<int:number>.md", gzip_page(bisect.as_text), name="bisect_markdown"),
    path("bisects/<int:number>/act/", bisect.act, name="bisect_act"),
    path("bisects/<int:number>/boots/", bisect.paste, name="bisect_paste"),
    path("experiments/", gzip_page(experiments.page), name="experiments"),
    path("experiments/keep/", experiments.keep, name="experiment_keep"),
    path("experiments/<int:number>/", gzip_page(experiment.page), name="experiment"),
    path("experiments/<int:number>/act/", experiment.act, name="experiment_act"),
    path("experiments/<int:number>.md", gzip_page(experiment.markdown), name="experiment_markdown"),
    path("experiments/<int:number>.txt", gzip_page(experiment.text), name="experiment_text"),
    path("experiments/<int:number>.zip", experiment.packed, name="experiment_zip"),
    path("experiments/<int:number>.svg", gzip_page(experiment.svg), name="experiment_svg"),
    path("experiments/<int:number>.png", experiment.png, name="experiment_png"),
    path("compare/", gzip_page(compare.page), name="compare"),
    path("compare/row/", gzip_page(compare.row), name="compare_row"),
    path("compare/suggestions/", compare.suggestions, name="compare_suggestions"),
    path("compare.txt", gzip_page(compare.text), name="compare_text"),
    path("compare.md", gzip_page(compare.markdown), name="compare_markdown"),
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
    path("feeds/hardware/<path:name>.atom", gzip_page(feeds.of_hardware), name="hardware_feed"),
    path(
        "feeds/subscription/<str:token>.atom",
        gzip_page(feeds.of_subscription),
        name="subscription_feed",
    ),
    path("feeds/<str:tree>.atom", gzip_page(feeds.of_tree), name="tree_feed"),
    path("unsubscribe/<str:token>/", unsubscribe.page, name="unsubscribe"),
    path("search/", search.page, name="search"),
    path("search/suggestions/", search.suggestions, name="search_suggestions"),
    path("outbox/", outbox.page, name="outbox"),
    path("outbox/act/", outbox.act, name="outbox_act"),
    path("outbox/test/", outbox.test, name="outbox_test"),
    path("outbox/<int:number>/", outbox.one, name="outbox_mail"),
    path("webhooks/", webhooks.page, name="webhooks"),
    path("webhooks/<int:number>/", webhooks.one, name="webhook"),
    path("webhooks/<int:number>/act/", webhooks.act, name="webhook_act"),
    path(
        "sign-in/",
        auth.LoginView.as_view(template_name="pages/sign_in.html", next_page="overview"),
        name="sign_in",
    ),
    path("sign-out/", auth.LogoutView.as_view(next_page="overview"), name="sign_out"),
]
