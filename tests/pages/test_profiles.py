"""The pages of profiles: what is profiled, a flame graph, the difference of two sides."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.approved import Approvals
from tests.documents import run_document
from tests.events.steps import event
from tests.pages.conftest import Counted, words
from tests.profiles import FORWARDING, boots_of, profile_document, store
from webapp.alerts.models import Alert
from webapp.analysis import services as analysis
from webapp.analysis.queries import function_series
from webapp.analysis.queries import profiled as profiled_queries
from webapp.api import profiles as schemas
from webapp.api.schemas.runs import RunIn
from webapp.experiments.models import Experiment
from webapp.labs.models import Agent
from webapp.labs.services import create_agent
from webapp.notifications.mails.alerts import preview
from webapp.notifications.models import Subscription
from webapp.results.models import Hardware, Profile, Revision, Run, Variant
from webapp.results.queries.profiles import NODE
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
HOSTILE = '<script>alert("x")</script>'
MANY_FUNCTIONS = """
WITH made AS (
    INSERT INTO results_profiledfunction (name, module)
    SELECT 'f' || number, 'kernel' FROM generate_series(1, 65536) AS number RETURNING id
)
UPDATE results_profile SET functions = functions || ARRAY(SELECT id FROM made)
"""


@pytest.fixture
def agent() -> Agent:
    return create_agent(name="control", lab_name="netlab")


def profiled(
    agent: Agent, revision: str, documents: list[dict[str, object]], **fields: object
) -> str:
    """A run of a revision with its profiles; its side as addresses name it."""
    samples = [1.02 * float(str(one["pps"])) for one in documents]
    sent = run_document(revision=revision, samples=samples, **fields)
    run = RunIn.model_validate(sent).document()
    analysis.store_runs(agent=agent, runs=[run], register=True, history=False, replace=False)
    store(sent["uuid"], documents)
    return f"freebsd-head:{revision}:bench/nic:forwarding"


@pytest.fixture
def both(agent: Agent) -> str:
    """Two kernels; the second one's lookup of routes became three times as dear."""
    a = profiled(agent, "r303642", boots_of())
    b = profiled(agent, "r303643", boots_of(lookup=900, pps=0.6e6))
    return urlencode({"a": a, "b": b})


def test_the_list_names_what_is_profiled(both: str, client: Client, approved: Approvals) -> None:
    approved("pages/profiles/list", client.get("/profiles/"))


def test_the_list_offers_the_newest_two_of_one_machine_and_mode(
    agent: Agent, client: Client
) -> None:
    older, newer = (profiled(agent, name, boots_of(boots=1)) for name in ("r303642", "r303643"))
    pf = {"workload": "pf", "traffic": None, "options": []}
    profiled(agent, "r303644", boots_of(boots=1), mode=pf)
    assert client.get("/profiles/").context["first"] == (older, newer)


def test_an_empty_list_names_the_commands(visit: Visit) -> None:
    page = visit("/profiles/")
    assert "labagent upload" in page
    assert "labagent profile" in page


def test_a_profile_is_drawn_with_its_functions(
    both: str, client: Client, approved: Approvals
) -> None:
    first = Profile.objects.order_by("pk")[0]
    approved("pages/profiles/one", client.get(first.get_absolute_url()))


def test_the_boots_of_a_side_are_added(both: str, visit: Visit) -> None:
    page = visit("/profiles/side/?side=freebsd-head:r303642:bench/nic:forwarding")
    assert "in 4 boots" in page
    assert "symbol" not in page
    assert "r303643, forwarding on bench nic" in page


def test_functions_may_be_more_than_a_statement_has_parameters(
    agent: Agent, client: Client
) -> None:
    side = profiled(agent, "r303642", boots_of(boots=1))
    with connection.cursor() as cursor:
        cursor.execute(MANY_FUNCTIONS)
    assert len(Profile.objects.get().functions) > 2**16
    assert client.get("/profiles/side/", {"side": side}).status_code == 200


