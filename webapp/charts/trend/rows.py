"""Rows of labels that do not cover one another. Pure."""

MOST_ROWS = 3


class Rows:
    """What is taken of `MOST_ROWS` rows; who comes first has the row next to the chart."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, float, float]] = []

    def take(self, start: float, end: float) -> int | None:
        """The first row with nothing from ``start`` to ``end``, taken from now on; None: no room.

        ``start`` and ``end`` are pixels across.
        """
        for row in range(MOST_ROWS):
            if not any(
                one == row and low <= end and high >= start for one, low, high in self._taken
            ):
                self._taken.append((row, start, end))
                return row
        return None
