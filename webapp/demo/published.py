"""Five comparisons that a lab published, as figures: what the demonstration shows first.

The figures are those of the documents' ministat blocks, digit by digit; titles and machines are as
the documents name them. Nothing else about these kernels is published, so nothing else is here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webapp.stats import ministat

LAB = "published results"
HEAD = "freebsd-head"


@dataclass(frozen=True, slots=True)
class RowFigures:
    """One line of the table, in packets/s; every number is as `%.8g` printed it."""

    n: int
    minimum: float
    maximum: float
    median: float
    mean: float
    stddev: float

    def fit(self, samples: Sequence[float]) -> bool:
        """Whether ministat prints these figures for `samples`."""
        found = ministat.summarize(samples)
        figures = (found.minimum, found.maximum, found.median, found.mean, found.stddev)
        return len(samples) == self.n and same_digits(self.printed, figures, 8)

    @property
    def printed(self) -> tuple[float, ...]:
        """The figures in the order of the table's columns."""
        return self.minimum, self.maximum, self.median, self.mean, self.stddev


@dataclass(frozen=True, slots=True)
class DifferenceFigures:
    """What is printed below a row that differs from the first; numbers as `%g` printed them."""

    delta: float
    error: float
    percent: float
    percent_error: float
    pooled: float

    def fit(self, found: ministat.Difference) -> bool:
        """Whether ministat prints these figures for `found`."""
        if not found.proven or found.percent is None or found.percent_error is None:
            return False
        figures = (
            found.delta,
            found.error,
            found.percent,
            found.percent_error,
            found.pooled_stddev,
        )
        return same_digits(self.printed, figures, 6)

    @property
    def printed(self) -> tuple[float, ...]:
        """The figures in the order of print."""
        return self.delta, self.error, self.percent, self.percent_error, self.pooled


def same_digits(printed: Sequence[float], found: Sequence[float], digits: int) -> bool:
    """Whether two rows of numbers look the same with `digits` significant digits."""
    return all(f"{a:.{digits}g}" == f"{b:.{digits}g}" for a, b in zip(printed, found, strict=True))


@dataclass(frozen=True, slots=True)
class Machine:
    """Hardware as its directory names it, and as the documents describe it."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One set of samples: how its files are named, what it measured, its figures. ``variant``:
    what the kernel was built from besides its revision.
    """

    image: str
    cfg: str
    pktgen: str
    revision: str
    mode: str
    figures: RowFigures
    variant: str = ""

    @property
    def prefix(self) -> str:
        """The beginning of the names of its files."""
        return ".".join(part for part in (self.image, self.cfg, self.pktgen) if part)


@dataclass(frozen=True, slots=True)
class Block:
    """One ministat block: rows, and for each row after the first its difference, None where none
    was proven. `flavour` is the one that printed it."""

    number: int
    rows: tuple[PublishedRow, ...]
    differences: tuple[DifferenceFigures | None, ...]
    flavour: ministat.Flavour = "current"


@dataclass(frozen=True, slots=True)
class Publication:
    """One document: `release` is the kernel's, `old_info` the notation of its `.info` files."""

    number: int
    title: str
    machine: Machine
    topic: str
    label: str
    tree: str
    release: str
    blocks: tuple[Block, ...]
    old_info: bool = False


@dataclass(frozen=True, slots=True)
class KnownRevision:
    """What a document holds of a commit."""

    tree: str
    revision: str
    author: str
    subject: str


KNOWN_REVISIONS = (
    KnownRevision(HEAD, "r303643", "mjg", "Implement trivial backoff for locking primitives"),
)

# Names of their own: a lab that brings its archive of these very machines must not meet them.
C2758_T540 = Machine(
    "Published_Atom_C2758_8Cores/Chelsio_T540-CR",
    "SuperMicro SuperServer 5018A-FTN4 (8 cores Atom C2758 at 2.4 GHz), "
    "quad port Chelsio 10-Gigabit T540-CR",
)
C2558_I350 = Machine(
    "Published_Atom_C2558_4Cores/Intel_i350",
    "Netgate RCC-VE 4860 (4 cores Intel Atom C2558E), quad port Intel i350",
)
XEON_T540 = Machine(
    "Published_Xeon_E5-2650_8Cores/Chelsio_T540-CR",
    "HP ProLiant DL360p Gen8 (8 cores Intel Xeon E5-2650 at 2.60 GHz), "
    "quad port Chelsio 10-Gigabit T540-CR",
)


