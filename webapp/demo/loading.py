"""Load the demonstration through the real path: bench directories, agent, API, worker."""

import io
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from webapp.accounts.services import open_to_everybody
from webapp.bisects.models import BisectSettings
from webapp.demo import simulated
from webapp.demo.links import ensure_account
from webapp.demo.parts import PARTS, History, Part
from webapp.events.services import record_release
from webapp.labs import services as labs
from webapp.labs.models import Agent, Lab
from webapp.results.models import Run, Series, Tree
from webapp.results.services import ResultsError, register_hardware
from webapp.stats.simulate import bisect_lab

AGENT = "demonstration"
LOOK_AGAIN_SECONDS = 0.1
BISECT_AGENT = "simulated-agents"
DIRECTORY = "agents"
TRUTH = "truth.toml"
TOKEN = "token"  # noqa: S105 (the name of a file)

TRUTH_FORM = """\
# The simulated agents of the demonstration measure this.
seed = 64
build_seconds = 600
boot_seconds = 120
run_seconds = 60
run_noise = {run}
boot_noise = {boot}
build_noise = 0.0
drift = {drift}
trees = ["{tree}"]

[[hardware]]
name = "{hardware}"
levels = {{ {mode} = {level} }}

[[step]]
tree = "{tree}"
position = {position}
percent = {percent}
"""


class DemonstrationError(Exception):
    """The message has the reason, and what to do."""


@dataclass(frozen=True, slots=True)
class Loading:
    """Where to load from and to.

    `directory` holds the bench directories and the agents' spools, `command` is `labagent`,
    `patience` how many seconds an upload, and the analysis after it, may take.
    """

    server: str
    public_url: str
    directory: Path
    command: Path
    patience: float
    say: Callable[[str], None]
    parts: Sequence[Callable[[], Part]] = PARTS

    def load(self) -> None:
        """Load what is missing and wait for its analysis; all there already costs no upload. Raises
        DemonstrationError: with the remedy. What was stored stays; loading again goes on.
        """
        # First of all: what the account is subscribed to happens while the parts are loaded.
        account = ensure_account(self.public_url)
        parts = [make() for make in self.parts]
        # Beside a lab of one's own a demonstration opens nothing.
        if not Lab.objects.exclude(name__in=[part.lab for part in parts]).exists():
            open_to_everybody()
        for part in parts:
            self._load_part(part)
        self._wait_for_analysis([part.lab for part in parts])
        if any(part.has_agents for part in parts):
            prepare_agents(self.directory)
        self.say(account)

    def _load_part(self, part: Part) -> None:
        agent = _agent_of(part)
        _end_tokens_left_behind(agent)
        wanted = part.written.digests()
        missing = wanted - _stored_digests(agent)
        if not missing:
            self.say(f"{part.lab}: all {len(wanted)} runs are there")
            return
        root = self.directory / part.directory
        part.written.write(root)
        for history in part.histories:
            self._import(history)
        for release in part.releases:
            name_release(release)
        self._upload_as(agent, part, root)
        missing = wanted - _stored_digests(agent)
        if missing:
            raise DemonstrationError(
                f"{part.lab}: {len(missing)} of {len(wanted)} runs were not stored; "
                f"see what `labagent parse {root}` prints"
            )
        self.say(f"{part.lab}: {len(wanted)} runs uploaded")

    def _import(self, history: History) -> None:
        path = self.directory / f"{history.tree}.jsonl"
        path.write_text(history.json_lines())
        try:
            call_command("import_revisions", str(path), tree=history.tree, stdout=io.StringIO())
        except CommandError as error:
            raise DemonstrationError(f"the history of {history.tree}: {error}") from error

    def _upload_as(self, agent: Agent, part: Part, root: Path) -> None:
        """Upload with a token that ends with the upload, whatever became of it."""
        issued = labs.issue_token(agent=agent)
        of_each: list[tuple[list[Path], tuple[str, ...]]] = [
            (sorted((root / one).iterdir()), ("--revision", one)) for one in part.revisions
        ]
        try:
            for paths, options in of_each or [([root], ())]:
                upload(
                    command=self.command,
                    paths=paths,
                    server=self.server,
                    token=issued.text,
                    options=(*part.options, *options),
                    spool=self.directory / "spool" / part.directory,
                    patience=self.patience,
                )
        finally:
            labs.revoke_token(token=issued.token)

    def _wait_for_analysis(self, lab_names: Collection[str]) -> None:
        ours = Series.objects.dirty().filter(hardware__lab__name__in=lab_names)
        deadline = time.monotonic() + self.patience
        while waiting := ours.count():
            if time.monotonic() > deadline:
                raise DemonstrationError(
                    f"{waiting} series still wait for their analysis after {self.patience:g} s: "
                    "is the worker running? Its log shows what it does"
                )
            time.sleep(LOOK_AGAIN_SECONDS)


def name_release(release: simulated.PlantedRelease) -> None:
    """Record it; its tree is there."""
    record_release(
        tree=Tree.objects.get(name=release.tree),
        name=release.name,
        revision=release.revision,
        kind=release.kind,
        released_on=release.released_on,
    )


def _agent_of(part: Part) -> Agent:
    """The agent of the part's lab; lab and hardware are made when they are new."""
    lab, _ = Lab.objects.get_or_create(
        name=part.lab, defaults={"description": part.description, "simulated": part.is_simulated}
    )
    agent = labs.create_agent(name=AGENT, lab_name=part.lab, simulated=part.is_simulated)
    try:
        for name, description in part.hardware.items():
            register_hardware(lab=lab, name=name, description=description)
    except ResultsError as error:
        raise DemonstrationError(
            f"{error}: this instance holds results of its own for the demonstration's hardware; "
            "load it into another instance"
        ) from error
    return agent


def _end_tokens_left_behind(agent: Agent) -> None:
    """Those of a load that was killed before it could end its own."""
    for token in agent.tokens.usable():
        labs.revoke_token(token=token)


def _stored_digests(agent: Agent) -> set[str]:
    """SHA-256 of every file that a stored run of `agent` came from."""
    sources = Run.objects.filter(agent=agent).values_list("sources", flat=True)
    return {source["sha256"] for of_run in sources for source in of_run}


def prepare_agents(demo: Path) -> None:
    """Write the truth, and a new token in place of the last one; the files are for agents alone.

    Bisects of the tree begin by themselves, unless somebody has set that otherwise.
    """
    directory = demo / DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    (directory / TRUTH).write_text(_truth())
    agent = labs.create_agent(name=BISECT_AGENT, lab_name=simulated.BISECT_LAB, simulated=True)
    for token in agent.tokens.usable():
        labs.revoke_token(token=token)
    path = directory / TOKEN
    path.touch(mode=0o600)
    path.write_text(labs.issue_token(agent=agent).text)
    tree = Tree.objects.get(name=simulated.BISECT_TREE)
    BisectSettings.objects.get_or_create(tree=tree, defaults={"automatic": True})


def _truth() -> str:
    return TRUTH_FORM.format(
        run=bisect_lab.RUN,
        boot=bisect_lab.BOOT,
        drift=-settings.DEMO_DRIFT / 1000,
        tree=simulated.BISECT_TREE,
        hardware=bisect_lab.HARDWARE,
        mode=bisect_lab.WORKLOAD,
        level=bisect_lab.LEVEL,
        position=bisect_lab.FIRST + bisect_lab.GUILTY,
        percent=bisect_lab.STEP_PCT,
    )


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
    Raises DemonstrationError: it is not installed, failed, or took more than `patience` seconds.
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
