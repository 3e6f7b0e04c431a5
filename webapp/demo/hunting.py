"""What the demonstration's simulated agents work with: the truth that they know, and a token."""

from pathlib import Path

from django.conf import settings

from webapp.bisects.models import BisectSettings
from webapp.demo import simulated
from webapp.labs import services as labs
from webapp.results.models import Tree
from webapp.stats.simulate import hunt as simulated_hunt

AGENT = "simulated-agents"
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


def prepare_agents(demo: Path) -> None:
    """Write the truth, and a new token in place of the last one; the files are for agents alone.

    Bisects of the tree begin by themselves, unless somebody has set that otherwise.
    """
    directory = demo / DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    (directory / TRUTH).write_text(_truth())
    agent = labs.create_agent(name=AGENT, lab_name=simulated.HUNT_LAB, simulated=True)
    for token in agent.tokens.usable():
        labs.revoke_token(token=token)
    path = directory / TOKEN
    path.touch(mode=0o600)
    path.write_text(labs.issue_token(agent=agent).text)
    tree = Tree.objects.get(name=simulated.HUNT_TREE)
    BisectSettings.objects.get_or_create(tree=tree, defaults={"automatic": True})


def _truth() -> str:
    return TRUTH_FORM.format(
        run=simulated_hunt.RUN,
        boot=simulated_hunt.BOOT,
        drift=-settings.DEMO_DRIFT / 1000,
        tree=simulated.HUNT_TREE,
        hardware=simulated_hunt.HARDWARE,
        mode=simulated_hunt.WORKLOAD,
        level=simulated_hunt.LEVEL,
        position=simulated_hunt.FIRST + simulated_hunt.GUILTY,
        percent=simulated_hunt.STEP_PCT,
    )
