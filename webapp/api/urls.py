"""The API under ``/api/v1/``, its description, and the paths that supervisors read."""

from django.urls import path
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger

from webapp import api as package
from webapp.api import compare, hardware, health, runs, series
from webapp.api.auth import AgentToken
from webapp.api.body import BoundedJSON
from webapp.api.errors import add_handlers

api = NinjaAPI(
    title="Driftline",
    version="1",
    description=package.__doc__ or "",
    parser=BoundedJSON(),
    docs_url=None,
    urls_namespace="api",
)
add_handlers(api)
api.add_router("/runs", runs.router, auth=AgentToken())
api.add_router("", hardware.router, auth=AgentToken())
api.add_router("", series.router)
api.add_router("", compare.router)

urlpatterns = [
    path("api/v1/", api.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
