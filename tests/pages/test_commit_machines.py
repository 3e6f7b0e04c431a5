"""A commit that very many machines measured shows some of them at a time."""

import pytest
from django.test import Client

from tests import make
from tests.pages.conftest import Counted, words
from webapp.alerts.queries import commits
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
NAMES = ("a/nic", "b/nic", "c/nic", "d/nic", "e/nic")


@pytest.fixture
def commit(monkeypatch: pytest.MonkeyPatch) -> Revision:
    """Five machines measured it, of which a page shows two; the last one found something."""
    monkeypatch.setattr(commits, "MOST_MACHINES", 2)
    along = make.revisions(4)
    for name in NAMES:
        machine = make.hardware(name)
        series = make.series(on=machine, in_mode="pf")
        make.history(series, along, [100.0, 100.0, 90.0, 90.0])
        make.known_builds(series)
        make.run(along[2], on=machine, in_mode="pf")
    make.finding(series, along[1], along[2], p_value=1e-9)
    return along[2]


def shown(client: Client, commit: Revision, asked: str = "") -> list[str]:
    text = client.get(commit.get_absolute_url() + asked).content.decode()
    heads = text.split("</thead>")[1].split("</table>")[0]
    return [name for name in NAMES if f"/hardware/{name}/" in heads]


def test_those_with_findings_come_first_and_the_others_are_a_page_further(
    client: Client, commit: Revision
) -> None:
    assert shown(client, commit) == ["a/nic", "e/nic"]
    assert shown(client, commit, "?page=2") == ["b/nic", "c/nic"]
    assert shown(client, commit, "?page=3") == ["d/nic"]
    first, last = (client.get(f"{commit.get_absolute_url()}?page={n}") for n in (1, 3))
    assert "of 2 of 5 machines" in words(first.content.decode())
    assert 'href="?page=2">The next' in first.content.decode()
    assert "Those before" not in first.content.decode()
    assert 'href="?page=2">Those before' in last.content.decode()
    assert "The next" not in last.content.decode()


@pytest.mark.parametrize("asked", ["?page=4", "?page=99999999999999999999"])
def test_a_page_after_the_last_is_the_last(client: Client, commit: Revision, asked: str) -> None:
    assert shown(client, commit, asked) == ["d/nic"]


def test_a_machine_that_is_asked_for_is_shown(client: Client, commit: Revision) -> None:
    assert shown(client, commit, "?part=runs&hardware=c/nic") == ["c/nic", "e/nic"]


def test_the_gate_is_over_the_series_of_all_machines(client: Client, commit: Revision) -> None:
    for page in (1, 2):
        text = words(client.get(f"{commit.get_absolute_url()}?page={page}").content.decode())
        assert "over the 5 series that received this commit" in text
        assert "1 begins here" in text


def test_runs_are_those_of_the_machines_shown(client: Client, commit: Revision) -> None:
    page = client.get(f"{commit.get_absolute_url()}?page=2&part=runs").content.decode()
    assert "2 runs" in words(page)
    runs = page.split('id="runs"')[1].split("</details>")[0]
    assert [name for name in NAMES if str(make.hardware(name)) in runs] == ["b/nic", "c/nic"]


def test_a_commit_of_few_machines_shows_no_pages(
    client: Client, commit: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "MOST_MACHINES", 5)
    assert shown(client, commit, "?page=3") == list(NAMES)
    assert "of 5 machines" not in words(client.get(commit.get_absolute_url()).content.decode())


def test_the_statements_do_not_grow_with_the_machines(queries: Counted, commit: Revision) -> None:
    few = queries(f"{commit.get_absolute_url()}?page=2")
    make.history(make.series(on=make.hardware("f/nic"), in_mode="pf"), [commit], [100.0])
    assert queries(f"{commit.get_absolute_url()}?page=2") == few
