"""Ask the web server on this machine whether it answers: `python -m webapp.config.alive`.

For health checks of containers, whose image has no curl. The exit status is 0 or 1.
"""

import sys
import urllib.request

from webapp.config import settings


def main() -> int:
    """0 when /healthz answers 200, else 1 with the reason on standard error."""
    port = settings.BIND.rpartition(":")[2]
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
    except OSError as error:
        print(f"alive: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
