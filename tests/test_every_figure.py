"""Every figure of one thing is the same on every page, in every mail and in every answer.

Pages mark what a figure is of (``data-figure``); what the API gives of it is what they must print.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.db.models import Count
from django.test import Client
from labagent.model import Overrides, runs_of
from labagent.readers.benchlab import read_directories

from tests import make
from tests.archive.goldens import ARCHIVE
from tests.events.steps import release
from tests.whole_site import fill, pages_from
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.alerts.services import analyse_dirty_series
from webapp.analysis.models import Finding
from webapp.analysis.services import store_runs
from webapp.api.schemas.runs import RunIn
from webapp.charts.text import (
    STILL,
    WON_BACK,
    cost_points,
    half_width,
    interval,
    level_figure,
    number,
    percent,
)
from webapp.demo import simulated
from webapp.demo.benchdirs import simulated_files
from webapp.events.models import Release
from webapp.labs.services import create_agent
from webapp.notifications.mails.alerts import preview
from webapp.results.models import Hardware, Metric, Point, Revision, Series
from webapp.stats.compare import Outcome
from webapp.stats.markdown import inline
from webapp.stats.simulate.lab import make_lab

pytestmark = pytest.mark.django_db
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
OF = re.compile(r"(series|finding|pair|levels?|newest|mean|median):")
BESIDE = re.compile(r'href="(/compare/\?[^"]+)"[^>]*>\s*Compare with')
"""Of a commit's page, the comparison with the revision tested before."""

INTERVAL = re.compile(r"\[[−+]?[\d.,]+, [−+]?[\d.,]+\]")
COUNTED = re.compile(
    r"([\d,]+) of ([\d,]+) comparisons proves? a difference over the whole table"
    r"(?:, \d+ (?:differ|show|cannot)[a-z ]*)*"
)
REPORT = re.compile(r"^/experiments/(\d+)/$")
RELEASES = re.compile(r"^/releases/(.+)\.\.\.(.+)/$")
RANGES = re.compile(r"^/compare/\?a=([^&]+(?:\.\.|±)[^&]+)&b=([^&]+)$")
OF_EACH = 2
"""Pages of one kind, beside those that the walk starts from."""

HEADINGS = {
    Outcome.PROVEN: "Proven over the whole table, largest loss first",
    Outcome.BY_ITSELF: "Differ by themselves, not proven over the whole table",
    Outcome.EQUIVALENT: "By themselves no difference that matters",
    Outcome.CANNOT_TELL: "Cannot tell",
}


class Figures(HTMLParser):
    """What stands in each element that names what its figures are of, as (name, text)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[int | None] = []
        self.found: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        name = dict(attrs).get("data-figure") or ""
        at = self.open[-1] if self.open else None
        if OF.match(name):
            self.found.append((name, ""))
            at = len(self.found) - 1
        self.open.append(at)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        at = self.open[-1] if self.open else None
        if at is not None:
            name, text = self.found[at]
            self.found[at] = name, text + data


def lab() -> Client:
    """The small lab of every page."""
    return signed_in(fill())


def demonstration(folder: Path) -> Client:
    """The simulated lab of the demonstration."""
    simulated_files(make_lab()).write(folder)
    return uploaded([folder], simulated.TREE)


def netbenches(_: Path) -> Client:
    """The sample of a real lab's archive."""
    if not ARCHIVE.is_dir():
        pytest.skip("the sample of the archive is not beside the checkout")
    return uploaded([ARCHIVE], "freebsd-head")


