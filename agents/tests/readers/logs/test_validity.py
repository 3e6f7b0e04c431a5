"""What is reported of an iteration that may not measure the machine under test."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labagent.readers.logs import FORMATS, judge_equilibrium, read_pktgen
from labagent.readers.logs.validity import full_link, judge, line_rate, read_sender

US = 1_000_000
LEVEL = 500_000


def lines_of(rates: Sequence[int], lengths: Sequence[int] | None = None) -> list[str]:
    """Seconds one after the other from 158 s on, as pkt-gen writes them; `lengths` in µs."""
    stamp, lines = 157 * US, []
    for rate, length in zip(rates, lengths or [US] * len(rates), strict=True):
        stamp = (stamp + length) % (1000 * US)
        packets = round(rate * length / US)
        pps = (packets * US + length // 2) // length
        at = f"{stamp // US:03}.{stamp % US:06} main_thread [1550]"
        lines.append(f"{at} {pps} pps ({packets} pkts in {length} usec)")
    return lines


def receiver(
    rates: Sequence[int],
    *,
    command: str = "pkt-gen -f rx -i igb3 -w 4",
    before: Sequence[int] = (LEVEL,) * 6,
    length: int = US,
) -> bytes:
    """A log whose measured part is `rates`: nine lines of header and six seconds are left out
    before, nine seconds and the closing line after."""
    header = [f"CMD: {command}", *(f"153.86990{at} main [1753] up" for at in range(8))]
    seconds = [*before, *rates, *[LEVEL] * 9]
    text = "\n".join([*header, *lines_of(seconds, [length] * len(seconds)), "Terminated", ""])
    return text.encode()


def sender(rate: int, *, options: str = "-l 60", seconds: int = 40, summary: str = "") -> bytes:
    lines = [f"CMD: pkt-gen -N -U -f tx -i igb2 {options} -w 4", "153.870277 main [1753] up"]
    lines += lines_of([rate // 3, *[rate] * seconds, rate // 2]) if seconds else []
    return "\n".join([*lines, *([summary] if summary else []), ""]).encode()


def noisy(count: int = 40, level: int = LEVEL, seed: int = 1, scatter: float = 0.01) -> list[int]:
    noise = random.Random(seed)
    return [round(level * (1 + scatter * noise.gauss())) for _ in range(count)]


def found(rates: Sequence[int], sent: bytes | None = None, **more) -> dict[str, str]:
    logs = {"receiver": receiver(rates, **more)} | ({"sender": sent} if sent else {})
    return {one.code: one.text for one in judge(logs)}


def test_a_sound_iteration_has_no_finding():
    assert found(noisy(), sender(1_488_095)) == {}
    assert found(noisy()) == {}, "nor without the generator's log"


@pytest.mark.parametrize(
    ("speed", "frame", "rate"),
    [(1e9, 64, 1_488_095), (1e10, 64, 14_880_952), (1e9, 1518, 81_274), (1e10, 1518, 812_743)],
)
def test_line_rates_are_those_of_rfc_2544_tables(speed, frame, rate):
    assert int(line_rate(speed, frame)) == rate
    assert full_link(rate, frame)
    assert not full_link(rate * 0.97, frame)


def test_a_full_link_is_the_limit():
    text = found(noisy(level=1_487_000, scatter=0.0005), sender(1_488_100))["sender-saturated"]
    assert text == (
        "99.9 % of the 1,488,100 packets/s that were sent arrived: that is all that 1 Gbit/s"
        " Ethernet carries of 64-byte frames, so the link was the limit, not the machine"
    )


def test_a_generator_with_a_set_rate_is_the_limit():
    sent = sender(400_000, options="-l 60 -R 400000")
    text = found(noisy(level=398_000, scatter=0.001), sent)["sender-saturated"]
    assert "400,000 were asked for (-R)" in text


def test_a_slow_generator_is_the_limit_unless_it_was_slowed_down():
    text = found(noisy(level=700_000, scatter=0.001), sender(700_000))["all-arrived"]
    assert text.endswith("was not the limit, unless flow control slowed the generator down")
    asked = sender(700_000, options="-l 60 -R 2000000")
    assert set(found(noisy(level=700_000, scatter=0.001), asked)) == {"all-arrived"}


@pytest.mark.parametrize(("level", "expected"), [(690_000, True), (680_000, False)])
def test_two_percent_of_loss_are_the_machines(level, expected):
    assert ("all-arrived" in found([level] * 40, sender(700_000))) is expected


def test_a_summary_in_rounded_units_states_what_was_sent_as_well():
    sent = sender(0, seconds=0, summary="Speed: 1.49 Mpps Bandwidth: 714.28 Mbps (raw 1.00 Gbps)")
    assert read_sender(sent).rate == 1_490_000
    assert "sender-saturated" in found(noisy(level=1_480_000, scatter=0.001), sent)
    assert found(noisy(level=1_400_000, scatter=0.001), sent) == {}


def test_without_what_was_sent_the_line_rate_of_its_frames_decides():
    sent = sender(0, seconds=0)
    text = found(noisy(level=1_488_000, scatter=0.0005), sent)["sender-saturated"]
    assert text == (
        "1,488,124 packets/s arrived, all that 1 Gbit/s Ethernet carries of 64-byte frames: the"
        " link was the limit, not the machine"
    )
    assert found(noisy(level=1_450_000, scatter=0.0005), sent) == {}


def test_the_length_of_frames_is_in_the_command_or_the_summary():
    summary = "Sent 80000000 packets, 1276 bytes each, in 53.76 seconds."
    assert read_sender(sender(1, options="-l 1020")).frame == 1024
    assert read_sender(sender(1, options="-w 2", summary=summary)).frame == 1280
    assert read_sender(sender(1, options="-l 43")).frame == 64, "short frames are padded"
    assert read_sender(sender(1, options="-w 2")).frame is None


def test_two_generators_are_counted_together_when_both_arrive():
    logs = {"sender": sender(700_000), "sender_2": sender(700_000)}
    full = {"receiver": receiver([1_395_000] * 40), **logs}
    lossy = {"receiver": receiver([1_000_000] * 40), **logs}
    alone = {"receiver": receiver([699_000] * 40), **logs}
    assert [one.code for one in judge(full)] == ["all-arrived"]
    assert judge(lossy) == ()
    assert [one.code for one in judge(alone)] == ["all-arrived"], "of an attack none arrives"


def test_a_rise_that_matters_is_a_warm_up():
    rising = [round(rate * (0.95 + at / 800)) for at, rate in enumerate(noisy(scatter=0.005))]
    text = found(rising)["warm-up"]
    assert text.startswith("the rate rises by 5.0 % within the 40 seconds measured (Mann-Kendall: ")


def test_a_fall_is_one_as_well_and_a_small_one_is_none():
    falling = [round(rate * (1 - at / 1000)) for at, rate in enumerate(noisy(scatter=0.001))]
    assert "falls by 4.0 %" in found(falling)["warm-up"]
    small = [round(rate * (1 - at / 4000)) for at, rate in enumerate(noisy(scatter=0.001))]
    assert found(small) == {}


def test_scatter_is_no_warm_up():
    marked = [seed for seed in range(300) if "warm-up" in found(noisy(45, seed=seed, scatter=0.05))]
    assert len(marked) <= 1


def test_what_was_left_out_before_is_no_warm_up():
    assert found(noisy(), before=[100_000, 200_000, 300_000, 400_000, 450_000, 480_000]) == {}


def test_seconds_without_packets_are_counted():
    rates = noisy()
    rates[10:13] = [0, 0, 0]
    assert found(rates) == {"zero-seconds": "no packet arrived in 3 of 40 seconds measured"}


def test_seconds_before_the_generator_begins_are_none_of_them():
    assert found([0, 0, 0, *noisy()], before=[0] * 6) == {}


def test_seconds_without_packets_at_the_end_are():
    assert "4 of 44" in found([*noisy(), 0, 0, 0, 0])["zero-seconds"]


def test_lost_lines_are_missing_seconds():
    lines = receiver(noisy()).splitlines(keepends=True)
    logs = {"receiver": b"".join(lines[:25] + lines[28:40] + lines[41:])}
    (one,) = judge(logs)
    assert (one.code, one.text) == (
        "missing-seconds",
        "4.0 s are missing between 36 seconds measured, in 2 places",
    )


def test_time_stamps_that_begin_again_at_0_miss_nothing():
    assert found([LEVEL] * 900) == {}


@pytest.mark.parametrize(("count", "expected"), [(8, True), (9, False)])
def test_eight_seconds_are_too_few(count, expected):
    findings = found(noisy(count))
    assert ("too-few-seconds" in findings) is expected
    if expected:
        assert findings["too-few-seconds"].startswith("8 usable seconds; below 9 the 95 % interval")


def test_seconds_that_cannot_be_used_are_not_counted():
    assert set(found([*noisy(8), 0, 0, 0])) == {"too-few-seconds", "zero-seconds"}


def test_time_that_goes_back_is_a_clock_step():
    lines = receiver(noisy()).decode().splitlines(keepends=True)
    lines[30] = lines[30].replace(lines[30][:3], f"{int(lines[30][:3]) - 5:03}", 1)
    findings = {one.code: one.text for one in judge({"receiver": "".join(lines).encode()})}
    assert findings["clock-step"] == "the time goes back 1 time"


def test_a_second_that_is_none_is_a_clock_step():
    rates = [LEVEL] * 55
    lengths = [US] * 55
    lengths[20], lengths[30] = 3 * US, US // 2
    header = receiver([]).decode().splitlines()[:9]
    text = "\n".join([*header, *lines_of(rates, lengths), "Terminated", ""])
    (one,) = judge({"receiver": text.encode()})
    assert one.code == "clock-step"
    assert one.text == "2 seconds of 40 did not last 1 s, one 3.00 s"


def test_the_interval_that_was_asked_for_is_not_far_from_itself():
    command = "pkt-gen -N -f rx -i vcxl1 -w 4 -T 2000"
    assert found(noisy(), command=command, length=2_063_000) == {}
    assert "did not last 1 s" in found(noisy(), length=2_063_000)["clock-step"]


def test_a_log_that_states_throttled_is_quoted():
    lines = receiver(noisy()).splitlines(keepends=True)
    line = b"coretemp0: critical temperature detected, suggest system shutdown\n"
    (one,) = judge({"receiver": b"".join([*lines[:20], line, *lines[20:]])})
    assert (one.code, one.text) == (
        "throttled",
        f"line 21 of the receiver's log reads: {line.decode().strip()}",
    )


def test_a_command_that_is_called_throttled_is_no_evidence():
    assert found(noisy(), command="pkt-gen -f rx -i throttled0") == {}


def search(result: int, link: int = 100, frame: int = 542) -> bytes:
    return (
        "CMD: equilibrium -4 -u -t igb2 -r igb3\n"
        f"- UDP load = 500B, IPv4 packet size=528B, Ethernet frame size={frame}B\n"
        f"- Link rate = {link} Mb/s\nIteration 1\n  - Offering load = 50 Mb/s\n"
        f"  - Measured forwarding rate = {result} Mb/s\n"
        f"Estimated Equilibrium Ethernet throughput= {result} Mb/s (maximum value seen:"
        f" {result} Mb/s)\n"
    ).encode()


def test_a_search_that_ends_at_what_the_link_carries_found_the_link():
    (one,) = judge_equilibrium({"sender": search(95)})
    assert one.code == "sender-saturated"
    assert one.text == (
        "95 Mb/s of the 96 Mb/s that a link of 100 Mb/s carries in frames of 546 bytes: the link"
        " was the limit, not the machine"
    )
    assert judge_equilibrium({"sender": search(64)}) == ()
    assert judge_equilibrium({"sender": search(494, link=1000)}) == ()


@pytest.mark.fuzz
@given(st.binary(max_size=2000), st.binary(max_size=500))
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_no_bytes_stop_a_judge(form, log, other):
    lines = receiver(noisy(5)).splitlines(keepends=True)
    whole = b"".join([*lines[:17], log, b"\n", *lines[17:]])
    for data in (log, whole):
        for one in form.judge({form.log: data, "sender_2": other, "receiver": data}):
            assert one.code
            assert one.text


def test_a_judge_changes_no_value():
    rates = noisy()
    assert "zero-seconds" in found([*rates, 0, 0])
    assert read_pktgen(receiver([*rates, 0, 0])).values == {"pps": statistics.median(rates)}
