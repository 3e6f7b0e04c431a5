"""Chat services as endpoints, through apprise: one URL (``slack://…``), one place.

Apprise builds the requests. It sends none: in the modules of ``KINDS``, its ``requests`` is
``Guarded``, which connects as webhooks do (address checked and pinned, no redirect, no proxy, TLS
verified, one deadline). Of its hundred other kinds, some of which run commands or read files, and
of the arguments of a URL, nothing is used that is not named here.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlencode

import requests
from django.conf import settings

from webapp.outbox import http_post
from webapp.outbox.deadlines import Deadline

KINDS: Mapping[str, tuple[str, str]] = {
    "slack": ("slack", "NotifySlack"),
    "discord": ("discord", "NotifyDiscord"),
    "tgram": ("telegram", "NotifyTelegram"),
    **dict.fromkeys(("workflow", "workflows"), ("workflows", "NotifyWorkflows")),
    **dict.fromkeys(("matrix", "matrixs"), ("matrix.base", "NotifyMatrix")),
    **dict.fromkeys(("mmost", "mmosts"), ("mattermost", "NotifyMattermost")),
    **dict.fromkeys(("rocket", "rockets"), ("rocketchat", "NotifyRocketChat")),
    **dict.fromkeys(("ntfy", "ntfys"), ("ntfy", "NotifyNtfy")),
    **dict.fromkeys(("gotify", "gotifys"), ("gotify", "NotifyGotify")),
    "gchat": ("google_chat", "NotifyGoogleChat"),
    "webex": ("webexteams", "NotifyWebexTeams"),
    "zulip": ("zulip", "NotifyZulip"),
}
"""Module and class of apprise by scheme. ``workflows`` is Microsoft Teams."""

OWN_HOSTS = frozenset(
    {
        "matrix",
        "matrixs",
        "mmost",
        "mmosts",
        "rocket",
        "rockets",
        "ntfy",
        "ntfys",
        "gotify",
        "gotifys",
    }
)
"""Schemes whose host is that of a server; of others a token may stand there."""

ARGUMENTS = frozenset(
    {
        *("to", "token", "mode", "thread", "topic", "channel", "team", "webhook", "priority"),
        *("id", "sig", "pa", "api-version", "ver", "key", "workspace", "route", "routeid"),
        *("version", "path", "silent"),
    }
)
"""Of a URL's query: where to and as whom. ``template`` reads files, ``verify`` spares TLS, and
``retry`` and ``wait`` are the outbox's own."""

MOST_BYTES = 65_536
"""Read of one answer, which a later request may need."""


class ChannelError(Exception):
    """A URL that names no place to write to; the message states why."""


class NotTaken(Exception):
    """The service did not take a message; ``answer`` is its last one, where it gave one."""

    def __init__(self, reason: str, answer: http_post.Answer | None = None) -> None:
        super().__init__(reason)
        self.answer = answer


@dataclass
class Conversation:
    """What one message asks of a service: ``check`` gives the target of a URL or raises
    AddressError; ``answer`` is the last, ``error`` why the last request got none.
    """

    check: Callable[[str], http_post.Target]
    deadline: Deadline
    answer: http_post.Answer | None = None
    error: Exception | None = None
    asked: list[http_post.Target] = field(default_factory=list)
    is_rehearsal: bool = False

    def exchange(self, request: requests.PreparedRequest) -> http_post.Answer:
        """Send ``request``. Raises AddressError, PostError, also where the time is over."""
        target = self.check(request.url or "")
        self.asked.append(target)
        if self.is_rehearsal or self.deadline.is_over:
            raise http_post.PostError(f"No whole answer within {self.deadline.seconds:g} s.")
        body = request.body or b""
        assert isinstance(body, str | bytes), "nothing is streamed"
        headers = {str(name): str(value) for name, value in request.headers.items()}
        return http_post.request(
            request.method or "POST",
            target,
            body.encode() if isinstance(body, str) else body,
            {name: value for name, value in headers.items() if name.lower() not in OURS},
            deadline=self.deadline,
            most=MOST_BYTES,
        )

    def send(self, request: requests.PreparedRequest) -> requests.Response:
        """As ``exchange``, in the terms of requests. Raises requests.ConnectionError."""
        self.answer = self.error = None
        try:
            self.answer = self.exchange(request)
        except (http_post.AddressError, http_post.PostError) as error:
            self.error = error
            raise requests.ConnectionError(str(error)) from error
        response = requests.Response()
        response.status_code, response.encoding = self.answer.status, "utf-8"
        response.raw = io.BytesIO(self.answer.excerpt.encode())
        response.request = request
        return response

    def reason(self) -> str:
        """Why the message was not taken."""
        if self.error is not None:
            return str(self.error)
        if self.answer is None:
            return "The service was not asked: its URL names nothing that apprise can reach."
        return http_post.refusal(self.answer) or (
            f"It answered {self.answer.status}, and did not take the message."
        )


OURS = frozenset({"host", "connection", "content-length", "accept-encoding"})
"""Headers that the connection writes itself. An answer that is compressed could not be read."""

_conversation: ContextVar[Conversation] = ContextVar("conversation")


