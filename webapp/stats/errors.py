"""What can be wrong with the input of a statistic. Each error names its remedy."""


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
