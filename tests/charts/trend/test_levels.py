"""Which part of a level shows on an axis, and at which height it enters."""

from webapp.charts.trend.series import Level


def test_a_sloped_level_that_began_before_the_axis_enters_at_its_height_there() -> None:
    shown = Level.within([50, 75, 100], (0, 100), (200.0, 100.0))
    assert shown == Level(0, 2, 150.0, 100.0)


def test_nothing_is_drawn_before_the_first_point_of_the_series_that_shows() -> None:
    shown = Level.within([25, 50, 75, 100], (0, 100), (200.0, 100.0), since=50)
    assert shown == Level(1, 3, 150.0, 100.0)


def test_a_level_that_ended_before_the_axis_is_none() -> None:
    assert Level.within([150, 175], (0, 100), (200.0, 100.0)) is None


def test_the_band_moves_with_the_line() -> None:
    shown = Level.within([50, 100], (0, 100), (200.0, 100.0), (190.0, 210.0))
    assert shown is not None
    assert (shown.low, shown.high) == (140.0, 160.0)
