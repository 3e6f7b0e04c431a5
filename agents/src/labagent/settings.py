"""What the agent was given: options, then the environment, then a small configuration file; and
units and directions of metrics that a format does not state, asked once and remembered.

The file is `config.toml` in the user's configuration directory (`labagent doctor` prints where):

    server = "https://driftline.example.org"
    token = "…"
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from labagent.errors import SettingsError
from labagent.files import write_durably
from labagent.limits import UNIT
from labagent.model import Metric
from labagent.readers.formats import Content

SERVER_VARIABLE = "DRIFTLINE_SERVER"
TOKEN_VARIABLE = "DRIFTLINE_TOKEN"  # noqa: S105 (a name, not a secret)
SPOOL_VARIABLE = "DRIFTLINE_SPOOL"
CONFIG_VARIABLE = "DRIFTLINE_CONFIG"

_KEYS = frozenset({"server", "token", "spool"})


@dataclass(frozen=True)
class Settings:
    """Where to send, as whom, and where runs wait until they are sent; `filed` is what the
    configuration file states."""

    server: str | None
    token: str | None
    spool: Path
    config: Path
    filed: Mapping[str, str] = field(default_factory=dict)

    def need_server(self) -> str:
        """The server's address without a final slash."""
        if not self.server:
            raise SettingsError(
                "no server given",
                f"pass --server URL, set {SERVER_VARIABLE}, or put `server` into {self.config}",
            )
        parts = urlsplit(self.server)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SettingsError(f"{self.server!r} is no server's address", "write https://host/")
        return self.server.rstrip("/")

    def need_token(self) -> str:
        """The token. Raises SettingsError without one."""
        if not self.token:
            raise SettingsError(
                "no token given",
                f"pass --token, set {TOKEN_VARIABLE}, or put `token` into {self.config};"
                " `manage.py create_agent` on the server makes one",
            )
        return self.token

    @property
    def server_spool(self) -> Path:
        """The spool of this server: runs meant for one never go to another."""
        server = self.need_server()
        name = re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(server).netloc)
        return self.spool / f"{name}-{hashlib.sha256(server.encode()).hexdigest()[:8]}"


def load_settings(
    environ: Mapping[str, str],
    *,
    server: str | None = None,
    token: str | None = None,
    spool: Path | None = None,
) -> Settings:
    """The settings from options, environment and file, the first that has something."""
    config = _config_path(environ)
    filed = _read_config(config)
    state = platformdirs.user_state_path("labagent")
    kept = environ.get(SPOOL_VARIABLE) or filed.get("spool")
    return Settings(
        server=server or environ.get(SERVER_VARIABLE) or filed.get("server"),
        token=token or environ.get(TOKEN_VARIABLE) or filed.get("token"),
        spool=spool or (Path(kept).expanduser() if kept else state / "spool"),
        config=config,
        filed=filed,
    )


def _config_path(environ: Mapping[str, str]) -> Path:
    named = environ.get(CONFIG_VARIABLE)
    return Path(named) if named else platformdirs.user_config_path("labagent") / "config.toml"


def _read_config(path: Path) -> dict[str, str]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}", "correct or remove it") from error
    wrong = [
        key for key, value in content.items() if key not in _KEYS or not isinstance(value, str)
    ]
    if wrong:
        raise SettingsError(
            f"{path}: do not understand {', '.join(wrong)}",
            f"it may hold {', '.join(sorted(_KEYS))}, each a string",
        )
    return content


BETTER = ("more", "less")
FILE = "directions.json"
ONE = "1"
UNIT_OF = "unit of "
"""Before the name of a metric, the key of an answer that is a unit."""
NO_DIRECTION = (
    "nothing states its unit, or which way is better: pass --better METRIC=more or METRIC=less,"
    " and --unit METRIC=UNIT, once"
)

SKIP = ""
"""The answer that a metric is to be left out."""

Ask = Callable[[Metric], str | None]
"""Takes a metric; its unit where that is empty, else more or less, or SKIP; None where nobody
answers."""


@dataclass
class Directions:
    """Answers by `metric [unit]`, and by `unit of metric`: those given now, then those in the file
    at ``path``."""

    path: Path
    given: Mapping[str, str] = field(default_factory=dict)
    ask: Ask = lambda _metric: None
    units: Mapping[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            found = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise SettingsError(f"cannot read {self.path}: {error}", "remove it") from error
        if not isinstance(found, dict) or not all(map(_is_answer, found, found.values())):
            raise SettingsError(f"{self.path} holds no directions", "remove it")
        self.known = found

    def complete(self, content: Content) -> tuple[Content, list[str]]:
        """The content with all units and directions; the metrics without are left out, and
        named."""
        metrics = {one.metric for one in content.results}
        unknown = {metric for metric in metrics if not (metric.better and metric.unit)}
        answers = {
            metric: self._answered(metric)
            for metric in sorted(unknown, key=lambda one: (one.name, one.unit, one.better))
        }
        whole = [
            replace(one, metric=answers.get(one.metric, one.metric)) for one in content.results
        ]
        results = [one for one in whole if one.metric.better and one.metric.unit]
        left = [
            f"{metric.name} ({metric.unit or 'no unit'})"
            for metric, answer in answers.items()
            if not (answer.better and answer.unit)
        ]
        return replace(content, results=results), left

    def _answered(self, metric: Metric) -> Metric:
        key = UNIT_OF + metric.name
        is_asked_for = not metric.unit
        # Numbers of a format without units are counts unless somebody names their unit.
        is_named = metric.unit == ONE and (metric.name in self.units or key in self.known)
        if is_asked_for or is_named:
            metric = replace(metric, unit=self._answer(key, self.units.get(metric.name), metric))
        if metric.unit and not metric.better:
            key = f"{metric.name} [{metric.unit}]"
            metric = replace(metric, better=self._answer(key, self.given.get(metric.name), metric))
        return metric

    def _answer(self, key: str, given: str | None, metric: Metric) -> str:
        answer = given or self.known.get(key)
        if answer is None:
            answer = self.ask(metric)
        if answer is not None:
            self.known[key] = answer
        return answer or SKIP

    def save(self) -> None:
        """Remember the answers."""
        if self.known:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(self.path, json.dumps(self.known, indent=1, sort_keys=True).encode())


def _is_answer(key: str, value: object) -> bool:
    is_unit = key.startswith(UNIT_OF) and not UNIT.fault(value)
    return value in (*BETTER, SKIP) or is_unit


def directions_given(texts: Iterable[str]) -> dict[str, str]:
    """``METRIC=more`` and ``METRIC=less`` by metric. Raises SettingsError."""
    given = _pairs("--better", texts, "write METRIC=more or =less")
    for name, better in given.items():
        if better not in BETTER:
            raise SettingsError(
                f"--better {name}={better!r} is no direction", "write METRIC=more or =less"
            )
    return given


def units_given(texts: Iterable[str]) -> dict[str, str]:
    """``METRIC=UNIT`` by metric. Raises SettingsError."""
    given = _pairs("--unit", texts, "write METRIC=UNIT")
    for name, unit in given.items():
        if fault := UNIT.fault(unit):
            raise SettingsError(f"--unit {name}: {fault}", "write METRIC=UNIT")
    return given


def _pairs(option: str, texts: Iterable[str], remedy: str) -> dict[str, str]:
    given = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not name:
            raise SettingsError(f"{option} {text!r} is no direction", remedy)
        given[name] = value
    return given
