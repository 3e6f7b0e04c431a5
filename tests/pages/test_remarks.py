"""What a page remarks on its figures, its exports remark too: the set of remarks is compared.

Pages mark such texts with the class ``remark``.
"""

import json
import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.notifications import test_left_out as marked_alerts
from tests.pages.test_marked_samples import marked
from tests.results.steps import analyse, measured, mode, upload
from webapp.alerts.models import Alert
from webapp.analysis.models import SeriesSettings
from webapp.analysis.queries import Side
from webapp.bisects.models import Bisect
from webapp.events.services import EventFields, record_event
from webapp.experiments.services import keep_comparison
from webapp.outbox.messages import compose
from webapp.outbox.models import Mail
from webapp.pages.compare.range_report import BLOCK_IGNORES
from webapp.results.models import Hardware, Revision, Series
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
REMARK = re.compile(r'<(\w+)[^>]*\bclass="(?:[^"]* )?remark"[^>]*>(.*?)</\1>', re.DOTALL)
LEFT_OUT = "1 of 5 samples left out: warm-up"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_names()


def plain(text: str) -> str:
    """Without markup of HTML and Markdown, line ends and escapes."""
    bare = unescape(re.sub(r"<[^>]+>", "", text)).replace("\\", "")
    return re.sub(r" ([,.:])", r"\1", " ".join(bare.split()))


def remarks(page: str) -> set[str]:
    return {plain(found[2]).rstrip(".") for found in REMARK.finditer(page)}


def fetched(client: Client, *addresses: str) -> dict[str, str]:
    """What stands at each address, of JSON the texts."""
    found = {}
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200, (address, response.content[:300])
        text = response.content.decode()
        if "json" in response["Content-Type"]:
            text = json.dumps(json.loads(text), ensure_ascii=False)
        found[address] = plain(text)
    return found


def missing(page: str, exports: dict[str, str]) -> dict[str, set[str]]:
    """The remarks of a page that an export lacks, by export."""
    shown = remarks(page)
    lacking = {name: {one for one in shown if one not in text} for name, text in exports.items()}
    return {name: found for name, found in lacking.items() if found}


def mail(kind: str) -> dict[str, str]:
    found = compose(Mail.objects.filter(kind=kind).order_by("pk")[0])
    return {"text": plain(found.text), "html": plain(found.html)}


def two_sides() -> str:
    """Two revisions, the second with a sample left out, and a mode that the first alone has, with
    an epoch of the machine between them.
    """
    sessions = [
        measured("r300000", build_id=name, evidence={"session": name})
        for name in ("morning", "evening")
    ]
    upload(*sessions, marked((4, "warm-up")), measured("r300000", mode=mode("pf")))
    fields = EventFields(
        kind="hardware",
        text="another NIC",
        hardware=Hardware.objects.get(),
        tree=make.tree(),
        first=Revision.objects.get(name="r300001"),
        last=Revision.objects.get(name="r300001"),
        begins_epoch=True,
    )
    record_event(fields=fields, source="person")
    analyse()
    return urlencode({"a": "freebsd-head:r300000", "b": "freebsd-head:r300001"})


def test_a_comparison(client: Client) -> None:
    query = two_sides()
    page = client.get(f"/compare/?{query}").content.decode()
    assert {LEFT_OUT, "only A was measured"} <= remarks(page)
    assert any(one.startswith("An epoch begins between the two") for one in remarks(page))
    assert any(one.startswith("sessions") for one in remarks(page))
    texts = fetched(client, f"/compare.md?{query}", f"/compare.txt?{query}")
    assert missing(page, texts) == {}
    (answer,) = fetched(client, f"/api/v1/compare?{query}").values()
    assert LEFT_OUT in answer
    assert "An epoch begins between the two" in answer


