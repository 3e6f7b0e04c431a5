"""What the agent reads in the directories of the demonstration."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from labagent.model import Overrides, Run, runs_of, skips_of
from labagent.readers.benchlab import read_directories

from webapp.demo import simulated
from webapp.demo.benchdirs import (
    PROFILED_KINDS,
    WATCHED,
    Written,
    profile_texts,
    published_files,
    simulated_files,
)
from webapp.demo.published import PUBLICATIONS
from webapp.results.spellings import BUILTIN_RULES, ModeName, read_options
from webapp.stats.profiles.calls import Function, calls_of
from webapp.stats.profiles.costs import Boot, Side
from webapp.stats.profiles.function_series import (
    ProfiledRevision,
    changed_among,
    costliest,
    function_costs,
    series_of,
)
from webapp.stats.simulate.lab import MACHINES, MODES, LabRun, make_lab

LAB = make_lab()


def read(root: Path, tree: str | None = None) -> list[Run]:
    """The runs below `root`; nothing may be skipped or give cause for a warning."""
    outcomes = list(read_directories([root], Overrides(tree=tree)))
    assert not skips_of(outcomes)
    assert not [run.warnings for run in runs_of(outcomes) if run.warnings]
    return runs_of(outcomes)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    root = tmp_path_factory.mktemp("published")
    published_files(PUBLICATIONS).write(root)
    return read(root)


@pytest.fixture(scope="module")
def simulated_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    root = tmp_path_factory.mktemp("simulated")
    simulated_files(LAB).write(root)
    return read(root, tree=simulated.TREE)


def mode_and_variant(run: Run) -> tuple[str, str]:
    """Mode and variant as the server files it."""
    image = run.evidence.image if run.evidence else ""
    found = read_options(ModeName.parse(str(run.mode)), BUILTIN_RULES, image=image)
    return str(found.mode), found.variant


def test_each_published_row_is_a_run_of_its_tree_kernel_hardware_and_mode(
    published: list[Run],
) -> None:
    wanted = {
        (publication.tree, row.revision, publication.machine.name, row.mode, row.variant): (
            row.figures
        )
        for publication in PUBLICATIONS
        for block in publication.blocks
        for row in block.rows
    }
    found = {
        (run.tree, run.revision, run.hardware, *mode_and_variant(run)): run for run in published
    }
    assert found.keys() == wanted.keys()
    assert all(wanted[key].fit(run.samples[0].values) for key, run in found.items())


def test_nothing_that_was_not_published_is_made_up(published: list[Run]) -> None:
    assert {run.measured_at for run in published} == {None}
    assert {run.facts["host"] for run in published} == {"lab"}


def test_a_patched_kernel_is_another_build_than_the_plain_one(published: list[Run]) -> None:
    builds = {run.build_id for run in published if run.revision == "r317849"}
    assert len(builds) == 2


def test_each_simulated_run_is_read_as_it_was_drawn(simulated_runs: list[Run]) -> None:
    found = {(run.hardware, run.revision, str(run.mode)): run for run in simulated_runs}
    assert len(found) == len(LAB.runs)
    for drawn in LAB.runs:
        run = found[drawn.hardware, drawn.revision, drawn.workload]
        assert run.samples[0].values == drawn.samples
        assert run.measured_at == drawn.measured_at.isoformat()


def test_the_simulated_lab_is_named_so_in_tree_hardware_and_kernel(
    simulated_runs: list[Run],
) -> None:
    assert {run.tree for run in simulated_runs} == {"simulated-head"}
    assert all(run.hardware.startswith("Simulated_") for run in simulated_runs)
    assert all("simulated" in str(run.kernel_ident) for run in simulated_runs)


def test_it_has_three_machines_in_three_modes_two_in_fewer_and_a_build_for_each_revision(
    simulated_runs: list[Run],
) -> None:
    series = Counter((run.hardware, str(run.mode)) for run in simulated_runs)
    assert len(series) == sum(len(machine.level) for machine in MACHINES) == 12
    assert {mode for _, mode in series} == {*MODES, "forwarding+VIMAGE"}
    assert all(count >= 110 for count in series.values())
    assert len({run.build_id for run in simulated_runs}) == len(
        {run.revision for run in simulated_runs}
    )


@pytest.mark.parametrize(
    "make",
    [lambda: published_files(PUBLICATIONS), lambda: simulated_files(make_lab())],
    ids=["published", "simulated"],
)
def test_files_are_the_same_at_every_call_and_each_run_has_a_digest_of_its_own(
    make: Callable[[], Written],
) -> None:
    first, again = make(), make()
    assert first == again
    assert len(first.digests()) == len(first.value_files)


def test_what_was_planted_was_also_measured() -> None:
    measured = {(run.hardware, run.workload, run.revision) for run in LAB.runs}
    for planted in LAB.planted:
        if planted.kind in {"outlier", "excursion"}:
            assert all((*here, planted.revision) in measured for here in planted.pct)


def test_subjects_name_what_was_planted_and_messages_how_much() -> None:
    commits = {commit.subject: commit for commit in simulated.planted_commits(LAB)}
    assert "Planted step: ipfw loses on two machines" in commits
    mixed = commits["Planted mixed commit: forwarding gains and pf loses"]
    assert "Simulated_Atom_8Cores/10G pf-statefull: -11 %" in mixed.message
    assert len({commit.revision for commit in commits.values()}) == len(commits) == 11


def test_of_noise_the_message_states_that_it_is_scatter() -> None:
    noise = next(one for one in simulated.planted_commits(LAB) if "noise" in one.subject)
    assert "Simulated_Xeon_16Cores/40G forwarding: +200 % of scatter" in noise.message


def test_every_kind_of_change_is_planted() -> None:
    kinds = {planted.kind for planted in LAB.planted}
    of_levels = {"step", "mixed", "drift", "outlier", "machine change"}
    assert kinds == of_levels | {"excursion", "slow loss", "noise", "cost"}


def test_both_sides_of_a_planted_step_are_profiled_in_five_boots(
    simulated_runs: list[Run],
) -> None:
    step = next(one for one in LAB.planted if one.kind == "step")
    (hardware, workload), _ = next(iter(step.pct.items()))
    its = [run for run in simulated_runs if (run.hardware, str(run.mode)) == (hardware, workload)]
    profiled = {run.revision for run in its if len(run.profiles) == 5}
    at = next(i for i, run in enumerate(its) if run.revision == step.revision)
    assert {its[at - 1].revision, its[at].revision} <= profiled


def test_the_function_that_was_planted_has_a_series_with_both_steps() -> None:
    boots: dict[LabRun, list[Boot]] = {}
    for run, _, text in profile_texts(LAB):
        if (run.hardware, run.workload) == WATCHED:
            rows = (line.rsplit(" ", 1) for line in text.splitlines())
            stacks = {tuple(map(_function, stack.split(";"))): int(n) for stack, n in rows}
            boots.setdefault(run, []).append(Boot(calls_of([stacks])))
    revisions = [
        ProfiledRevision(run.position, run.revision, Side(tuple(its), plain_pps=run.samples))
        for run, its in boots.items()
    ]
    costs = function_costs(sorted(revisions, key=lambda one: -one.position))
    found = changed_among(series_of(costs, costliest(costs, with_calls=False), with_calls=False))
    (one,) = found
    assert one.function.name == "ipfw_dyn_lookup_state"
    planted = [one.revision for one in LAB.planted if one.kind in PROFILED_KINDS]
    assert [(each.revision.label, each.verdict) for each in one.changes] == [
        (planted[0], "worse"),
        (planted[1], "better"),
    ]


def _function(name: str) -> Function:
    return Function(name, "")
