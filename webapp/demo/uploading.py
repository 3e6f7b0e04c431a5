"""Run the agent, as a lab would."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from webapp.demo.errors import DemonstrationError


def upload(
    *,
    command: Path,
    paths: Sequence[Path],
    server: str,
    token: str,
    options: Sequence[str],
    spool: Path,
    patience: float,
) -> None:
    """`labagent upload` of files or directories, runs waiting in `spool` until they are sent.

    Raises:
        DemonstrationError: it is not installed, failed, or took more than `patience` seconds.
    """
    arguments = [str(command), "upload", *map(str, paths), "--server", server, *options]
    try:
        done = subprocess.run(
            arguments,
            env=_environment(token, spool),
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
    except FileNotFoundError as error:
        raise DemonstrationError(
            f"{command} is missing: `make setup` installs the agent"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise DemonstrationError(
            f"the upload of {paths[0]} to {server} took more than {patience:g} s; start again to "
            "go on, with a longer --timeout on a slow machine"
        ) from error
    if done.returncode:
        output = f"{done.stdout}{done.stderr}".strip()
        raise DemonstrationError(f"labagent ended with status {done.returncode}:\n{output}")


def _environment(token: str, spool: Path) -> dict[str, str]:
    """Not our own: that holds secrets of the server, and perhaps settings of another agent.

    The token goes this way because a command line can be read by everybody on the machine.
    """
    return {
        "DRIFTLINE_TOKEN": token,
        "DRIFTLINE_SPOOL": str(spool),
        "DRIFTLINE_CONFIG": str(spool / "config.toml"),
        "HOME": str(spool),
        "PYTHONUTF8": "1",
    }
