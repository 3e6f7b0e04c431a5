"""Running PostgreSQL as somebody else than root, which it refuses to run as.

Elsewhere root is nothing special. In containers and CI it is the usual user, often with the
checkout in a directory that only root may enter. Then PostgreSQL's user gets one capability, to
pass directories, and nobody's modes are changed.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from webapp.launcher.errors import StackError

UNPRIVILEGED_USERS = ("postgres", "pgsql", "nobody")
# The first suffices; containers often have only the second.
CAPABILITIES = ("dac_read_search", "dac_override")


@dataclass(frozen=True)
class Identity:
    """Whose rights a server runs with.

    `user` is None for the launcher's own. `prefix` is the command that switches to it where
    switching alone would leave the server unable to reach its files.
    """

    user: str | None = None
    prefix: tuple[str, ...] = ()

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        """Run `command` with these rights, from the root directory, and return what it printed."""
        arguments = [*self.prefix, *map(str, command)]
        who = pwd.getpwnam(self.user) if self.user and not self.prefix else None
        return subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            user=who.pw_uid if who else None,
            group=who.pw_gid if who else None,
            extra_groups=[] if who else None,
        )

    def own(self, *paths: Path) -> None:
        """Hand `paths` to this user."""
        for path in paths:
            if self.user:
                shutil.chown(path, self.user)


def postgres_identity(program: Path, state: Path) -> Identity:
    """Who runs the PostgreSQL `program` on data inside `state`.

    Raises `StackError` for root when no other user can reach both.
    """
    if os.geteuid() != 0:
        return Identity()
    user = _unprivileged_user()
    for identity in _identities(user):
        if _reaches(identity, program, state):
            return identity
    raise StackError(
        f"PostgreSQL does not run as root, and the user {user} cannot reach both {program} and "
        f"{state}. Run this as another user, or put the checkout and STATE where others may pass "
        "(directories with mode 711), or set DATABASE_URL to use a server that runs already."
    )


def _unprivileged_user() -> str:
    for name in UNPRIVILEGED_USERS:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise StackError(
        "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`. "
        "Run this as another user."
    )


def _identities(user: str) -> Iterator[Identity]:
    yield Identity(user)
    setpriv = shutil.which("setpriv")
    if setpriv:
        group = str(pwd.getpwnam(user).pw_gid)
        for capability in CAPABILITIES:
            # Without no_setuid_fixup, access(2), by which PostgreSQL looks for its own files,
            # would ignore the capability.
            yield Identity(
                user,
                (
                    *(setpriv, "--reuid", user, "--regid", group, "--clear-groups"),
                    *("--inh-caps", f"+{capability}", "--ambient-caps", f"+{capability}"),
                    *("--securebits", "+no_setuid_fixup", "--"),
                ),
            )


def _reaches(identity: Identity, program: Path, state: Path) -> bool:
    commands: tuple[list[str | Path], ...] = ([program, "-V"], ["ls", "-d", f"{state}/."])
    try:
        return all(identity.run(command).returncode == 0 for command in commands)
    except OSError:
        return False
