"""Run the agent, as a lab would."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from webapp.config.demo.errors import DemonstrationError


def upload(
    *,
    command: Path,
    root: Path,
    server: str,
    token: str,
    options: Sequence[str],
    home: Path,
    patience: float,
) -> None:
    """`labagent upload` of what is below `root`, with its spool in `home`.

    Raises:
        DemonstrationError: it is not installed, failed, or took more than `patience` seconds.
    """
    arguments = [str(command), "upload", str(root), "--server", server, *options]
    try:
        done = subprocess.run(
            arguments,
            env=_environment(token, home),
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
            f"the upload of {root} to {server} took more than {patience:g} s; start again to go "
            "on, with a longer --timeout on a slow machine"
        ) from error
    if done.returncode:
        said = f"{done.stdout}{done.stderr}".strip()
        raise DemonstrationError(f"labagent ended with status {done.returncode}:\n{said}")


def _environment(token: str, home: Path) -> dict[str, str]:
    """Not our own: that holds secrets of the server, and perhaps settings of another agent.

    The token goes this way because a command line can be read by everybody on the machine.
    """
    return {
        "DRIFTLINE_TOKEN": token,
        "DRIFTLINE_SPOOL": str(home / "spool"),
        "DRIFTLINE_CONFIG": str(home / "labagent.toml"),
        "HOME": str(home),
        "PYTHONUTF8": "1",
    }
