"""The logs of one iteration: what a receiver and a sender wrote, second by second."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

WARM_UP_LINES, COOL_DOWN_LINES, FEWEST_POINTS = 15, 10, 3
"""What bench-lab's script leaves out at either end, and the points that ministat wants."""

MICROSECONDS = 1_000_000


@dataclass
class Second:
    """``stamp`` is its end in microseconds."""

    stamp: int
    packets: int
    length: int

    @property
    def rate(self) -> int:
        return (self.packets * MICROSECONDS + self.length // 2) // self.length


@dataclass
class Iteration:
    """``sent`` is the rate of the generator in packets/s; ``is_limited``: it was asked for no more.
    ``damage`` is done to the receiver's log once it is written."""

    seconds: list[Second]
    sent: float
    is_new: bool
    sender_seconds: bool
    is_limited: bool = False
    damage: Callable[[bytes], bytes] = field(default=bytes)

    @property
    def header(self) -> int:
        """Lines before the first second."""
        return 13 if self.is_new else 9

    @property
    def measured(self) -> range:
        """The indices of the seconds between warm-up and cool-down."""
        end = len(self.seconds) + 1 - COOL_DOWN_LINES
        return range(WARM_UP_LINES - self.header, max(end, WARM_UP_LINES - self.header))

    @property
    def value(self) -> float | None:
        """The median that bench-lab's script prints, computed from the seconds themselves."""
        rates = [self.seconds[at].rate for at in self.measured]
        kept = [rate for rate in rates if rate]
        return float(f"{statistics.median(kept):.8g}") if len(kept) >= FEWEST_POINTS else None

    def scale(self, first: int, last: int, share: Callable[[int], float]) -> None:
        """Multiply the rate of some seconds."""
        for at in range(first, last):
            self.seconds[at].packets = round(self.seconds[at].packets * share(at))

    def receiver(self) -> bytes:
        start = self.seconds[0].stamp - 5 * MICROSECONDS
        command = "CMD on 192.0.2.3: pkt-gen -N" if self.is_new else "CMD: pkt-gen"
        lines = [f"{command} -f rx -i igb3 -w 4"]
        lines += [f"{_stamp(start + at)} main [1753] up" for at in range(self.header - 1)]
        lines += [self._line(one) for one in self.seconds]
        return self.damage(("\n".join([*lines, "Terminated"]) + "\n").encode())

    def sender(self) -> bytes:
        limit = f" -R {round(self.sent)}" if self.is_limited else ""
        lines = [f"CMD: pkt-gen -U -f tx -i igb2 -n 80000000 -l 60 -w 4{limit}"]
        start = self.seconds[0].stamp - 5 * MICROSECONDS
        lines += [f"{_stamp(start + at)} main [1956] up" for at in range(8)]
        if self.sender_seconds:
            packets = round(self.sent)
            sent = [Second(one.stamp, packets, MICROSECONDS) for one in self.seconds]
            lines += [self._line(one) for one in sent]
        count = round(self.sent) * len(self.seconds)
        lines.append(f"Sent {count} packets, 60 bytes each, in {len(self.seconds)}.00 seconds.")
        lines.append(f"Speed: {self.sent / 1000:.3f} Kpps Bandwidth: 1.00 Gbps (raw 1.00 Gbps)")
        return ("\n".join(lines) + "\n").encode()

    def _line(self, one: Second) -> str:
        start = f"{_stamp(one.stamp)} main_thread"
        if self.is_new:
            bits = f"{one.packets} pkts {480 * one.packets} bps in {one.length} usec"
            return f"{start} [2687] {one.rate} pps ({bits}) 16.00 avg_batch 99999 min_space"
        return f"{start} [1550] {one.rate} pps ({one.packets} pkts in {one.length} usec)"


def draw_iterations(rng: Random, count: int) -> list[Iteration]:
    """Iterations of one sound run: white noise around levels that differ a little."""
    level = rng.uniform(50_000, 900_000)
    noise = rng.uniform(0.001, 0.006)
    length = rng.randint(42, 58)
    is_new, sender_seconds = rng.random() < 0.6, rng.random() < 0.3
    return [
        Iteration(
            _draw_seconds(rng, level * rng.gauss(1, 0.005), noise, length),
            level * rng.uniform(1.15, 3),
            is_new,
            sender_seconds,
        )
        for _ in range(count)
    ]


def _draw_seconds(rng: Random, level: float, noise: float, count: int) -> list[Second]:
    stamp = rng.randint(20 * MICROSECONDS, 900 * MICROSECONDS)
    silent = rng.randint(0, 1)
    seconds = []
    for at in range(count):
        length = MICROSECONDS + rng.randint(0, 2003)
        stamp += length
        packets = 0 if at < silent else round(level * rng.gauss(1, noise) * length / MICROSECONDS)
        seconds.append(Second(stamp, packets, length))
    return seconds


def _stamp(microseconds: int) -> str:
    seconds, rest = divmod(microseconds % (1000 * MICROSECONDS), MICROSECONDS)
    return f"{seconds:03}.{rest:06}"
