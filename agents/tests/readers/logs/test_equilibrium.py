"""Equilibrium logs."""

from labagent.readers.logs.generators import read_equilibrium

from agents.tests.make import equilibrium_log


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