def test_an_experiment(client: Client) -> None:
    two_sides()
    kept = keep_comparison(
        sides=[Side.parse(f"freebsd-head:r30000{at}") for at in (0, 1)],
        asof=timezone.now(),
        owner=None,
        question="Is it slower?",
    )
    address = kept.get_absolute_url().rstrip("/")
    page = client.get(f"{address}/").content.decode()
    assert any(LEFT_OUT in one for one in remarks(page))
    assert missing(page, fetched(client, f"{address}.md", f"{address}.txt")) == {}
    (answer,) = fetched(client, f"/api/v1/experiments/{kept.pk}").values()
    assert LEFT_OUT in answer
    assert "samples left out" in fetched(client, f"{address}.svg")[f"{address}.svg"]


def test_two_ranges_of_revisions(client: Client) -> None:
    along = make.revisions(40)
    levels = [100.0 + 0.2 * (-1) ** at for at in range(40)]
    levels[7] = 250.0
    make.history(make.series(), along, levels)
    make.history(make.series(in_mode="pf"), along[:20], levels[:20])
    query = urlencode(
        {
            "a": f"freebsd-head:{along[0]}..{along[19]}",
            "b": f"freebsd-head:{along[20]}..{along[39]}",
        }
    )
    page = client.get(f"/compare/?{query}").content.decode()
    assert {"1 left out as far off", "1 series was measured in one range only"} <= remarks(page)
    assert missing(page, fetched(client, f"/compare.txt?{query}")) == {}
    (lacking,) = missing(page, fetched(client, f"/compare.md?{query}")).values()
    assert lacking == {BLOCK_IGNORES.rstrip(".")}, "which has no blocks"
    answer = client.get(f"/api/v1/compare/ranges?{query}").json()
    assert answer["rows"][0]["left_out"] == [1, 0]
    assert answer["unmatched"] == 1


def test_an_alert_with_samples_left_out(client: Client) -> None:
    alert = marked_alerts.arrive(marked_alerts.STEP)
    page = client.get(f"/alerts/{alert.pk}/").content.decode()
    assert remarks(page) == {marked_alerts.LINE}
    assert missing(page, mail("alert.opened")) == {}
    (answer,) = fetched(client, f"/api/v1/alerts/{alert.pk}").values()
    assert marked_alerts.LEFT_OUT in answer


def test_an_alert_that_smells_of_the_lab(client: Client) -> None:
    make.subscription(name="all")
    modes = ("pf", "ipfw", "forwarding")
    arrive(runs_of({**{("Atom/T540", one): {15: 0.9} for one in modes}, ("Xeon/T580", "pf"): {}}))
    SeriesSettings.objects.update_or_create(
        series=Series.objects.get(mode__name="ipfw", hardware__name="Atom/T540"),
        defaults={"is_canary": True},
    )
    alert = Alert.objects.get()
    page = client.get(f"/alerts/{alert.pk}/").content.decode()
    assert len(remarks(page)) == 2
    exports = mail("alert.opened") | fetched(client, f"/api/v1/alerts/{alert.pk}")
    assert missing(page, exports) == {}


def _with_gaps() -> Bisect:
    """A bisect that ended, of commits between which others are unknown."""
    truth = Truth()
    bisect = lab.start(truth)
    Bisect.objects.update(gaps=list(range(1, bisect.last_index + 1)))
    bisect.refresh_from_db()
    return lab.work(truth, bisect)


@pytest.mark.parametrize("has_gaps", [False, True])
def test_a_bisect(client: Client, has_gaps: bool) -> None:
    bisect: Any = _with_gaps() if has_gaps else lab.ended()
    page = client.get(f"/bisects/{bisect.pk}/").content.decode()
    assert any(one.startswith("The machine itself:") for one in remarks(page))
    addresses = (f"/bisects/{bisect.pk}.md", f"/api/v1/bisects/{bisect.pk}")
    exports = fetched(client, *addresses) | mail("bisect.done")
    assert missing(page, exports) == {}
    words = plain(page)
    assert ("16 known revisions" in words) is has_gaps
    assert ("A commit after r1008 up to r1009 made the step" in words) is has_gaps
    assert (bisect.outcome, bool(bisect.culprit)) == (
        ("range", False) if has_gaps else ("single", True)
    )
    for text in exports.values():
        assert ("Import the history of the tree" in text) is has_gaps
