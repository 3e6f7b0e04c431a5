"""What the reader makes of damaged files: `python -m agents.tests.mutations [--cases N] [--json]`.

Runs are laid out without their value files, one file of each is damaged in a way that disks, copies
and hands do, and the directory is read. Every case is one of

    same      the same runs with the same values, and nothing reported
    warned    there is a warning or a skip that the whole files did not give
    silent    other values, another identity or another number of runs, and nothing reported
    crash     an exception
    slow      more than two seconds of processor time

The runs are made here, and taken from the lab archive beside the checkout where it is there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labagent.model import Overrides, runs_of, skips_of
from labagent.readers.benchlab import read_directories

from agents.tests.make import TOPIC, equilibrium_log, info_text, old_info_text, receiver_log

SEED = 20261122
CASES = 500
SLOW_SECONDS = 2.0
ARCHIVE = Path(__file__).parents[2].parent / "shared" / "netbenches"
ARCHIVE_RUNS = 40

Random = random.Random
Files = dict[str, bytes]
Damage = Callable[[Random, bytes, bytes], bytes]
"""Takes the file and another one of the same run."""


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _pick(rng: Random, found: Sequence[re.Match[bytes]]) -> re.Match[bytes] | None:
    return rng.choice(found) if found else None


def _replaced(data: bytes, match: re.Match[bytes] | None, text: bytes) -> bytes:
    return data if match is None else data[: match.start()] + text + data[match.end() :]


def _at_digit(change: Callable[[Random, bytes], bytes]) -> Damage:
    def damage(rng: Random, data: bytes, _other: bytes) -> bytes:
        match = _pick(rng, list(re.finditer(rb"\d", data)))
        return data if match is None else _replaced(data, match, change(rng, match.group()))

    return damage


def _at_line(change: Callable[[Random, list[bytes], int], list[bytes]]) -> Damage:
    def damage(rng: Random, data: bytes, _other: bytes) -> bytes:
        lines = _lines(data)
        return b"".join(change(rng, lines, rng.randrange(len(lines)))) if lines else data

    return damage


def _value(*texts: bytes) -> Damage:
    """A number that the run's value is made of, replaced."""
    number = re.compile(rb"(?<=\] )\d+(?= pps)|(?<== )\d+(?= Mb/s)|(?m:^\d+(?:\.\d+)?$)")

    def damage(rng: Random, data: bytes, _other: bytes) -> bytes:
        return _replaced(data, _pick(rng, list(number.finditer(data))), rng.choice(texts))

    return damage


def _unit(_rng: Random, data: bytes, _other: bytes) -> bytes:
    return data.replace(b" pps ", b" Kpps ").replace(b" Mb/s", b" Gb/s")


