"""A Redis of our own: in memory only, reached by a Unix socket only."""

from dataclasses import dataclass
from pathlib import Path

import redis

from webapp.launcher.errors import StackError
from webapp.launcher.servers import find_redis

SOCKET = "redis.sock"
CONFIGURATION = """\
port 0
unixsocket "{sockets}/redis.sock"
unixsocketperm 700
dir "{directory}"
pidfile "{pidfile}"
daemonize no
# Nothing lives only in Redis, so nothing is written to disk.
save ""
appendonly no
databases {databases}
# The title keeps the path of this file, by which the launcher knows the process as its own.
set-proc-title no
"""


@dataclass(frozen=True)
class Redis:
    """One server and the directory that holds its configuration."""

    program: Path
    configuration: Path
    sockets: Path

    @classmethod
    def choose(cls, state: Path, sockets: Path) -> "Redis":
        """The server of `state`."""
        return cls(find_redis(), state / "redis.conf", sockets)

    def create(self, *, pidfile: Path, databases: int = 16) -> None:
        """Write the configuration."""
        self.configuration.write_text(
            CONFIGURATION.format(
                sockets=self.sockets,
                directory=self.configuration.parent,
                pidfile=pidfile,
                databases=databases,
            )
        )

    def command(self) -> list[str]:
        """The command that runs the server in the foreground."""
        return [str(self.program), str(self.configuration)]

    def answers(self) -> bool:
        """True when the server takes commands."""
        return _pings(redis.Redis(unix_socket_path=str(self.sockets / SOCKET)))


def require_url(url: str) -> None:
    """Raise `StackError` unless the Redis at `url` answers."""
    if not _pings(redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5)):
        raise StackError(
            "The server of REDIS_URL does not answer. Is it running, and is the URL right?"
        )


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
