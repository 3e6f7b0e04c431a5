"""The answer that the page of a commit opens with: what it did, and on what evidence."""

import re
from collections.abc import Callable, Iterable
from random import Random

import pytest
from django.test import Client

from tests import make
from tests.alerts.steps import arrive
from tests.alerts.test_one_build import PF, run, times
from tests.approved import Approvals
from tests.pages.conftest import words
from tests.results.steps import analyse, measured, upload
from webapp.results.models import Point, Revision

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


def page(revision: Revision) -> str:
    return revision.get_absolute_url()


def test_the_answer_comes_first_and_names_the_finding_with_its_interval(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    Point.objects.exclude(series__mode__name="pf").delete()
    make.finding(make.series(in_mode="pf"), *pair)
    text = visit(page(pair[1]))
    assert (
        "Regression pf 11.4 % slower [−12.3, −10.5] on Atom C2758 T540-CR · "
        "found by the detector: 1 confirmed"
    ) in text


def test_the_answer_names_three_series_and_each_machine_once(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    for number, mode in enumerate(("ipfw", "pf", "routing", "bridge")):
        make.finding(make.series(in_mode=mode), *pair, change_pct=number - 9.0)
    text = visit(page(pair[1]))
    named = "82.5 % faster on Atom C2758 T540-CR and 2 more series"
    assert f"{named} · found by the detector: 4 confirmed" in text
    assert text.count(" % slower ,") == 2


def test_without_a_finding_the_answer_is_that_of_the_cells_and_states_it(
    client: Client, pair: tuple[Revision, Revision], approved: Approvals
) -> None:
    approved("pages/commit-answer/without-a-finding-the-answer", client.get(page(pair[1])))


def test_one_build_a_side_of_unknown_noise_has_a_look_of_its_own_and_no_headline(
    client: Client, pair: tuple[Revision, Revision], approved: Approvals
) -> None:
    make.analysis(make.series(in_mode="pf"))
    html = client.get(page(pair[1])).content.decode()
    assert html.count('<td class="cell builds-differ"') == 1
    assert '<td class="cell worse' not in html
    approved("pages/commit-answer/one-build-a-side-of-unknown-noise", client.get(page(pair[1])))
    assert "2 more builds a side would settle it" in html


@pytest.mark.parametrize(("factor", "colour"), [(0.89, ""), (0.667, ' class="worse"')])
def test_a_loss_on_one_build_a_side_has_the_colour_of_its_cell(
    client: Client, factor: float, colour: str
) -> None:
    """The one that builds of 5 % could show has none."""
    arrive([run(303642, PF), run(303643, times(PF, factor))])
    html = client.get(page(Revision.objects.get(name="r303643"))).content.decode()
    sentence = f"{100 * (1 - factor):.1f} % slower"
    assert re.search(rf"pf\s*<span{colour}>{sentence} \[", html)
    assert ('<td class="cell worse' in html) == bool(colour)


def test_of_many_cells_a_single_striking_one_is_no_headline(
    client: Client, approved: Approvals
) -> None:
    before, after = make.revisions(2)
    for number in range(30):
        series = make.series(in_mode=f"mode-{number:02}")
        make.point(series, before, [99.0, 100.0, 101.0])
        make.point(series, after, [96.0, 97.0, 98.0] if number == 0 else [98.9, 99.9, 101.0])
        make.known_builds(series)
    response = client.get(page(after))
    approved("pages/commit-answer/of-many-cells-a-single-striking-one", response)
    text = words(response.content.decode())
    assert "Regression" not in text


def test_a_finding_that_does_not_pass_the_gate_is_no_headline(
    visit: Visit, pair: tuple[Revision, Revision]
) -> None:
    at = make.finding(make.series(in_mode="pf"), *pair, state="candidate", p_value=0.2)
    text = visit(page(pair[1]))
    assert "Regression" not in text
    assert at.why in text
    assert "1 candidate, which the gate over 3 series does not let through" in text


def test_a_candidate_is_called_one(
    client: Client, pair: tuple[Revision, Revision], approved: Approvals
) -> None:
    make.finding(make.series(in_mode="ipfw"), *pair, change_pct=19.7, state="candidate")
    approved("pages/commit-answer/a-candidate-is-called-one", client.get(page(pair[1])))


def counts(html: str) -> str:
    """How many comparisons count as what."""
    found = re.search(
        r"\d+ of \d+ comparisons proves? a difference over the whole table[^;.<]*", html
    )
    assert found
    return found[0].strip()


def sides_of(pair: Iterable[Revision]) -> str:
    """The query of the comparison of both."""
    return "?" + "&".join(f"{name}={at.tree}:{at}" for name, at in zip("ab", pair, strict=True))


def test_the_commit_and_its_comparison_claim_the_same(client: Client) -> None:
    """Two proven of three by one gate: builds of a noisy machine might show the third."""
    factors = {"forwarding": 1.8, "ipfw": 0.667, "pf": 0.89}
    arrive([run(303642, PF, workload=one) for one in factors])
    arrive([run(303643, times(PF, by), workload=one) for one, by in factors.items()])
    before, after = Revision.objects.order_by("position")
    sides = sides_of([before, after])
    counted = {
        counts(client.get(address).content.decode())
        for address in (page(after), f"/compare/{sides}", f"/compare.md{sides}")
    }
    assert counted == {
        "2 of 3 comparisons prove a difference over the whole table, 1 differs by itself"
    }
    outcomes = client.get(f"/api/v1/compare{sides}").json()["headline"]["outcomes"]
    assert list(outcomes.values()) == [2, 1, 0, 0]


def test_a_loss_of_the_mean_over_machines_is_named(
    client: Client, pair: tuple[Revision, Revision]
) -> None:
    """By no machine alone, on all of them together, and in the words of the comparison."""
    for number in range(6):
        series = make.series(on=make.hardware(f"Box_{number}/ix"), in_mode="bridge")
        for revision, level in zip(pair, (1.0, 0.985), strict=True):
            make.point(series, revision, [level * one for one in make.FIVE_SAMPLES])
        make.known_builds(series)
    html = client.get(page(pair[1])).content.decode()
    named = re.search(
        r"bridge.{0,40}?\d+\.\d+ % slower \[[^\]]+\] over 6 machines", html, re.DOTALL
    )
    assert named
    compared = client.get(f"/compare/{sides_of(pair)}").content.decode()
    assert words(named[0]).removeprefix("bridge ") in words(compared)
    assert counts(html) == counts(compared)


def test_where_revisions_far_off_recur_one_against_another_is_no_headline(client: Client) -> None:
    """Each fifteenth is 40 % lower: the first is an excursion, later ones are noise of the series,
    and a commit is not blamed for them. Where the level falls as well, the finding is named.
    """
    noise = Random(3)
    factors = [0.6 if number % 15 == 14 else 1.0 for number in range(65)] + [0.8] * 8
    for number, factor in enumerate(factors):
        level = factor * noise.gauss(1, 0.002)
        upload(measured(f"r{300_000 + number}", level, build_id=f"b{number}"))
    analyse()
    text = words(client.get(page(Revision.objects.get(name="r300044"))).content.decode())
    assert "? Cannot tell · without 1 cell of series in which revisions far off their level" in text
    assert "Regression" not in text
    fall = words(client.get(page(Revision.objects.get(name="r300065"))).content.decode())
    assert "▾ Regression" in fall, fall[300:900]
    assert "found by the detector: 1 confirmed" in fall