def test_a_plan_kept_from_a_small_table_reads_no_array_for_each_function(
    agent: Agent, client: Client
) -> None:
    side = profiled(agent, "r303642", boots_of(boots=1))
    with CaptureQueriesContext(connection) as asked:
        client.get("/profiles/side/", {"side": side})
    (statement,) = (row["sql"] for row in asked if 'FROM "results_profiledfunction"' in row["sql"])
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(re.sub(r"'\{[\d,]*\}'::", "$1::", f"PREPARE few AS {statement}"))
        cursor.execute("EXPLAIN EXECUTE few ('{}')")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "ANY" not in plan, plan


def test_where_periods_are_known_a_function_costs_cycles(agent: Agent, visit: Visit) -> None:
    sides = {
        name: profiled(
            agent,
            revision,
            [one | {"format": "perf", "event": event} | rate for one in boots_of(pps=1e6)],
        )
        for name, revision, event, rate in (
            ("a", "r303642", "cycles", {"event_rate": 2e9}),
            ("b", "r303643", "cycles", {"event_rate": 3e9}),
            ("clock", "r303644", "cpu-clock", {"event_rate": 2e9}),
            ("none", "r303645", "cycles", {}),
        )
    }
    page = visit(f"/profiles/diff/?{urlencode({'a': sides['a'], 'b': sides['b']})}")
    assert "A, cycles a packet B Verdict" in page
    # 45 % of 2,000 and of 3,000 cycles a packet, less .2 % by the rates of boots
    assert "[−1.72, 1.72] 898.4 1,348 cannot tell" in page
    page = visit(f"/profiles/diff/?{urlencode({'a': sides['clock'], 'b': sides['clock']})}")
    assert "A, ns a packet" in page
    for other in ("clock", "none"):
        page = visit(f"/profiles/diff/?{urlencode({'a': sides['a'], 'b': sides[other]})}")
        assert "Interval Verdict" in page


def test_the_difference_names_the_function_that_became_dearer(
    both: str, client: Client, approved: Approvals
) -> None:
    approved("pages/profiles/difference", client.get(f"/profiles/diff/?{both}"))


def test_swapped_sides_make_it_cheaper(both: str, client: Client) -> None:
    found = client.get(f"/profiles/diff/?{both}").context["found"]
    swapped = client.get(client.get(f"/profiles/diff/?{both}").context["swapped"]).context["found"]
    verdicts = {row.function: row.verdict for row in found.rows}
    reversed_ = {row.function: row.verdict for row in swapped.rows}
    assert (verdicts["fib4_lookup"], reversed_["fib4_lookup"]) == ("dearer", "cheaper")


def test_with_one_boot_a_side_nothing_is_claimed(agent: Agent, client: Client) -> None:
    a = profiled(agent, "r303642", boots_of(boots=1))
    b = profiled(agent, "r303643", boots_of(boots=1, lookup=900))
    response = client.get("/profiles/diff/?" + urlencode({"a": a, "b": b}))
    assert response.context["found"].claims == 0
    assert "ne boot" in response.content.decode()


