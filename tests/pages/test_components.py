"""The parts that pages are made of, and the bar."""

import pytest
from django.template import Context, Template
from django.test import Client, RequestFactory

from tests import make
from webapp.results.models import Hardware, Mode

pytestmark = pytest.mark.django_db


def rendered(source: str, **context: object) -> str:
    return Template("{% load components %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("path", "marked"),
    [
        ("/", "Overview"),
        ("/alerts/7/", "Alerts"),
        ("/hardware/a/b/", "Hardware"),
        ("/commits/freebsd-head/r1/", "Commits"),
        ("/canaries/", "Canaries"),
    ],
)
def test_the_bar_marks_the_page_one_is_on(path: str, marked: str) -> None:
    html = rendered("{% page_links %}", request=RequestFactory().get(path))
    current = {part.split(">")[1].split("<")[0] for part in html.split('aria-current="page"')[1:]}
    assert current == {marked}


def test_a_page_that_the_bar_does_not_name_marks_nothing() -> None:
    assert "aria-current" not in rendered(
        "{% page_links %}", request=RequestFactory().get("/account/")
    )


def test_a_verdict_has_a_glyph_and_its_word() -> None:
    assert "▾ worse" in rendered('{% verdict_chip "worse" %}')
    assert "? cannot tell" in rendered('{% verdict_chip "cannot tell" %}')


def test_an_unknown_interval_has_no_bar() -> None:
    assert rendered("{% interval_bar low high 10 %}", low=None, high=1.0) == ""


def test_a_machine_is_named_by_cpu_and_nic_with_its_exact_name_on_hover() -> None:
    machine = Hardware(
        name="Atom_C2758/T540-CR<b>", lab=make.lab(), cpu="", nic="", display_name=""
    )
    html = rendered("{% hw_name machine %}", machine=machine)
    assert "<b>Atom C2758</b>" in html
    assert 'title="Atom_C2758/T540-CR&lt;b&gt;"' in html


def test_the_options_of_a_mode_are_boxed() -> None:
    mode = Mode(workload="pf", traffic="inet4", options=["VIMAGE"])
    html = rendered("{% mode_name mode %}", mode=mode)
    assert html == 'pf@inet4<span class="opt">+VIMAGE</span>'


def test_a_revision_leads_to_its_commit_and_shows_subject_and_author() -> None:
    at = make.revision("r9", subject="<i>x", author_name="ada")
    html = rendered("{% commit_chip at %}", at=at)
    assert at.get_absolute_url() in html
    assert "&lt;i&gt;x" in html
    assert "ada" in html


class TestTrees:
    def test_one_tree_is_opened_at_once(self, client: Client) -> None:
        at = make.revision("r9")
        assert client.get("/commits/")["Location"] == at.tree.get_absolute_url()

    def test_several_are_listed(self, client: Client) -> None:
        make.revision("r9")
        make.revision("r1", of=make.tree("stable"))
        tested = make.revision("r7")
        make.point(make.series(), tested)
        make.alert(tested, after=make.revision("r5"))
        html = client.get("/commits/").content.decode()
        assert "/commits/freebsd-head/" in html
        assert "/commits/stable/" in html
        assert 'href="/commits/freebsd-head/r7/">r7</a>' in html
        assert 'href="/alerts/?tree=freebsd-head">1</a>' in html
        assert "none" in html

    def test_without_any_it_states_how_to_begin(self, client: Client) -> None:
        assert "labagent upload" in client.get("/commits/").content.decode()
