"""Every address of the site, found by walking its URL table."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from webapp.api.urls import api

IN_A_REGEX = re.compile(r"\(\?P<(\w+)>[^)]*\)")
IN_A_ROUTE = re.compile(r"<(?:(\w+):)?(\w+)>")
SAMPLES = {"int": "1", "uuid": "0b0e4f6c-6e1b-4f0e-8d5e-0c9a3f8a2b10"}
NAMED_SAMPLES = {"app_label": "accounts"}
ADMIN = "admin"


class Address(NamedTuple):
    """A route by its name, a path that fits it, and the methods to try.

    ``methods`` are those of the operation in the API; elsewhere a view may take either.
    """

    name: str
    path: str
    methods: Sequence[str]

    @property
    def is_api(self) -> bool:
        return self.name.startswith("api:")

    @property
    def is_admin(self) -> bool:
        return self.name.startswith(f"{ADMIN}:")


def every_address() -> list[Address]:
    methods = {
        operation.view_func.__name__: operation.methods
        for _, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
    }
    return [
        Address(name, path, methods.get(name.removeprefix("api:"), ("GET", "POST")))
        for name, path in _walk(get_resolver())
    ]


def _walk(
    resolver: URLResolver, spaces: Sequence[str] = (), prefix: str = "/"
) -> Iterator[tuple[str, str]]:
    """(name, path) of each route. One without a name goes by its path."""
    for entry in resolver.url_patterns:
        path = prefix + _sample(str(entry.pattern))
        if isinstance(entry, URLPattern):
            yield ":".join([*spaces, entry.name or path]), path
        else:
            inner = [entry.namespace] if entry.namespace else []
            yield from _walk(entry, [*spaces, *inner], path)


def _sample(route: str) -> str:
    """``alerts/<int:number>/`` → ``alerts/1/``."""
    route = IN_A_REGEX.sub(lambda found: NAMED_SAMPLES.get(found[1], "x"), route)
    route = IN_A_ROUTE.sub(lambda found: SAMPLES.get(found[1] or "str", "x"), route)
    return route.removeprefix("^").removesuffix("$")
