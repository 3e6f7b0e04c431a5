"""Statistics: pure functions of numbers.

Here is what all of them share: what can be wrong with their input (each error names its remedy),
and how their commands end in a shell.
"""

import signal


class StatisticsError(ValueError):
    """Base of every error that input to ``webapp.stats`` can cause."""


class TooFewSamplesError(StatisticsError):
    """A set of samples is too small for the statistic asked for."""

    def __init__(self, n: int, least: int) -> None:
        super().__init__(f"{n} samples where at least {least} are needed: measure more")
        self.n = n
        self.least = least


class NotFiniteError(StatisticsError):
    """A NaN or an infinity among the numbers: such a sample was never measured."""

    def __init__(self, value: float) -> None:
        super().__init__(f"{value} is not a finite number: withdraw it or measure it again")
        self.value = value


class OutOfRangeError(StatisticsError):
    """An argument outside what its meaning allows (a level, a width, a margin, a count)."""


def end_silently() -> None:
    """A reader that closes early (`| head`) or Ctrl-C ends the command without a word, as in C."""
    for name in ("SIGPIPE", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
