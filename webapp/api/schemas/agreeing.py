"""Agreeing candidates."""

from pydantic import BaseModel


class AgreeingOut(BaseModel):
    """Several series that moved together, of which none proves it alone. The commits in question
    are those later than ``after`` up to ``last``; ``likeliest`` is the likeliest first one that was
    measured, with ``chance``. ``series`` agree of ``received`` that measured it, on ``machines`` of
    ``received_machines``. ``change_percent`` is the median of those that agree, negative where
    worse; ``false_share`` of the commits without a change would show as much."""

    tree: str
    after: str
    likeliest: str
    last: str
    chance: float
    verdict: str
    series: int
    received: int
    machines: int
    received_machines: int
    change_percent: float
    false_share: float


class AgreeingList(BaseModel):
    """At most 500, the last along each tree first."""

    agreeing: list[AgreeingOut]
