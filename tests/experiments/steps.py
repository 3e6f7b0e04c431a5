"""Small experiments: two kernels on one machine, as a lab's directory has them."""

from collections.abc import Sequence

from django.utils import timezone

from tests.alerts.steps import arrive
from tests.documents import run_document
from webapp.experiments.models import Experiment
from webapp.experiments.services import Directory, import_directory
from webapp.labs.models import Lab
from webapp.results.models import ModeName, Run
from webapp.stats import ministat

SLOW = (100.5, 101.0, 99.0, 100.0, 102.0, 98.5)
FAST = tuple(1.25 * value for value in SLOW)
LABELS = ("old.pf", "new.pf")
README = """# Impact of r300001 on pf

 - Atom C2758 with 8 cores
 - FreeBSD r{typed}

![graph](graph.png)

pf gains a quarter:
```
{block}```

Thanks to <b>all</b> who helped:
 - [a picture](javascript:alert(1))
"""


def readme(*, typed: int = 300001, flavour: str = "current", labels: Sequence[str] = LABELS) -> str:
    sets = list(zip(labels, (SLOW, FAST), strict=True))
    block = ministat.render(sets, flavour=flavour)  # type: ignore[arg-type]
    return README.format(typed=typed, block=block)


def store(
    mode: str = "pf", *, hardware: str = "bench/nic", label: str = "first", build: str = "#0"
) -> list[Run]:
    """r300000 and r300001 in one session, in a mode."""
    documents = [
        run_document(
            revision=revision,
            hardware=hardware,
            mode={"workload": mode, "traffic": None, "options": []},
            samples=list(samples),
            build_id=f"{revision} {build}",
            evidence={"label": label},
        )
        for revision, samples in (("r300000", SLOW), ("r300001", FAST))
    ]
    arrive(documents)
    return list(Run.objects.filter(uuid__in=[one["uuid"] for one in documents]))


def in_mode(mode: ModeName, slow: bool, revision: str = "r300000") -> dict[str, object]:
    """A run in a mode, on its own build."""
    return run_document(
        revision=revision,
        hardware="bench/nic",
        mode={"workload": mode.workload, "traffic": mode.traffic, "options": list(mode.options)},
        samples=list(SLOW if slow else FAST),
        build_id=f"{revision} {mode}",
        evidence={"label": "first"},
    )


def store_modes(**slow: bool) -> list[Run]:
    """Workloads of one kernel in two traffics, each slow or fast, with an option in common."""
    documents = [
        in_mode(ModeName.of(workload, traffic, ["topic"]), is_slow)
        for workload, is_slow in slow.items()
        for traffic in ("inet4", "inet6")
    ]
    arrive(documents)
    return list(Run.objects.filter(uuid__in=[one["uuid"] for one in documents]))


def of_directory(name: str, mode: str, variant: str = "", revision: str = "r300000") -> list[Run]:
    """Two runs of a revision in a directory of an archive, off and on."""
    documents = [
        in_mode(
            ModeName.of(f"{mode}_{which}", "inet4", [variant] if variant else []), slow, revision
        )
        | {"evidence": {"label": name, "directory": f"bench/nic/{mode}/{name}"}}
        for which, slow in (("off", not variant), ("on", True))
    ]
    arrive(documents)
    return list(Run.objects.filter(uuid__in=[one["uuid"] for one in documents]))


def imported(text: str = "", *, runs: Sequence[Run] | None = None, source: str = "d") -> Experiment:
    found = store() if runs is None else runs
    lab: Lab = found[0].agent.lab
    directory = Directory(source, text, [run.uuid for run in found])
    made, _ = import_directory(lab=lab, directory=directory, now=timezone.now())
    return Experiment.objects.with_subjects().get(pk=made.pk)
