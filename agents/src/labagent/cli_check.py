"""The command `labagent check`: is B worse than A? It needs no server."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from labagent.cli_shared import one_line
from labagent.compare import MARGIN_PCT, Comparison, Verdict, compare, gated
from labagent.compare.ministat import LEAST_POINTS, ministat
from labagent.compare.sets import NotReadError, Pair, Set, pairs_of
from labagent.readers.formats import format_named

EXIT_CODES: dict[Verdict, int] = {"worse": 1, "differs": 2, "cannot tell": 2}
"""Of what is neither better nor equivalent."""

ORDER: tuple[Verdict, ...] = ("worse", "differs", "cannot tell", "better", "equivalent")
NO_DIRECTION = "nothing states which way is better: pass --better more or --better less"
MOST_NAMED = 3


@dataclass(frozen=True)
class Checked:
    """A metric of both sides, how it compares, and the verdict that passes among all of them."""

    pair: Pair
    found: Comparison
    verdict: Verdict
    better: str

    @property
    def change(self) -> str:
        """``-4.2 % [-5.1, -3.3]``"""
        if self.found.percent is None:
            return "from nothing"
        size = f"{self.found.percent:+.2g} %"
        if self.found.limits is None:
            return size
        low, high = self.found.limits
        return f"{size} [{low:+.2g}, {high:+.2g}]"

    @property
    def text(self) -> str:
        """The metric, its change with the interval at 95 %, and how many units it rests on."""
        first, second = self.found.counts
        return f"{self.pair.name} {self.change}, {self.found.units} {first} and {second}"

    def document(self) -> dict[str, Any]:
        """The same as data."""
        metric, limits = self.pair.metric, self.found.limits
        return {
            "case": self.pair.case,
            "metric": metric.name,
            "unit": metric.unit,
            "better": self.better or None,
            "verdict": "cannot tell" if self.verdict == "differs" else self.verdict,
            "change_pct": self.found.percent,
            "ci_pct": limits and list(limits),
            "p": self.found.p,
            "units": self.found.units,
            "n": list(self.found.counts),
        }


class MisuseError(click.UsageError):
    """Misuse of this command: 2, which it usually ends with, is a verdict here."""

    exit_code = NotReadError.exit_code


class CheckCommand(click.Command):
    """Misuse ends with 3: 2 is a verdict."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        """The context; what is wrong with the arguments ends with 3."""
        try:
            return super().make_context(*arguments, **more)
        except click.UsageError as error:
            raise MisuseError(error.format_message(), error.ctx) from error


side_path = click.Path(exists=True, path_type=Path)


@click.command(cls=CheckCommand)
@click.argument("a", type=side_path)
@click.argument("b", type=side_path)
@click.option(
    "--better", type=click.Choice(["more", "less"]), help="Of metrics whose format does not say."
)
@click.option(
    "--min-effect",
    default=MARGIN_PCT,
    type=click.FloatRange(min=0),
    metavar="PCT",
    show_default=True,
    help="Changes that surely lie within it are equivalent.",
)
@click.option("--format", "form", metavar="FORMAT", help="Read as this; else it is detected.")
@click.option(
    "--ministat", "as_ministat", is_flag=True, help="Each metric as ministat -A shows it."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--github", is_flag=True, help="Annotations of GitHub Actions as well.")
@click.option(
    "--gitlab",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a Code Quality report of GitLab to this file.",
)
def check(
    a: Path,
    b: Path,
    *,
    better: str | None,
    min_effect: float,
    form: str | None,
    as_ministat: bool,
    as_json: bool,
    github: bool,
    gitlab: Path | None,
) -> None:
    """Compare B with A: files or directories in any format that is read.

    Ends with 0 where B is better or equivalent, 1 where it is worse, 2 where that cannot be told,
    3 where there is nothing to compare.
    """
    wanted = format_named(form) if form else None
    sides = [Set.read(path, wanted) for path in (a, b)]
    pairs, alone = pairs_of(*sides)
    checked = compare_all(pairs, better or "", min_effect)
    warnings = list(dict.fromkeys([*sides[0].warnings, *sides[1].warnings, *alone]))
    worst = min((one.verdict for one in checked), key=ORDER.index)
    for text in warnings:
        click.echo(one_line(f"warning: {text}"), err=True)
    if as_json:
        click.echo(json.dumps(document_of(checked, worst, warnings)))
    else:
        for one in checked if as_ministat else ():
            click.echo(ministat_of(one.pair, a, b))
        click.echo(one_line(summary(checked, worst)))
    for line in workflow_commands(checked) if github else ():
        click.echo(line, err=as_json)
    if gitlab:
        gitlab.write_text(json.dumps(code_quality(checked, b), indent=1) + "\n", "utf-8")
    raise click.exceptions.Exit(EXIT_CODES.get(worst, 0))


def compare_all(pairs: Sequence[Pair], better: str, margin: float) -> list[Checked]:
    """Each metric; those that differ pass the gate for many looks first."""
    directions = [pair.metric.better or better for pair in pairs]
    found = [
        compare(pair.a.side(), pair.b.side(), direction, margin)
        for pair, direction in zip(pairs, directions, strict=True)
    ]
    rows = zip(pairs, found, gated(found), directions, strict=True)
    return [Checked(*row) for row in rows]


def summary(checked: Sequence[Checked], worst: Verdict) -> str:
    """One line: the verdict, and the metrics that it rests on."""
    of_it = [one for one in checked if one.verdict == worst]
    named = "; ".join(one.text for one in of_it[:MOST_NAMED])
    verdict: str = "cannot tell" if worst == "differs" else worst
    if len(checked) > 1:
        verdict = f"{verdict} ({len(of_it)} of {len(checked)} metrics)"
        named += f"; {len(of_it) - MOST_NAMED} more" if len(of_it) > MOST_NAMED else ""
    return f"{verdict}: {named}" + (f"; {NO_DIRECTION}" if worst == "differs" else "")


def document_of(
    checked: Sequence[Checked], worst: Verdict, warnings: Sequence[str]
) -> dict[str, Any]:
    """All of it as data."""
    return {
        "verdict": "cannot tell" if worst == "differs" else worst,
        "exit_code": EXIT_CODES.get(worst, 0),
        "metrics": [one.document() for one in checked],
        "warnings": list(warnings),
    }


def ministat_of(pair: Pair, a: Path, b: Path) -> str:
    """The metric as ministat(1) has it, or that it has too few samples for it."""
    title = f"{pair.name} ({pair.metric.unit})"
    if min(len(pair.a.values), len(pair.b.values)) < LEAST_POINTS:
        return f"{title}: ministat needs {LEAST_POINTS} samples a side\n"
    return f"{title}\n{ministat((str(a), pair.a.values), (str(b), pair.b.values))}"


def workflow_commands(checked: Sequence[Checked]) -> Iterator[str]:
    """Workflow commands of GitHub Actions: what is worse as errors, what is better as notices."""
    kinds = {"worse": "error", "better": "notice"}
    for one in checked:
        if kind := kinds.get(one.verdict):
            text = one_line(one.text).replace("%", "%25")
            yield f"::{kind} title=Driftline%3A {one.verdict}::{text}"


def code_quality(checked: Sequence[Checked], path: Path) -> list[dict[str, Any]]:
    """What is worse, as entries of GitLab's Code Quality report."""
    return [
        {
            "description": f"worse: {one.text}",
            "check_name": "labagent check",
            "fingerprint": hashlib.sha256(one.pair.name.encode()).hexdigest(),
            "severity": "major",
            "location": {"path": str(path), "lines": {"begin": 1}},
        }
        for one in checked
        if one.verdict == "worse"
    ]
