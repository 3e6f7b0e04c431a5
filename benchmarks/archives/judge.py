"""An archive as agent and server take it, compared with its truth."""

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from labagent.model import Overrides, Run, Skip
from labagent.readers.benchlab import DUPLICATE, read_directories
from labagent.readers.benchlab.pairing import PROFILED

from benchmarks.archives.plan import Sign
from benchmarks.archives.planning import DIRECTORIES
from benchmarks.archives.sound import VARIANTS
from benchmarks.archives.writing import TrueRun, Truth, write_archive
from webapp.results.identity import Evidence, Identity, identify
from webapp.results.spellings import BUILTIN_RULES, ModeName, read_options

MEMORY = Path("/dev/shm")  # noqa: S108
"""Where files cost little, if the system has it: an archive has three thousand."""

SOUND_WAITING = "sound runs that wait"
SOUND_READ = "sound runs read and filed as they are"
SOUND_WARNED = "sound runs with a warning or remark"
SOUND_FOUND = "sound iterations with a finding"
SOUND_VARIANT = "sound runs whose variant is read from their options"
WRONG = "runs filed at a wrong commit without a word"
WRONG_NAMES = "runs that give their commit another's name"


@dataclass(frozen=True, slots=True)
class Filed:
    """A run as the agent sends it, and where the server files it."""

    run: Run
    identity: Identity

    @property
    def is_silent(self) -> bool:
        """Whether nothing odd is reported."""
        return not self.identity.remark and not self.run.warnings


@dataclass
class Tally:
    """By name how many there were, and how many of them count; what was missed, in words."""

    total: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    count: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    missed: list[str] = field(default_factory=list)

    def take(self, name: str, counts: int, of: int = 1) -> None:
        self.total[name] += of
        self.count[name] += counts

    def add(self, other: "Tally") -> None:
        for name, total in other.total.items():
            self.take(name, other.count[name], total)
        self.missed += other.missed


