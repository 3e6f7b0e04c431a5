"""Load the demonstration through the real path: bench directories, agent, API, worker."""

import io
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import CommandError

from webapp.demo.account import ensure_account
from webapp.demo.errors import DemonstrationError
from webapp.demo.hunting import prepare_agents
from webapp.demo.parts import PARTS, History, Part
from webapp.demo.simulated import PlantedRelease
from webapp.demo.uploading import upload
from webapp.events.services import record_release
from webapp.labs import services as labs
from webapp.labs.models import Agent, Lab
from webapp.results.models import Run, Series, Tree
from webapp.results.services import ResultsError, register_hardware

AGENT = "demonstration"
LOOK_AGAIN_SECONDS = 0.1


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
        """Load what is missing and wait for its analysis; all there already costs no upload.

        Raises:
            DemonstrationError: with the remedy. What was stored stays; loading again goes on.
        """
        # First of all: what the account is subscribed to happens while the parts are loaded.
        account = ensure_account(self.public_url)
        parts = [make() for make in self.parts]
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
                f"see what `labagent parse {root}` says"
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
                    "is the worker running? Its log says what it does"
                )
            time.sleep(LOOK_AGAIN_SECONDS)


def name_release(release: PlantedRelease) -> None:
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
        name=part.lab,
        defaults={"description": part.description, "simulated": part.is_simulated},
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
