"""A log that is not as it was written is reported, with the line."""

from __future__ import annotations

import pytest
from labagent.readers.logs import read_equilibrium, read_pktgen

from agents.tests.make import equilibrium_log, receiver_log

LOG = receiver_log(1000, seconds=30).splitlines(keepends=True)
"""Nine header lines, 45 seconds from line 10 on, one closing line."""


def doubts(lines: list[str]) -> list[str]:
    return list(read_pktgen("".join(lines).encode()).doubts)


def test_a_whole_log_raises_no_doubt():
    assert doubts(LOG) == []


@pytest.mark.parametrize(
    ("damaged", "expected"),
    [
        (LOG[:20] + LOG[21:], ["line 21: 1 second is missing before it"]),
        (LOG[:20] + LOG[23:], ["line 21: 3 seconds are missing before it"]),
        (LOG[:21] + LOG[20:], ["line 22 repeats the line before"]),
        (LOG[:6] + LOG[5:], ["line 7 repeats the line before"]),
        (LOG + LOG[-1:], ["line 56 repeats the line before"]),
        ([*LOG[:-1], "Termin"], ["line 55 is cut: no newline at the end"]),
        (LOG[1:], ["line 1 is not the command: the beginning is missing"]),
        ([*LOG[:3], "x" * 2000 + "\n", *LOG[3:]], ["line 4 has more than 1024 bytes"]),
        ([*LOG[:20], "?\n", *LOG[20:]], ["line 21 stands between two seconds and is none"]),
        (
            [*LOG[:20], LOG[20].replace("\n", "\r\n"), *LOG[21:]],
            ["line 21 holds a carriage return"],
        ),
    ],
)
def test_lost_moved_and_doubled_lines_are_named(damaged, expected):
    found = doubts(damaged)
    assert len(found) == len(expected)
    assert all(one.startswith(two) for one, two in zip(found, expected, strict=True))


def test_lines_in_the_wrong_order_are_named():
    swapped = [*LOG[:20], LOG[21], LOG[20], *LOG[22:]]
    found = doubts(swapped)
    assert found[0] == "line 21: 1 second is missing before it"
    assert found[1] == "line 22: its time does not follow the line before"


def test_a_digit_that_changed_does_not_fit_its_packets():
    line = LOG[20].replace(" 1000 pps", " 1600 pps")
    assert doubts([*LOG[:20], line, *LOG[21:]]) == [
        "line 21 states 1600 pps, but 1000 packets in 1000000 µs are 1000"
    ]


def test_a_second_that_pkt_gen_does_not_write_is_named():
    line = LOG[20].replace("1000 pps", "-1000 pps")
    assert doubts([*LOG[:20], line, *LOG[21:]])[0] == (
        "line 21 is not a second as pkt-gen writes it"
    )


@pytest.mark.parametrize(
    "value", ["1e999", "1e300", "nan", "inf", "1_000", "9" * 400, "0x10", "1000 K"]
)
def test_what_is_no_plain_number_never_becomes_a_value(value):
    line = LOG[20].replace(" 1000 pps", f" {value} pps")
    reading = read_pktgen("".join([*LOG[:20], line, *LOG[21:]]).encode())
    assert reading.values in ({}, {"pps": 1000.0})
    assert reading.problem or reading.doubts
    assert "line 21" in " ".join([reading.problem or "", *reading.doubts])


def test_a_rate_in_another_unit_gives_no_value():
    text = "".join(LOG).replace(" pps ", " Kpps ")
    assert read_pktgen(text.encode()).problem == "line 16 is garbled, or not in plain packets/s"


def test_the_sum_at_the_end_must_be_that_of_the_seconds():
    total = 6 * 9_000_000 + 15 + 30 * 1000 + 9 * 8_000_000 + 36
    end = "Received {} packets 60 bytes 7 events 60 bytes each in 45.00 seconds.\n"
    assert doubts([*LOG[:-1], end.format(total)]) == []
    assert doubts([*LOG[:-1], end.format(total + 1)]) == [
        f"line 55 states {total + 1} packets, but the seconds add up to {total}"
    ]


def test_two_logs_in_one_file_are_noticed():
    assert "line 56: another log begins" in doubts([*LOG, *LOG])


def test_blocks_that_a_crash_left_empty_are_noticed():
    text = "".join(LOG).encode()
    assert (
        "line 20 holds NUL bytes"
        in read_pktgen(text.replace(LOG[19].encode(), b"\0" * 80 + b"\n")).doubts
    )


def test_of_many_lines_that_do_not_fit_a_few_are_named():
    odd = [line.replace("(1000 pkts", "(2000 pkts") for line in LOG]
    assert doubts(odd)[-1] == "25 more lines do not fit either"


def test_a_clock_that_starts_anew_at_a_thousand_seconds_is_no_doubt():
    stamps = [f"{(690 + 300 + at) % 1000:03}.300000 main" for at in range(45)]
    later = [stamp + line[15:] for stamp, line in zip(stamps, LOG[9:54], strict=True)]
    header = [line.replace("692.3", "989.3") for line in LOG[:9]]
    assert doubts([*header, *later, LOG[-1]]) == []


def test_an_equilibrium_that_is_not_the_last_rate_measured_is_named():
    text = equilibrium_log(64, 65)
    assert read_equilibrium(text.encode()).doubts == ()
    changed = text.replace("throughput= 64", "throughput= 84")
    assert read_equilibrium(changed.encode()).doubts == (
        "line 8 states equilibrium 84 Mb/s, measured were 64",
    )


def test_a_step_that_is_missing_in_the_search_is_named():
    text = equilibrium_log(64, 65).replace("Iteration 1\n", "")
    assert read_equilibrium(text.encode()).doubts[0] == ("line 4: iteration 1 is missing before it")
