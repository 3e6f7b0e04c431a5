"""Loading the demonstration: the real path, again, and what goes wrong."""

import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from tests import make
from webapp.accounts.models import User
from webapp.demo.loading import DemonstrationError, Loading
from webapp.demo.parts import Part, published_part, simulated_part
from webapp.labs import services
from webapp.labs.models import Token
from webapp.results.models import Hardware, Metric, Mode, Revision, Run, Series, Tree
from webapp.results.services.named_rows import forget_names

MakeLoading = Callable[..., Loading]
REAL_AGENT = f"import sys; sys.path[:0] = {sys.path!r}; from labagent.cli import main; main()"
PUBLISHED_RUNS = 26


def script(path: Path, python: str) -> Path:
    """An executable at `path` that runs `python`."""
    path.write_text(f"#!{sys.executable}\n{python}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def published_without_history() -> Part:
    return replace(published_part(), histories=())


@pytest.fixture
def make_loading(tmp_path: Path) -> MakeLoading:
    """A loading of the published part alone, by the agent that `python` is."""

    def make(
        python: str = REAL_AGENT, server: str = "http://127.0.0.1:1/", **changes: object
    ) -> Loading:
        loading = Loading(
            server=server,
            public_url="http://127.0.0.1:8000/",
            directory=tmp_path / "demo",
            command=script(tmp_path / "labagent", python),
            patience=60,
            say=lambda _line: None,
            parts=[published_without_history],
        )
        return replace(loading, **changes)  # type: ignore[arg-type]

    return make


@pytest.fixture
def names_forgotten() -> Iterator[None]:
    """Names of tests before are forgotten by the server, and those of this one after it."""
    forget_names()
    yield
    forget_names()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("names_forgotten", "worker")
class TestRealPath:
    def test_everything_is_stored_analysed_and_known(
        self, live_server: LiveServer, make_loading: MakeLoading
    ) -> None:
        lines: list[str] = []
        make_loading(server=live_server.url, parts=[published_part], say=lines.append).load()
        assert Run.objects.filter(agent__lab__simulated=False).count() == PUBLISHED_RUNS
        assert not Series.objects.dirty().exists()
        assert make.compared()
        assert Revision.objects.get(name="r303643").author_name == "mjg"
        assert not Token.objects.usable().exists()
        assert User.objects.filter(username="demo", is_superuser=True).exists()
        assert "password" in lines[-1]

    @pytest.mark.long
    def test_the_simulated_lab_is_too(
        self, live_server: LiveServer, make_loading: MakeLoading
    ) -> None:
        make_loading(server=live_server.url, parts=[simulated_part, published_part]).load()
        assert Run.objects.filter(agent__lab__simulated=False).count() == PUBLISHED_RUNS
        assert Run.objects.filter(agent__lab__simulated=True).count() > 1000
        assert not Series.objects.dirty().exists()
        assert Revision.objects.filter(subject__startswith="Planted").count() == 11

    @pytest.mark.long
    def test_a_second_time_sends_nothing(
        self, live_server: LiveServer, make_loading: MakeLoading
    ) -> None:
        make_loading(server=live_server.url).load()
        runs = set(Run.objects.values_list("uuid", "received_at"))
        make_loading("raise SystemExit('not to be called')").load()
        assert set(Run.objects.values_list("uuid", "received_at")) == runs
        assert Token.objects.count() == 1

    @pytest.mark.long
    def test_a_load_that_was_cut_short_goes_on(
        self, live_server: LiveServer, make_loading: MakeLoading
    ) -> None:
        make_loading(server=live_server.url).load()
        kept = set(Run.objects.values_list("uuid", flat=True))
        Run.objects.filter(revision__name="r325006").delete()
        make_loading(server=live_server.url).load()
        assert set(Run.objects.values_list("uuid", flat=True)) == kept


@pytest.mark.django_db
class TestFailures:
    def test_the_agent_sees_the_token_and_nothing_else_of_the_server(
        self, make_loading: MakeLoading, tmp_path: Path
    ) -> None:
        spy = f"import os; open({str(tmp_path / 'seen')!r}, 'w').write(repr(dict(os.environ)))"
        with pytest.raises(DemonstrationError, match="26 of 26 runs were not stored"):
            make_loading(spy).load()
        seen = (tmp_path / "seen").read_text()
        assert "DRIFTLINE_TOKEN" in seen
        assert "SECRET_KEY" not in seen
        assert "DATABASE_URL" not in seen

    def test_an_agent_that_fails_is_quoted_and_its_token_ends(
        self, make_loading: MakeLoading
    ) -> None:
        failing = "import sys; print('no answer from the server', file=sys.stderr); sys.exit(5)"
        with pytest.raises(DemonstrationError, match="status 5:\nno answer from the server"):
            make_loading(failing).load()
        assert Token.objects.count() == 1
        assert not Token.objects.usable().exists()

    def test_an_agent_that_is_not_installed_names_the_remedy(
        self, make_loading: MakeLoading, tmp_path: Path
    ) -> None:
        with pytest.raises(DemonstrationError, match="make setup"):
            make_loading(command=tmp_path / "nowhere").load()

    def test_an_upload_that_takes_too_long_is_ended(self, make_loading: MakeLoading) -> None:
        with pytest.raises(DemonstrationError, match=r"more than 0\.5 s; start again"):
            make_loading("import time; time.sleep(60)", patience=0.5).load()
        assert not Token.objects.usable().exists()

    def test_hardware_of_another_lab_is_left_to_it(self, make_loading: MakeLoading) -> None:
        name = "Published_Atom_C2558_4Cores/Intel_i350"
        lab = services.create_agent(name="control", lab_name="netlab").lab
        Hardware.objects.create(name=name, lab=lab)
        with pytest.raises(DemonstrationError, match=f"{name}.*load it into another instance"):
            make_loading().load()

    def test_without_a_worker_the_wait_ends_with_a_question_about_it(
        self, make_loading: MakeLoading
    ) -> None:
        part = published_part()
        lab = services.create_agent(name="demonstration", lab_name=part.lab).lab
        _dirty_series(lab_pk=lab.pk)
        with pytest.raises(DemonstrationError, match=r"1 series still wait.*is the worker running"):
            make_loading(patience=0.2, parts=[lambda: _nothing_of(part)]).load()

    def test_a_token_of_a_load_that_was_killed_ends_with_the_next(
        self, make_loading: MakeLoading
    ) -> None:
        part = _nothing_of(published_part())
        agent = services.create_agent(name="demonstration", lab_name=part.lab)
        services.issue_token(agent=agent)
        make_loading(parts=[lambda: part]).load()
        assert not Token.objects.usable().exists()

    def test_a_foreign_series_that_waits_is_not_waited_for(self, make_loading: MakeLoading) -> None:
        other = services.create_agent(name="control", lab_name="netlab").lab
        _dirty_series(lab_pk=other.pk)
        make_loading(patience=0.2, parts=[lambda: _nothing_of(published_part())]).load()

    def test_the_command_ends_with_the_message(self) -> None:
        lab = services.create_agent(name="control", lab_name="netlab").lab
        Hardware.objects.create(name="Simulated_NVMe", lab=lab)
        with pytest.raises(CommandError, match="load it into another instance"):
            call_command("load_demo", server="http://127.0.0.1:1/")


def _nothing_of(part: Part) -> Part:
    """`part` with everything there already."""
    return replace(part, written=replace(part.written, value_files=()))


def _dirty_series(*, lab_pk: int) -> None:
    """A series on hardware of the lab that nobody analyses."""
    Series.objects.create(
        tree=Tree.objects.create(name="freebsd-head"),
        hardware=Hardware.objects.create(name="bench/nic", lab_id=lab_pk),
        mode=Mode.objects.create(name="forwarding", workload="forwarding"),
        metric=Metric.objects.create(name="pps", unit="packets/s", better="more"),
        dirty_from=0,
        dirty_since=timezone.now(),
    )