def test_a_truncated_profile_is_drawn_and_not_tested(agent: Agent, client: Client) -> None:
    cut = [one | {"truncated": True, "expected": [2000, 2000]} for one in boots_of(lookup=900)]
    a, b = profiled(agent, "r303642", boots_of()), profiled(agent, "r303643", cut)
    response = client.get("/profiles/diff/?" + urlencode({"a": a, "b": b}))
    assert response.context["found"].claims == 0
    assert "truncated" in response.content.decode()
    side = client.get("/profiles/side/?" + urlencode({"side": b})).content.decode()
    assert "of 4,000 announced" in side


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/profiles/side/?side=nowhere:r1:x:y", "no tree"),
        ("/profiles/side/?side=freebsd-head:r303642:bench/nic:pf", "no profile of"),
        ("/profiles/side/?side=", "is not a side"),
        ("/profiles/side/?side=%00", "is not a side"),
        ("/profiles/diff/?a=1", "give two sides"),
        ("/profiles/diff/?a=999999&b=1", "no profile of 999999"),
    ],
)
def test_what_is_not_there_is_named(both: str, client: Client, address: str, message: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert message in response.content.decode().lower().replace("&#x27;", "'")


def test_a_function_opens_its_callers_and_callees(both: str, client: Client) -> None:
    page = words(client.get(f"/profiles/diff/?{both}&fn=ip_tryforward@kernel").content.decode())
    assert "Callers and callees of ip_tryforward" in page
    around = client.get(f"/profiles/diff/?{both}&fn=ip_tryforward@kernel").context["around"]
    roles = {(one.role, one.name) for one in around.rows}
    assert ("caller", "ether_input") in roles
    assert {("callee", "fib4_lookup"), ("callee", "ipfw_chk")} <= roles
    (lookup,) = [one for one in around.rows if one.name == "fib4_lookup"]
    assert lookup.b > 2 * lookup.a
    assert client.get(f"/profiles/diff/?{both}&fn=none@kernel").context["around"] is None


def test_several_modes_are_compared_each_with_itself_and_the_option(
    agent: Agent, client: Client, queries: Counted
) -> None:
    def measured(workload: str, options: list[str], lookup: int) -> None:
        mode = {"workload": workload, "traffic": None, "options": options}
        profiled(agent, "r303642", boots_of(lookup=lookup), mode=mode)

    for workload in ("forwarding", "pf"):
        measured(workload, [], 300)
        measured(workload, ["VIMAGE"], 500)
    query = urlencode({"a": "freebsd-head:r303642", "b": "freebsd-head:r303642::+VIMAGE"})
    page = words(client.get(f"/profiles/diff/?{query}").content.decode())
    assert "2 machines and modes are profiled on both sides" in page
    assert "forwarding+VIMAGE" in page
    assert "pf+VIMAGE" in page
    assert "One machine: its modes share machine, session and kernel and prove nothing" in page
    statements = queries(f"/profiles/diff/?{query}")
    assert statements <= 14
    measured("ipfw", [], 300)
    measured("ipfw", ["VIMAGE"], 300)
    assert queries(f"/profiles/diff/?{query}") == statements
    assert client.get(f"/profiles/diff.svg?{query}").status_code == 400


def test_other_kernels_of_the_machine_are_its_history(
    agent: Agent, both: str, client: Client
) -> None:
    alone = client.get(f"/profiles/diff/?{both}").context["found"].freedom
    for revision in ("r303600", "r303610"):
        profiled(agent, revision, boots_of(boots=6))
    assert client.get(f"/profiles/diff/?{both}").context["found"].freedom > alone


def test_an_operator_names_idle_functions(both: str, client: Client, settings: Any) -> None:
    settings.IDLE_FUNCTIONS = ["fib4_*"]
    page = words(client.get(f"/profiles/diff/?{both}").content.decode())
    assert "idle: 30.1 % of the samples" in page


def test_a_kernel_that_forwarded_nothing_has_shares_and_no_cost(
    agent: Agent, client: Client
) -> None:
    a = profiled(agent, "r303642", boots_of())
    documents = [one | {"pps": None} for one in boots_of()]
    run = RunIn.model_validate(run_document(revision="r303643", samples=[0.0] * 5)).document()
    analysis.store_runs(agent=agent, runs=[run], register=True, history=False, replace=False)
    store(str(run.uuid), documents)
    b = "freebsd-head:r303643:bench/nic:forwarding"
    response = client.get("/profiles/diff/?" + urlencode({"a": a, "b": b}))
    assert response.status_code == 200
    assert not response.context["found"].is_cost


def test_two_machines_are_not_added(agent: Agent, client: Client) -> None:
    for hardware in ("bench/nic", "other/nic"):
        profiled(agent, "r303642", boots_of(boots=1), hardware=hardware)
    response = client.get("/profiles/side/?side=freebsd-head:r303642")
    assert response.status_code == 404
    assert "name hardware and mode" in response.content.decode()


def test_withdrawn_runs_are_left_out(both: str, client: Client) -> None:
    run = Profile.objects.order_by("pk")[0].run
    withdraw_run(run=run, by=None, reason="a test")
    assert (
        client.get("/profiles/side/?side=freebsd-head:r303642:bench/nic:forwarding").status_code
        == 404
    )
    assert "r303642" not in client.get("/profiles/").content.decode()


def test_pictures_and_stacks_have_addresses(both: str, client: Client) -> None:
    first = Profile.objects.order_by("pk")[0]
    assert client.get(f"/profiles.svg?side={first.pk}")["Content-Type"].startswith("image/svg+xml")
    assert client.get(f"/profiles.png?side={first.pk}").content.startswith(b"\x89PNG")
    assert client.get(f"/profiles/diff.svg?{both}").content.startswith(b"<svg")
    assert client.get(f"/profiles/diff.png?{both}&width=390").content.startswith(b"\x89PNG")
    assert client.get("/profiles.svg?side=0").status_code == 404
    stacks = client.get(f"/profiles/{first.pk}.folded").content.decode()
    assert "fork_exit;sched_idletd;cpu_idle 20" not in stacks
    assert "fork_exit;sched_idletd;cpu_idle 40" in stacks


def test_views_of_a_graph_have_addresses(both: str, client: Client) -> None:
    first = Profile.objects.order_by("pk")[0]
    for query in ("reverse=1", "module=1", "idle=1", "reverse=1&module=1"):
        for path in (f"{first.get_absolute_url()}?{query}", f"/profiles/diff/?{both}&{query}"):
            assert client.get(path).status_code == 200, path
    assert client.get(f"{first.get_absolute_url()}?root=zz").status_code == 404
    plain = client.get(first.get_absolute_url()).content.decode()
    assert "cpu_idle</title>" not in plain


def test_hostile_names_are_text(agent: Agent, client: Client) -> None:
    hostile = profile_document({f"{HOSTILE};%{{x}}": 9})
    side = profiled(agent, "r303642", [hostile])
    page = client.get("/profiles/side/?" + urlencode({"side": side})).content.decode()
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_pages_keep_to_their_statements(agent: Agent, both: str, queries: Counted) -> None:
    few = queries(f"/profiles/diff/?{both}")
    assert few <= 16
    assert queries("/profiles/") <= 6
    for revision in ("r303650", "r303660"):
        profiled(agent, revision, boots_of(boots=6))
    assert queries("/profiles/") <= 6
    side = urlencode({"side": "freebsd-head:r303660:bench/nic:forwarding"})
    assert queries(f"/profiles/side/?{side}") <= 12


@pytest.fixture
def alert(client: Client) -> Alert:
    """A loss of a tenth whose revision and the one before are profiled."""
    documents = runs_of({("bench/nic", "forwarding"): {20: 0.9}})
    arrive(documents)
    store(documents[19]["uuid"], boots_of())
    store(documents[20]["uuid"], boots_of(lookup=420))
    return Alert.objects.get()


def test_an_alert_names_the_functions_that_became_dearer(alert: Alert, client: Client) -> None:
    page = client.get(alert.get_absolute_url()).content.decode()
    assert "which functions became dearer" in page
    shown = words(client.get(f"{alert.get_absolute_url()}?show=profiles").content.decode())
    assert "fib4_lookup: 30.1 %" in shown


def test_an_alert_without_profiles_offers_none(client: Client) -> None:
    arrive(runs_of({("bench/nic", "forwarding"): {20: 0.9}}))
    page = client.get(Alert.objects.get().get_absolute_url()).content.decode()
    assert "which functions became dearer" not in page


def test_an_alert_and_a_commit_with_profiles_on_one_side_offer_none(client: Client) -> None:
    documents = runs_of({("bench/nic", "forwarding"): {20: 0.9}})
    arrive(documents)
    store(documents[20]["uuid"], boots_of())
    for page in (Alert.objects.get().get_absolute_url(), "/commits/freebsd-head/r120/"):
        assert "which functions became dearer" not in client.get(page).content.decode()
    store(documents[18]["uuid"], boots_of())
    for page in (Alert.objects.get().get_absolute_url(), "/commits/freebsd-head/r120/"):
        assert "which functions became dearer" in client.get(page).content.decode()


@pytest.mark.parametrize(
    "path", ["{alert}?show=profiles", "/commits/freebsd-head/r120/?part=profiles"]
)
def test_more_profiled_modes_need_no_more_statements(
    path: str, client: Client, queries: Counted
) -> None:
    modes = ("forwarding", "pf", "ipfw")
    documents = runs_of({("bench/nic", mode): {20: 0.9} for mode in modes})
    arrive(documents)
    address = path.format(alert=Alert.objects.get().get_absolute_url())
    counts = []
    for mode in modes:
        own = [one for one in documents if one["mode"]["workload"] == mode]
        store(own[19]["uuid"], boots_of())
        store(own[20]["uuid"], boots_of(lookup=420))
        counts.append(queries(address))
        text = client.get(address).content.decode()
        assert text.count("fib4_lookup: 30.1 %") == len(counts)
    assert len(set(counts)) == 1


def test_the_largest_profile_fits_on_a_page() -> None:
    assert schemas.MOST_CELLS + NODE * schemas.MOST_NODES <= profiled_queries.MOST_COUNTS
    cells = schemas.MOST_SECTIONS * schemas.MOST_FUNCTIONS
    assert cells <= profiled_queries.MOST_ROWS_TIMES_FUNCTIONS


@pytest.mark.parametrize("bound", ["MOST_COUNTS", "MOST_ROWS_TIMES_FUNCTIONS"])
def test_of_more_than_a_page_can_bear_the_newest_are_read_and_the_page_states_it(
    bound: str, both: str, visit: Visit, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Profile.objects.all()[0]
    largest = {
        "MOST_COUNTS": 3 * (NODE + 2) * one.nodes,
        "MOST_ROWS_TIMES_FUNCTIONS": 3 * 2 * 3 * len(one.functions),
    }
    monkeypatch.setattr(profiled_queries, bound, largest[bound])
    page = visit(f"/profiles/diff/?{both}")
    assert page.count("the newest 3 of 4 profiles: all are too many") == 2
    assert "in 3 boots" in page
    monkeypatch.setattr(profiled_queries, bound, 1)
    query = urlencode({"a": "freebsd-head:r303642", "b": "freebsd-head:r303643"})
    for path in (
        f"/profiles/diff/?{both}",
        f"/profiles/diff/?{query}",
        "/profiles/side/?side=freebsd-head:r303642:bench/nic:forwarding",
    ):
        response = client.get(path)
        assert response.status_code == 404
        assert re.search("too large to be drawn|too much to be added", response.content.decode())


def test_the_mail_about_an_alert_names_them_with_the_address(alert: Alert) -> None:
    text = preview(alert, Subscription(user=make.user())).text
    assert "Profiles:" in text
    assert "fib4_lookup: 30.1 %" in text
    assert "/profiles/diff/?a=" in text


def test_a_commit_a_comparison_and_a_report_lead_to_profiles(
    alert: Alert, tess: Client, both: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = tess.get("/commits/freebsd-head/r120/?part=runs").content.decode()
    assert "/profiles/side/?side=freebsd-head:r120:bench/nic:forwarding" in commit
    shown = words(tess.get("/commits/freebsd-head/r120/?part=profiles").content.decode())
    assert "fib4_lookup: 30.1 %" in shown
    row = {
        name: f"freebsd-head:r{at}:bench/nic:forwarding:pps"
        for name, at in (("a", 119), ("b", 120))
    }
    assert "/profiles/diff/?a=freebsd-head:r119" in tess.get("/compare/row/", row).content.decode()
    sides = ["freebsd-head:r119", "freebsd-head:r120"]
    kept = tess.post("/experiments/keep/", {"side": sides}, follow=True)
    report = kept.content.decode()
    assert "Flame graphs" in report
    assert "/profiles/diff/?a=freebsd-head:r119" in report
    assert report.count('src="/profiles/diff.svg?a=freebsd-head:r119') == 2
    assert report.count('loading="lazy"') == 2
    markdown = tess.get(Experiment.objects.get().get_absolute_url().rstrip("/") + ".md")
    assert "Flame graphs:" in markdown.content.decode()
    assert "/profiles/diff/?a=freebsd-head:r119" in markdown.content.decode()
    compared = tess.get("/compare.md", {"a": sides[0], "b": sides[1]})
    for text in (markdown.content.decode(), compared.content.decode()):
        drawn = re.search(r"\n\[!\[.*\]\((http.*png\?.*)\)\]\(http.*\)\n", text)
        assert drawn is not None
        picture = urlsplit(drawn[1])._replace(scheme="", netloc="").geturl()
        assert tess.get(picture).status_code == 200
    monkeypatch.setattr("webapp.pages.compare.report.MOST_PICTURES", 0)
    report = tess.get(Experiment.objects.get().get_absolute_url()).content.decode()
    assert "/profiles/diff/?a=freebsd-head:r119" in report
    assert "/profiles/diff.svg" not in report


FIRST, STEP, COUNT = 303600, 5, 9
SUBJECT = {"tree": "freebsd-head", "hardware": "bench/nic", "mode": "forwarding"}


@pytest.fixture
def series(agent: Agent) -> str:
    """Nine profiled revisions; at the sixth the lookup of routes became dearer by half."""
    for at in range(COUNT):
        lookup, pps = (300, 1e6) if at < STEP else (450, 1e6 / 1.15)
        documents = boots_of(lookup=lookup + 5 * at % 7, boots=3, pps=pps * (1 + 0.001 * (at % 3)))
        profiled(agent, f"r{FIRST + 10 * at}", documents)
    return urlencode(SUBJECT)


def test_a_function_has_a_series_with_its_change(
    series: str, client: Client, approved: Approvals
) -> None:
    response = client.get(f"/profiles/functions/?{series}&fn=fib4_lookup@kernel")
    approved("pages/profiles/functions", response)
    page = response.content.decode()
    assert page.count("<svg") >= 2
    (line,) = response.context["changes"]
    assert (line.revision.revision.name, line.verdict) == ("r303650", "dearer")
    assert line.found.low < 50 < line.found.high
    assert client.get(line.difference).context["headline"].first
    assert not Alert.objects.exists()


def test_one_revision_far_off_is_an_excursion(agent: Agent, client: Client) -> None:
    for at in range(14):
        lookup, pps = (600, 1e6 / 1.3) if at == 8 else (300, 1e6)
        documents = boots_of(lookup=lookup + 5 * at % 7, boots=3, pps=pps * (1 + 0.001 * (at % 3)))
        profiled(agent, f"r{FIRST + 10 * at}", documents)
    response = client.get(f"/profiles/functions/?{urlencode(SUBJECT)}&fn=fib4_lookup@kernel")
    (line,) = response.context["changes"]
    assert (line.kind, line.revision.revision.name) == ("excursion", f"r{FIRST + 80}")
    page = words(response.content.decode())
    assert "excursion, recovered" in page
    assert "What fib4_lookup costs per packet" in page


def test_without_a_name_those_that_changed_are_shown(series: str, client: Client) -> None:
    response = client.get(f"/profiles/functions/?{series}")
    assert "fib4_lookup became" in words(response.content.decode())
    assert response.context["shown"] == ["fib4_lookup"]
    both = client.get(f"/profiles/functions/?{series}&fn=ipfw_chk@ipfw.ko&fn=ether_output")
    assert both.context["shown"] == ["ipfw_chk", "ether_output"]
    assert "No change" in words(both.content.decode())


def test_a_difference_and_a_profile_lead_to_the_series(series: str, client: Client) -> None:
    link = "/profiles/functions/?tree=freebsd-head&amp;hardware=bench/nic&amp;mode=forwarding"
    sides = {
        name: f"freebsd-head:r{FIRST + 10 * at}:bench/nic:forwarding"
        for name, at in (("a", STEP - 1), ("b", STEP))
    }
    page = client.get("/profiles/diff/", sides).content.decode()
    assert f'{link}&amp;fn=fib4_lookup@kernel">over revisions' in page
    assert "What the changed functions cost over revisions" in page
    around = client.get("/profiles/diff/", sides | {"fn": "ether_output@kernel"})
    assert f'{link}&amp;fn=ether_output@kernel">Cost over revisions' in around.content.decode()
    side = client.get("/profiles/side/", {"side": sides["a"]}).content.decode()
    assert f'{link}&amp;fn=ether_output@kernel">ether_output' in side
    assert f'{link}">cost over revisions' in side


def test_between_modes_a_function_leads_to_the_series_that_has_it(
    agent: Agent, client: Client
) -> None:
    pf = {"workload": "pf", "traffic": None, "options": []}
    profiled(agent, "r303642", boots_of())
    own = {"fork_exit;ithread_loop;ether_input;pf.ko`pf_test": 400}
    profiled(agent, "r303642", [profile_document(FORWARDING | own)], mode=pf, uuid=str(uuid4()))
    sides = {one: f"freebsd-head:r303642:bench/nic:{one}" for one in ("forwarding", "pf")}
    asked = {"a": sides["forwarding"], "b": sides["pf"]}
    rows = client.get("/profiles/diff/", asked).context["rows"]
    series = {row.function: links[0] for row, _, links, _ in rows}
    assert "&mode=pf&fn=pf_test@pf.ko" in series["pf_test"]
    assert "&mode=forwarding&fn=ether_output@kernel" in series["ether_output"]
    around = client.get("/profiles/diff/", asked | {"fn": "pf_test@pf.ko"})
    assert around.context["around_link"] == series["pf_test"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"fn": "nothing@kernel"}, "o profile that takes part has the function nothing@kernel"),
        (
            {"fn": [f"f{at}@kernel" for at in range(51)]},
            "51 functions are named (fn); 50 of a machine",
        ),
        ({"mode": "pf"}, "o profile of pf on bench/nic along freebsd-head is stored"),
        ({"variant": "D1"}, "along freebsd-head with D1 is stored"),
        ({"mode": ""}, "ree, hardware and mode: name all three"),
        ({"fn": "\0"}, None),
    ],
)
def test_what_has_no_series_is_named(
    series: str, client: Client, more: dict[str, Any], message: str | None
) -> None:
    response = client.get("/profiles/functions/", SUBJECT | more)
    assert response.status_code == (404 if message else 200)
    assert (message or "") in words(response.content.decode())