def _sum(rng: Random, data: bytes, _other: bytes) -> bytes:
    """A figure that others add up to, off by a few percent."""
    found = list(re.finditer(rb"\d+(?= (?:pkts|packets|usec|pps))|(?<=rate = )\d+", data))
    match = _pick(rng, found)
    return (
        data
        if match is None
        else _replaced(data, match, b"%d" % (int(match.group()) * 21 // 20 + 1))
    )


def _separator(rng: Random, data: bytes, _other: bytes) -> bytes:
    old, new = rng.choice([(b" ", b"\t"), (b" ", b","), (b" ", b"  "), (b".", b","), (b" ", b"")])
    return data.replace(old, new)


def _nul(rng: Random, data: bytes, _other: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice([1, 16, 512]))
    return data[:start] + bytes(end - start) + data[end:]


def _flipped(rng: Random, data: bytes, _other: bytes) -> bytes:
    """One bit of one byte, as memory and disks do it."""
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _encoded(rng: Random, data: bytes, _other: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-8-sig", "utf-16-be", "cp037"]), "replace")


KINDS: dict[str, Damage] = {
    "last line cut": lambda rng, data, _: data[: max(0, len(data) - rng.randint(1, 20))],
    "cut in the middle": lambda rng, data, _: data[: rng.randrange(len(data) + 1)],
    "last lines lost": lambda rng, data, _: b"".join(_lines(data)[: -rng.randint(1, 5)]),
    "first lines lost": lambda rng, data, _: b"".join(_lines(data)[rng.randint(1, 12) :]),
    "emptied": lambda _rng, _data, _: b"",
    "digit changed": _at_digit(
        lambda rng, old: rng.choice(b"0123456789".replace(old, b"")).to_bytes()
    ),
    "digit lost": _at_digit(lambda _rng, _old: b""),
    "digit doubled": _at_digit(lambda _rng, old: old * 2),
    "line lost": _at_line(lambda _rng, lines, at: lines[:at] + lines[at + 1 :]),
    "line doubled": _at_line(lambda _rng, lines, at: lines[: at + 1] + lines[at:]),
    "lines swapped": _at_line(
        lambda _rng, lines, at: [
            *lines[: at and at - 1],
            *lines[at : at + 1],
            *lines[at and at - 1 : at],
            *lines[at + 1 :],
        ]
    ),
    "separator changed": _separator,
    "unit changed": _unit,
    "sum off": _sum,
    "no finite number": _value(b"1e999", b"nan", b"inf", b"-inf", b"9" * 400),
    "absurd number": _value(b"1e300", b"-5", b"1_0", b"0x10", b"9" * 30, b""),
    "NUL bytes": _nul,
    "other encoding": _encoded,
    "CRLF": lambda _rng, data, _: data.replace(b"\n", b"\r\n"),
    "CRLF in a line": _at_line(
        lambda _rng, lines, at: [*lines[:at], lines[at].replace(b"\n", b"\r\n"), *lines[at + 1 :]]
    ),
    "huge line": _at_line(
        lambda rng, lines, at: [
            *lines[:at],
            rng.choice([b"x", b"7", b" "]) * rng.choice([2_000, 200_000]) + b"\n",
            *lines[at:],
        ]
    ),
    "byte flipped": _flipped,
    "two files in one": lambda _rng, data, other: data + other,
    "another's content": lambda _rng, _data, other: other,
}


@dataclass(frozen=True)
class Subject:
    """The files of one run, by their path below a root, and which of them may be damaged."""

    name: str
    files: Files
    targets: tuple[str, ...]


def made_subjects() -> Iterator[Subject]:
    """Runs of every notation, without the archive."""
    label = f"{TOPIC}/results/fbsd12-head.r317849"
    values = (883374.0, 881020.5, 885501.0, 884000.0, 883999.5)
    for new, info in ((True, info_text(cfg="pf")), (False, old_info_text("pf"))):
        files = {
            f"{label}/bench.pf.{i}.receiver": receiver_log(value, new=new, seconds=30).encode()
            for i, value in enumerate(values, 1)
        }
        yield _subject(f"made {new}", files | {f"{label}/bench.pf.info": info.encode()})
    logs = {
        f"{label}/bench.gcm.{i}.sender": equilibrium_log(60 + i, 62 + i).encode()
        for i in range(1, 6)
    }
    yield _subject(
        "made equilibrium", logs | {f"{label}/bench.gcm.info": info_text(cfg="gcm").encode()}
    )


def archive_subjects(rng: Random) -> Iterator[Subject]:
    """Runs of the lab archive, without their value files."""
    logs = [*ARCHIVE.rglob("bench.*.receiver"), *ARCHIVE.rglob("bench.*.sender")]
    values = [
        log for log in logs if not log.with_suffix(".receiver").exists() or log.suffix != ".sender"
    ]
    found = sorted({(log.parent, log.name.rsplit(".", 2)[0]) for log in values})
    runs = [one for one in found if not {"PMC", "pmc"} & set(one[0].parts)]
    for directory, name in rng.sample(runs, min(ARCHIVE_RUNS, len(runs))):
        pattern = re.compile(re.escape(name) + r"\.(?:info|\d+\.(?:receiver|sender))")
        paths = [path for path in sorted(directory.iterdir()) if pattern.fullmatch(path.name)]
        files = {str(path.relative_to(ARCHIVE)): path.read_bytes() for path in paths}
        yield _subject(f"{directory.relative_to(ARCHIVE)}/{name}", files)


def _subject(name: str, files: Files) -> Subject:
    """Senders count where they carry the values; elsewhere they are a fact at most."""
    logs = [path for path in files if path.endswith(".receiver")]
    logs = logs or [path for path in files if path.endswith(".sender")]
    return Subject(name, files, (*logs, *(path for path in files if path.endswith(".info"))))


@dataclass(frozen=True)
class Seen:
    """What reading a directory gave: the runs' values, and what was reported."""

    runs: tuple[Any, ...]
    reported: frozenset[str]


def look(root: Path) -> Seen:
    outcomes = list(read_directories([root], Overrides()))
    runs = runs_of(outcomes)
    json.dumps([run.document() for run in runs], allow_nan=False)
    reported = [text for run in runs for text in run.warnings]
    reported += [f"{skip.where}: {skip.reason}" for skip in skips_of(outcomes)]
    return Seen(tuple(map(_essence, runs)), frozenset(reported))


def _essence(run: Any) -> Any:
    values = [(one.metric, one.values) for one in run.samples]
    return run.hardware, run.tree, run.revision, str(run.mode), run.measured_at, values


def judge(root: Path, whole: Seen) -> str:
    start = time.process_time()
    try:
        seen = look(root)
    except Exception:  # noqa: BLE001 (what a crash is, is counted here)
        return "crash"
    if time.process_time() - start > SLOW_SECONDS:
        return "slow"
    if seen.reported - whole.reported:
        return "warned"
    return "same" if seen.runs == whole.runs else "silent"


class Study:
    """Every kind of damage on every subject in turn, by a seed."""

    def __init__(self, seed: int = SEED, *, archive: bool = True) -> None:
        self.rng = random.Random(seed)
        self.subjects = list(made_subjects())
        if archive and ARCHIVE.is_dir():
            self.subjects.extend(archive_subjects(self.rng))
        self.silent: list[str] = []

    def run(self, cases: int) -> dict[str, Counter[str]]:
        """The verdicts on `cases` damaged files of each kind."""
        counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        share, more = divmod(cases, len(self.subjects))
        for index, subject in enumerate(self.subjects):
            with tempfile.TemporaryDirectory() as name:
                self._damage(subject, Path(name), share + (index < more), counts)
        return counts

    def _damage(
        self, subject: Subject, root: Path, each: int, counts: dict[str, Counter[str]]
    ) -> None:
        for path, data in subject.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        whole = look(root)
        for kind, damage in KINDS.items():
            for _ in range(each):
                target, other = self._targets(subject)
                data = damage(self.rng, subject.files[target], subject.files[other])
                (root / target).write_bytes(data)
                verdict = judge(root, whole)
                if kind == "unit changed" and verdict == "same" and data != subject.files[target]:
                    verdict = "silent"  # the same figure in another unit is another value
                counts[kind][verdict] += 1
                if verdict not in ("same", "warned"):
                    self.silent.append(f"{verdict}: {kind}: {subject.name}: {Path(target).name}")
                (root / target).write_bytes(subject.files[target])

    def _targets(self, subject: Subject) -> tuple[str, str]:
        target = self.rng.choice(subject.targets)
        alike = [one for one in subject.targets if one != target and one[-5:] == target[-5:]]
        return target, self.rng.choice(alike) if alike else target


VERDICTS = ("same", "warned", "silent", "crash", "slow")


def table(counts: dict[str, Counter[str]]) -> Iterator[str]:
    yield "| damage | " + " | ".join(VERDICTS) + " |"
    yield "|---|" + "---|" * len(VERDICTS)
    for kind, found in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        yield f"| {kind} | " + " | ".join(str(found[one]) for one in VERDICTS) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=CASES, help="damaged files of each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="one JSON object a kind, one a line")
    parser.add_argument("--list", action="store_true", help="the cases nothing was reported about")
    options = parser.parse_args(arguments)
    study = Study(options.seed)
    counts = study.run(options.cases)
    as_json = (
        json.dumps({"damage": kind, **{v: found[v] for v in VERDICTS}})
        for kind, found in counts.items()
    )
    for line in as_json if options.json else table(counts):
        print(line)
    if options.list:
        sys.stderr.writelines(f"{line}\n" for line in study.silent)


if __name__ == "__main__":
    main()
