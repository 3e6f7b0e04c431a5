"""The command `labagent check`: is B worse than A in what both hold? It needs no server."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from labagent.cli_shared import FiniteRange, one_line
from labagent.compare import MARGIN_PCT, Comparison, Side, Verdict, compare, gated
from labagent.compare.ministat import LEAST_POINTS, ministat
from labagent.errors import AgentError
from labagent.model import Metric, Overrides, Run, Skip, runs_of, skips_of
from labagent.model import Samples as RunSamples
from labagent.readers.benchlab import read_directories
from labagent.readers.formats import Content, Format, Result, UnreadableError, format_named
from labagent.result_files import files_below, read_result_file

Key = tuple[str, str]
"""A case, empty where there is one, and a metric's name."""
BOOT = re.compile(r"boot[-_.]?(\d{1,9})")
"""A directory whose files were measured in one boot."""


class NotReadError(AgentError):
    """A side without samples, or two without a metric in common."""

    exit_code = 3


@dataclass
class Samples:
    """The samples of one metric; boots and builds as `Side` has them."""

    metric: Metric
    values: list[float] = field(default_factory=list)
    boots: list[tuple[int, int | None]] = field(default_factory=list)
    builds: list[str] = field(default_factory=list)

    def side(self) -> Side:
        """The samples as they are compared; one unknown boot makes all unknown."""
        known = all(boot is not None for _, boot in self.boots)
        return Side(self.values, self.boots if known else None, self.builds)


@dataclass(frozen=True)
class Pair:
    """A metric that both sides have."""

    case: str
    a: Samples
    b: Samples

    @property
    def metric(self) -> Metric:
        """The metric as A has it."""
        return self.a.metric

    @property
    def name(self) -> str:
        """The case and the metric."""
        return f"{self.case} {self.metric.name}".strip()


@dataclass
class Set:
    """All samples of one side, and what to warn of."""

    path: Path
    samples: dict[Key, Samples] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _added: int = 0
    _revisions: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path, form: Format | None) -> "Set":
        """A file, or a directory of bench-lab or of files. Raises NotReadError."""
        found = cls(path)
        if path.is_dir():
            found._read_directory(form)
        else:
            try:
                found._add(read_result_file(path, form)[1])
            except UnreadableError as error:
                raise NotReadError(str(error)) from error
        if len(found._revisions) > 1:
            found.warnings.append(f"{path} holds runs of {len(found._revisions)} revisions")
        if not found.samples:
            raise NotReadError(f"{path} holds no result in any format", *found.warnings[:1])
        return found

    def _read_directory(self, form: Format | None) -> None:
        outcomes = [] if form else list(read_directories([self.path], Overrides()))
        runs = runs_of(outcomes)
        if runs:
            self._warn(skips_of(outcomes))
            self._add_runs(runs)
            return
        skipped: list[Skip] = []
        for path in files_below(self.path, skipped):
            try:
                self._add(read_result_file(path, form)[1], self._boot_of(path))
            except UnreadableError as error:
                self.warnings.append(f"left out: {error}")
        self._warn(skipped)

    def _warn(self, skips: Iterable[Skip]) -> None:
        self.warnings += [f"left out: {skip.where}: {skip.reason}" for skip in skips]

    def _add_runs(self, runs: Iterable[Run]) -> None:
        """Runs, each of boots of its own."""
        runs = list(runs)
        many = len({run.hardware for run in runs}) > 1
        for run in runs:
            self._added += 1
            self._revisions.add((run.tree, run.revision))
            self.warnings += run.warnings
            case = f"{run.hardware} {run.mode}" if many else str(run.mode)
            for one in run.samples:
                self._add_values(case, one, self._added, run.build_id)

    def _boot_of(self, path: Path) -> int | None:
        """The boot that a directory on the way to a file names."""
        names = map(BOOT.fullmatch, path.relative_to(self.path).parts[:-1])
        return next((int(name[1]) for name in names if name), None)

    def _add(self, content: Content, boot: int | None = None) -> None:
        """One file: one run, or whole runs; of the ``boot`` that its directory names, else of the
        boots that it states."""
        if content.runs:
            self._add_runs(content.runs)
            return
        self._added += 1
        self.warnings += content.warnings
        for one in content.results:
            if boot is None:
                self._add_values(one.case, one, self._added)
            else:
                count = len(one.values or one.histograms)
                self._add_values(one.case, replace(one, boots=(boot,) * count), 0)

    def _add_values(
        self, case: str, one: Result | RunSamples, number: int, build: str = ""
    ) -> None:
        """Samples, or the quantiles of histograms, of the run that has this number."""
        boots = one.boots or (None,) * len(one.values or one.histograms)
        found = [(one.metric, value, at) for at, value in enumerate(one.values)]
        found += [
            (replace(one.metric, name=f"{one.metric.name}_{quantile}"), value, at)
            for at, histogram in enumerate(one.histograms)
            for quantile, value in histogram.derived().items()
        ]
        for metric, value, at in found:
            into = self._of(case, metric)
            into.values.append(value)
            into.boots.append((number, boots[at]))
            into.builds.append(build)

    def _of(self, case: str, metric: Metric) -> Samples:
        found = self.samples.setdefault((case, metric.name), Samples(metric))
        if found.metric != metric:
            raise NotReadError(f"{self.path}: {metric.name} has two units or directions")
        return found


def pairs_of(a: Set, b: Set) -> tuple[list[Pair], list[str]]:
    """The metrics of both, and what only one has. Where each has one case, its name is no matter.

    Raises NotReadError where they have none in common.
    """
    first, second = a.samples, b.samples
    cases_a, cases_b = ({case for case, _ in one} for one in (first, second))
    if len(cases_a) == len(cases_b) == 1:
        (case,) = cases_a
        second = {(case, name): one for (_, name), one in second.items()}
    pairs = [Pair(key[0], one, second[key]) for key, one in first.items() if key in second]
    _check_units(pairs)
    if not pairs:
        raise NotReadError(f"{a.path} and {b.path} have no metric in common")
    return pairs, [*_alone(a.path, first, second), *_alone(b.path, second, first)]


def _check_units(pairs: Iterable[Pair]) -> None:
    for one in pairs:
        if one.a.metric != one.b.metric:
            raise NotReadError(
                f"{one.name} is in {one.a.metric.unit} and in {one.b.metric.unit}",
                "compare results of one version of the tool",
            )


def _alone(path: Path, own: dict[Key, Samples], other: dict[Key, Samples]) -> Iterator[str]:
    names = [" ".join(key).strip() for key in own if key not in other]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"only in {path}: {', '.join(names[:3])}{more}"


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
    type=FiniteRange(min=0),
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

    Ends with 0 where B is better or equivalent, 1 where it is worse, 2 where that cannot be
    decided, 3 where there is nothing to compare.
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
