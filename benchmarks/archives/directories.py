"""Directories with a fault of their own, or laid out in a way that is hard to read."""

from dataclasses import replace

from benchmarks.archives import kernels
from benchmarks.archives.commits import FIRST_GIT, LAST_SVN, Commit
from benchmarks.archives.plan import Draw, PlannedDirectory, Sign
from benchmarks.archives.sound import (
    SOUND,
    Shape,
    by_kernel_alone,
    counted_in_all,
    label_of,
    number_of,
    numbered,
    series,
    two_images,
    usual,
)

NEAREST_WRONG, FURTHEST_WRONG = 11, 20_000
"""Commits between the one that a wrong label names and the one measured."""

NEAR = 10
FORMER = 100, 900
"""Commits between a kernel and the former one."""

PAIR_GAP = 40
"""Commits between a commit and the next one whose two counts are known."""

ORIGINAL = "what a copy was made of"

WAITS, FILED = Sign("waits"), Sign("filed")


def wrong_label(draw: Draw) -> PlannedDirectory:
    """The label names another revision, the kernel is right."""
    commit = draw.history.any()
    other = _far(draw, commit)
    runs = draw.runs(commit, usual(draw, commit))
    return _marked(draw.directory(label_of(draw, commit, other.name), runs), WAITS)


def label_typed_wrongly(draw: Draw) -> PlannedDirectory:
    """`fbsd13-head.r654937` for r364937; the image is right."""
    commit = draw.history.any()
    name = _mistyped(draw, commit.name)
    runs = draw.runs(commit, usual(draw, commit), image=number_of(commit))
    return _marked(draw.directory(label_of(draw, commit, name), runs), FILED)


def label_alone_typed_wrongly(draw: Draw) -> PlannedDirectory:
    """The same without an image: the kernel speaks against it."""
    commit = draw.history.any()
    label = label_of(draw, commit, _mistyped(draw, commit.name))
    return _marked(draw.directory(label, draw.runs(commit, usual(draw, commit))), Sign("noticed"))


def near_number(draw: Draw) -> PlannedDirectory:
    """Subversion's number of the repository for that of the last commit that changed the tree."""
    commit = draw.history.svn()
    steps = draw.rng.choice((-1, 1)) * draw.rng.randint(1, NEAR)
    named = draw.history.near(commit, steps)
    if draw.rng.random() < 0.5:
        runs = draw.runs(commit, usual(draw, commit), image=number_of(named))
    else:
        runs = draw.runs(commit, usual(draw, commit))
    return _marked(draw.directory(label_of(draw, named), runs), Sign("remarked"))


def two_counts(draw: Draw) -> PlannedDirectory:
    """The label counts all commits, the kernel first parents: one commit."""
    commit = draw.history.git()
    sign = Sign("aliased")
    if draw.rng.random() < 0.5:
        draw.imported.add(_around(draw, commit), with_pairs=True)
        sign = FILED
    name = f"n{commit.total}"
    image = f"{name}D33658" if draw.rng.random() < 0.3 else ""
    options = ("D33658",) if image else ()
    runs = draw.runs(commit, usual(draw, commit), image=image, options=options)
    return _marked(draw.directory(label_of(draw, commit, name), runs), sign)


def count_of_another(draw: Draw) -> PlannedDirectory:
    """The label counts all commits up to another commit than the kernel's, which imported history
    shows."""
    commit = draw.history.git()
    steps = draw.rng.choice((-1, 1)) * draw.rng.randint(*FORMER)
    other = draw.history.near(commit, steps)
    draw.imported.add(_around(draw, commit), with_pairs=True)
    label = label_of(draw, commit, f"n{other.total}")
    runs = draw.runs(commit, usual(draw, commit))
    return _marked(draw.directory(label, runs), Sign("unaliased"))


def unknown_hash(draw: Draw) -> PlannedDirectory:
    """The kernel names a commit of the tree that builds images, which no history holds."""
    commit = draw.history.svn()
    build = f"{draw.rng.getrandbits(160):040x}"
    runs = draw.runs(commit, kernels.with_hash(draw.rng, commit, build, of_build=True))
    if draw.rng.random() < 0.5:
        runs = [replace(run, image=number_of(commit)) for run in runs]
    sign = Sign("remarked") if _is_readable(build[:7]) else FILED
    return _marked(draw.directory(label_of(draw, commit), runs), sign)


