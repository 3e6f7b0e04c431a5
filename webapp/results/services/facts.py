"""Keep from when to when each machine had which facts, from the facts of its runs.

The intervals are a function of the runs that there are (`webapp.results.fact_names`), whatever
the order of their arrival. An upload reads the intervals beside what it states, and of the runs
only those of an interval that it cuts in two.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from webapp.results import fact_names
from webapp.results.models import Hardware, HardwareFact, Mode, Run
from webapp.results.queries import rows_of
from webapp.results.services.database import insert_rows

CHUNK = 2000
# Of each fact the interval that begins before what is new, those that begin within, and the next.
# Rows are compared by time and value, as `intervals_of` sorts.
BESIDE = """
SELECT wanted.hardware, wanted.name, wanted.source, beside.first_seen, beside.value,
       beside.last_seen
  FROM json_to_recordset(%s::json) AS wanted (hardware bigint, name text, source text,
       first timestamptz, first_value text, last timestamptz, last_value text)
 CROSS JOIN LATERAL (
       (SELECT fact.* FROM results_hardwarefact AS fact
         WHERE fact.hardware_id = wanted.hardware AND fact.name = wanted.name
           AND fact.source = wanted.source
           AND (fact.first_seen, fact.value) <= (wanted.first, wanted.first_value COLLATE "C")
         ORDER BY fact.first_seen DESC, fact.value DESC LIMIT 1)
        UNION ALL
       (SELECT fact.* FROM results_hardwarefact AS fact
         WHERE fact.hardware_id = wanted.hardware AND fact.name = wanted.name
           AND fact.source = wanted.source
           AND (fact.first_seen, fact.value) > (wanted.first, wanted.first_value COLLATE "C")
           AND (fact.first_seen, fact.value) <= (wanted.last, wanted.last_value COLLATE "C"))
        UNION ALL
       (SELECT fact.* FROM results_hardwarefact AS fact
         WHERE fact.hardware_id = wanted.hardware AND fact.name = wanted.name
           AND fact.source = wanted.source
           AND (fact.first_seen, fact.value) > (wanted.last, wanted.last_value COLLATE "C")
         ORDER BY fact.first_seen, fact.value LIMIT 1)) AS beside
"""
REPORTS = """
SELECT run.hardware_id, COALESCE(run.measured_at, run.received_at), run.facts, mode.options
  FROM results_run AS run JOIN results_mode AS mode ON mode.id = run.mode_id
  JOIN json_to_recordset(%s::json) AS wanted (hardware bigint, first timestamptz, last timestamptz)
    ON run.hardware_id = wanted.hardware
   AND COALESCE(run.measured_at, run.received_at) BETWEEN wanted.first AND wanted.last
 WHERE run.superseded_by_id IS NULL
"""
ALL_REPORTS = """
SELECT run.hardware_id, COALESCE(run.measured_at, run.received_at), run.facts, mode.options
  FROM results_run AS run JOIN results_mode AS mode ON mode.id = run.mode_id
 WHERE run.superseded_by_id IS NULL AND run.hardware_id = %s
"""
END = """
DELETE FROM results_hardwarefact AS fact
 USING json_to_recordset(%s::json) AS gone (hardware bigint, name text, source text,
       first timestamptz, value text)
 WHERE fact.hardware_id = gone.hardware AND fact.name = gone.name AND fact.source = gone.source
   AND fact.first_seen = gone.first AND fact.value = gone.value COLLATE "C"
"""
# One upload at a time writes facts of a machine: each sees what the one before it left.
LOCK = "SELECT id FROM results_hardware WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
TYPED_COUNTS = """
SELECT run.hardware_id, fact.name, run.facts -> 'typed' -> fact.name, count(*)
  FROM results_run AS run CROSS JOIN unnest(%s::text[]) AS fact (name)
 WHERE run.hardware_id = ANY(%s) AND run.superseded_by_id IS NULL
   AND run.facts -> 'typed' -> fact.name IS NOT NULL
 GROUP BY 1, 2, 3
