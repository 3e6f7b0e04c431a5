"""Commits that touch a file of a function whose cost changed by the profiles around a bisect."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests import make
from tests.bisects import lab
from tests.bisects.lab import Truth
from tests.bisects.test_prior import settle, touch
from tests.profiles import boots_of, store
from webapp.bisects.deciding import replay
from webapp.bisects.prior import ELSEWHERE, UNLIKELY, defines, prior_of
from webapp.bisects.services import start_bisect
from webapp.bisects.view import view_of
from webapp.pages.bisects.bisect import as_markdown
from webapp.results.models import Revision, Run
from webapp.stats.profiles.calls import Function

LOOKUP = "sys/netinet/fib4_lookup.c"


@pytest.mark.parametrize(
    ("path", "function", "module"),
    [
        ("sys/netpfil/pf/pf.c", "pf_test_state_tcp", "pf"),
        ("sys/netpfil/pf/pf_norm.c", "in4_cksum", "pf"),
        ("sys/net/if_bridge.c", "bridge_input", "if_bridge"),
        ("net/netfilter/nf_tables.c", "nft_do_chain", "nf_tables"),
        ("sys/netpfil/ipfw/ip_fw_dynamic.c", "ipfw_lookup_dyn_rule", "kernel"),
        ("sys/netpfil/ipfw/ip_fw2.c", "ipfw_chk", "kernel"),
        ("sys/netpfil/pf/pf.c", "pf_test", ""),
        ("sys/netinet/tcp_input.c", "tcp_do_segment", "kernel"),
        ("sys/net/if_ethersubr.c", "ether_demux", "kernel"),
        ("sys/netinet/ip_input.c", "ip_input", "kernel"),
        ("sys/vm/uma_core.c", "uma_zalloc_arg", "kernel"),
        ("sys/net/pfil.c", "pfil_run_hooks", "kernel"),
    ],
)
def test_a_file_defines_a_function_by_its_names(path: str, function: str, module: str) -> None:
    assert defines(path, Function(function, module))


@pytest.mark.parametrize(
    ("path", "function", "module"),
    [
        ("sys/netpfil/pf/pf.c", "pfil_run_hooks", "kernel"),
        ("sys/netpfil/pf/pf.c", "ipfw_chk", "ipfw"),
        ("sys/modules/pf/Makefile", "pf_test", "pf"),
        ("sys/netinet/ip_fastfwd.c", "ip_tryforward", "kernel"),
        ("sys/net/if.c", "ip_input", "kernel"),
        ("sys/kern/init_main.c", "in_cksum_skip", "kernel"),
        ("sys/net/if_.c", "___", "kernel"),
        ("", "pf_test", "kernel"),
    ],
)
def test_other_files_do_not(path: str, function: str, module: str) -> None:
    assert not defines(path, Function(function, module))


def touched(*paths: Sequence[str] | None) -> list[Revision]:
    """A good revision, and a candidate for each set of paths; None: they are not known."""
    found = [Revision(name="good")]
    for number, those in enumerate(paths):
        kept = None if those is None else list(those)
        found.append(Revision(name=f"r{number}", paths=kept, path_count=kept and len(kept)))
    return found


PF = [Function("pf_test", "pf"), Function("pf_find_state", "pf")]


def test_what_touches_no_file_of_a_changed_function_weighs_a_fifth() -> None:
    prior = prior_of(touched(["sys/netpfil/pf/pf.c"], ["sys/dev/em.c"], None), [], PF)
    assert prior.weights == [1.0, ELSEWHERE, 1.0]
    assert prior.likelier == {1: "sys/netpfil/pf/pf.c (pf_test, pf_find_state)"}
    assert min(prior.weights) / max(prior.weights) >= 1 / 20


def test_where_none_or_all_do_weights_are_equal() -> None:
    elsewhere, pf = ["sys/dev/em.c"], ["sys/netpfil/pf/pf.c"]
    assert prior_of(touched(elsewhere, elsewhere), [], PF).weights is None
    assert prior_of(touched(pf, pf), [], PF).weights is None
    assert prior_of(touched(pf, elsewhere), [], []).weights is None


def test_in_a_tree_with_kernel_sources_user_space_defines_nothing() -> None:
    ipfw = [Function("ipfw_chk", "ipfw")]
    tool, kernel = ["sbin/ipfw/main.c"], ["sys/netpfil/ipfw/ip_fw2.c"]
    assert prior_of(touched(tool, kernel, ["README"]), [], ipfw).likelier.keys() == {2}


@pytest.fixture
def truth() -> Truth:
    truth = Truth()
    lab.measured_before(truth)
    return truth


def profile(index: int, **fields: Any) -> None:
    store(str(Run.objects.get(revision=lab.revision(index)).uuid), boots_of(**fields))


@pytest.fixture
def profiled(truth: Truth) -> Truth:
    """The lookup of routes is dearer from the bad end on; commits 9 and 12 touch its file."""
    profile(0)
    profile(truth.count, lookup=900, pps=0.6e6)
    for index in range(1, truth.count + 1):
        touch(index, LOOKUP if index in (9, 12) else "sys/dev/em.c")
    return truth


pytestmark = pytest.mark.django_db


def test_profiles_around_the_range_raise_the_weights_of_commits_to_their_files(
    profiled: Truth,
) -> None:
    settle(unlikely_paths="*.md")
    touch(3, "README.md")
    draft = lab.draft(profiled)
    assert draft.bisect.weights is not None
    assert {at for at, weight in enumerate(draft.bisect.weights, 1) if weight == 1} == {9, 12}
    assert draft.bisect.weights[2] == UNLIKELY
    assert [(one.revision.name, one.why) for one in draft.likelier] == [
        (lab.name(9), f"{LOOKUP} (fib4_lookup)"),
        (lab.name(12), f"{LOOKUP} (fib4_lookup)"),
    ]
    assert draft.likelier_sentence.startswith("2 of 16 commits touch a file that by its name")
    assert draft.prior_sentence.endswith("of the weight of the likeliest.")


def test_page_report_and_json_name_function_and_file(profiled: Truth, client: Any) -> None:
    bisect = lab.work(profiled, start_bisect(draft=lab.draft(profiled), created_by=make.user("a")))
    assert (bisect.outcome, bisect.culprit) == ("single", lab.revision(9))
    view, why = view_of(bisect), f"{LOOKUP} (fib4_lookup)"
    page = client.get(bisect.get_absolute_url()).content.decode()
    assert f"profiles: {why}" in page
    assert view.likelier_sentence in page
    assert f"[touches {why}]" in as_markdown(view).replace("\\", "")
    answer = client.get(f"/api/v1/bisects/{bisect.pk}").json()
    assert answer["likelier"][0] == {"revision": lab.name(9), "why": why}
    names = [revision.name for revision in view.revisions]
    assert [row.text for row in replay(bisect, names)] == [row.text for row in view.decisions]


def test_profiles_on_one_side_or_beyond_another_change_move_no_weight(truth: Truth) -> None:
    touch(9, LOOKUP)
    touch(10, "sys/dev/em.c")
    profile(-2)
    assert lab.draft(truth).bisect.weights is None
    profile(truth.count + 1, lookup=900, pps=0.6e6)
    assert lab.draft(truth).bisect.weights is not None
    make.finding(lab.series(truth), lab.revision(-1), lab.revision(0))
    assert lab.draft(truth).bisect.weights is None
