"""The addresses of the pages."""

from django.contrib.auth import views as auth
from django.urls import path
from django.views.decorators.gzip import gzip_page

from webapp.pages import (
    agents,
    alert,
    alerts,
    commit,
    commits,
    compare,
    hardware,
    job,
    outbox,
    overview,
    search,
    trends,
    unsubscribe,
    webhooks,
)

urlpatterns = [
    path("", gzip_page(overview.overview), name="overview"),
    path("progress/", overview.progress, name="overview_progress"),
    path("hardware/", gzip_page(hardware.listing), name="hardware_list"),
    path("hardware/<path:name>/", gzip_page(hardware.wall), name="hardware"),
    path("trends/", gzip_page(trends.page), name="trends"),
    path("trends/figure.json", gzip_page(trends.figure), name="trends_figure"),
    path("commits/<str:tree>/", gzip_page(commits.page), name="commits"),
    path("commits/<str:tree>/<str:revision>/", gzip_page(commit.page), name="commit"),
    path("alerts/", gzip_page(alerts.page), name="alerts"),
    path("alerts/act/", alerts.act_on_many, name="alerts_act"),
    path("alerts/<int:number>/", gzip_page(alert.page), name="alert"),
    path("alerts/<int:number>/act/", alert.act_on_one, name="alert_act"),
    path("agents/", gzip_page(agents.page), name="agents"),
    path("jobs/request/", job.request_job, name="job_request"),
    path("jobs/<int:number>/", gzip_page(job.page), name="job"),
    path("jobs/<int:number>/act/", job.act_on_job, name="job_act"),
    path("compare/", gzip_page(compare.page), name="compare"),
    path("compare.txt", gzip_page(compare.text), name="compare_text"),
    path("compare.md", gzip_page(compare.markdown), name="compare_markdown"),
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