def _pair(
    number: int,
    row: Callable[[str, str, RowFigures], PublishedRow],
    kernels: tuple[str, str],
    case: str,
    *figures: RowFigures,
    difference: DifferenceFigures | None,
    flavour: ministat.Flavour = "current",
) -> Block:
    """Two kernels in one case: a configuration, or a kind of traffic."""
    rows = (row(kernel, case, one) for kernel, one in zip(kernels, figures, strict=True))
    return Block(number, tuple(rows), (difference,), flavour)


def _backoff(image: str, cfg: str, figures: RowFigures) -> PublishedRow:
    return PublishedRow(image, cfg, "", f"r{image}", cfg, figures)


def _vimage(option: str, cfg: str, figures: RowFigures) -> PublishedRow:
    mode = f"{cfg}+{option}" if option else cfg
    return PublishedRow(f"317849{option}", cfg, "", "r317849", mode, figures)


def _mbuf(image: str, cfg: str, figures: RowFigures) -> PublishedRow:
    # The topic is an option: this machine ran with 4 queues a port instead of 8.
    mode = f"{cfg}+fastforwarding-pf-ipfw.4nxq10g"
    return PublishedRow(f"295150{image}", cfg, "", "r295150", mode, figures, image)


def _yandex(patch: str, traffic: str, figures: RowFigures) -> PublishedRow:
    variant = "+".join(filter(None, ["yandex", patch]))
    image, mode = f"325006yandex{patch}", f"forwarding@{traffic}"
    return PublishedRow(image, "", traffic, "r325006", mode, figures, variant)


def _routing(cfg: str, figures: RowFigures) -> PublishedRow:
    return PublishedRow("", cfg, "", "r287531", cfg, figures)


BACKOFF = Publication(
    number=0,
    title="Trivial backoff for locking primitives (r303643): forwarding, ipfw and pf",
    machine=C2758_T540,
    topic="firewalls",
    label="fbsd12-head.r303643",
    tree=HEAD,
    release="12.0-CURRENT",
    blocks=(
        _pair(
            0,
            _backoff,
            ("303642", "303643"),
            "forwarding",
            RowFigures(5, 625167, 641688, 635734, 633707.9, 6580.0951),
            RowFigures(5, 1138692, 1207046, 1146448, 1156573.7, 28649.353),
            difference=DifferenceFigures(522866, 30314.6, 82.509, 5.05534, 20785.6),
        ),
        _pair(
            1,
            _backoff,
            ("303642", "303643"),
            "ipfw-statefull",
            RowFigures(5, 800478.5, 863624.5, 848446.5, 841101.7, 23876.499),
            RowFigures(5, 930427, 1055229, 1014607, 1006693.4, 50505.652),
            difference=DifferenceFigures(165592, 57612.2, 19.6875, 7.11505, 39502.6),
        ),
        _pair(
            2,
            _backoff,
            ("303642", "303643"),
            "pf-statefull",
            RowFigures(5, 1091242, 1111744.5, 1097719, 1099597.7, 7613.8706),
            RowFigures(5, 963866, 981614, 977080, 974662.7, 6874.2091),
            difference=DifferenceFigures(-124935, 10578.8, -11.3619, 0.903476, 7253.47),
        ),
    ),
)

VIMAGE = Publication(
    number=1,
    title="VIMAGE added to the kernel (r317849): forwarding, ipfw and pf",
    machine=C2558_I350,
    topic="firewalls",
    label="fbsd12-head.r317849.VIMAGE",
    tree=HEAD,
    release="12.0-CURRENT",
    blocks=(
        _pair(
            3,
            _vimage,
            ("", "VIMAGE"),
            "forwarding",
            RowFigures(5, 807600, 824480, 813658, 815069, 7601.0168),
            RowFigures(5, 807351, 824252, 809224, 812758.4, 7192.504),
            difference=None,
        ),
        _pair(
            4,
            _vimage,
            ("", "VIMAGE"),
            "ipfw-statefull",
            RowFigures(5, 467322, 480745, 474800, 473965.6, 5274.4672),
            RowFigures(5, 460064, 469853, 464224, 464914.6, 3656.4819),
            difference=DifferenceFigures(-9051, 6618.65, -1.90963, 1.37849, 4538.16),
        ),
        _pair(
            5,
            _vimage,
            ("", "VIMAGE"),
            "pf-statefull",
            RowFigures(5, 397919, 400677, 398812, 398882.2, 1079.4669),
            RowFigures(5, 382698, 385170, 383552, 383936, 994.4315),
            difference=DifferenceFigures(-14946.2, 1513.6, -3.74702, 0.371837, 1037.82),
        ),
    ),
)

