"""The HTTP API of a Driftline server, as the agent uses it; and for programs series with their
points, as Python objects or a table of pandas:

    from labagent import Driftline
    Driftline("https://driftline.example.org").series(tree="freebsd-head", metric="pps").to_pandas()

`transport` is the seam: tests hand in one of their own. Every failure leaves as one of the errors
of `labagent.errors`; only those that waiting may cure are tried again.
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Self, overload

import httpx2
import stamina

from labagent.errors import AgentError, Detail, RefusedError, UnavailableError

if TYPE_CHECKING:
    import pandas

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 120.0
ATTEMPTS = 8
PATIENCE_SECONDS = 300.0
LONGEST_WAIT_SECONDS = 30.0
KEPT = "nothing is lost: labagent upload sends what waits"

_LATER = frozenset({429, 502, 503, 504})

NAMES = ("tree", "hardware", "mode", "metric", "variant", "unit", "better")
MOST_SERIES = 10_000


@dataclass(frozen=True)
class Flags:
    """How the server is to take runs: add unknown hardware, mail nobody, replace what differs."""

    register: bool = False
    history: bool = False
    replace: bool = False

    def params(self) -> dict[str, str]:
        """The query of the request: the options that are on."""
        chosen = {"register": self.register, "history": self.history, "replace": self.replace}
        return {name: "true" for name, given in chosen.items() if given}


@dataclass(frozen=True)
class Receipt:
    """What the server did with a batch: the UUIDs by `stored`, `replaced`, `refiled`, `known` or
    `waiting`, and what it took otherwise than it was sent (`warnings`, by UUID)."""

    status: Mapping[str, str]
    warnings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def count(self, status: str) -> int:
        """How many runs were answered so."""
        return sum(found == status for found in self.status.values())


@dataclass(frozen=True)
class Patience:
    """How often, and for how long in all (seconds), a request is tried."""

    attempts: int = ATTEMPTS
    seconds: float = PATIENCE_SECONDS


class Client(AbstractContextManager["Client"]):
    """Talks to one server as one agent."""

    def __init__(
        self,
        server: str,
        token: str = "",
        *,
        transport: httpx2.BaseTransport | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.server = server
        self.patience = patience or Patience()
        headers = {"User-Agent": f"labagent/{agent_version()}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx2.Client(
            base_url=server,
            headers=headers,
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._http.close()

    def health(self) -> None:
        """Ask whether the server is alive; one try."""
        self._checked(self._sent("GET", "/healthz"))

    def whoami(self) -> dict[str, Any]:
        """`{"agent", "lab", "time"}` of the token; one try."""
        return self.fetch("/api/v1/whoami")

    def hardware(self) -> list[dict[str, Any]]:
        """The hardware the server knows."""
        found = self._request("GET", "/api/v1/hardware").get("hardware")
        if not isinstance(found, list):
            raise _not_driftline(self.server)
        return found

    def add_hardware(self, name: str, description: str, facts: Mapping[str, str]) -> None:
        """Make hardware known to the server."""
        body = {"name": name, "description": description, "facts": dict(facts)}
        self._request("POST", "/api/v1/hardware", body=body)

    def send_runs(self, runs: Sequence[Mapping[str, Any]], flags: Flags) -> Receipt:
        """Send runs as one batch, stored whole or not at all.

        Raises `RefusedError` whose `details` name the fields (`runs[3].revision`), or
        `UnavailableError` once patience has run out.
        """
        body = {"runs": list(runs)}
        answer = self._request("POST", "/api/v1/runs", body=body, params=flags.params())
        try:
            return Receipt(
                {run["uuid"]: run["status"] for run in answer["runs"]},
                {run["uuid"]: [*run.get("warnings", [])] for run in answer["runs"]},
            )
        except (KeyError, TypeError) as error:
            raise _not_driftline(self.server) from error

    def send_profile(self, run: str, document: Mapping[str, Any]) -> bool:
        """Send a profile of the run with this UUID; whether it is new to the server.

        Raises `RefusedError` (404: no such run) or `UnavailableError`.
        """
        path = f"/api/v1/runs/{run}/profiles"
        return self._answer("POST", path, body=document).status_code == HTTPStatus.CREATED

    def add_experiment(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Make an experiment of runs that were sent, or find the one that was made of them."""
        return self._request("POST", "/api/v1/experiments", body=document)

    def call(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """POST once and return the answer; whoever calls waits and tries again by itself."""
        content, headers = _packed(body)
        return _document(self._checked(self._sent("POST", path, content=content, headers=headers)))

    def fetch(self, path: str) -> dict[str, Any]:
        """GET once and return the answer."""
        return _document(self._checked(self._sent("GET", path)))

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """GET, tried again as patience allows, and return the answer."""
        return self._request("GET", path, params=params)

    def _request(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """The document of the answer, as `_answer` finds it."""
        return _document(self._answer(method, path, **request))

    def _answer(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """The answer, after as many tries as patience allows."""
        content, headers = (None, {}) if body is None else _packed(body)
        attempts = stamina.retry_context(
            on=self._wait,
            attempts=self.patience.attempts,
            timeout=self.patience.seconds,
            wait_initial=0.5,
            wait_max=LONGEST_WAIT_SECONDS,
            wait_jitter=1.0,
        )
        for attempt in attempts:
            with attempt:
                response = self._sent(method, path, content=content, headers=headers, params=params)
                return self._checked(response)
        raise AssertionError("the last attempt either returns or raises")

    def _wait(self, error: Exception) -> bool | float:
        """Whether to try again, or after how many seconds where the server named them."""
        if not isinstance(error, UnavailableError) or not error.passing:
            return False
        if error.retry_after is None:
            return True
        return error.retry_after if error.retry_after < self.patience.seconds else False

    def _sent(self, method: str, path: str, **request: Any) -> httpx2.Response:
        try:
            return self._http.request(method, path, **request)
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            raise UnavailableError(f"cannot reach {self.server}: {reason}", KEPT) from error
        except httpx2.InvalidURL as error:
            raise RefusedError(f"{self.server!r} is no address: {error}") from error

    def _checked(self, response: httpx2.Response) -> httpx2.Response:
        """`response` where it is a success, else its error."""
        if response.is_success:
            return response
        raise _error_of(response, self.server)


def _packed(body: Mapping[str, Any]) -> tuple[bytes, dict[str, str]]:
    content = gzip.compress(json.dumps(body, allow_nan=False).encode(), compresslevel=6, mtime=0)
    return content, {"Content-Type": "application/json", "Content-Encoding": "gzip"}


def _document(response: httpx2.Response) -> dict[str, Any]:
    try:
        document = response.json()
    except ValueError as error:
        raise _not_driftline(str(response.url)) from error
    if not isinstance(document, dict):
        raise _not_driftline(str(response.url))
    return document


def _not_driftline(where: str) -> RefusedError:
    return RefusedError(f"{where} does not answer as Driftline does", "check the server's address")


def _error_of(response: httpx2.Response, server: str) -> AgentError:
    status = response.status_code
    if response.is_redirect:
        target = response.headers.get("Location", "elsewhere")
        return RefusedError(f"{server} points to {target}", "give that address", status=status)
    error = _error_body(response)
    message = str(error.get("message") or f"{server} answered {status} {_phrase(status)}")
    remedy = str(error.get("remedy") or "")
    if status in _LATER:
        kept = f"{remedy.rstrip('.')}; {KEPT}" if error.get("code") == "quota" else KEPT
        return UnavailableError(message, kept, retry_after=_retry_after(response))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError(message, f"see the server's log; {KEPT}", passing=False)
    return RefusedError(
        message,
        remedy or _REMEDIES.get(status, ""),
        status=status,
        code=str(error.get("code") or ""),
        details=_details(error),
    )


_REMEDIES = {
    401: "check the token: `labagent doctor`; `manage.py create_agent` makes a new one",
    403: "use a token of the lab that owns the hardware",
    404: "check the server's address",
}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _error_body(response: httpx2.Response) -> Mapping[str, Any]:
    """The error as Driftline words it; empty for answers of anything else on the way."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}


def _details(error: Mapping[str, Any]) -> list[Detail]:
    found = error.get("details")
    if not isinstance(found, list):
        return []
    return [
        Detail(str(one.get("path", "")), str(one.get("message", "")))
        for one in found
        if isinstance(one, dict)
    ]


def _retry_after(response: httpx2.Response) -> float | None:
    """The seconds of a `Retry-After`, written as such or as a date."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def agent_version() -> str:
    """The version installed, `source` where it runs from a checkout."""
    try:
        return version("driftline-agent")
    except PackageNotFoundError:
        return "source"


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
        asked = [("tree", tree), ("hardware", hardware), ("mode", mode), ("metric", metric)]
        params = {name: text for name, text in [*asked, ("variant", variant)] if text}
        found = self.client.get("/api/v1/series", {**params, "limit": str(MOST_SERIES)})
        return SeriesList(tuple(Series(self.client, one) for one in found["series"]))
