"""The values of a `pkt-gen` and of an `equilibrium` log."""

import pytest
from labagent.readers.logs import read_equilibrium, read_pktgen

from agents.tests.make import (
    NEW_HEADER,
    OLD_HEADER,
    equilibrium_log,
    receiver_log,
    second,
    seconds_of,
)


def log(values: list[float], *, header: list[str] = OLD_HEADER) -> bytes:
    lines = seconds_of([*[7] * (15 - len(header)), *values, *[9_999_999] * 10])
    return "\n".join([*header, *lines, ""]).encode()


@pytest.mark.parametrize("new", [False, True])
def test_the_value_is_the_median_of_the_seconds_between_warm_up_and_cool_down(new):
    reading = read_pktgen(receiver_log(883374.5, new=new).encode())
    assert reading.values == {"pps": 883374.5}
    assert reading.doubts == ()


def test_an_even_number_of_seconds_averages_the_two_middle_ones():
    reading = read_pktgen(log([10, 20, 40, 30]))
    assert reading.values == {"pps": 25.0}
    assert reading.older == {"pps": 30.0}, "before 2016 it was the upper one"


def test_an_odd_number_of_seconds_has_one_median_by_either_rule():
    reading = read_pktgen(log([30, 10, 20]))
    assert reading.values == reading.older == {"pps": 20.0}


def test_seconds_without_packets_vanish():
    assert read_pktgen(log([0, 0, 0, 0, 10, 20, 30])).values == {"pps": 20.0}


def test_two_seconds_give_no_value():
    reading = read_pktgen(log([10, 20, 0]))
    assert not reading.values
    assert "fewer than 3 seconds" in reading.problem


@pytest.mark.parametrize("lines", [0, 14, 22, 25])
def test_a_log_cut_short_gives_no_value(lines):
    text = "".join(f"{second(10)}\n" for _ in range(lines))
    assert read_pktgen(text.encode()).problem == f"log cut short at {lines} lines"


def test_values_are_printed_with_eight_digits():
    assert read_pktgen(log([123456781.0, 123456782.0, 123456783.0, 123456784.0])).values == {
        "pps": 123456780.0
    }


def test_a_header_counts_among_the_lines_left_out():
    long_header = [*NEW_HEADER, "+ eval/usr/bin/ssh", "another line"]
    data = "\n".join([*long_header, *map(second, [1, 2, 3, 4]), *["x"] * 10, ""]).encode()
    assert read_pktgen(data).values == {"pps": 2.5}


def test_a_last_line_without_newline_is_a_line():
    whole = log([10, 20, 30])
    assert read_pktgen(whole.rstrip(b"\n")).values == read_pktgen(whole).values


def test_bytes_that_are_no_text_do_no_harm():
    assert read_pktgen(log([10, 20, 30]).replace(b"CMD", b"\xff\xfe\x00")).values == {"pps": 20.0}


def test_a_garbled_second_gives_no_value_rather_than_a_wrong_one():
    garbled = log([10, 20, 30]).replace(b" 20 pps (20", b" 2O pps (20")
    assert read_pktgen(garbled).problem == "line 17 is garbled, or not in plain packets/s"


def test_both_the_equilibrium_and_the_highest_rate_seen_are_read():
    assert read_equilibrium(equilibrium_log(64, 65).encode()).values == {
        "equilibrium": 64.0,
        "equilibrium_max": 65.0,
    }


def test_the_last_of_several_results_counts():
    text = equilibrium_log(10, 11) + equilibrium_log(64, 65)
    assert read_equilibrium(text.encode()).values["equilibrium"] == 64.0


def test_a_log_that_never_settles_gives_no_value():
    reading = read_equilibrium(b"CMD: equilibrium -4\nIteration 1\n")
    assert not reading.values
    assert reading.problem == "no equilibrium was reached"
