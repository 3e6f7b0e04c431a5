"""A client for programs: series and their points, as Python objects or a table of pandas.

from labagent import Driftline

Driftline("https://driftline.example.org").series(tree="freebsd-head", metric="pps").to_pandas()
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import httpx2

from labagent.client import Client
from labagent.errors import AgentError

if TYPE_CHECKING:
    import pandas

NAMES = ("tree", "hardware", "mode", "metric", "variant", "unit", "better")
MOST_SERIES = 10_000


@dataclass(frozen=True)
class Series:
    """A series as the API describes it."""

    client: Client
    about: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        """A field of the API: `id`, `tree`, `hardware`, `mode`, `metric`, `unit`, `better`, …"""
        try:
            return self.about[name]
        except KeyError as error:
            raise AttributeError(f"a series has no {name}") from error

    def points(self) -> list[dict[str, Any]]:
        """A dictionary a revision, along the tree, with the columns of the API."""
        found = self.client.get(f"/api/v1/series/{self.about['id']}/points")
        count = len(found["revision"])
        columns = {
            name: column
            for name, column in found.items()
            if isinstance(column, list) and len(column) == count
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@dataclass(frozen=True)
class SeriesList(Sequence[Series]):
    """Series in the order of their names."""

    series: tuple[Series, ...]

    @overload
    def __getitem__(self, index: int) -> Series: ...

    @overload
    def __getitem__(self, index: slice) -> "SeriesList": ...

    def __getitem__(self, index: int | slice) -> "Series | SeriesList":
        return SeriesList(self.series[index]) if isinstance(index, slice) else self.series[index]

    def __len__(self) -> int:
        return len(self.series)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The points of all series, each with the names of its series. One request a series."""
        for one in self.series:
            names = {name: one.about[name] for name in NAMES}
            yield from ({**names, **point} for point in one.points())

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a table. Raises AgentError without pandas."""
        try:
            import pandas  # noqa: PLC0415 (optional)
        except ImportError as error:
            raise AgentError("pandas is not installed", "pip install pandas") from error
        table = pandas.DataFrame(list(self.rows()))
        if "committed_at" in table:
            table["committed_at"] = pandas.to_datetime(table["committed_at"], utc=True)
        return table


class Driftline:
    """A server. ``token`` is that of an agent; a public instance needs none to be read."""

    def __init__(
        self, server: str, token: str = "", *, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self.client = Client(server.rstrip("/"), token, transport=transport)

    def series(
        self,
        *,
        tree: str = "",
        hardware: str = "",
        mode: str = "",
        metric: str = "",
        variant: str = "",
    ) -> SeriesList:
        """Those with these names; a name left out means all. Raises AgentError."""
        asked = {
            "tree": tree,
            "hardware": hardware,
            "mode": mode,
            "metric": metric,
            "variant": variant,
        }
        params = {name: text for name, text in asked.items() if text}
        found = self.client.get("/api/v1/series", {**params, "limit": str(MOST_SERIES)})
        return SeriesList(tuple(Series(self.client, one) for one in found["series"]))
