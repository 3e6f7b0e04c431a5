"""Ends an instance whose launcher died: `python -m … --state DIR`, one of its programs.

Without its launcher nobody would notice that supervisord dies, or that a program cannot be kept
running. So what a killed launcher leaves is stopped, as its Ctrl-C would have; what started the
launcher (a person, systemd, rc.d) can start it again. Nothing is polled: the system hands the lock
on when its holder is gone.
"""

import argparse
import os
from pathlib import Path

from webapp.launcher import state
from webapp.launcher.processes import end_left_behind


def main() -> None:
    """Wait for the launcher's death, then end everything but ourselves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--pidfile", type=Path, required=True)
    given = parser.parse_args()
    given.pidfile.write_text(f"{os.getpid()}\n")
    state.wait_for_launcher_to_end(given.state)
    # Not to standard output: whoever read that may be gone as well.
    with (given.state / "logs" / "launcher.log").open("a", buffering=1) as log:
        end_left_behind(given.state, lambda text: print(text, file=log), spare=os.getpid())


if __name__ == "__main__":
    main()
