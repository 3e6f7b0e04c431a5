"""The commands that docs/operating.md shows."""

import io
import json
import re
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from django.core.management import call_command

from webapp.accounts.models import User
from webapp.labs.models import Token
from webapp.results.models import Revision

PAGE = Path(__file__).parents[1] / "docs" / "operating.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """The commands of Django that the page shows; the other one starts an instance."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line != "DRIFTLINE_PUBLIC=true make up"]


@pytest.mark.django_db
def test_every_command_of_the_page_works_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a long password")
    Path("history.csv").write_text("revision\nr1\n", encoding="utf-8")
    Path("history.jsonl").write_text(json.dumps({"revision": "r2"}), encoding="utf-8")
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@bsd.example"]
    for arguments in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *identity, *arguments], check=True)
    User.objects.create_user("grace")
    written = commands()
    assert len(written) == 10
    for command in written:
        program, script, *arguments = shlex.split(command)
        assert (program, script) == ("python", "manage.py")
        if "<" in arguments:
            arguments, (_, file) = arguments[:-2], arguments[-2:]
            monkeypatch.setattr("sys.stdin", io.StringIO(Path(file).read_text(encoding="utf-8")))
        if arguments == ["createsuperuser"]:
            arguments += ["--noinput", "--username=ada", "--email=ada@bsd.example"]
        here = [str(tmp_path) if one == "/usr/src" else one for one in arguments]
        with suppress(SystemExit):  # of the doctor: no worker runs here
            call_command(*here, stdout=io.StringIO())
    assert User.objects.filter(is_superuser=True).count() == 1
    assert User.objects.get(username="grace").role == User.Role.TRIAGER
    assert Token.objects.usable().count() == 1
    assert set(Revision.objects.values_list("name", flat=True)) == {"r1", "r2", "n1"}