MBUF = Publication(
    number=2,
    title="Mbuf functions not inlined (a patch to r295150): forwarding, pf and ipfw",
    machine=XEON_T540,
    topic="fastforwarding-pf-ipfw.4nxq10g",
    label="fbsd11-head.r295150.mbuf",
    tree=HEAD,
    release="11.0-CURRENT",
    blocks=(
        _pair(
            6,
            _mbuf,
            ("", "mbuf"),
            "forwarding",
            RowFigures(10, 2623629, 2979295.5, 2740469.5, 2766752, 104957.14),
            RowFigures(10, 2571006, 2791720, 2665847.5, 2675017, 89609.208),
            difference=DifferenceFigures(-91735.1, 91690.8, -3.31562, 3.31402, 97585.4),
            flavour="2016",
        ),
        _pair(
            7,
            _mbuf,
            ("", "mbuf"),
            "pf-statefull",
            RowFigures(10, 1705003, 1808576, 1780999.8, 1771306, 32349.183),
            RowFigures(10, 1698402, 1803263, 1747598.5, 1749522.6, 36538.088),
            difference=None,
        ),
        _pair(
            8,
            _mbuf,
            ("", "mbuf"),
            "ipfw-statefull",
            RowFigures(10, 2116562, 2276260.5, 2197014, 2196201, 50530.754),
            RowFigures(10, 2113460, 2261210, 2172974.2, 2184385.4, 46526.757),
            difference=None,
        ),
    ),
)

D12685 = Publication(
    number=3,
    title="D12685 on a kernel with Yandex patches (r325006): inet4 and inet6",
    machine=XEON_T540,
    topic="firewalls",
    label="fbsd12-head.r325006.yandex.D12685",
    tree=HEAD,
    release="12.0-CURRENT",
    blocks=(
        _pair(
            9,
            _yandex,
            ("", "D12685"),
            "inet4",
            RowFigures(5, 6001205, 6285080, 6159707, 6145408.2, 103486.53),
            RowFigures(5, 6481450, 7057843, 6714912, 6757284.5, 279704.58),
            difference=DifferenceFigures(611876, 307562, 9.95664, 5.06734, 210884),
        ),
        _pair(
            10,
            _yandex,
            ("", "D12685"),
            "inet6",
            RowFigures(5, 3975563, 3993609, 3984095, 3984501.4, 7130.1624),
            RowFigures(5, 5436939.5, 5510280, 5497443, 5483592.5, 29824.995),
            difference=DifferenceFigures(1.49909e06, 31624.5, 37.6231, 0.812642, 21683.7),
        ),
    ),
)

ROUTING = Publication(
    number=4,
    title="Four modes of projects/routing r287531, side by side",
    machine=C2558_I350,
    topic="firewalls",
    label="fbsd11-routing.r287531",
    tree="freebsd-projects-routing",
    release="11.0-CURRENT",
    blocks=(
        Block(
            11,
            (
                _routing(
                    "forwarding",
                    RowFigures(5, 587344, 598788, 594469, 593951.8, 4209.5568),
                ),
                _routing(
                    "fastforwarding",
                    RowFigures(5, 1127598, 1153428, 1137833, 1139961.8, 12325.635),
                ),
                _routing(
                    "ipfw-statefull",
                    RowFigures(5, 634518, 644624, 636178, 637783.8, 4163.9644),
                ),
                _routing(
                    "pf-statefull",
                    RowFigures(5, 462489, 466145, 463964, 463944, 1489.564),
                ),
            ),
            (
                DifferenceFigures(546010, 13432, 91.9283, 2.26146, 9209.82),
                DifferenceFigures(43832, 6106.24, 7.37972, 1.02807, 4186.82),
                DifferenceFigures(-130008, 4604.98, -21.8886, 0.775312, 3157.46),
            ),
            flavour="2016",
        ),
    ),
    old_info=True,
)

PUBLICATIONS = (BACKOFF, VIMAGE, MBUF, D12685, ROUTING)
