"""The ministat block of the named commit, where it alone proves nothing."""

import pytest
from django.test import Client

from tests.bisects import lab
from tests.kept import kept
from webapp.bisects.mails import compose_done
from webapp.bisects.models import Bisect
from webapp.bisects.view import view_of
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db


@pytest.fixture
@kept
def done() -> Bisect:
    return lab.ended()


def outputs(client: Client, bisect: Bisect) -> list[str]:
    """The page, the Markdown, the mail's text and its HTML."""
    shown = [client.get(f"/bisects/{bisect.pk}{end}").content.decode() for end in ("/", ".md")]
    mail = compose_done(Mail.objects.get(kind="bisect.done"))
    return [*shown, mail.text, mail.html]


def test_a_block_that_proves_the_step_needs_no_word(client: Client, done: Bisect) -> None:
    for output in outputs(client, done):
        assert "Difference at 95.0% confidence" in output
        assert "do not prove it" not in output


def test_a_block_that_proves_nothing_states_what_the_verdict_rests_on(
    client: Client, done: Bisect
) -> None:
    view = view_of(done)
    assert view.parent is not None
    assert done.culprit is not None
    scattered = [lab.LEVEL * factor for factor in (0.95, 1.0, 1.05)]
    done.boots.filter(revision__in=(view.parent, done.culprit)).update(values=scattered)

    boots = view.measured_for_it
    for output in outputs(client, done):
        assert "No difference proven at 95.0% confidence" in output
        assert (
            f"These two revisions alone do not prove it; the verdict rests on all {boots} boots."
        ) in output.replace("\n", " ")


def test_values_of_several_revisions_are_called_so(done: Bisect) -> None:
    """With too few values of its own each side of the step is shown whole."""
    assert done.culprit is not None
    done.boots.filter(revision=done.culprit).delete()
    done.boots.update(values=[lab.LEVEL * factor for factor in (0.95, 1.0, 1.05)])

    assert view_of(done).ministat_note.startswith("These values alone do not prove it; the")
