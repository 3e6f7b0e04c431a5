"""A switch that delays and loses frames: `python wire.py --delay S --loss SHARE --seed N NAME ...`.

Each NAME becomes a network interface (TAP); what one sends reaches the others so much later, or
not. Standard output gets a line once all are there. Each line of standard input names those that
are cut off from then on (none: an empty line), and its end ends the switch.

Instead of `tc … netem`, which not every kernel has.
"""

import argparse
import fcntl
import os
import random
import select
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass, field

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
LARGEST_FRAME = 65_536
ADDRESS_BYTES = 6
TO_MANY = 1
"""The bit of a frame's first byte by which it is for all or for a group."""


@dataclass
class Switch:
    """The interfaces by name, and the frames under way: when each is due, and where."""

    ports: dict[str, int]
    delay: float
    loss: float
    draw: random.Random
    cut: set[str] = field(default_factory=set)
    known: dict[bytes, str] = field(default_factory=dict)
    under_way: deque[tuple[float, str, bytes]] = field(default_factory=deque)

    def take(self, source: str, now: float) -> None:
        """Read a frame, and have it under way to whom it is for, unless it is lost."""
        frame = os.read(self.ports[source], LARGEST_FRAME)
        self.known[frame[ADDRESS_BYTES : 2 * ADDRESS_BYTES]] = source
        target = None if frame[0] & TO_MANY else self.known.get(frame[:ADDRESS_BYTES])
        for port in [target] if target else self.ports.keys() - {source}:
            if not self.cut & {source, port} and self.draw.random() >= self.loss:
                self.under_way.append((now + self.delay, port, frame))

    def deliver(self, now: float) -> None:
        """Write what is due; an interface that is down takes nothing, as a full one."""
        while self.under_way and self.under_way[0][0] <= now:
            _, port, frame = self.under_way.popleft()
            try:
                os.write(self.ports[port], frame)
            except OSError:
                continue

    def run(self) -> None:
        """Until the end of standard input."""
        named = {number: name for name, number in self.ports.items()}
        control = sys.stdin.fileno()
        while True:
            due = self.under_way[0][0] - time.monotonic() if self.under_way else None
            wait = None if due is None else max(0.0, due)
            ready, _, _ = select.select([control, *named], [], [], wait)
            now = time.monotonic()
            for number in ready:
                if number != control:
                    self.take(named[number], now)
                elif line := sys.stdin.readline():
                    self.cut = set(line.split())
                    print("done", flush=True)
                else:
                    return
            self.deliver(now)


def opened(name: str) -> int:
    """A new interface; it goes with this process."""
    number = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(number, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return number


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, required=True)
    parser.add_argument("--loss", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("names", nargs="+")
    given = parser.parse_args()
    ports = {name: opened(name) for name in given.names}
    switch = Switch(ports, given.delay, given.loss, random.Random(given.seed))
    print("done", flush=True)
    switch.run()


if __name__ == "__main__":
    main()
