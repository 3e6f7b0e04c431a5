"""Small profiles of every format, with the same samples where the format can hold them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

GRAPH = """\
@ CPU_CLK_UNHALTED_CORE [10 samples]

60.00%  [6]        bcmp @ /boot/kernel/kernel
 50.00%  [3]         ipfw_dyn_lookup @ /boot/kernel/ipfw.ko
  100.0%  [3]          ipfw_chk
   100.0%  [3]           ip_input @ /boot/kernel/kernel
 33.33%  [2]         ip_input

40.00%  [4]        cpu_idle @ /boot/kernel/kernel
 100.0%  [4]         sched_idletd
  100.0%  [4]          fork_exit

@ CPU_CLK_UNHALTED_CORE [3 samples]

66.67%  [2]        ip_input.constprop.0 @ /boot/kernel/kernel
 100.0%  [2]         fork_exit

33.33%  [1]        0xffffffff80c2e4a1 @ /boot/kernel/kernel

"""

FOLDED = """\
ip_input;ipfw_chk;ipfw_dyn_lookup;bcmp 3
ip_input;bcmp 2
fork_exit;sched_idletd;cpu_idle 4
Xapic_isr1 1
"""

PERF = """\
# captured on: Sat Nov 28
swapper     0 [001]  5076.836336:     250000 cycles:
\tffffffff81001a2b ip_rcv+0x5b ([kernel.kallsyms])
\tffffffff81002b3c __netif_receive_skb+0x1c ([kernel.kallsyms])

ksoftirqd/1    17 [001]  5076.836441: cycles:
\tffffffffc0401a2b nft_do_chain+0xab ([nf_tables])
\tffffffff81001a2b ip_rcv+0x7f ([kernel.kallsyms])

pkt gen  812/815 [003]  5076.837002:     250000 cycles:
\t    7f3c1a2b3c4d [unknown] (/usr/lib/libc.so.6)

"""

BPFTRACE = """\
Attaching 1 probe...

@[
    ip_rcv+91
    __netif_receive_skb+28
]: 17
@[
]: 5
@[
    nft_do_chain+171 ([nf_tables])
    ip_rcv+127
]: 3
"""

BTRACE = """\
@[
ip_input+0x1c
ether_input+0x4d
kernel
]: 17
@[
userland
]: 5
"""


def varint(number: int) -> bytes:
    """A number on the wire of protobuf."""
    out = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def message(fields: Iterable[tuple[int, int | bytes]]) -> bytes:
    """A message of protobuf."""
    parts = []
    for number, value in fields:
        if isinstance(value, int):
            parts.append(varint(number << 3) + varint(value & (1 << 64) - 1))
        else:
            parts.append(varint(number << 3 | 2) + varint(len(value)) + value)
    return b"".join(parts)


STRINGS = ("", "samples", "count", "cpu", "nanoseconds", "/usr/bin/fwd", "main", "forward", "route")


def pprof(counts: tuple[int, int] = (7, 2), types: tuple[int, ...] = (1, 2, 3, 4)) -> bytes:
    """A profile as Go writes it: `main` calls `forward`, in which `route` is inlined; and `main`
    calls an address without a symbol."""
    samples = [
        message([(1, varint(2) + varint(1)), (2, varint(counts[0]) + varint(counts[0] * 10**7))]),
        message([(1, 3), (1, 1), (2, counts[1]), (2, counts[1] * 10**7)]),
    ]
    locations = [
        message([(1, 1), (2, 1), (3, 0x401000), (4, message([(1, 1), (2, 12)]))]),
        message([(1, 2), (2, 1), (4, message([(1, 3)])), (4, message([(1, 2)]))]),
        message([(1, 3), (2, 1), (3, 0x403000)]),
    ]
    kinds = zip(types[::2], types[1::2], strict=True)
    return message(
        [
            *((1, message([(1, kind), (2, unit)])) for kind, unit in kinds),
            *((2, sample) for sample in samples),
            (3, message([(1, 1), (5, 5)])),
            *((4, location) for location in locations),
            *((5, message([(1, key), (2, key + 5)])) for key in (1, 2, 3)),
            *((6, text.encode()) for text in STRINGS),
            (11, message([(1, 3), (2, 4)])),
            (10, 2 * 10**9),
            (12, 10**7),
        ]
    )


def packed_pprof() -> bytes:
    return gzip.compress(pprof(), mtime=0)
