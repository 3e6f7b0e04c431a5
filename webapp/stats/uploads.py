"""What one upload of a revision says: the mean of its units and how they scatter."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from webapp.stats.compare import Samples, summarize
from webapp.stats.decisive import Build, build_of


@dataclass(frozen=True, slots=True)
class Upload:
    """One run of a point: ``name`` tells it from others, ``build`` what was measured, ``session``
    with what others (empty: not known).

    ``samples`` and ``boots`` are the mean of the logarithms with the squares around it, of single
    samples and of boots (None: not all are known). ``floor`` is what equal values leave open.
    """

    name: str
    build: str
    samples: Build
    boots: Build | None
    floor: float
    session: str = ""

    def to_data(self) -> dict[str, Any]:
        """Numbers, strings and dicts only: what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Upload":
        """What `to_data` wrote, also after a passage through JSON."""
        boots = data["boots"] and Build(**data["boots"])
        return cls(**{**data, "samples": Build(**data["samples"]), "boots": boots})


def upload_of(
    name: str,
    build: str,
    samples: Sequence[float],
    boots: Sequence[object] | None,
    session: str = "",
) -> Upload | None:
    """Return what one run says; None where no sample is positive. Unknown boots are None."""
    positive = [value for value in samples if value > 0]
    runs = build_of(positive)
    if runs is None:
        return None
    known = boots is not None and None not in boots
    return Upload(
        name=name,
        build=build,
        samples=runs,
        boots=build_of(samples, boots) if known else None,
        floor=summarize(Samples(positive)).floor("log"),
        session=session,
    )