def test_one_revision_is_no_series(agent: Agent, client: Client) -> None:
    profiled(agent, "r303642", boots_of())
    page = words(client.get("/profiles/functions/", SUBJECT).content.decode())
    assert "Cost is claimed of one revision alone" in page
    profiled(agent, "r303643", boots_of(lookup=400))
    page = words(client.get("/profiles/functions/", SUBJECT).content.decode())
    assert "The detector finds changes from 5 revisions on; here are 2" in page
    assert "is proven to have changed" not in page


def test_where_no_cost_can_be_claimed_each_revision_has_its_reason(
    agent: Agent, client: Client
) -> None:
    cut = [one | {"truncated": True, "expected": [2000, 2000]} for one in boots_of()]
    profiled(agent, "r303642", cut)
    response = client.get("/profiles/functions/", SUBJECT)
    page = words(response.content.decode())
    assert "Of no revision a cost can be claimed" in page
    assert "of side r303642 is truncated" in page
    profiled(agent, "r303643", boots_of())
    page = words(client.get("/profiles/functions/", SUBJECT).content.decode())
    assert "1 of 2 profiled revisions" in page


def test_an_event_that_begins_an_epoch_parts_a_series(series: str, client: Client) -> None:
    at = Revision.objects.get(name=f"r{FIRST + 10 * STEP}")
    place = {"hardware": Hardware.objects.get(), "tree": at.tree, "first": at, "last": at}
    event("another NIC", begins_epoch=True, **place)
    response = client.get(f"/profiles/functions/?{series}&fn=fib4_lookup@kernel")
    assert not response.context["changes"]