class Guarded:
    """What the modules of ``KINDS`` know as ``requests``. Nothing is sent but in a conversation."""

    codes = requests.codes
    RequestException = requests.RequestException
    ConnectionError = requests.ConnectionError
    TooManyRedirects = requests.TooManyRedirects

    @staticmethod
    def request(method: str, url: str, **options: Any) -> requests.Response:
        """As requests.request; how to connect is not the caller's to choose."""
        known = ("params", "data", "json", "headers", "auth", "cookies")
        given = {name: options[name] for name in known if name in options}
        if options.get("files"):
            raise requests.RequestException("Nothing is attached.")
        with requests.Session() as session:
            session.trust_env = False
            prepared = session.prepare_request(requests.Request(method, url, **given))
        return _conversation.get().send(prepared)

    get = partial(request, "GET")
    post = partial(request, "POST")
    put = partial(request, "PUT")
    delete = partial(request, "DELETE")


def is_channel(url: str) -> bool:
    """Whether ``url`` is that of a chat service, and not of a webhook."""
    return scheme_of(url) in KINDS


def scheme_of(url: str) -> str:
    """The scheme of ``url`` in lower case; empty without one."""
    return url.partition("://")[0].lower() if "://" in url else ""


def canonical(url: str) -> str:
    """``url``, or where a service gives an https address for its channels, what stands for it."""
    if scheme_of(url) != "https":
        return url
    for scheme in KINDS:
        found = _plugin(scheme).parse_native_url(url)
        if found:
            plain, _, query = _plugin(scheme)(**found, asset=_asset()).url().partition("?")
            known = [(name, value) for name, value in parse_qsl(query) if name in ARGUMENTS]
            return f"{plain}?{urlencode(known)}" if known else str(plain)
    return url


def shown(url: str) -> str:
    """``url`` without its secrets: scheme, and the host where one was typed."""
    scheme = scheme_of(url)
    found = _plugin(scheme).parse_url(url) if scheme in OWN_HOSTS else None
    host = found["host"] if found else ""
    return f"{scheme}://{host}/…" if host else f"{scheme}://…"


def require_good(url: str, check: Callable[[str], http_post.Target]) -> None:
    """Raises ChannelError, and AddressError where the first request must not go."""
    talk = Conversation(check, Deadline(http_post.TOTAL_SECONDS), is_rehearsal=True)
    _notify(url, "Driftline", "Rehearsal", talk)
    if isinstance(talk.error, http_post.AddressError):
        raise talk.error
    if not talk.asked:
        raise ChannelError(talk.reason())


def send(
    url: str, *, title: str, text: str, check: Callable[[str], http_post.Target], deadline: Deadline
) -> http_post.Answer:
    """Write to the channel. Raises NotTaken."""
    talk = Conversation(check, deadline)
    try:
        is_taken = _notify(url, title, text, talk)
    except ChannelError as error:
        raise NotTaken(str(error)) from error
    if not is_taken or talk.answer is None or http_post.refusal(talk.answer):
        raise NotTaken(talk.reason(), talk.answer)
    return talk.answer


def _notify(url: str, title: str, text: str, talk: Conversation) -> bool:
    plugin = _read(url)
    with _talking(talk):
        return bool(plugin.notify(body=text, title=title, overflow="truncate", body_format="text"))


@contextmanager
def _talking(talk: Conversation) -> Iterator[None]:
    token = _conversation.set(talk)
    try:
        yield
    finally:
        _conversation.reset(token)


def _read(url: str) -> Any:
    """The plugin of ``url``, of one place. Raises ChannelError."""
    scheme = scheme_of(url)
    if scheme not in KINDS:
        raise ChannelError(f"“{scheme}” is no kind of channel; there are {', '.join(KINDS)}.")
    kind = _plugin(scheme)
    # What follows a bare # would be dropped, and a channel would become the default one.
    found = kind.parse_url(url.replace("#", "%23"))
    if not found:
        raise ChannelError("The URL is not complete. Its form: https://appriseit.com/services/.")
    _require_known_arguments(found)
    try:
        plugin = kind(**found, asset=_asset())
    except TypeError as error:
        raise ChannelError(f"The URL is not complete: {error}") from error
    if scheme.startswith("matrix") and plugin.user and plugin.password:
        raise ChannelError("Matrix needs an access token in place of user and password.")
    if len(plugin) != 1:
        raise ChannelError("The URL names several places; add a target for each.")
    return plugin


def _require_known_arguments(found: Mapping[str, Any]) -> None:
    """Of the query as apprise reads it, with its headers (``+``), and the like."""
    for group in ("qsd", "qsd+", "qsd-", "qsd:"):
        for name in found.get(group) or ():
            if group != "qsd" or name not in ARGUMENTS:
                raise ChannelError(f"“{name}” may not stand in the URL of a channel.")


@cache
def _plugin(scheme: str) -> Any:
    """The class of apprise for ``scheme``, its module without requests of its own."""
    name, kind = KINDS[scheme]
    module = import_module(f"apprise.plugins.{name}")
    module.requests = Guarded  # type: ignore[attr-defined]
    return getattr(module, kind)


@cache
def _asset() -> Any:
    """What messages carry of us: a name and an address, no picture of another host."""
    asset = import_module("apprise.asset").AppriseAsset(
        app_id="Driftline", app_desc="Driftline", app_url=settings.PUBLIC_URL, storage_mode="memory"
    )
    asset.image_url_mask = asset.image_url_logo = ""
    return asset
