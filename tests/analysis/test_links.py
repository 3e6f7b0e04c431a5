"""Addresses composed of parts that the cells of a table share."""

from hypothesis import given
from hypothesis import strategies as st

from webapp.analysis.queries import TableLinks, compare_link, side_of, trend_link
from webapp.results.models import Hardware, Metric, Mode, Revision, Tree
from webapp.results.queries import NamedSeries

names = st.text(st.sampled_from("aZ9 :~%/@+&=?#|<\"'ü\u2028"), min_size=1, max_size=9)


@given(names, names, names, names, names, names)
def test_the_links_of_a_table_are_those_of_each_series(
    tree: str, metric: str, hardware: str, mode: str, before: str, after: str
) -> None:
    series = NamedSeries(
        pk=1,
        own_better="",
        tree=Tree(name=tree),
        hardware=Hardware(name=hardware),
        mode=Mode(name=mode),
        metric=Metric(name=metric),
        variant=None,
    )
    links = TableLinks(tree, metric)
    sides = (side_of(series, Revision(name=name)) for name in (before, after))
    assert links.trend(hardware, mode) == trend_link(series)
    assert links.compare(before, after, hardware=hardware, mode=mode) == compare_link(*sides)