def judge_seed(seed: int, directories: int = DIRECTORIES) -> Tally:
    """Write the archive of a seed to a temporary directory, read it, compare it."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        truth = write_archive(Path(name), seed, directories)
        return judge(Path(name), truth)


def judge(root: Path, truth: Truth) -> Tally:
    """How much of the truth agent and server find."""
    return _Judge(root, truth).tally()


class _Judge:
    def __init__(self, root: Path, truth: Truth) -> None:
        self.truth = truth
        self.filed: dict[str, Filed] = {}
        self.skips: list[Skip] = []
        for outcome in read_directories([root], Overrides()):
            if isinstance(outcome, Run):
                filed = Filed(outcome, _identify(outcome, truth))
                self.filed |= dict.fromkeys(_logs(outcome), filed)
            else:
                self.skips.append(outcome)
        self.twins = _twins(truth.runs)

    def tally(self) -> Tally:
        tally = Tally()
        marked: dict[int, list[TrueRun]] = defaultdict(list)
        for run in self.truth.runs:
            if run.sign and not (run.fault_sign and run.fault_sign.what == "skipped"):
                marked[run.directory].append(run)
            self._take_run(run, tally)
        for at, runs in marked.items():
            missed = [run for run in runs if not self._shows(run, run.sign)]
            self._take_fault(self.truth.kinds[at], missed, tally)
        return tally

    def _take_run(self, run: TrueRun, tally: Tally) -> None:
        filed = self._filed(run)
        if run.fault_sign:
            missed = [] if self._shows(run, run.fault_sign) else [run]
            self._take_fault(run.fault, missed, tally)
        if filed and not filed.identity.waits:
            is_silent = filed.is_silent and not self._is_named_by_twin(run)
            is_wrong = is_silent and not run.commit.is_named(filed.identity.revision)
            alias = filed.identity.alias
            tally.take(WRONG, is_wrong)
            tally.take(WRONG_NAMES, bool(alias) and alias != f"c{run.commit.total}")
            if is_wrong:
                tally.missed.append(f"{WRONG}: {self._about(run)}")
        if run.is_sound:
            self._take_sound(run, filed, tally)

    def _take_sound(self, run: TrueRun, filed: Filed | None, tally: Tally) -> None:
        is_read = filed is not None and _is_right(run, filed) and _values(filed.run) == run.values
        tally.take(SOUND_READ, is_read)
        if is_read and filed and filed.run.mode.options:
            has_variant = _is_variant_read(filed.run)
            tally.take(SOUND_VARIANT, has_variant)
            if not has_variant:
                tally.missed.append(f"{SOUND_READ}: {self._about(run)}")
        tally.take(SOUND_WAITING, filed is not None and filed.identity.waits)
        is_warned = (
            filed is not None and not filed.is_silent and not _is_unsure_count(run, filed.identity)
        )
        tally.take(SOUND_WARNED, is_warned)
        if not is_read or is_warned:
            tally.missed.append(f"sound: {self._about(run)}")
        if filed:
            found = [bool(each) for one in filed.run.samples for each in one.findings or ()]
            tally.take(SOUND_FOUND, sum(found), len(found))

    def _take_fault(self, kind: str, missed: Sequence[TrueRun], tally: Tally) -> None:
        tally.take(kind, not missed)
        tally.missed += [f"{kind}: {self._about(run)}" for run in missed]

    def _filed(self, run: TrueRun) -> Filed | None:
        return next((self.filed[log] for log in run.logs if log in self.filed), None)

    def _shows(self, run: TrueRun, sign: Sign | None) -> bool:
        """Whether what came of the run is what the sign asks for."""
        if sign is None:
            return True
        if sign.what == "skipped":
            return self._is_skipped(run, sign.text)
        if sign.what == "copied":
            return self._is_seen_as_copy(run)
        if sign.what == "original":
            return self._is_original(run)
        filed = self._filed(run)
        return filed is not None and _fits(run, filed, sign)

    def _is_skipped(self, run: TrueRun, text: str) -> bool:
        if text == PROFILED:
            start = f"{self.truth.titles[run.directory]} ("
            return any(one.reason == text and one.where.startswith(start) for one in self.skips)
        return any(one.where == run.where and text in one.reason for one in self.skips)

    def _is_seen_as_copy(self, run: TrueRun) -> bool:
        """Whether it waits, or one of the two is left out or reported as the other."""
        filed = self._filed(run)
        if filed is None or filed.identity.waits:
            return filed is not None or self._is_duplicate(run)
        is_left_out = any(self._is_duplicate(one) for one in self.twins[run.values])
        return is_left_out or self._is_named_by_twin(run)

    def _is_named_by_twin(self, run: TrueRun) -> bool:
        """Whether one of the runs with the same logs, itself included, is reported as a copy: the
        one that is read later carries the warning, which names the other."""
        both = [found for one in self.twins[run.values] if (found := self._filed(one))]
        return any("one is a copy" in text for one in both for text in one.run.warnings)

    def _is_original(self, run: TrueRun) -> bool:
        """Whether it is filed right, or its copy in its stead."""
        runs = [run] if self._filed(run) or not self._is_duplicate(run) else self.twins[run.values]
        return any((filed := self._filed(one)) and _is_right(run, filed) for one in runs)

    def _is_duplicate(self, run: TrueRun) -> bool:
        where = f"{self.truth.titles[run.directory]}: {run.mode}"
        return any(one.reason == DUPLICATE and one.where == where for one in self.skips)

    def _about(self, run: TrueRun) -> str:
        filed = self._filed(run)
        if filed is None:
            skips = [one.reason for one in self.skips if one.where == run.where]
            return f"{run.where} is {run.commit.name}: skipped {skips}"
        its, identity = filed.run, filed.identity
        where = [one.revision for one in identity.candidates] or identity.revision
        return (
            f"{run.where} is {run.commit.name} {run.mode}: at {where} {its.tree} {its.mode}"
            f" {identity.remark!r} {list(its.warnings)} {_findings(its)} {its.kernel_ident}"
        )


def _identify(run: Run, truth: Truth) -> Identity:
    evidence = Evidence(**asdict(run.evidence)) if run.evidence else Evidence()
    known = truth.imported.known(run.tree, evidence.kernel_hash)
    return identify(run.revision, evidence, known)


def _logs(run: Run) -> list[str]:
    start = f"{run.hardware}/{run.facts['topic']}"
    paths = [f"{start}/{source.path}" for source in run.sources]
    return [path for path in paths if path.endswith(".receiver")]


def _twins(runs: Sequence[TrueRun]) -> Mapping[tuple[float, ...], list[TrueRun]]:
    """Runs by their values, which only copies share."""
    found: dict[tuple[float, ...], list[TrueRun]] = defaultdict(list)
    for run in runs:
        found[run.values].append(run)
    return found


def _is_right(run: TrueRun, filed: Filed) -> bool:
    its, identity = filed.run, filed.identity
    return (
        not identity.waits
        and (run.commit.is_named(identity.revision) or _is_unsure_count(run, identity))
        and (its.tree, its.hardware, str(its.mode)) == (run.commit.tree, run.machine, run.mode)
    )


def _is_unsure_count(run: TrueRun, identity: Identity) -> bool:
    """Whether a count that no kernel vouches for is kept apart from first parents, with a word: the
    rule asks for that, although the label here counts first parents."""
    return identity.revision == f"c{run.commit.first}" and bool(identity.remark)


def _is_variant_read(run: Run) -> bool:
    """Whether the rules that come with the server take the words that name a variant, and those
    alone, out of the mode."""
    image = run.evidence.image if run.evidence else ""
    found = read_options(ModeName.parse(str(run.mode)), BUILTIN_RULES, image=image)
    return {part.name for part in found.parts} == VARIANTS & set(run.mode.options)


def _values(run: Run) -> tuple[float, ...]:
    return next((one.values for one in run.samples), ())


def _fits(run: TrueRun, filed: Filed, sign: Sign) -> bool:
    its, identity = filed.run, filed.identity
    is_right = _is_right(run, filed)
    is_asked = identity.waits and any(
        run.commit.is_named(one.revision) for one in identity.candidates
    )
    warned = any(part in warning for part in sign.text.split("|") for warning in its.warnings)
    shown = {
        "filed": is_right,
        "remarked": is_right and bool(identity.remark),
        "aliased": is_right and identity.alias == f"c{run.commit.total}",
        "waits": is_asked,
        "noticed": is_asked or (is_right and bool(identity.remark)),
        "unaliased": is_asked or (is_right and not identity.alias),
        "found": sign.text in _findings(its),
        "warned": warned,
    }
    return shown[sign.what]


def _findings(run: Run) -> list[str]:
    """The codes of what may be wrong with any iteration."""
    found = [each for samples in run.samples for each in samples.findings or ()]
    return [finding.code for each in found for finding in each]
