"""Plain helpers that lay out small bench directories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labagent.model import Overrides, Run, Skip, runs_of, skips_of
from labagent.readers.benchlab import read_directories

HEAD_12 = (
    "FreeBSD netgate 12.0-CURRENT FreeBSD 12.0-CURRENT #14 r317849M: Sat May  6 00:18:48 CEST 2017"
    "     olivier@lame4:/usr/obj/TESTING.amd64/src/sys/amd64  amd64"
)
RELEASE_11_1 = (
    "FreeBSD netgate 11.1-RELEASE-p1 FreeBSD 11.1-RELEASE-p1 #2 r322489M: Fri Sep  8 00:32:53 CEST"
    " 2017     olivier@lame4:/usr/obj/GENERIC111.amd64/src/sys/amd64  amd64"
)
REPRODUCIBLE_16 = "FreeBSD apu2 16.0-CURRENT FreeBSD 16.0-CURRENT BSDRP-AMD64 amd64"
FIVE = (1000.0, 1001.5, 1002.0, 1003.0, 1004.0)
TOPIC = "Atom_C2558_4Cores/Intel_i350/firewalls"

OLD_HEADER = [
    "CMD: pkt-gen -f rx -i igb3 -w 4",
    *(f"692.30000{at} main [1753] up" for at in range(8)),
]
NEW_HEADER = [
    "CMD on 192.168.1.3: pkt-gen -N -f rx -i vcxl1 -w 4",
    *(f"692.3000{at:02} main [2921] up" for at in range(13)),
]


def second(pps: float, *, new: bool = False, at: int = 693) -> str:
    """The line of one second, which ended at `at`."""
    if new:
        bits = f"{pps:.0f} pkts 480 bps in 1000000 usec"
        return (
            f"{at % 1000:03}.300000 main_thread [2687] {pps:.0f} pps ({bits})"
            " 16.00 avg_batch 99999 min_space"
        )
    stamp = f"{at % 1000:03}.300000 main_thread [1550]"
    return f"{stamp} {pps:.0f} pps ({pps:.0f} pkts in 1000000 usec)"


def seconds_of(values: Sequence[float], *, new: bool = False) -> list[str]:
    """The lines of one second after the other."""
    return [second(value, new=new, at=693 + at) for at, value in enumerate(values)]


def receiver_log(value: float, *, new: bool = False, seconds: int = 6) -> str:
    """A receiver log whose median is `value`, a whole number or one that ends in .5."""
    header = NEW_HEADER if new else OLD_HEADER
    warm_up = [9_000_000 + i for i in range(15 - len(header))]
    low, high = (value - 0.5, value + 0.5) if value % 1 else (value, value)
    half = seconds // 2
    middle = [low] * half + [high] * (seconds - half)
    cool_down = [8_000_000 + i for i in range(9)]
    lines = seconds_of([*warm_up, *middle, *cool_down], new=new)
    return "\n".join([*header, *lines, "Terminated"]) + "\n"


def equilibrium_log(value: int, maximum: int) -> str:
    return (
        "CMD: equilibrium -4 -l 100 -u -t igb2 -r igb3\nIteration 1\n"
        "  - Offering load = 90 Mb/s\n"
        f"  - Measured forwarding rate = {maximum} Mb/s\nIteration 2\n"
        "  - Offering load = 70 Mb/s\n"
        f"  - Measured forwarding rate = {value} Mb/s\n"
        f"Estimated Equilibrium Ethernet throughput= {value} Mb/s"
        f" (maximum value seen: {maximum} Mb/s)\n"
    )


def info_text(*, image: str = "", cfg: str = "", pktgen: str = "", uname: str = HEAD_12) -> str:
    """The newer notation, without a final newline, as it is in the archive."""
    return f'IMAGE="{image}"\nCFG="{cfg}"\nPKTGEN="{pktgen}"\nUNAME="{uname}"'


def old_info_text(cfg: str, *, image: str = "none", uname: str = HEAD_12, start: str = "") -> str:
    started = start or "Thu Sep 10 08:11:48 CEST 2015"
    return f"Image: {image}\nCFG: configs//{cfg}\n{uname}\nStart time: {started}\n"


def bench(
    directory: Path,
    prefix: str,
    values: Sequence[float] = FIVE,
    *,
    info: str | None = "",
    new: bool = False,
    **names: Any,
) -> None:
    """The files of one run: logs for each value, and an `.info` made from `names`.

    `info` replaces that file's text; None leaves it out.
    """
    directory.mkdir(parents=True, exist_ok=True)
    dotted = f"bench.{prefix}." if prefix else "bench."
    for iteration, value in enumerate(values, 1):
        (directory / f"{dotted}{iteration}.receiver").write_text(receiver_log(value, new=new))
        (directory / f"{dotted}{iteration}.sender").write_text("CMD: pkt-gen -f tx\nup\nup\nup\n")
    if info is not None:
        (directory / f"{dotted}info").write_text(info or info_text(**names))


def values_file(path: Path, values: Sequence[float] = FIVE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{value:.8g}\n" for value in values))


def label_dir(tmp_path: Path, label: str, topic: str = TOPIC) -> Path:
    path = tmp_path / topic / "results" / label
    path.mkdir(parents=True, exist_ok=True)
    return path


def read(*directories: Path, **overrides: Any) -> list[Run]:
    return runs_of(list(read_directories(directories, Overrides(**overrides))))


def skipped(*directories: Path) -> list[Skip]:
    return skips_of(list(read_directories(directories, Overrides())))


def modes(*directories: Path) -> list[str]:
    return sorted(str(run.mode) for run in read(*directories))


def samples(run: Run, metric: str = "pps") -> list[float]:
    return next(list(s.values) for s in run.samples if s.metric.name == metric)
