"""Caddy before the web server: what clients connect to. It waits for slow ones, speaks TLS and
HTTP/2, compresses, and serves the static files.
"""

import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from webapp.launcher.servers import Caddy

SHARED = Path(__file__).with_name("driftline.caddy")
SOCKET = "web.sock"
HTTP_PORT, HTTPS_PORT = 80, 443
# Names below these lead nowhere outside (RFC 2606, RFC 6762, RFC 8375, and what networks use)
OWN_NAMES = ("localhost", "local", "internal", "home.arpa", "lan", "test", "invalid")
CONFIGURATION = """\
# Written by the launcher at each start.
import {shared}

{{
	admin off
	persist_config off
	skip_install_trust
	storage file_system {storage}{redirects}
	log default {{
		level WARN
		sampling {{
			interval 60s
			first 20
			thereafter 1000
		}}
	}}
	servers {{
		import limits {body_seconds}s {deadlines}
	}}
}}

(webs) {{
	to unix/{socket}
}}

http://:{port} {{
	bind {address}
	import site webs {static}{log}
}}
"""
HTTPS = """
https://{host} {{{tls}
	import site webs {static}{log}
}}
"""
LOG = """
	log {{
		output file {file} {{
			roll_size 10MiB
			roll_keep 4
		}}
	}}"""


@dataclass(frozen=True)
class Front:
    """One Caddy: its program, and where its configuration and its sockets are."""

    caddy: Caddy
    state: Path
    sockets: Path

    @property
    def socket(self) -> Path:
        """Where the web server listens."""
        return self.sockets / SOCKET

    @property
    def configuration(self) -> Path:
        """Where its configuration is."""
        return self.state / "Caddyfile"

    def create(self, settings: ModuleType, *, address: str, port: int) -> None:
        """Write the configuration: the pages at ``address``, and over TLS where a host is set."""
        common = {
            "socket": self.socket,
            "static": _quoted(settings.STATIC_ROOT),
            "log": LOG.format(file=_quoted(self.state / "logs" / "access.log"))
            if settings.ACCESS_LOG
            else "",
        }
        text = CONFIGURATION.format(
            shared=_quoted(SHARED),
            storage=_quoted(self.state / "caddy"),
            redirects="\n\tauto_https disable_redirects" if ":" in settings.HOST else "",
            body_seconds=settings.BODY_SECONDS,
            deadlines="idle" if self.caddy.has_idle_limits else "hard",
            address=address,
            port=port,
            **common,
        )
        if settings.HOST:
            tls = "" if is_public(settings.HOST) else "\n\ttls internal"
            text += HTTPS.format(host=settings.HOST, tls=tls, **common)
        self.configuration.write_text(text)

    def command(self, pidfile: Path) -> list[str]:
        """The command that runs it in the foreground."""
        configuration = ("--config", str(self.configuration), "--adapter", "caddyfile")
        return [str(self.caddy.program), "run", *configuration, "--pidfile", str(pidfile)]


def is_public(host: str) -> bool:
    """Whether an authority that everybody trusts may certify ``host``: it looks for it by a name
    that is known everywhere, at port 80 or 443.
    """
    name, _, port = host.partition(":")
    if port not in ("", str(HTTPS_PORT)) or "." not in name:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return not any(name.endswith(f".{own}") for own in OWN_NAMES)
    return False


def ports_of(host: str) -> tuple[int, ...]:
    """Where ``host`` is listened to: HTTPS, and HTTP that leads there; none without a host."""
    if not host:
        return ()
    port = host.partition(":")[2]
    return (int(port),) if port else (HTTPS_PORT, HTTP_PORT)


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)