def uploaded(directories: Sequence[Path], tree: str) -> Client:
    read = runs_of(read_directories(directories, Overrides(tree=tree)))
    runs = [RunIn.model_validate(run.document()).document() for run in read]
    agent = create_agent(name="walker", lab_name="walked", simulated=True)
    for first in range(0, len(runs), 300):
        store_runs(agent=agent, runs=runs[first : first + 300], register=True)
    while analyse_dirty_series().finished:
        pass
    along = measured_revisions()
    release("11.0", along[len(along) // 4])
    release("12.0", along[-len(along) // 4])
    return signed_in(make.user("ada", role=User.Role.OPERATOR))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


INSTANCES = [
    pytest.param(lambda _: lab(), id="lab"),
    pytest.param(demonstration, id="demonstration", marks=pytest.mark.long),
    pytest.param(netbenches, id="netbenches", marks=pytest.mark.release),
]


@pytest.mark.parametrize("instance", INSTANCES)
def test_figures_of_one_thing_agree(instance: Callable[[Path], Client], tmp_path: Path) -> None:
    reader = instance(tmp_path)
    answers = Answers(reader)
    pages = pages_from(reader, *starts(), of_each=OF_EACH)
    wrong = []
    for address, html in pages.items():
        for name, text in Figures(html).found:
            wrong += [f"{address}: {one}" for one in answers.differences(name, text)]
        if BESIDE.search(html) and "/commits/" in address:
            wrong += [f"{address}: {one}" for one in answers.miscounted_at_commit(html)]
        if urlsplit(address).path == "/compare/" and "±" not in address and ".." not in address:
            wrong += [f"{address}: {one}" for one in answers.miscounted(address, html)]
        if RANGES.search(address) or RELEASES.search(address):
            wrong += [f"{address}: {one}" for one in answers.rows_that_differ(address, html)]
        if report := REPORT.search(address):
            wrong += [f"{address}: {one}" for one in answers.means_that_differ(report[1])]
    wrong += list(mails_that_differ(reader))
    assert "\n".join(wrong) == ""
    kinds = {name.split(":")[0] for name in answers.seen}
    assert kinds >= {"pair", "counts", "releases", "ranges", *LEVELS} - {"median"}


def starts() -> list[str]:
    """The front page, each alert and each series: more than one link leads to."""
    alerts = [alert.get_absolute_url() for alert in Alert.objects.all()]
    commits = [one.revision.get_absolute_url() for one in Finding.objects.live()]
    compared = [
        f"/compare/?a={tree}:{before}&b={tree}:{after}"
        for tree, before, after in sorted(
            {
                (str(one.series.tree), one.previous.name, one.revision.name)
                for one in Finding.objects.live().with_subjects().with_revisions()
            }
        )
    ]
    firsts = ["/", "/alerts/?state=all", *alerts, *dict.fromkeys(commits), *compared[:OF_EACH]]
    return [*firsts, *ranges(), *releases()]


def measured_revisions() -> list[Revision]:
    """Of the tree with the most points, in order."""
    counted = Point.objects.values("series__tree").annotate(count=Count("pk")).order_by("-count")
    along = Revision.objects.filter(tree=counted[0]["series__tree"], points__isnull=False)
    return list(along.select_related("tree").order_by("position").distinct())


def ranges() -> Iterator[str]:
    """The earlier half of a tree's revisions against the later one."""
    along = measured_revisions()
    half = len(along) // 2
    a, b = (f"{its[0].tree}:{its[0]}..{its[-1]}" for its in (along[:half], along[half:]))
    yield f"/compare/?a={a}&b={b}"


def releases() -> Iterator[str]:
    """Neighbouring releases of a tree, each with the next."""
    rows = Release.objects.select_related("tree").order_by("tree", "revision__position")
    for earlier, later in list(pairwise(rows))[:OF_EACH]:
        yield f"/releases/{earlier.tree}:{earlier}...{later.tree}:{later}/"


class Answers:
    """What the API gives, read once each."""

    def __init__(self, reader: Client) -> None:
        self.reader = reader
        self.seen: dict[str, Any] = {}

    def differences(self, name: str, text: str) -> Iterator[str]:
        """What ``text`` prints otherwise than the API gives the figure ``name``."""
        kind, *of = name.split(":")
        if kind in LEVELS:
            self.seen[name] = text
            known, printed_level = LEVELS[kind](self, *of), text.strip().split(", ")[-1]
            if printed_level not in known:
                yield f"{name}: {printed_level!r}, not {' or '.join(known)}"
            return
        if name not in self.seen:
            self.seen[name] = self._read(*name.split(":"))
        found = self.seen[name]
        if found is None:
            if text.strip() != WON_BACK:
                yield f"{name}: {text!r}, and the API has none"
            return
        if STILL in text or found["change"] is None:
            return
        printed = INTERVAL.search(text)
        size = {percent(found["change"]), half_width(abs(found["change"]))}
        if not (found["is_cost"] and printed) and not any(one in text for one in size):
            yield f"{name}: {text!r}, not {percent(found['change'])}"
        if printed and printed[0] != interval(found["low"], found["high"]):
            yield f"{name}: {text!r}, not {interval(found['low'], found['high'])}"

    def _read(self, kind: str, *of: str) -> dict[str, Any] | None:
        if kind == "finding":
            row = Finding.all_kinds.with_subjects().get(pk=int(of[0]))
            return _figure(row.series, row.level_before, row.change_pct, row.low_pct, row.high_pct)
        series = Series.objects.named().get(pk=int(of[0]))
        if kind == "series":
            lost = self._json(f"/api/v1/series/{series.pk}/points")["analysis"]["net_loss"]
            ends = (lost[f"{part}_percent"] for part in ("change", "low", "high")) if lost else ()
            return _figure(series, lost["level_before"], *ends) if lost else None
        rest = ":".join(getattr(series, part).name for part in ("hardware", "mode", "metric"))
        a, b = (f"{series.tree}:{name}:{rest}" for name in of[1:])
        (row,) = self._json("/api/v1/compare", a=a, b=b)["rows"]
        judged = row["judged"][0]
        return {"is_cost": False, **judged, "change": judged["percent"]}

    def _points(self, series: str) -> dict[str, Any]:
        key = f"points:{series}"
        if key not in self.seen:
            self.seen[key] = self._json(f"/api/v1/series/{series}/points")
        found: dict[str, Any] = self.seen[key]
        return found

    def point(self, series: str, revision: str, *, part: str) -> list[str]:
        """The mean or the median of a series at a revision."""
        found = self._points(series)
        return [number(found[part][found["revision"].index(revision)])]

    def newest(self, series: str, part: str) -> list[str]:
        """What a series has now: its newest point, or its level, which is that of its net loss."""
        found = self._points(series)
        if part != "level":
            return [number(found[part][-1])]
        lost = found["analysis"]["net_loss"]
        level: float = found["analysis"]["levels"][-1]["end_level"]
        return [number(lost["level"] if lost else level)]

    def levels(self, series: str, revision: str) -> list[str]:
        """Both levels of each change of a series at a revision."""
        row = Series.objects.named().get(pk=series)
        found = self._points(series)["findings"]
        return [
            " → ".join(
                level_figure(one[part], row.better, is_cost=row.is_cost)
                for part in ("level_before", "level")
            )
            for one in found
            if one["revision"] == revision
        ]

    def level(self, number_of_finding: str, part: str) -> list[str]:
        """A level of a finding as it is to be printed, or its unit."""
        row = Finding.all_kinds.with_subjects().with_revisions().get(pk=int(number_of_finding))
        if part == "unit":
            return [row.series.metric.unit]
        lists = (its for its in self._points(str(row.series_id)).values() if isinstance(its, list))
        ends = {"revision": row.revision.name, "previous": row.previous.name}
        found = (one for its in lists for one in its if isinstance(one, dict) and part in one)
        (level,) = {one[part] for one in found if ends.items() <= one.items()}
        return [level_figure(level, row.series.better, is_cost=row.series.is_cost)]

    def means_that_differ(self, report: str) -> Iterator[str]:
        """Where the Markdown of a report has other means than the points of its series."""
        text = self.reader.get(f"/experiments/{report}.md").content.decode()
        rows = self._json(f"/api/v1/experiments/{report}")["rows"]
        for base, *others in (row["sets"] for row in rows):
            before, *after = (
                self.point(str(one["series"]), one["revision"], part="mean")[0]
                for one in (base, *others)
            )
            yield from (
                f"no set of mean {mean} against {before} in the Markdown"
                for mean in after
                if f"| {mean} | {before} |" not in text
            )

    def rows_that_differ(self, address: str, html: str) -> Iterator[str]:
        """Where a page or the Markdown of two releases or ranges lacks figures of a row that the
        API gives.
        """
        kind = "releases" if (asked := RELEASES.search(address)) else "ranges"
        sides = asked or RANGES.search(address)
        assert sides
        a, b = map(unquote, sides.groups())
        found = self._json(f"/api/v1/compare/{kind}", a=a, b=b)
        file, picture = (re.sub(r"/(?=$|\?)", end, address) for end in (".md", ".svg"))
        lines = self.reader.get(file).content.decode().splitlines()
        drawn = self.reader.get(picture).content.decode()
        for row in found.get("rows", ()):
            self.seen[f"{kind}:{a}:{b}:{row['hardware']}:{row['mode']}"] = row
            levels, change = printed_row(row)
            named = inline(Hardware.objects.get(name=row["hardware"])), inline(row["mode"])
            parts = [*named, *levels, change]
            if change not in unescape(html):
                yield f"{named}: the page has not {change!r}"
            if change not in unescape(drawn):
                yield f"{named}: the picture has not {change!r}"
            if not any(all(part in line for part in parts) for line in lines):
                yield f"{named}: no line of the Markdown with {parts}"

    def miscounted(self, address: str, html: str) -> Iterator[str]:
        """Where the headings of a comparison count otherwise than the API."""
        query = parse_qs(urlsplit(address).query)
        asked = {key: query[key] for key in ("a", "b", "asof") if key in query}
        if not {"a", "b"} <= set(asked):
            return
        outcomes = self._json("/api/v1/compare", **asked)["headline"]["outcomes"]
        for outcome, title in HEADINGS.items():
            shown = re.search(rf"{title}: ([\d,]+)", html)
            count = int(shown[1].replace(",", "")) if shown else 0
            if count != outcomes[outcome]:
                yield f"{count} under {title!r}, not {outcomes[outcome]}"

    def miscounted_at_commit(self, html: str) -> Iterator[str]:
        """Where a commit counts otherwise than the comparison with the revision before, if that has
        as many rows: its headline, its Markdown, and the API.
        """
        counted = COUNTED.search(html)
        link = BESIDE.search(html)
        if not counted or not link:
            return
        address = unescape(link[1])
        outcomes = self._json("/api/v1" + address.replace("/?", "?", 1))["headline"]["outcomes"]
        if sum(outcomes.values()) != int(counted[2]):
            return
        self.seen[f"counts:{address}"] = outcomes
        pages = (address, address.replace("/compare/", "/compare.md", 1))
        for one in pages:
            text = self.reader.get(one).content.decode()
            if counted[0] not in text:
                yield f"{counted[0]!r}, and {one} has another count"
        if outcomes[Outcome.PROVEN] != int(counted[1]):
            yield f"{counted[0]!r}, not {outcomes[Outcome.PROVEN]}"

    def _json(self, path: str, **query: Any) -> Any:
        return self.reader.get(path, query).json()


LEVELS: Mapping[str, Callable[..., list[str]]] = {
    "level": Answers.level,
    "levels": Answers.levels,
    "newest": Answers.newest,
    **{part: partial(Answers.point, part=part) for part in ("mean", "median")},
}
"""By the kind of a figure that is a level or a unit, what may stand there."""


def printed_row(row: Mapping[str, Any]) -> tuple[list[str], str]:
    """Both levels of a row of the API as they are to be printed, and the interval of its change; of
    what an option costs as costs.
    """
    ranged = "levels" in row
    levels = row["levels"] if ranged else [row["a_mean"], row["b_mean"]]
    ends = [row["low_percent"], row["high_percent"]] if ranged else [row["low"], row["high"]]
    is_cost = Metric.objects.get(name=row["metric"]).is_cost
    if levels is None:
        return [], row["verdict"]
    if is_cost:
        low, high = sorted(cost_points(levels[0], end, row["better"]) for end in ends)
        ends = [low, high]
    shown = [level_figure(level, row["better"], is_cost=is_cost) for level in levels]
    return shown, interval(*ends)


def _figure(
    series: Series, before: float, change: float | None, low: float | None, high: float | None
) -> dict[str, Any]:
    """A change; of what an option costs in points."""
    if series.is_cost:
        change, *ends = (cost_points(before, one, series.better) for one in (change, low, high))
        low, high = sorted(one for one in ends if one is not None)
    return {"is_cost": series.is_cost, "change": change, "low": low, "high": high}


def mails_that_differ(reader: Client) -> Iterator[str]:
    """Where the mail about an alert states another net loss or level than the API has."""
    subscription = make.subscription(make.user("reads-mail", email="reads@example.org"))
    for alert in Alert.objects.filter(is_active=True):
        text = preview(alert, subscription).text
        lost = re.search("^Today .*$", text, re.MULTILINE)
        findings = reader.get(f"/api/v1/alerts/{alert.pk}").json()["findings"]
        losses = [one["net_loss"] for one in findings if one["net_loss"]]
        known = [interval(one["low_percent"], one["high_percent"]) for one in losses]
        if lost and "points" not in lost[0] and not any(one in lost[0] for one in known):
            yield f"the mail about alert {alert.pk}: {lost[0]!r}, the API {known}"
        for one in findings if len(findings) == 1 else ():
            levels = [number(one[part]) for part in ("level_before", "level")]
            if "points" not in text and not re.search(r"\s+".join(map(re.escape, levels)), text):
                yield f"the mail about alert {alert.pk} has not the levels {levels}"
