"""The command `labagent`. `main` is the one place that turns errors into exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from labagent.benchlab import read_directories
from labagent.errors import AgentError, NothingFoundError
from labagent.model import Mode, Outcome, Overrides, runs_of, skips_of
from labagent.report import run_lines, skip_lines, warning_lines

INTERRUPTED = 130

DIRECTORIES = click.argument(
    "directories",
    metavar="DIR...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)


class ModeType(click.ParamType[Mode]):
    """`workload[@traffic][+option…]`"""

    name = "mode"

    def convert(self, value: object, _param: object, _ctx: object) -> Mode:
        return value if isinstance(value, Mode) else Mode.parse(str(value))


TREE = click.option("--tree", help="The tree of all runs, instead of what their kernels say.")
HARDWARE = click.option("--hardware", help="The hardware, instead of what the path says.")
MODE = click.option("--mode", type=ModeType(), help="The mode: workload[@traffic][+option…].")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="labagent")
def cli() -> None:
    """Read a lab's benchmark results and upload them to Driftline."""


@cli.command()
@DIRECTORIES
@click.option("--json", "as_json", is_flag=True, help="One JSON document a run, one a line.")
@TREE
@HARDWARE
@MODE
def parse(
    directories: Sequence[Path],
    *,
    as_json: bool,
    tree: str | None,
    hardware: str | None,
    mode: Mode | None,
) -> None:
    """Read bench directories, at any level of an archive, and print their runs."""
    outcomes = list(read_directories(directories, Overrides(tree, hardware, mode)))
    show(outcomes, as_json=as_json)
    if not outcomes:
        raise nothing_found(directories)


def show(outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    """Runs on standard output; what was skipped, and warnings, on standard error."""
    runs = runs_of(outcomes)
    lines = (json.dumps(run.document()) for run in runs) if as_json else run_lines(runs)
    for line in lines:
        click.echo(line)
    for line in (*warning_lines(runs), *skip_lines(skips_of(outcomes))):
        click.echo(line, err=True)


def nothing_found(directories: Sequence[Path]) -> NothingFoundError:
    return NothingFoundError(
        f"no benchmark results below {', '.join(map(str, directories))}",
        "name an archive, a `results` directory or one below it",
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    try:
        cli.main(args=arguments, prog_name="labagent", standalone_mode=False)
    except AgentError as error:
        click.echo(f"labagent: {error}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("labagent: interrupted; run it again to go on", err=True)
        return INTERRUPTED
    return 0


def main() -> None:
    sys.exit(run())
