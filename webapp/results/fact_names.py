"""Which facts of a run describe the machine, and which the run alone; from when to when a fact had
a value.

``KEPT`` is the one table: a fact that it does not name stays with its run. Facts arrive as the JSON
of an upload; those below ``typed`` were typed by a person (bullets of a README), all others were
measured.

The interval of a value is a function of what was observed, in whatever order it came. An
observation is a time and a value; of two at one time the one whose value sorts first counts as the
earlier.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from webapp.results.bounds import sound
from webapp.results.models.subjects import FACT_NAME_MAX, FACT_VALUE_MAX, HardwareFact

MOST_NAMES = 100
"""Facts kept of one run; those after them, by name, stay with the run."""

SHORTEST_MODEL = 2
"""A model has more characters: ``E5`` is a family."""

MEASURED, TYPED = HardwareFact.Source.MEASURED.value, HardwareFact.Source.TYPED.value

Observation = tuple[datetime, str]


class Change(StrEnum):
    """What it means that a fact has another value, by the kind of event that it would be."""

    HARDWARE = "hardware"
    FIRMWARE = "firmware"
    NETWORK = "network"
    SOFTWARE = "software"
    NONE = ""
    """Nothing: it changes with every kernel or with what is measured. It is kept and shown."""


KEPT: Mapping[str, Change] = {
    "cpu": Change.HARDWARE,
    "nic": Change.HARDWARE,
    "memory": Change.HARDWARE,
    "bios": Change.FIRMWARE,
    "microcode": Change.FIRMWARE,
    "nic_firmware": Change.FIRMWARE,
    "routes": Change.NETWORK,
    "sysctl": Change.SOFTWARE,
    "uname": Change.NONE,
    "release": Change.NONE,
    "host": Change.NONE,
}
"""Name → what a change of it means. Of an object, such as ``sysctl``, each member is a fact of its
own: ``sysctl.net.inet.ip.redirect``."""


class FactName(NamedTuple):
    """A fact, and whether it was measured or typed."""

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact of a machine (id) that had another value from ``at`` on, as the newest run states."""

    hardware: int
    at: datetime
    name: str
    source: str
    old: str
    new: str
    kind: Change


NAMING = ("cpu", "nic")
"""The facts that pages may call a machine by."""

_WORD = re.compile(r"[a-z0-9]+")
_CORES = re.compile(r"(\d+x)?\d+cores?")


def registered_part(hardware: str, name: str) -> str:
    """What the registered name ``machine/nic`` holds of the fact ``name`` of `NAMING`."""
    machine, _, nic = hardware.partition("/")
    return nic if name == "nic" else machine


def shares_word(text: str, registered: str) -> bool:
    """Whether ``text`` names what is ``registered``: by a model (``82599eb``, ``2650``) where that
    has one, for a vendor makes CPUs and NICs of many models.
    """
    own = {word for word in _terms(registered) if not _CORES.fullmatch(word)}
    models = {word for word in own if len(word) > SHORTEST_MODEL and re.search(r"\d", word)}
    return not (models or own).isdisjoint(_terms(text))


def _terms(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def meaning_of(name: str) -> Change:
    """What it means that the fact ``name`` has another value."""
    return KEPT.get(name) or KEPT.get(name.partition(".")[0], Change.NONE)


def kept_facts(facts: Any, options: Collection[str]) -> dict[FactName, str]:
    """What the facts of a run say of its machine, as text.

    ``options`` are those of the run's mode: a setting that is a knob there describes the mode.
    """
    if not isinstance(facts, dict):
        return {}
    knobs = knobs_of(options)
    found: dict[FactName, str] = {}
    for source, given in ((MEASURED, facts), (TYPED, facts.get("typed"))):
        if isinstance(given, dict):
            for name, value in _flat(given):
                if len(name) <= FACT_NAME_MAX and _setting(name) not in knobs:
                    found[FactName(name, source)] = value
    return {name: found[name] for name in sorted(found)[:MOST_NAMES]}


def knobs_of(options: Collection[str]) -> set[str]:
    """The names of the settings that options of a mode may be about."""
    return {option.partition("=")[0] for option in options}


def _flat(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in KEPT.keys() & given.keys():
        value = given[name]
        members = (
            {f"{name}.{inner}": one for inner, one in value.items()}
            if isinstance(value, dict)
            else {name: value}
        )
        for full, one in members.items():
            if text := as_text(one):
                yield full, text


def _setting(name: str) -> str:
    """The name of a sysctl as a knob has it."""
    return name.partition(".")[2] if name.startswith("sysctl.") else name


def as_text(value: Any) -> str:
    """A JSON value on one line; empty where it holds nothing."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(sound(text).split())[:FACT_VALUE_MAX].rstrip(" .")


def is_same(one: str, other: str) -> bool:
    """Whether two texts say the same: case and spaces do not count."""
    return one.casefold() == other.casefold()


class Interval(NamedTuple):
    """A value from the first observation to the last that has no other value between them."""

    first: datetime
    value: str
    last: datetime

    def is_cut_by(self, one: Observation) -> bool:
        """Whether it would be cut in two by ``one``."""
        return self.value != one[1] and (self.first, self.value) < one < (self.last, self.value)


def intervals_of(observations: Iterable[Observation]) -> list[Interval]:
    """The intervals of a fact, in order."""
    found: list[Interval] = []
    for at, value in sorted(set(observations)):
        if found and found[-1].value == value:
            found[-1] = found[-1]._replace(last=at)
        else:
            found.append(Interval(at, value, at))
    return found


def ends(intervals: Iterable[Interval]) -> Iterator[Observation]:
    """What an interval was made from, as far as it needs to be known while nothing cuts it."""
    for one in intervals:
        yield one.first, one.value
        yield one.last, one.value


def cut(intervals: Sequence[Interval], new: Collection[Observation]) -> list[Interval]:
    """The intervals that ``new`` observations cut: how they fall apart is shown by their other
    observations alone."""
    return [one for one in intervals if any(one.is_cut_by(seen) for seen in new)]


class Step(NamedTuple):
    """A value that came after another one."""

    at: datetime
    old: str
    new: str


def steps_after(intervals: Sequence[Interval], since: datetime) -> list[Step]:
    """The changes among ``intervals`` after ``since``."""
    return [
        Step(new.first, old.value, new.value)
        for old, new in pairwise(intervals)
        if new.first > since
    ]