def test_late_runs_of_an_epoch_that_is_over_take_no_part(agent: Agent, client: Client) -> None:
    for revision, day in (("r303610", 1), ("r303620", 5), ("r303600", 6)):
        profiled(agent, revision, boots_of(), measured_at=f"2016-08-0{day}T10:00:00Z")
    event(
        "another NIC",
        begins_epoch=True,
        hardware=Hardware.objects.get(),
        happened_at=datetime(2016, 8, 3, tzinfo=UTC),
    )
    response = client.get("/profiles/functions/", SUBJECT)
    late = {line.run.revision.name: line.why for line in response.context["revisions"]}
    assert late == {
        "r303620": "",
        "r303610": "",
        "r303600": "Measured after an event that begins an epoch.",
    }


def test_the_newest_profiles_are_read(
    series: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_series, "MOST_READ", 6)
    page = words(client.get(f"/profiles/functions/?{series}").content.decode())
    assert "2 of 2 profiled revisions, 6 boots" in page
    assert "The newest 6 profiles are read" in page
    one = Profile.objects.order_by("-pk")[0]
    weight = (len(one.expected) + NODE) * one.nodes
    monkeypatch.setattr(function_series, "MOST_COUNTS_READ", 3 * weight)
    page = words(client.get(f"/profiles/functions/?{series}&calls=1").content.decode())
    assert "The newest 3 profiles are read" in page
    monkeypatch.setattr(function_series, "MOST_COUNTS_READ", weight - 1)
    refused = client.get(f"/profiles/functions/?{series}&fn=ether_output")
    assert refused.status_code == 404
    assert "is too large to be drawn" in words(refused.content.decode())