"""
ONCE = ("hardware_id", "name", "source", "first_seen", "value")


class Report(NamedTuple):
    """What one run states: its machine (id), its time, its facts and the options of its mode."""

    hardware: int
    at: datetime
    facts: Any
    options: Collection[str]


class Key(NamedTuple):
    """A fact of a machine (id)."""

    hardware: int
    name: str
    source: str


class NamingFact(NamedTuple):
    """A fact that a machine (id) may be called by."""

    hardware: int
    name: str


Seen = dict[Key, set[fact_names.Observation]]
Known = dict[Key, list[fact_names.Interval]]


def note_facts(reports: Iterable[Report], *, history: bool) -> tuple[fact_names.ChangedFact, ...]:
    """Take up what stored runs tell of their machines; what changed after all that was known.

    Imported ``history`` changes nothing now. Three statements, one more where an interval is cut
    and one where intervals join; none where nothing is stated.
    """
    seen = _seen(reports)
    if not seen:
        return ()
    _lock({key.hardware for key in seen})
    before = _beside(seen)
    observed = _with_cut(seen, before)
    after = {key: fact_names.intervals_of(observed[key]) for key in seen}
    _store(before, after)
    call_by_facts({key.hardware for key in seen if key.name in fact_names.NAMING})
    return () if history else tuple(_changes(before, after))


def renew_facts(replaced: Iterable[tuple[Run, Report]]) -> None:
    """Stored runs, with their modes, no longer count: instead of each there is another report."""
    stale: set[int] = set()
    for run, report in replaced:
        at = run.measured_at or run.received_at
        was = Report(run.hardware_id, at, run.facts, run.mode.options)
        if _seen([was]) != _seen([report]):
            stale |= {was.hardware, report.hardware}
    for hardware in sorted(stale):
        rebuild_facts(hardware)


def machines_restated(filed: Mapping[int, tuple[int, int]]) -> set[int]:
    """The machines (ids) whose facts change when runs (ids) are filed under the hardware and mode
    (ids) given: those that they leave and go to, and those of runs whose knobs become others, for
    what is a knob of the mode is no fact of the machine. To be asked before they are filed.
    """
    rows = Run.objects.filter(pk__in=list(filed)).order_by()
    present = list(rows.values_list("pk", "hardware", "mode"))
    modes = {mode for _, mode in filed.values()} | {mode for _, _, mode in present}
    knobs = {
        mode.pk: fact_names.knobs_of(mode.options) for mode in Mode.objects.in_bulk(modes).values()
    }
    return {
        machine
        for pk, hardware, mode in present
        for machine in (hardware, filed[pk][0])
        if hardware != filed[pk][0] or knobs[mode] != knobs[filed[pk][1]]
    }


@transaction.atomic
def rebuild_facts(hardware: int) -> int:
    """Find the facts of a machine (id) anew from its stored runs; how many intervals there are."""
    _lock([hardware])
    observed = _seen(_all_reports(hardware))
    found = {key: fact_names.intervals_of(values) for key, values in observed.items()}
    HardwareFact.objects.filter(hardware=hardware).delete()
    rows = _rows((key, one) for key, intervals in found.items() for one in intervals)
    for start in range(0, len(rows), CHUNK):
        insert_rows(HardwareFact, rows[start : start + CHUNK])
    call_by_facts([hardware])
    return len(rows)


def call_by_facts(machines: Collection[int]) -> None:
    """Note what pages may call ``machines`` (ids): the newest measured fact; else what most of the
    runs that state it have in a README, where it names what is registered. READMEs are copied from
    one machine to the next. Of machines alike the first keeps the name, and another is called by
    what is registered.
    """
    if not machines:
        return
    measured: dict[NamingFact, str] = {}
    typed: dict[NamingFact, set[str]] = defaultdict(set)
    rows = HardwareFact.objects.filter(hardware__in=machines, name__in=fact_names.NAMING)
    for fact in rows.order_by("first_seen", "value"):
        key = NamingFact(fact.hardware_id, fact.name)
        if fact.source == fact_names.MEASURED:
            measured[key] = fact.value
        else:
            typed[key].add(fact.value)
    agreed = _majorities(typed) | measured
    changed = []
    for machine in Hardware.objects.filter(pk__in=machines):
        found = {name: agreed.get(NamingFact(machine.pk, name), "") for name in fact_names.NAMING}
        for name, value in found.items():
            is_measured = NamingFact(machine.pk, name) in measured
            if not is_measured and not fact_names.shares_word(
                value, fact_names.registered_part(machine.name, name)
            ):
                found[name] = ""
        if (machine.agreed_cpu, machine.agreed_nic) != (found["cpu"], found["nic"]):
            machine.agreed_cpu, machine.agreed_nic = found["cpu"], found["nic"]
            changed.append(machine)
    if changed:
        _distinguish(changed)
        Hardware.objects.bulk_update(changed, ["agreed_cpu", "agreed_nic"])


def _distinguish(changed: Collection[Hardware]) -> None:
    """Take from a machine whose name another has what its runs state, the CPU first."""
    others = Hardware.objects.exclude(pk__in=[machine.pk for machine in changed])
    taken = {str(machine) for machine in others}
    for machine in changed:
        for part in ("agreed_cpu", "agreed_nic"):
            if str(machine) in taken:
                setattr(machine, part, "")
        taken.add(str(machine))


def _majorities(typed: Mapping[NamingFact, Collection[str]]) -> dict[NamingFact, str]:
    """What more than half of the runs that state anything state."""
    found = {key: value for key, (value, *others) in typed.items() if not others}
    disputed = {key.hardware for key in typed.keys() - found.keys()}
    if not disputed:
        return found
    counts: dict[NamingFact, Counter[str]] = defaultdict(Counter)
    for hardware, name, value, count in rows_of(
        TYPED_COUNTS, [list(fact_names.NAMING), sorted(disputed)]
    ):
        counts[NamingFact(hardware, name)][fact_names.as_text(_loaded(value))] += count
    for key, counted in counts.items():
        (value, most), *_ = counted.most_common(1)
        if 2 * most > counted.total():
            found[key] = value
    return found


def _seen(reports: Iterable[Report]) -> Seen:
    seen: Seen = defaultdict(set)
    for one in reports:
        for fact, value in fact_names.kept_facts(one.facts, one.options).items():
            seen[Key(one.hardware, *fact)].add((one.at, value))
    return seen


def _lock(hardware: Collection[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [sorted(hardware)])


def _beside(seen: Mapping[Key, Collection[fact_names.Observation]]) -> Known:
    """The intervals that what is new falls into, or lies beside, in order."""
    wanted = []
    for key, values in seen.items():
        (first, low), (last, high) = min(values), max(values)
        times = {"first": first, "first_value": low, "last": last, "last_value": high}
        wanted.append(key._asdict() | times)
    found: Known = {key: [] for key in seen}
    for hardware, name, source, first, value, last in rows_of(BESIDE, [_json(wanted)]):
        found[Key(hardware, name, source)].append(fact_names.Interval(first, value, last))
    return {key: sorted(intervals) for key, intervals in found.items()}


def _with_cut(seen: Seen, before: Known) -> Seen:
    """All observations that the intervals beside the new ones are made anew from."""
    observed = {key: seen[key] | set(fact_names.ends(before[key])) for key in seen}
    torn = {key: parts for key in seen if (parts := fact_names.cut(before[key], seen[key]))}
    if torn:
        wanted = [
            {"hardware": key.hardware, "first": one.first, "last": one.last}
            for key, parts in torn.items()
            for one in parts
        ]
        reported = _seen(_reports(rows_of(REPORTS, [_json(wanted)])))
        for key, parts in torn.items():
            observed[key] |= {
                one for one in reported.get(key, ()) if any(_within(part, one) for part in parts)
            }
    return observed


def _within(part: fact_names.Interval, one: fact_names.Observation) -> bool:
    return one[1] == part.value and part.first <= one[0] <= part.last


def _reports(rows: Iterable[Sequence[Any]]) -> Iterator[Report]:
    """Rows as the statements give them: facts are the JSON text."""
    for hardware, at, facts, options in rows:
        yield Report(hardware, at, _loaded(facts), options)


def _all_reports(hardware: int) -> Iterator[Report]:
    with connection.cursor() as cursor:
        cursor.execute(ALL_REPORTS, [hardware])
        while rows := cursor.fetchmany(CHUNK):
            yield from _reports(rows)


def _store(before: Known, after: Known) -> None:
    old = {(key, one) for key, intervals in before.items() for one in intervals}
    new = {(key, one) for key, intervals in after.items() for one in intervals}
    starts = {(key, one.first, one.value) for key, one in new}
    gone = [
        key._asdict() | {"first": one.first, "value": one.value}
        for key, one in old - new
        if (key, one.first, one.value) not in starts
    ]
    if gone:
        with connection.cursor() as cursor:
            cursor.execute(END, [_json(gone)])
    insert_rows(HardwareFact, _rows(sorted(new - old)), unique=ONCE)


def _rows(found: Iterable[tuple[Key, fact_names.Interval]]) -> list[dict[str, Any]]:
    return [
        {
            "hardware_id": key.hardware,
            "name": key.name,
            "source": key.source,
            "first_seen": one.first,
            "value": one.value,
            "last_seen": one.last,
        }
        for key, one in found
    ]


def _changes(before: Known, after: Known) -> Iterator[fact_names.ChangedFact]:
    """What follows all that was known of a fact; a first value is no change."""
    for key, intervals in sorted(after.items()):
        kind = fact_names.meaning_of(key.name)
        known = max((one.last for one in before[key]), default=None)
        if kind is fact_names.Change.NONE or known is None:
            continue
        for step in fact_names.steps_after(intervals, known):
            if not fact_names.is_same(step.old, step.new):
                yield fact_names.ChangedFact(
                    key.hardware, step.at, key.name, key.source, step.old, step.new, kind
                )


def _json(rows: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(rows, default=str)


def _loaded(facts: Any) -> Any:
    """Facts as a statement gives them; Django's own adapter leaves JSON as text."""
    return json.loads(facts) if isinstance(facts, str) else facts