def hash_of_another(draw: Draw) -> PlannedDirectory:
    """The kernel's hash is known, and is not that of the commit that the names give."""
    commit = draw.history.git()
    other = draw.history.near(commit, draw.rng.choice((-1, 1)) * draw.rng.randint(1, 5000))
    draw.imported.add([commit, other])
    if draw.rng.random() < 0.5:
        runs = draw.runs(commit, kernels.with_hash(draw.rng, commit, commit.hash))
    else:
        runs = draw.runs(commit, kernels.with_numbers_of(draw.rng, commit, other.name))
    return _marked(draw.directory(label_of(draw, other), runs), Sign("noticed"))


def hash_in_label(draw: Draw) -> PlannedDirectory:
    """`fbsd14-main.n257521-97be6fced7d`: the number is the kernel's, the hash another commit's."""
    commit = draw.history.git()
    other = draw.history.near(commit, draw.rng.choice((-1, 1)) * draw.rng.randint(1, 5000))
    if draw.rng.random() < 0.5:
        draw.imported.add([commit, other])
    found = other.hash[: draw.rng.randint(7, 12)]
    label = label_of(draw, commit, f"{commit.name}-{found}")
    return _marked(draw.directory(label, draw.runs(commit, usual(draw, commit))), WAITS)


def old_count(draw: Draw) -> PlannedDirectory:
    """Kernel and label count all commits, the history that was imported first parents."""
    directory = counted_in_all(draw)
    draw.imported.add([directory.runs[0].commit])
    return _marked(directory, Sign("remarked"))


def another_kind(draw: Draw) -> PlannedDirectory:
    """A label of Subversion and a kernel of git, or counts of two kinds."""
    if draw.rng.random() < 0.5:
        commit = draw.history.git()
        uname = usual(draw, commit)
        name = f"r{draw.rng.randint(LAST_SVN - 5000, LAST_SVN)}"
    else:
        commit = draw.history.counted()
        uname = kernels.with_total(draw.rng, commit)
        name = draw.rng.choice((f"n{FIRST_GIT + draw.rng.randint(2000, 9000)}", "r368606"))
    return _marked(draw.directory(label_of(draw, commit, name), draw.runs(commit, uname)), WAITS)


def former_kernel(draw: Draw) -> PlannedDirectory:
    """The machine booted the former kernel, in all runs or in one; image and label agree."""
    shape = draw.rng.choice((numbered, two_images))
    directory = shape(draw)
    stale = directory.runs if draw.rng.random() < 0.5 else [draw.rng.choice(directory.runs)]
    former = draw.history.near(stale[0].commit, -draw.rng.randint(*FORMER))
    uname = usual(draw, former)
    for run in stale:
        run.commit, run.uname, run.sign = former, uname, WAITS
    directory.takes_faults = False
    return directory


def copied(draw: Draw) -> PlannedDirectory:
    """The files of another directory once more, under a label of another revision."""
    original = draw.rng.choice([shape for shape in SOUND if shape is not series])(draw)
    commit = original.runs[0].commit
    other = draw.history.near(commit, 200) if commit.first else draw.history.svn()
    runs = [replace(run) for run in original.runs]
    directory = PlannedDirectory(original.machine, label_of(draw, other), runs)
    directory.copy_of = original
    directory.takes_faults = original.takes_faults = False
    original.kind = ORIGINAL
    _marked(original, Sign("original"))
    return _marked(directory, Sign("copied"))


def release_alone(draw: Draw) -> PlannedDirectory:
    """`fbsd10.1`, and no number anywhere: the release is all that names the commit."""
    directory = by_kernel_alone(draw)
    uname = kernels.release_alone(draw.rng, directory.runs[0].commit)
    for run in directory.runs:
        run.uname = uname
    directory.takes_faults = False
    return _marked(directory, FILED)


def compared(draw: Draw) -> PlannedDirectory:
    """`fbsd14-main-vs-stable13`: the label names what was compared, images the branches."""
    main, stable = draw.history.git(), draw.history.stable(13)
    images = (main, f"MAIN_{main.name}"), (stable, f"STABLE13_{stable.name}")
    cfgs = draw.rng.sample(("forwarding", "ipfw", "pf"), 2)
    runs = [
        run
        for commit, image in images
        for run in draw.runs(commit, usual(draw, commit), image=image, cfgs=cfgs)
    ]
    label = draw.rng.choice((f"fbsd{main.major}-main-vs-stable13", "main-vs-stable13"))
    return _marked(draw.directory(label, runs), FILED)


