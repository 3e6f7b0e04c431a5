"""`python -m webapp.stats.bisection --simulate`: how well a bisect works, in any shell, as JSON."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from webapp.stats import StatisticsError, end_silently
from webapp.stats.bisection.plan import DEFAULT_BOOTS
from webapp.stats.simulate.bisect_cells import NEIGHBOURS, Cell, Result, simulate, spread_over
from webapp.stats.simulate.bisect_worlds import AS_MODELLED, World

BAD_INPUT = 2
"""Exit code for arguments that make no sense."""

TRIALS_EACH = 20
"""Trials that are worth a process of their own, which takes a second to start."""


def main(arguments: list[str] | None = None) -> int:
    """Print JSON; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        cell = _cell(options)
        with spread_over(_processes(options)) as spread:
            result = simulate(cell, trials=options.trials, seed=options.seed, spread=spread)
        sys.stdout.write(json.dumps(as_document(cell, result, options), indent=1) + "\n")
    except StatisticsError as error:
        sys.stderr.write(f"bisection: {error}\n")
        return BAD_INPUT
    return 0


def _processes(options: argparse.Namespace) -> int:
    """As many as there are cores, unless a few trials are done before another process is up."""
    asked: int | None = options.processes
    worth = max(options.trials // TRIALS_EACH, 1)
    return min(os.cpu_count() or 1, worth) if asked is None else asked


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m webapp.stats.bisection",
        description="Bisects in a simulated lab with a known truth. Standard output: JSON.",
    )
    parser.add_argument("--simulate", action="store_true", required=True, help="one cell, as JSON")
    parser.add_argument("--commits", type=int, default=64, help="candidates between good and bad")
    number = parser.add_argument
    number("--step", type=float, default=-2.0, metavar="PCT", help="the true step, signed")
    for kind, usual, about in (
        ("run", 0.5, "sd of runs in a boot"),
        ("boot", 0.5, "sd of boots in a build"),
        ("build", 0.0, "sd between builds"),
    ):
        number(f"--{kind}-noise", dest=kind, type=float, default=usual, metavar="PCT", help=about)
    number(
        "--history",
        type=int,
        default=0,
        metavar="REVISIONS",
        help="estimate the noise from so many revisions of 5 boots (0: it is known)",
    )
    number(
        "--neighbours",
        type=int,
        default=NEIGHBOURS,
        help=f"revisions that history measured at the good end ({NEIGHBOURS})",
    )
    number("--alerted", type=float, metavar="PCT", help="the alerted step (the true one)")
    number("--false-alert", action="store_true", help="there is no step of that size")
    number("--rebuilds", action="store_true", help="the lab can build a revision anew")
    number("--budget", type=int, default=DEFAULT_BOOTS, metavar="BOOTS", help="the most boots")
    _add_world(number)
    number("--trials", type=int, default=200, help="how many bisects")
    number("--seed", type=int, default=1, help="the same seed gives the same answer")
    number("--processes", type=int, help="play in so many at once (one for each core)")
    return parser


def _add_world(number: Callable[..., Any]) -> None:
    """What breaks the model; a comma separates the steps of several culprits."""
    usual = AS_MODELLED
    number("--true-noise", type=float, default=1.0, metavar="FACTOR", help="over the believed")
    number(
        "--hidden-build-noise",
        dest="hidden_build",
        type=float,
        default=0.0,
        metavar="PCT",
        help="history shows 0",
    )
    number("--drift", type=float, default=0.0, metavar="PCT", help="of the machine, a boot")
    number("--lab-step", type=float, default=0.0, metavar="PCT", help="of the machine, once")
    number("--lab-step-at", type=int, default=usual.lab_step_at, metavar="BOOT", help="after it")
    number("--flaky", type=float, default=0.0, metavar="SHARE", help="of boots that go wrong")
    number("--flaky-pct", type=float, default=usual.flaky_pct, metavar="PCT", help="by so much")
    number("--culprits", type=_steps, default=(), metavar="PCT,PCT[,…]", help="several steps")
    number("--outside", type=int, default=0, choices=(-1, 0, 1), help="−1: before the good end")
    number("--beside", type=int, default=0, metavar="MODES", help="measured in the same boots")
    number("--beside-share", type=float, default=0.0, metavar="X", help="of each step in them")
    number("--beside-still", action="store_true", help="they do not follow the machine")
    number("--misleading-prior", type=float, default=1.0, metavar="WEIGHT", help="of the culprit")


def _steps(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _cell(options: argparse.Namespace) -> Cell:
    """Options have the names of the fields of `Cell` and `World`."""
    given = vars(options)
    world = World(**{each.name: given[each.name] for each in fields(World)})
    own = {each.name: given[each.name] for each in fields(Cell) if each.name != "world"}
    return Cell(**own, world=world)


def as_document(cell: Cell, result: Result, options: argparse.Namespace) -> dict[str, Any]:
    """The result as plain data for JSON; shares are of 1."""
    return {
        "policy": "driftline",
        "commits": cell.commits,
        "step_pct": cell.step,
        "alerted_pct": cell.step if cell.alerted is None else cell.alerted,
        "noise_pct": {"run": cell.run, "boot": cell.boot, "build": cell.build},
        "history": cell.history,
        "neighbours": cell.neighbours,
        "false_alert": cell.false_alert,
        "trials": result.trials,
        "seed": options.seed,
        "outcomes": {kind.value: _rounded(share) for kind, share in result.outcomes.items()}
        | {"more than one": _rounded(result.several)},
        "right_single": _rounded(result.right_single),
        "wrong_single": _rounded(result.wrong_single),
        "outside_right": _rounded(result.outside_right),
        "innocent_single": _rounded(result.innocent),
        "ranges": {
            "hold_the_culprit": _rounded(result.range_right),
            "candidates_median": result.range_median,
        },
        "boots": {"median": result.boots_median, "p95": result.boots_p95},
        "stated_90": {"named": result.stated_90[0], "right": result.stated_90[1]},
        "world": asdict(cell.world),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


if __name__ == "__main__":
    end_silently()
    sys.exit(main())
