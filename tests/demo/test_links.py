"""The published comparisons, from their files through agent and API to the compare page's text."""

from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl

import pytest
from django.test import Client
from django.utils.html import escape
from labagent.model import Overrides, runs_of
from labagent.readers.benchlab import read_directories
from pytest_django import DjangoAssertNumQueries

from tests.kept import kept
from webapp.analysis.queries.compare import ComparedRow, Side, compare_sides
from webapp.demo import published, simulated
from webapp.demo.benchdirs import published_files, solve_block
from webapp.demo.links import (
    SEED_COMPARISONS,
    SeedComparison,
    demonstration,
    demonstration_links,
    planted_commits,
)
from webapp.demo.published import PUBLICATIONS, Block, DifferenceFigures, same_digits
from webapp.labs import services
from webapp.results.models import Revision, Tree
from webapp.stats import ministat

BLOCKS = {block.number: block for publication in PUBLICATIONS for block in publication.blocks}
each_comparison = pytest.mark.parametrize(
    "comparison", SEED_COMPARISONS, ids=lambda comparison: str(comparison.block)
)


@kept
def load_published() -> None:
    """Send the published runs as their agent does."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        published_files(PUBLICATIONS).write(root)
        read = runs_of(list(read_directories([root], Overrides())))
        runs = [run.document() for run in read]
    agent = services.create_agent(name="demonstration", lab_name=published.LAB)
    token = services.issue_token(agent=agent).text
    answer = Client().post(
        "/api/v1/runs?register=true",
        {"runs": runs},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 201, answer.content


@pytest.fixture
def loaded(db: None) -> None:
    load_published()


def compared(comparison: SeedComparison) -> ComparedRow:
    (row,) = compare_sides([Side.parse(side) for side in comparison.sides]).rows
    return row


def agree(figures: DifferenceFigures, found: ministat.Difference, block: Block) -> bool:
    """All five figures; the relative error only where the present flavour printed it."""
    if block.flavour == "current":
        return figures.fit(found)
    assert found.percent is not None
    ours = (found.delta, found.error, found.percent, found.pooled_stddev)
    return same_digits((figures.delta, figures.error, figures.percent, figures.pooled), ours, 6)


def test_every_block_is_compared_once_and_in_order() -> None:
    assert [comparison.block for comparison in SEED_COMPARISONS] == list(range(12))


@each_comparison
def test_the_query_names_the_sides(comparison: SeedComparison) -> None:
    names, sides = zip(*parse_qsl(comparison.query, strict_parsing=True), strict=True)
    assert sides == comparison.sides
    assert names[0] == "a"
    assert set(names[1:]) == {"b"}


@pytest.mark.usefixtures("loaded")
class TestLoaded:
    """Each test goes through all comparisons: loading takes longer than comparing."""

    def test_every_comparison_has_the_published_figures(self) -> None:
        for comparison in SEED_COMPARISONS:
            row, block = compared(comparison), BLOCKS[comparison.block]
            assert len(row.sets) == len(block.rows)
            for one, of_row in zip(row.sets, block.rows, strict=True):
                assert of_row.figures.fit(one.samples), comparison
            for found, figures in zip(row.differences, block.differences, strict=True):
                assert found is not None
                assert found.proven == (figures is not None), comparison
                assert figures is None or agree(figures, found, block), comparison

    def test_every_text_is_that_of_the_published_samples(self) -> None:
        for comparison in SEED_COMPARISONS:
            row, block = compared(comparison), BLOCKS[comparison.block]
            sets = zip([one.label for one in row.sets], solve_block(block), strict=True)
            assert row.ministat_text() == ministat.render(list(sets), separate_bars=True)

    def test_the_api_answers_every_query(self) -> None:
        for comparison in SEED_COMPARISONS:
            answer = Client().get(f"/api/v1/compare?{comparison.query}")
            assert answer.status_code == 200, answer.content
            assert answer.json()["rows"][0]["ministat"] == compared(comparison).ministat_text()

    def test_every_compare_page_and_its_text_show_the_block(self) -> None:
        for comparison in SEED_COMPARISONS:
            text = compared(comparison).ministat_text()
            page = Client().get(comparison.url)
            assert page.status_code == 200
            assert escape(text.splitlines()[-1]) in page.content.decode()
            assert text in Client().get(f"/compare.txt?{comparison.query}").content.decode()

    def test_the_links_are_there(self, django_assert_num_queries: DjangoAssertNumQueries) -> None:
        with django_assert_num_queries(1):
            links = demonstration_links()
        assert [len(link.comparisons) for link in links] == [3, 3, 3, 2, 1]


@pytest.mark.django_db
class TestWithoutDemonstration:
    def test_there_are_no_links_and_no_planted_commits(self) -> None:
        services.create_agent(name="demonstration", lab_name=published.LAB)
        assert demonstration_links() == ()
        assert list(planted_commits()) == []

    def test_a_template_that_does_not_show_them_costs_no_query(
        self, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        with django_assert_num_queries(0):
            context = demonstration()
        assert context["links"]() == ()

    def test_planted_commits_are_those_whose_subject_states_it(self) -> None:
        tree = Tree.objects.create(name=simulated.TREE)
        for position, subject in ((3, "Planted step: later"), (1, "Planted drift: earlier")):
            Revision.objects.create(
                tree=tree, name=f"r{position}", position=position, subject=subject
            )
        Revision.objects.create(tree=tree, name="r2", position=2, subject="Simulated commit")
        assert [commit.name for commit in planted_commits()] == ["r1", "r3"]
