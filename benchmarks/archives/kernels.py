"""What `uname -a` prints of a kernel, in the notations of ten years."""

from random import Random

from benchmarks.archives.commits import Commit

_HOSTS = ("SM", "netgate", "apu2", "dut.example.org")
_BUILDERS = ("root@builder.example.org", "bench@lame", "root@orange.example.org")
_CONFIGURATIONS = ("BSDRP", "TESTING", "GENERIC111")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def with_number(rng: Random, commit: Commit) -> str:
    """The usual string: the number, in git with the hash."""
    if commit.svn:
        return _dated(rng, commit, f"r{commit.svn}{rng.choice(('', 'M', 'M', 'MS'))}")
    return _counted(rng, commit, f"n{commit.first}", commit.hash)


def with_total(rng: Random, commit: Commit) -> str:
    """The count of all commits, as kernels had it when FreeBSD moved to git."""
    return _counted(rng, commit, f"c{commit.total}", commit.hash)


def with_numbers_of(rng: Random, commit: Commit, number: str) -> str:
    """Another number than the commit's own before its hash."""
    return _counted(rng, commit, number, commit.hash)


def with_hash(rng: Random, commit: Commit, found: str, *, of_build: bool = False) -> str:
    """A hash alone. ``of_build``: of the tree that builds images, as Subversion's were named."""
    return _dated(rng, commit, f"{found[:7]}(master)-dirty" if of_build else found[:12])


def silent(rng: Random, commit: Commit) -> str:
    """A reproducible build, which names neither number nor date."""
    return f"{_start(rng, commit)} BSDRP-AMD64  amd64"


def release_alone(rng: Random, commit: Commit) -> str:
    """A release without a number: `#0: Sat May  6 00:18:48 CEST 2017`."""
    return _dated(rng, commit, "")


def _counted(rng: Random, commit: Commit, number: str, found: str) -> str:
    counted = f"{number}-{found[: rng.choice((11, 12))]}"
    if rng.random() < 0.5:
        return f"{_start(rng, commit)} #{rng.randint(0, 9)} {counted} BSDRP-AMD64  amd64"
    return _dated(rng, commit, f"main-{counted}")


def _start(rng: Random, commit: Commit) -> str:
    return f"FreeBSD {rng.choice(_HOSTS)} {commit.release} FreeBSD {commit.release}"


def _dated(rng: Random, commit: Commit, what: str) -> str:
    clock = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
    year = rng.randint(2015, 2025)
    day = f"{rng.choice(('Mon', 'Tue', 'Sat'))} {rng.choice(_MONTHS)} {rng.randint(1, 28):2}"
    separator = " " if what else ""
    build = f"#{rng.randint(0, 30)}{separator}{what}: {day} {clock} CET {year}"
    where = f"/usr/obj/{rng.choice(_CONFIGURATIONS)}.amd64/usr/src/sys/amd64"
    return f"{_start(rng, commit)} {build}     {rng.choice(_BUILDERS)}:{where}  amd64"
