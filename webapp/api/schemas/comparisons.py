"""Two sets of runs compared."""

from ninja import Schema
from pydantic import BaseModel, Field


class LeftOutOut(BaseModel):
    """How many ``samples`` of ``of`` do not count, by the kinds of what may be wrong with them: see
    docs/results.md.
    """

    samples: int
    of: int
    kinds: dict[str, int]
    text: str


class NetLossOut(BaseModel):
    """How much worse a series is today than before the earliest loss that still stands."""

    since: str
    by_and_by: bool
    level_before: float
    level: float
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None


class DifferenceOut(Schema):
    """The difference of two means with its error, as ministat gives it; null: no figure."""

    delta: float | None
    error: float | None
    percent: float | None
    percent_error: float | None
    confidence: float
    pooled_sd: float | None
    proven: bool


class JudgedOut(BaseModel):
    """A verdict with what it rests on; percent of the base. Null: there is no such figure.

    ``p`` is the chance of a difference as large where there is none; ``unit_of_noise`` the level
    whose scatter counts and ``units`` how many of them each side has. ``one_build_a_side``: a side
    has one build, and how much builds scatter is not known; the interval has what is believed of
    it, and no ``p`` belongs to that (null) unless the machine's are known. ``why`` is
    ``one_build_a_side`` where then only the runs differ, and ``runs_disagree`` where a side pools
    runs of one revision that differ by more than their noise: the verdict is then ``cannot tell``.
    Else it is empty.
    """

    verdict: str
    why: str
    one_build_a_side: bool
    negligible: bool
    epoch_between: bool = Field(
        description="An epoch of the machine begins between the two: it may be what differs."
    )
    percent: float | None
    low: float | None
    high: float | None
    p: float | None
    unit_of_noise: str
    units: list[int]
    smallest_visible: float | None
    margin: float
    confidence: float
    reason: str
    net_loss: NetLossOut | None = Field(
        description="What the series has lost today, where that loss begins between the two."
    )


class SetOut(Schema):
    """The samples of one series on one side that count, in the metric's unit; ``left_out`` has
    how many do not.
    """

    side: int
    series: int
    label: str
    revision: str
    variant: str
    hardware: str
    mode: str
    n: int
    samples: list[float]
    mean: float | None
    median: float | None
    sd: float | None
    left_out: LeftOutOut | None


class RowOut(Schema):
    """What is compared with each other: the sets of one mode, hardware and metric. Lists of
    differences, judgements and verdicts go by the sets after the base. ``remarks`` is what to know
    of its figures, as its page and its reports have it.
    """

    key: str
    metric: str
    unit: str
    better: str
    sets: list[SetOut]
    differences: list[DifferenceOut | None]
    judged: list[JudgedOut]
    verdicts: list[str]
    remarks: list[str]
    ministat: str | None


class ModeOut(BaseModel):
    """One mode over its machines, of the set ``set`` after the base. ``verdict`` is that on its
    mean change: ``percent`` with its 95 % interval over ``machines`` that count, null for fewer
    than two. ``alone`` counts machines by their verdicts, as far as these may be claimed of each
    alone; ``differs``: by how much depends on the machine.
    """

    mode: str
    metric: str
    set: int
    verdict: str
    percent: float | None
    low: float | None
    high: float | None
    machines: int
    alone: dict[str, int]
    differs: bool


class HeadlineOut(BaseModel):
    """What may be claimed of all rows together: of each of ``modes``, and the ``counts`` of
    verdicts on single pairs. Any of these claims is wrong in at most 5 of 100 tables. ``differing``
    pairs are better or worse by themselves, past the gate or not; ``outcomes`` counts pairs as the
    page heads them.
    """

    modes: list[ModeOut]
    counts: dict[str, int]
    outcomes: dict[str, int]
    differing: int
    expected_by_chance: float
    text: str


class UnmatchedOut(BaseModel):
    """A combination that the sides numbered ``lacking`` have not, with the reason (``only one side
    measured``, ``another variant``, ``another machine``, ``not measured``); ``others`` are the
    variants, or the machines, that were measured there. A part that every side names is empty.
    """

    hardware: str
    mode: str
    metric: str
    measured: list[int]
    lacking: list[int]
    reason: str
    others: list[str]


class CompareOut(Schema):
    """The sides as they were asked for, and the rows that they have in common; `unmatched` counts
    what only some sides have, which ``not_compared`` lists.
    """

    sides: list[str]
    unmatched: int
    not_compared: list[UnmatchedOut]
    headline: HeadlineOut
    rows: list[RowOut]


class RangeEndsOut(BaseModel):
    """A range as it was written, and the revisions it begins and ends with."""

    range: str
    first: str
    last: str


class RangeRowOut(BaseModel):
    """One series of ``b`` against ``a``. ``revisions`` were measured in either; figures are null
    where they are too few, as ``reason`` states. ``memory`` is the AR(1) coefficient that the
    interval allows for."""

    hardware: str
    mode: str
    metric: str
    unit: str
    better: str
    verdict: str
    reason: str
    revisions: list[int]
    left_out: list[int] | None
    levels: list[float] | None
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None
    p_value: float | None
    memory: float | None
    net_loss: NetLossOut | None = Field(
        description="What the series has lost today, where that loss begins between the two."
    )


class RangesOut(BaseModel):
    """Two ranges compared; ``unmatched`` series were measured in one of them only."""

    a: RangeEndsOut
    b: RangeEndsOut
    counts: dict[str, int]
    unmatched: int
    rows: list[RangeRowOut]


class ReleaseOut(BaseModel):
    """A release, branch point or tree as it is called, the revision it is of (empty for a tree) and
    the ``measured`` one that stands for it, whose ``side`` is compared.
    """

    name: str
    tree: str
    revision: str
    measured: str
    side: str


class ReleaseRowOut(BaseModel):
    """One machine, mode and metric at both: the revisions that stand for A and B on that machine,
    samples and means, the change in percent of A with its 95 % interval, its ``verdict`` by itself,
    and ``proven``: that over the whole table; ``p`` as in any comparison. ``today_…`` is what its
    series has lost today, where that loss begins between the two.
    """

    hardware: str
    mode: str
    metric: str
    unit: str
    better: str
    a_revision: str
    b_revision: str
    a_n: int
    a_mean: float
    b_n: int
    b_mean: float
    percent: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str
    proven: str
    epoch_between: bool
    today_since: str
    today_percent: float | None
    today_low: float | None
    today_high: float | None


class ReleasesOut(BaseModel):
    """Release ``b`` against ``a``. ``headline`` and ``not_compared`` are as of any comparison,
    besides what was measured of the trees at neither. ``alerts`` are numbers of those between, null
    where the two are of different trees.
    """

    a: ReleaseOut
    b: ReleaseOut
    unmatched: int
    not_compared: list[UnmatchedOut]
    headline: HeadlineOut
    rows: list[ReleaseRowOut]
    alerts: list[int] | None
