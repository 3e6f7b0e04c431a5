"""The API under ``/api/v1/``, its description, and the paths that supervisors read.

Clients that are made from the description call operations by names, which Django Ninja makes of
those of modules: a function that moved keeps its name by an ``operation_id``.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, path
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema

from webapp.api import (
    alerts,
    aliases,
    bisects,
    canaries,
    compare,
    events,
    experiments,
    hardware,
    jobs,
    profiles,
    prometheus,
    runs,
    search,
    series,
    trees,
    variants,
    waiting,
)
from webapp.api.errors import add_handlers, refuse_stranger
from webapp.api.requests import AgentToken, BoundedJSON
from webapp.labs.models import Scope

NAMESPACE = "api"
DESCRIPTION = """\
Lab agents upload runs; anybody reads series, points and comparisons.

Send a token as `Authorization: Bearer TOKEN`; `manage.py create_agent NAME --lab LAB` makes one.
Every error is `{"error": {"code", "message", "remedy", "details": [{"path", "message"}]}}`.
"""


class DescribedOnce(NinjaAPI):
    """Keeps its description, which takes half a second of a core to make, for all who ask."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._descriptions: dict[str, OpenAPISchema] = {}

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """The OpenAPI document for paths that begin with ``path_prefix``."""
        prefix = self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        if prefix not in self._descriptions:
            self._descriptions[prefix] = super().get_openapi_schema(path_prefix=prefix)
        return self._descriptions[prefix]


api = DescribedOnce(
    title="Driftline",
    version="1",
    description=DESCRIPTION,
    parser=BoundedJSON(),
    docs_url=None,
    urls_namespace=NAMESPACE,
)
add_handlers(api)
api.add_router("/runs", runs.router, auth=AgentToken())
api.add_router("/runs", waiting.router)
api.add_router("/runs", profiles.router)
api.add_router("/jobs", jobs.router)
api.add_router("", hardware.router, auth=AgentToken())
api.add_router("", profiles.functions_router)
api.add_router("", series.router)
api.add_router("", search.router)
api.add_router("", trees.router)
api.add_router("", variants.router)
api.add_router("", runs.sessions_router)
api.add_router("", compare.router)
api.add_router("", alerts.router)
api.add_router("", bisects.router)
api.add_router("", events.router)
api.add_router("", experiments.router)
api.add_router("", trees.releases_router)
api.add_router("", aliases.router)
api.add_router("", canaries.router)


def refuse_reader(request: HttpRequest) -> HttpResponse | None:
    """The API's answer to who may not read a private instance; None for an agent's good token."""
    try:
        # What writes asks for its own scope.
        scope = Scope.READ if request.method in ("GET", "HEAD") else None
        return None if AgentToken(scope)(request) else refuse_stranger(api, request)
    except Exception as error:  # noqa: BLE001 (translated as the endpoints' own are)
        return api.on_exception(request, error)


def _in_one_form(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The framework answers another method by itself, as text."""

    @wraps(view)
    def answer(request: HttpRequest, **named: Any) -> HttpResponse:
        response = view(request, **named)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        allowed = response["Allow"]
        error = HttpError(response.status_code, f"{request.method} is not allowed; send {allowed}.")
        refusal = api.on_exception(request, error)
        refusal["Allow"] = allowed
        return refusal

    return answer


def docs(request: HttpRequest) -> HttpResponse:
    """The API described for people, from its OpenAPI document."""
    return Swagger().render_page(request, api)


addresses = api.urls
for each in addresses[0]:
    if isinstance(each, URLPattern):
        each.callback = _in_one_form(each.callback)

urlpatterns = [
    path("api/v1/", addresses),
    path("api/docs", docs, name="api-docs"),
    path("healthz", prometheus.healthz, name="healthz"),
    path("readyz", prometheus.readyz, name="readyz"),
    path("metrics", prometheus.metrics, name="metrics"),
]
