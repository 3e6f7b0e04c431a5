"""The five cells under the front page's headline: losses, runs, machines, bisects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf

from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import OpenLoss
from webapp.bisects.queries import RunningBisect
from webapp.charts import bars
from webapp.jobs.queries import MOST_IMPORTED, Machine
from webapp.pages.parts.ages import age


@dataclass(frozen=True, slots=True)
class Strip:
    """The five cells under the headline."""

    losses: Sequence[OpenLoss]
    machines: Mapping[int, Machine]
    bisects: Sequence[RunningBisect]
    now: datetime

    @property
    def first(self) -> OpenLoss | None:
        """The largest open loss; it also counts all of them."""
        return self.losses[0] if self.losses else None

    @property
    def worst(self) -> OpenLoss | None:
        """The one whose series has lost most today; the first where none of them stands."""
        standing = [one for one in self.losses if one.today.get("stands") and not one.option]
        return max(standing, key=_lost, default=self.first)

    @property
    def worst_percent(self) -> float | None:
        """What its series has lost today; None: beyond all figures."""
        worst = self.worst
        stands = worst.today.get("stands") if worst and not worst.option else None
        return stands["change_pct"] if stands else worst and worst.percent

    @property
    def worst_machine(self) -> Machine | None:
        """Where that is."""
        return self.machines[self.worst.hardware_id] if self.worst else None

    @property
    def real(self) -> int:
        """Open losses of real machines."""
        return self.losses[0].open - self.losses[0].simulated if self.losses else 0

    @property
    def days(self) -> list[int]:
        """Live runs of all machines on each of the last days."""
        return [sum(day) for day in zip(*(one.days for one in self.machines.values()), strict=True)]

    @property
    def runs(self) -> int:
        """Live runs of these days together."""
        return sum(self.days)

    @property
    def imported(self) -> str:
        """Runs received as history in these days, where there are any."""
        count = sum(one.imported for one in self.machines.values())
        more = "+" if any(one.imported == MOST_IMPORTED for one in self.machines.values()) else ""
        return f"{count:,}{more} imported" if count else ""

    @property
    def newest(self) -> str:
        """How old the newest live run is."""
        times = [one.live_at for one in self.machines.values() if one.live_at]
        return f"newest {age(self.now - max(times))} ago" if times else "nothing measured live yet"

    @property
    def chart(self) -> SafeString:
        """A bar a day."""
        text = f"runs a day, the last {len(self.days)} days"
        return mark_safe(bars.draw(self.days, width=92, height=26, described=text))  # noqa: S308

    @property
    def reporting(self) -> list[Machine]:
        """Machines that were ever measured live, or have a worker, by name."""
        return [one for one in self.machines.values() if one.live_at or one.has_worker]

    @property
    def alive(self) -> int:
        """Those of them that report now."""
        return sum(one.is_alive for one in self.reporting)

    @property
    def history(self) -> int:
        """Machines of which all was imported."""
        return sum(one.is_history and not one.has_worker for one in self.machines.values())

    @property
    def silence(self) -> str:
        """Who is silent, and for how long, or that nobody is."""
        silent = sorted(
            (one for one in self.reporting if not one.is_alive and one.live_at),
            key=lambda one: one.live_at or self.now,
        )
        if not silent:
            parts = ["all report"] if self.reporting else []
            return ", ".join(parts + ([f"{self.history} imported"] if self.history else []))
        newest = silent[-1]
        text = f"{newest.called} silent for {age(self.now - (newest.live_at or self.now))}"
        return f"{text}, {len(silent) - 1} more" if len(silent) > 1 else text

    @property
    def bisect(self) -> RunningBisect | None:
        """The newest of those that run."""
        return self.bisects[0] if self.bisects else None

    @property
    def bisect_chart(self) -> SafeString:
        """The probability of each of its commits."""
        chances = self.bisects[0].chances if self.bisects else []
        text = "probability of each commit"
        return mark_safe(bars.draw(chances, width=66, height=26, described=text))  # noqa: S308


def _lost(one: OpenLoss) -> float:
    size = one.today["stands"]["change_pct"]
    return inf if size is None else abs(size)
