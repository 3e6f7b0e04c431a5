"""What two files or directories hold in common, metric by metric."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from labagent.compare import Side
from labagent.errors import AgentError
from labagent.model import Metric, Overrides, Run, Skip, runs_of, skips_of
from labagent.model import Samples as RunSamples
from labagent.readers.benchlab import read_directories
from labagent.readers.formats import Content, Format, Result, UnreadableError
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