def numeric_configurations(draw: Draw) -> PlannedDirectory:
    """Configurations that look like iterations and presets: `1`, `8`, `128`."""
    commit, topic = draw.history.any(), draw.rng.choice(("hw.igb.num_queues", "pf-states"))
    cfgs = draw.rng.sample(("1", "2", "4", "8", "16", "128", "512"), 3)
    runs = draw.runs(commit, usual(draw, commit), options=(topic,), cfgs=cfgs)
    directory = draw.directory(label_of(draw, commit), runs, topic=topic)
    if "." in topic:  # a knob: the configurations are its values
        for run in directory.runs:
            run.workload, run.options = "forwarding", (f"{topic}={run.cfg}",)
    directory.takes_faults = False
    return _marked(directory, FILED)


def nested(draw: Draw) -> PlannedDirectory:
    """`fbsd13-r357572/fbsd13-r357572-2-10/RAW/`, and queues in the name of RAW."""
    commit, parts = draw.history.any(), draw.rng.sample(("2-10", "2-0", "4-10", "0-0"), 2)
    label, cfgs = f"fbsd{commit.major}-{commit.name}", ("forwarding", "pf")
    uname = usual(draw, commit)
    runs = []
    for part in parts:
        for run in draw.runs(commit, uname, options=(part,), cfgs=cfgs):
            run.nested = (f"{label}-{part}",)
            runs.append(run)
    if draw.rng.random() < 0.5:
        queues = draw.rng.choice(("1rx", "8rx", "16rx"))
        for run in draw.runs(commit, uname, options=(queues,), cfgs=cfgs):
            run.raw = f"RAW.{queues}"
            runs.append(run)
    return _marked(draw.directory(label, runs), FILED)


def old_info(draw: Draw) -> PlannedDirectory:
    """`.info` files of before May 2016, which name the image by its path."""
    directory = draw.rng.choice((numbered, two_images, by_kernel_alone))(draw)
    for run in directory.runs:
        run.info, run.pktgen = "old", ""
    directory.runs = list({(run.image, run.cfg): run for run in directory.runs}.values())
    return _marked(directory, FILED)


def no_info(draw: Draw) -> PlannedDirectory:
    """No `.info` at all: the names are all there is."""
    directory = draw.rng.choice((numbered, counted_in_all))(draw)
    for run in directory.runs:
        run.info = ""
    directory.takes_faults = False
    return _marked(directory, FILED)


KINDS: dict[str, Shape] = {
    "label of another revision": wrong_label,
    "label typed wrongly, image right": label_typed_wrongly,
    "label typed wrongly, no image": label_alone_typed_wrongly,
    "Subversion numbers up to 10 apart": near_number,
    "two counts of one commit": two_counts,
    "count of another commit": count_of_another,
    "hash that no history holds": unknown_hash,
    "hash of another commit": hash_of_another,
    "label with another commit's hash": hash_in_label,
    "old count of all commits, history counts otherwise": old_count,
    "numbers of two kinds": another_kind,
    "former kernel booted": former_kernel,
    "copy under another label": copied,
    "release without a number": release_alone,
    "label of what was compared": compared,
    "configurations that are numbers": numeric_configurations,
    "nested directories, RAW.8rx": nested,
    "old notation of .info": old_info,
    "no .info in the directory": no_info,
}


def _marked(directory: PlannedDirectory, sign: Sign) -> PlannedDirectory:
    for run in directory.runs:
        run.sign = sign
    return directory


def _far(draw: Draw, commit: Commit) -> Commit:
    """Another commit of the same kind, near ones as often as far ones."""
    share = draw.rng.random()
    steps = round(NEAREST_WRONG * (FURTHEST_WRONG / NEAREST_WRONG) ** share)
    number = commit.svn or commit.first
    is_late = number + steps > (LAST_SVN if commit.svn else 280_000)
    return draw.history.near(commit, -steps if is_late else steps)


def _mistyped(draw: Draw, name: str) -> str:
    """The name with two neighbouring digits in each other's place."""
    digits = list(name[1:])
    at = draw.rng.choice([at for at in range(5) if digits[at] != digits[at + 1]])
    digits[at], digits[at + 1] = digits[at + 1], digits[at]
    return name[0] + "".join(digits)


def _around(draw: Draw, commit: Commit) -> list[Commit]:
    """The commit and its neighbours, as imported history would have them."""
    return [draw.history.near(commit, at * PAIR_GAP) for at in (-2, -1, 0, 1, 2)]


def _is_readable(found: str) -> bool:
    """A hash of digits alone cannot be distinguished from a number, so that nothing is read."""
    return not found.isdecimal() and not found.isalpha()
