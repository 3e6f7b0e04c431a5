"""The state of a bisect: everything that its page, its Markdown and the API show, read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from webapp.bisects import sentences
from webapp.bisects.models import Bisect, BisectAct, BisectBoot, BisectDecision, BisectJob
from webapp.bisects.prior import ShownPrior
from webapp.bisects.question import Marks, marks_of, noise_from
from webapp.bisects.services.collecting import revisions_along
from webapp.charts.bisect import WEAK, BisectChart, Dot
from webapp.results.models import Revision
from webapp.stats import bisection, ministat
from webapp.stats.intervals import TWO_SIDED_95

ANCHOR = bisection.Purpose.ANCHOR.value
KNOWN_BEFORE = (BisectBoot.Source.HISTORY, BisectBoot.BEYOND)
"""Purposes of boots that are none of the bisect's effort."""
NOT_YET = "Nothing is decided yet."
LEAST_FOR_MINISTAT = 3
LEAST_TO_ACCUSE = 0.8
"""Probability below which a suspect's author is not shown."""
LAB_DRAWN = 0.5
"""Chance that the machine did not stay as it was, from which its shift is drawn."""
NEIGHBOURS_DRAWN = 3
"""Revisions beside either end: all of them count, but the chart is of those in between."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A revision with the probability that it is the first bad one.

    ``unlikely``: why it began with less weight than others, ``likelier``: why with more; empty: it
    did not. ``after``: the
    revision before it where commits that are not known may lie between; empty: none does.
    """

    revision: Revision
    chance: float
    unlikely: str
    likelier: str
    after: str

    @property
    def author(self) -> str:
        """Who made it, once that is likely; nobody is accused by a guess."""
        is_likely = self.chance >= LEAST_TO_ACCUSE and not self.after
        return self.revision.author_name if is_likely else ""

    @property
    def name(self) -> str:
        """Its own; where others may lie before it, of all of these."""
        return f"after {self.after} up to {self.revision}" if self.after else str(self.revision)


@dataclass(frozen=True)
class Outside:
    """A step that lies outside the range: on which ``side``, and between which measured revisions
    it most probably came.
    """

    side: str
    after: Revision
    up_to: Revision

    @cached_property
    def has_several(self) -> bool:
        """Whether a bisect there has several commits to choose from."""
        return Revision.objects.between(self.after, self.up_to).exists()


