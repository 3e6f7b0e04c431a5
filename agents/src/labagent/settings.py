"""What the agent was told: options, then the environment, then a small configuration file.

The file is `config.toml` in the user's configuration directory (`labagent doctor` prints where):

    server = "https://driftline.example.org"
    token = "…"
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from labagent.errors import SettingsError

SERVER_VARIABLE = "DRIFTLINE_SERVER"
TOKEN_VARIABLE = "DRIFTLINE_TOKEN"  # noqa: S105 (a name, not a secret)
SPOOL_VARIABLE = "DRIFTLINE_SPOOL"
CONFIG_VARIABLE = "DRIFTLINE_CONFIG"

_KEYS = frozenset({"server", "token", "spool"})


@dataclass(frozen=True)
class Settings:
    """Where to send, as whom, and where runs wait until they are sent; `filed` is what the
    configuration file says."""

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
    """The settings from options, environment and file, the first that says something."""
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
