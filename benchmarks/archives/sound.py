"""Directories in which everything agrees, in the many notations that labs use."""

from collections.abc import Callable

from benchmarks.archives import kernels
from benchmarks.archives.commits import Commit
from benchmarks.archives.plan import Draw, PlannedDirectory

Shape = Callable[[Draw], PlannedDirectory]


VARIANTS = frozenset({"D27401", "D27401v4", "D33658", "mbuf", "yandex"})
"""Of all words in labels and images those that are no option of the mode."""


def numbered(draw: Draw) -> PlannedDirectory:
    """`fbsd12-head.r317849`, the kernel alike."""
    commit = draw.history.any()
    return draw.directory(label_of(draw, commit), draw.runs(commit, usual(draw, commit)))


def with_option(draw: Draw) -> PlannedDirectory:
    """`fbsd12-head.r317849.vti`: all runs are of that option."""
    commit, option = draw.history.any(), draw.rng.choice(("vti", "option-RSS", "D27401", "mbuf"))
    runs = draw.runs(commit, usual(draw, commit), options=(option,))
    return draw.directory(f"{label_of(draw, commit)}.{option}", runs)


def two_images(draw: Draw) -> PlannedDirectory:
    """`fbsd12-head.r317849.VIMAGE` with the images `317849` and `317849VIMAGE`."""
    commit = draw.history.any()
    word = draw.rng.choice(("VIMAGE", "D33658", "yandex", "D27401v4"))
    plain = number_of(commit)
    runs = draw.runs(commit, usual(draw, commit), image=plain)
    cfgs = sorted({run.cfg for run in runs})
    changed = draw.runs(
        commit, usual(draw, commit), image=f"{plain}{word}", options=(word,), cfgs=cfgs
    )
    return draw.directory(f"{label_of(draw, commit)}.{word}", [*runs, *changed])


def series(draw: Draw) -> PlannedDirectory:
    """`fbsd12-head.2016` with an image for each of some revisions."""
    first = draw.history.svn()
    commits = [draw.history.near(first, 140 * at) for at in range(draw.rng.randint(2, 3))]
    cfgs = draw.rng.sample(("forwarding", "ipfw", "pf"), 2)
    runs = [
        run
        for commit in commits
        for run in draw.runs(commit, usual(draw, commit), image=str(commit.svn), cfgs=cfgs)
    ]
    return draw.directory(f"fbsd{first.major}-head.{draw.rng.randint(2015, 2019)}", runs)


def by_hash(draw: Draw) -> PlannedDirectory:
    """`fbsd14-main.97be6fced7d`, or an image of that name; the kernel counts besides."""
    commit = draw.history.git()
    found = commit.hash[: draw.rng.choice((11, 12))]
    image = found if draw.rng.random() < 0.5 else ""
    runs = draw.runs(commit, kernels.with_number(draw.rng, commit), image=image)
    return draw.directory(f"fbsd{commit.major}-main.{found}", runs)


def counted_in_all(draw: Draw) -> PlannedDirectory:
    """`fbsd13-head.c255632`, the kernel alike."""
    commit = draw.history.counted()
    runs = draw.runs(commit, kernels.with_total(draw.rng, commit))
    return draw.directory(f"fbsd13-head.c{commit.total}", runs)


def by_kernel_alone(draw: Draw) -> PlannedDirectory:
    """`fbsd10.2`: only the kernel names a number."""
    commit = draw.history.release()
    label = f"fbsd{commit.tree.rpartition('-')[2]}"
    label += draw.rng.choice(("", "-yandex"))
    options = ("yandex",) if label.endswith("yandex") else ()
    runs = draw.runs(commit, kernels.with_number(draw.rng, commit), options=options)
    return draw.directory(label, runs)


def by_label_alone(draw: Draw) -> PlannedDirectory:
    """A reproducible kernel, which names no number."""
    commit = draw.history.git()
    runs = draw.runs(commit, kernels.silent(draw.rng, commit))
    return draw.directory(label_of(draw, commit), runs)


def imported(draw: Draw) -> PlannedDirectory:
    """A kernel of git whose hash history holds."""
    commit = draw.history.git()
    draw.imported.add([commit], with_pairs=draw.rng.random() < 0.5)
    found = commit.hash[: draw.rng.randint(9, 12)]
    label = f"fbsd{commit.major}-main.{commit.name}-{found}"
    return draw.directory(label, draw.runs(commit, kernels.with_number(draw.rng, commit)))


SOUND: tuple[Shape, ...] = (
    numbered,
    with_option,
    two_images,
    series,
    by_hash,
    counted_in_all,
    by_kernel_alone,
    by_label_alone,
    imported,
)


def usual(draw: Draw, commit: Commit) -> str:
    """The kernel's string with its own number."""
    return kernels.with_number(draw.rng, commit)


def label_of(draw: Draw, commit: Commit, name: str = "") -> str:
    """A label that names a commit of head, or another ``name``."""
    branch = draw.rng.choice(("head", "current") if commit.svn else ("head", "main", ""))
    named = name or commit.name
    if not branch:
        return f"fbsd{commit.major}-{named}"
    return f"fbsd{commit.major}-{branch}.{named}"


def number_of(commit: Commit) -> str:
    """How images are named: Subversion's number without its letter."""
    return str(commit.svn) if commit.svn else commit.name