@dataclass(frozen=True)
class BisectView(ShownPrior):
    """A bisect with its rows, each in order. ``boots`` are those that count."""

    bisect: Bisect
    revisions: Sequence[Revision]
    boots: Sequence[BisectBoot]
    decisions: Sequence[BisectDecision]
    acts: Sequence[BisectAct]
    asked: Sequence[BisectJob]

    @property
    def latest(self) -> BisectDecision | None:
        """The newest decision; None before the first."""
        return self.decisions[-1] if self.decisions else None

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the newest decision; empty before the first."""
        return self.latest.figures if self.latest else {}

    @property
    def sentence(self) -> str:
        """The answer, or how far it is: ``93 % r303643, 5 % r303640; 2 to 5 boots left``."""
        return sentences.with_what_is_left(self.figures) if self.figures else NOT_YET

    @property
    def headline(self) -> str:
        """The same as a heading: ``Over 99 % r303643``; the name of a revision stays as it is."""
        text = self.sentence
        begins_with_chance = text.startswith(("over ", "under "))
        return text[0].upper() + text[1:] if begins_with_chance else text

    @cached_property
    def marks(self) -> Marks:
        """What people's acts decide of the revisions, taken together."""
        return marks_of(self.acts)

    @cached_property
    def chances(self) -> list[float]:
        """Probability of each commit, by index; zeros until the first decision."""
        chances = [0.0] * len(self.revisions)
        for index, chance in self.figures.get("chances", []):
            chances[index] = chance
        return chances

    @property
    def suspects(self) -> list[Suspect]:
        """Those that cannot be excluded at 95 %, the likeliest first."""
        along = list(self.bisect.along)
        indices = [along.index(pk) for pk in dict.fromkeys(self.bisect.suspects)]
        ordered = sorted(indices, key=lambda index: (-self.chances[index], index))
        less, more, gaps = self.bisect.unlikely, self.bisect.likelier, set(self.bisect.gaps)
        return [
            Suspect(
                self.revisions[index],
                self.chances[index],
                less.get(str(index), ""),
                more.get(str(index), ""),
                after=self.revisions[index - 1].name if index in gaps else "",
            )
            for index in ordered
        ]

    @property
    def gaps_sentence(self) -> str:
        """That it need not end with one commit, where history had gaps; else empty."""
        return sentences.gaps_sentence(
            [revision.name for revision in self.revisions], self.bisect.gaps
        )

    @property
    def remarks(self) -> list[str]:
        """What to know of its answer, the same on the page and in every export."""
        simulated = "These figures come from a simulation." if self.is_simulated else ""
        skipped = ", ".join(one.name for one in self.skipped)
        unmeasured = f"Could not be measured: {skipped}." if skipped else ""
        weights = (self.likelier_sentence, self.prior_sentence)
        found = (simulated, self.gaps_sentence, self.lab_sentence, *weights, unmeasured)
        return [*filter(None, found), *filter(None, [self.ministat_note])]

    @property
    def lead(self) -> int:
        """The number of the machine and mode by whose boots the rules go; 0 of one alone."""
        return int(self.figures.get("lead", 0))

    @cached_property
    def lanes(self) -> list[sentences.Lane]:
        """What each machine and mode shows; empty for a bisect of one."""
        if not self.bisect.is_of_several:
            return []
        known = {one["number"]: one for one in self.figures.get("subjects", [])}
        fresh = [row.subject for row in self.counted if row.purpose not in KNOWN_BEFORE]
        return [
            sentences.Lane(scope, known.get(scope.number, {}), fresh.count(scope.number))
            for scope in self.bisect.scopes
        ]

    @property
    def lab_sentence(self) -> str:
        """What the lab itself did, as far as the latest decision knows; of several machines what
        that of the leading one did.
        """
        own = [row for row in self.counted if row.subject == self.lead]
        anchors = sum(row.purpose == ANCHOR for row in own)
        fresh = [row for row in own if row.purpose not in KNOWN_BEFORE]
        beside = {number for row in fresh for number, _ in row.beside}
        companions = self.bisect.scopes[self.lead].companions
        names = [companions[number]["name"] for number in sorted(beside)]
        return sentences.lab_sentence(self.figures, anchors, names)

    @cached_property
    def lab_shifts(self) -> dict[int, float]:
        """The machine's own shift at a boot (number → percent), where it probably moved."""
        labs = [lane.figures.get("lab") for lane in self.lanes] or [self.figures.get("lab")]
        moved = [lab for lab in labs if lab and lab["drifts"] + lab["steps"] >= LAB_DRAWN]
        return {number: shift for lab in moved for number, shift in lab["shift_pct"]}

    @cached_property
    def outside(self) -> Outside | None:
        """Where the step lies if not in the range; None: that is not what came of it."""
        found = self.figures.get("outside")
        if not found:
            return None
        beside = {row.index: row.revision for row in self.boots if row.subject == self.lead}
        after, up_to = (
            self.revisions[index] if 0 <= index < len(self.revisions) else beside[index]
            for index in found["between"]
        )
        return Outside(found["side"], after, up_to)

    @property
    def skipped(self) -> list[Revision]:
        """The revisions that cannot be measured, by index."""
        return [self.revisions[index] for index in sorted(self.marks.skipped)]

    @cached_property
    def counted(self) -> list[BisectBoot]:
        """The boots that nobody called weak."""
        return [row for row in self.boots if not self.marks.excludes(row)]

    @property
    def measured_for_it(self) -> int:
        """How many boots it has cost: those of the present decision's budget."""
        return sum(row.purpose not in KNOWN_BEFORE for row in self.counted)

    def action_of(self, row: BisectDecision) -> str:
        """What a decision does, in a few words."""
        return sentences.action_text(
            self.bisect, row, [revision.name for revision in self.revisions]
        )

    @property
    def next(self) -> list[Revision]:
        """What the last decision wants measured."""
        return [self.revisions[index] for index in self.figures.get("measure", [])]

    @cached_property
    def step(self) -> int | None:
        """The index of the first revision at the new level: of the culprit, or of the one that
        stands for commits that are not known. None: the search did not end with one.
        """
        along, suspects = list(self.bisect.along), self.bisect.suspects
        if self.bisect.culprit_id is not None:
            return along.index(self.bisect.culprit_id)
        only = along.index(suspects[0]) if len(set(suspects)) == 1 else None
        return only if only in self.bisect.gaps else None

    @property
    def parent(self) -> Revision | None:
        """The revision before the step along the bisect."""
        return None if self.step is None else self.revisions[self.step - 1]

    @property
    def is_simulated(self) -> bool:
        """Whether the machine is a simulation."""
        return self.bisect.series.hardware.lab.simulated

    def values_at(self, revision: Revision) -> list[float]:
        """All values of a revision of the bisect, by the leading machine and mode; those of the
        ends' neighbours are left out.
        """
        return [
            value for row in self._leading if row.revision_id == revision.pk for value in row.values
        ]

    @cached_property
    def _leading(self) -> list[BisectBoot]:
        return [row for row in self.counted if row.subject == self.lead]

    def ministat(self) -> str:
        """The block of both sides of the step; empty while there is no step or too few values.

        Where either has too few of its own, all that was measured on its side of the step counts.
        """
        sides = self.sides
        if any(len(values) < LEAST_FOR_MINISTAT for _, values in sides):
            return ""
        return ministat.render(sides, separate_bars=True) if sides else ""

    @property
    def ministat_note(self) -> str:
        """The note under a block that proves nothing by itself; else empty.

        The verdict weighs every boot on both sides of the step, the block only what it shows.
        """
        if not self.ministat():
            return ""
        (before, parent), (_, culprit) = self.sides
        if ministat.difference(parent, culprit).proven:
            return ""
        alone = self.parent is not None and before == self.parent.name
        shown = "These two revisions" if alone else "These values"
        boots = sentences.boots_text(self.measured_for_it)
        return f"{shown} alone do not prove it; the verdict rests on all {boots}."

    @cached_property
    def sides(self) -> list[tuple[str, list[float]]]:
        """Parent and culprit with their values, or the two sides of the step; empty: no step."""
        at, parent = self.step, self.parent
        if at is None or parent is None:
            return []
        culprit = self.revisions[at]
        own = [(one.name, self.values_at(one)) for one in (parent, culprit)]
        if all(len(values) >= LEAST_FOR_MINISTAT for _, values in own):
            return own
        before = [value for row in self._leading if row.index < at for value in row.values]
        after = [value for row in self._leading if row.index >= at for value in row.values]
        return [(f"up to {parent}", before), (f"from {culprit} on", after)]

    def _is_near(self, row: BisectBoot) -> bool:
        return -NEIGHBOURS_DRAWN <= row.index <= self.bisect.last_index + NEIGHBOURS_DRAWN

    def dot_of(self, row: BisectBoot) -> Dot:
        """A boot as a chart draws it."""
        centre = median(row.values)
        noise = self.bisect.scopes[row.subject].noise
        half = centre * half_width_pct(noise, len(row.values)) / 100
        source = ANCHOR if row.purpose == ANCHOR else row.source
        source = WEAK if self.marks.excludes(row) else source
        shift = self.lab_shifts.get(row.number)
        steady = None if shift is None else centre / (1 + shift / 100)
        low, high = centre - half, centre + half
        return Dot(row.revision.name, row.index, centre, low, high, source, steady)

    def _wanted_at(self, number: int) -> frozenset[int]:
        """The indices that the last decision wants measured there; none at the end."""
        measured = [] if self.bisect.has_ended else self.figures.get("measure", [])
        at = self.figures.get("measure_at") or [0] * len(measured)
        return frozenset(
            index for index, subject in zip(measured, at, strict=False) if subject == number
        )

    def chart(self, number: int = 0) -> BisectChart:
        """The values of each boot over its revision, and the probability of each commit; of the
        machine and mode ``number``.
        """
        scope = self.bisect.scopes[number]
        series = scope.series
        levels = self.lanes[number].figures if self.lanes else self.figures
        return BisectChart(
            names=[revision.name for revision in self.revisions],
            dots=[
                self.dot_of(row)
                for row in self.boots
                if row.subject == number and self._is_near(row)
            ],
            chances=self.chances,
            skipped=marks_of(self.acts, number).skipped,
            unlikely={int(index): why for index, why in self.bisect.unlikely.items()},
            unit=series.metric.unit,
            better=series.better,
            before=levels.get("level_before"),
            after=levels.get("level_after"),
            next=self._wanted_at(number),
        )


def view_of(bisect: Bisect) -> BisectView:
    """In a fixed number of queries. Needs ``with_subjects``."""
    return BisectView(
        bisect=bisect,
        revisions=revisions_along(bisect),
        boots=list(bisect.boots.filter(dropped_at__isnull=True).select_related("revision", "run")),
        decisions=list(bisect.decisions.all()),
        acts=list(bisect.acts.select_related("actor", "revision")),
        asked=list(bisect.asked.select_related("job").order_by("pk")),
    )


def half_width_pct(noise: dict[str, Any], runs: int) -> float:
    """Half the 95 % interval of the median of ``runs`` runs of a boot, in percent of its value.

    That of a normal distribution: it is a picture, not a test.
    """
    return TWO_SIDED_95 * float(noise_from(noise).boot_variance(runs) ** 0.5)