def test_a_variant_has_series_of_its_own(series: str, agent: Agent, client: Client) -> None:
    run = Profile.objects.order_by("pk")[0].run
    Run.objects.filter(pk=run.pk).update(variant=Variant.objects.create(name="D1", parts=[]))
    assert client.get(f"/profiles/functions/?{series}").context["count"] == COUNT - 1
    (line,) = client.get(f"/profiles/functions/?{series}&variant=D1").context["revisions"]
    assert line.run == run


def test_hostile_functions_of_a_series_are_text(agent: Agent, client: Client) -> None:
    for revision in ("r303642", "r303643"):
        stacks = {f"{HOSTILE};%{{x}}": 900, "main": 90, "main;cpu_idle": 9}
        profiled(agent, revision, [profile_document(stacks, boot=one) for one in "ab"])
    page = client.get("/profiles/functions/", SUBJECT | {"fn": "%{x}@kernel"})
    assert HOSTILE not in page.content.decode()
    assert page.context["shown"] == ["%{x}"]


def test_a_series_keeps_to_its_statements(agent: Agent, series: str, queries: Counted) -> None:
    few = queries(f"/profiles/functions/?{series}")
    assert few <= 12
    for revision in ("r303700", "r303710", "r303720"):
        profiled(agent, revision, boots_of(lookup=460))
    assert queries(f"/profiles/functions/?{series}") == few
    assert queries(f"/profiles/functions/?{series}", again=True) < few
