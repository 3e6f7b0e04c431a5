"""Charts as pictures by the address of their page."""

import re
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from tests import make
from tests.bisects import lab
from tests.kept import kept
from webapp.pages import pictures
from webapp.results.models import Revision

pytestmark = pytest.mark.django_db
SPACE = "{http://www.w3.org/2000/svg}"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
@kept
def drawn() -> None:
    make.history(make.series(), make.revisions(4), [100.0, 101.0, 90.0, 89.0])


@pytest.mark.usefixtures("drawn")
class TestTrend:
    def test_it_is_an_svg_with_its_own_colours(self, client: Client) -> None:
        answer = client.get("/trends.svg?mode=forwarding")
        assert answer["Content-Type"].startswith("image/svg+xml")
        text = answer.content.decode()
        assert ET.fromstring(text).get("width") == "1060"
        assert "var(" not in text
        assert "#fff" in text

    def test_the_dark_theme_has_other_colours(self, client: Client) -> None:
        light = client.get("/trends.svg").content
        assert client.get("/trends.svg?theme=dark").content != light

    def test_a_width_scales_it(self, client: Client) -> None:
        root = ET.fromstring(client.get("/trends.svg?width=700").content.decode())
        assert (root.get("width"), root.get("height")) == ("700", "353")

    def test_a_small_one_is_drawn_for_its_width(self, client: Client) -> None:
        """Text that shrinks with the picture cannot be read."""
        for width in (300, 400, 639, 640):
            root = ET.fromstring(client.get(f"/trends.svg?width={width}").content.decode())
            own = float((root.get("viewBox") or "").split()[2])
            assert width / own > 0.6

    def test_opened_by_itself_it_may_use_its_own_rules_only(self, client: Client) -> None:
        policy = client.get("/trends.svg")["Content-Security-Policy"]
        assert "style-src 'sha256-" in policy
        assert "unsafe-inline" not in policy
        assert "sandbox" in policy

    @pytest.mark.parametrize(
        "query", ["theme=pink", "width=0", "width=99999", "width=²", "width=a"]
    )
    @pytest.mark.parametrize("kind", ["svg", "png"])
    def test_what_cannot_be_is_refused_by_name(self, client: Client, query: str, kind: str) -> None:
        answer = client.get(f"/trends.{kind}?{query}")
        assert answer.status_code == 400
        assert answer.content.decode().startswith(query.partition("=")[0])

    def test_an_unchanged_picture_is_not_sent_again(self, client: Client) -> None:
        etag = client.get("/trends.svg")["ETag"]
        assert client.get("/trends.svg", headers={"If-None-Match": etag}).status_code == 304

    def test_names_that_are_not_measured_draw_nothing(self, client: Client) -> None:
        for query in ("tree=nope", "hardware=nope"):
            answer = client.get(f"/trends.svg?{query}")
            assert answer.status_code == 404
            assert "Nothing is drawn" in answer.content.decode()

    @pytest.mark.parametrize(
        ("query", "wide"), [("width=540", 540), ("", 2120), ("scale=1", 1060), ("scale=3", 3180)]
    )
    def test_the_png_has_its_size(self, client: Client, query: str, wide: int) -> None:
        body = client.get(f"/trends.png?{query}").content
        assert body.startswith(SIGNATURE)
        assert int.from_bytes(body[16:20]) == wide

    def test_it_states_what_it_shows_and_where_it_came_from(self, client: Client) -> None:
        first, *_, last = Revision.objects.order_by("position")
        make.run(first, measured_at=make.DAY_ONE)
        image = client.get("/trends.svg?mode=forwarding&y=indexed&a=1@r1").content.decode()
        for text in (
            "Too little known to prove a change",
            "Atom C2758 T540-CR: forwarding",
            f"freebsd-head, {first.name} to {last.name}; newest run 2026-01-01",
            "http://testserver/trends/?tree=freebsd-head&amp;metric=pps&amp;mode=forwarding&amp;y=i",
        ):
            assert text in image

    def test_a_machine_without_fonts_draws_text(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """System fonts are never asked: without the package's there would be no text at all."""
        with_text = client.get("/trends.png").content
        monkeypatch.setattr(pictures, "fonts", list)
        without = client.get("/trends.png").content
        assert len(with_text) > len(without) * 1.1

    def test_without_the_renderer_it_states_it(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(name: str) -> None:
            raise ImportError(name)

        monkeypatch.setattr(pictures, "import_module", missing)
        answer = client.get("/trends.png")
        assert answer.status_code == 501
        assert "resvg-py" in answer.content.decode()

    def test_hostile_names_stay_text(self, client: Client) -> None:
        series = make.series(on=make.hardware("<b>/x"), in_mode='a"onload="1')
        make.history(series, make.revisions(2, first=400_000), [1.0, 2.0])
        text = client.get("/trends.svg").content.decode()
        ET.fromstring(text)
        assert "<b>" not in text


class TestBadge:
    def test_it_counts_open_regressions(self, client: Client) -> None:
        before, at, later = make.revisions(3)
        make.series()
        make.alert(at, after=before)
        make.alert(later, after=at, verdict="improvement")
        text = client.get("/badge.svg").content.decode()
        assert "regressions: 1 open" in text

    def test_what_was_never_measured_is_not_called_free_of_regressions(
        self, client: Client, drawn: None
    ) -> None:
        for query in ("hardware=misspelt", "tree=freebsd-head&mode=pf-stateful"):
            text = client.get(f"/badge.svg?{query}").content.decode()
            assert "nothing measured" in text, query
            assert "none open" not in text, query

    def test_without_any_it_names_none(self, client: Client, drawn: None) -> None:
        assert (
            "freebsd-head: none open" in client.get("/badge.svg?tree=freebsd-head").content.decode()
        )

    def test_a_hostile_name_is_text(self, client: Client) -> None:
        text = client.get("/badge.svg?tree=<script>x").content.decode()
        assert not re.search("<script", text)


class TestOthers:
    """Alerts, comparisons and bisects: the same rules, each its own drawing."""

    def test_an_alert_has_a_chart_for_each_of_its_findings(self, client: Client) -> None:
        along = make.revisions(10)
        alert = make.alert(along[5], after=along[4])
        for mode in ("pf", "ipfw"):
            series = make.series(in_mode=mode)
            make.history(series, along, [100.0] * 5 + [88.6] * 5)
            make.finding(series, along[4], along[5], alert=alert)
        text = client.get(f"/alerts/{alert.pk}.svg").content.decode()
        root = ET.fromstring(text)
        assert text.count("riser worse") >= 2
        assert any("pf, Atom" in (one.text or "") for one in root.iter(f"{SPACE}text"))
        assert client.get(f"/alerts/{alert.pk}.png").content.startswith(SIGNATURE)
        before = client.get(f"/alerts/{alert.pk}.svg?asof=2020-01-01T00:00:00Z").content.decode()
        assert "riser worse" not in before.partition("</style>")[2], "it held nothing then"
        assert client.get("/alerts/99999.svg").status_code == 404

    def test_a_comparison_draws_the_interval_of_each_row(self, client: Client) -> None:
        one, two = make.revisions(2)
        for mode, level in (("pf", 80.0), ("ipfw", 100.0), (long := "m" * 90, 100.0)):
            series = make.series(in_mode=mode)
            make.history(series, [one, two], [100.0, level])
            make.known_builds(series)
        query = f"a=freebsd-head:{one.name}&b=freebsd-head:{two.name}"
        text = client.get(f"/compare.svg?{query}").content.decode()
        ET.fromstring(text)
        assert text.index(">pf ·") < text.index(">ipfw ·"), "what is proven comes first"
        assert f">{long} · Atom C2758 T540-CR<" in text, "in full"
        assert f"freebsd-head:{one.name} against freebsd-head:{two.name}; no run kept" in text
        assert "http://testserver/compare/?a=freebsd-head" in text
        assert client.get(f"/compare.png?{query}&width=500").content.startswith(SIGNATURE)
        for wrong in ("", "a=freebsd-head:nope&b=freebsd-head:nope", f"a=freebsd-head:{one.name}"):
            answer = client.get(f"/compare.svg?{wrong}")
            assert answer.status_code == 400
            assert answer.content.strip()

    def test_a_bisect_draws_boots_and_probabilities(self, client: Client) -> None:
        truth = lab.Truth()
        bisect = lab.work(truth, lab.start(truth), most=3)
        text = client.get(f"/bisects/{bisect.pk}.svg").content.decode()
        ET.fromstring(text)
        assert 'class="boot run"' in text
        assert 'class="bw"' in text
        assert client.get(f"/bisects/{bisect.pk}.png").content.startswith(SIGNATURE)
        assert client.get("/bisects/99999.svg").status_code == 404
