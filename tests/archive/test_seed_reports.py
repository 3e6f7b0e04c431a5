"""The five documents that a lab wrote by hand, made from the data of their directories.

What remains of a difference stands in `EXPLAINED`, each with its reason; white space is left out,
for the documents show tabs as spaces.
"""

import difflib
import json
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from labagent.model import Overrides, Run, runs_of
from labagent.readers.benchlab import read_directories
from labagent.upload import directories_of

from tests.archive import goldens
from webapp.labs import services as labs

SEEDS = goldens.SHARED / "seeds"
ATOM, XEON = "Atom_C2558_4Cores/Intel_i350", "Xeon_E5-2650_8Cores/Chelsio_T540-CR"
DIRECTORIES = {
    "000": "Atom_C2758_8Cores/Chelsio_T540-CR/firewalls/results/fbsd12-head.r303643",
    "001": f"{ATOM}/firewalls/results/fbsd12-head.r317849.VIMAGE",
    "002": f"{XEON}/fastforwarding-pf-ipfw.4nxq10g/results/fbsd11-head.r295150.mbuf",
    "003": f"{XEON}/firewalls/results/fbsd12-head.r325006.yandex.D12685",
    "004": f"{ATOM}/firewalls/results/fbsd11-routing.r287531",
}
EXPLAINED = {
    r"!\[.*\]\(graph\.png\)": "the picture has the title as its text, and the lab's may differ",
    r"(.* a|A)gainst .*: .*\.|VIMAGE: .*\.": "the product's sentence",
    r"\|.*\|": "the product's table",
    r"Typed: r312663; the data are of r317849\.": "a contradiction, which the lab did not see",
    r"As of .*, report \d+\.": "when the report is of",
}
FIGURES = r"^[x+*%]( +\d+ +[\d.]+ +[\d.]+) +[\d.]+ +([\d.]+)"
"""Number, least and largest of a set, and its mean: what no order of the sets changes."""

BLOCKS = {"000": 3, "001": 3, "002": 3, "003": 2, "004": 1}
FLAVOUR_2016 = {"002": 1, "004": 1}

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.archive,
    pytest.mark.skipif(not SEEDS.exists(), reason="the lab archive is not beside the checkout"),
]


@pytest.fixture
def agent() -> Client:
    token = labs.issue_token(agent=labs.create_agent(name="control", lab_name="netlab")).text
    return Client(headers={"Authorization": f"Bearer {token}"})


def upload(agent: Client, *directories: str) -> list[Run]:
    found = read_directories([goldens.ARCHIVE / one for one in directories], Overrides())
    runs = runs_of(list(found))
    body = {"runs": [run.document() for run in runs]}
    sent = agent.post("/api/v1/runs?register=true", json.dumps(body), "application/json")
    assert sent.status_code in {200, 201}, sent.content
    return runs


def experiment(agent: Client, seed: str, *, with_readme: bool = True) -> int:
    (directory,) = directories_of(upload(agent, DIRECTORIES[seed]))
    body = directory.document() | ({} if with_readme else {"readme": ""})
    made = agent.post("/api/v1/experiments", json.dumps(body), "application/json")
    assert made.status_code == 201, made.content
    return int(made.json()["number"])


def lines(text: str) -> list[str]:
    """White space is as in the documents: tabs may be spaces, and nobody minds blank lines."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def differences(seed: str, text: str) -> Iterator[str]:
    (typed,) = SEEDS.glob(f"{seed}_*.txt")
    for line in difflib.ndiff(lines(typed.read_text()), lines(text)):
        if line[:2] in {"- ", "+ "}:
            yield line[2:]


def explained(line: str) -> bool:
    return any(re.fullmatch(pattern, line) for pattern in EXPLAINED)


@pytest.mark.parametrize("seed", DIRECTORIES)
def test_a_report_is_the_document_that_the_lab_wrote(
    agent: Client, client: Client, seed: str
) -> None:
    text = client.get(f"/experiments/{experiment(agent, seed)}.md").content.decode()
    assert [line for line in differences(seed, text) if not explained(line)] == []
    assert text.count("Stddev") == BLOCKS[seed]
    (typed,) = SEEDS.glob(f"{seed}_*.txt")
    for block in re.findall(r"^```\n(.*?)\n```", typed.read_text(), re.MULTILINE | re.DOTALL):
        assert block.rstrip() in text


@pytest.mark.parametrize("seed", DIRECTORIES)
def test_without_its_readme_the_blocks_and_the_sentence_remain(
    agent: Client, client: Client, seed: str
) -> None:
    number = experiment(agent, seed, with_readme=False)
    text = client.get(f"/experiments/{number}.md").content.decode()
    figures = {line for line in lines(text) if line.startswith(("x ", "+ ", "* ", "% "))}
    (typed,) = SEEDS.glob(f"{seed}_*.txt")
    sets = re.findall(FIGURES, typed.read_text(), re.MULTILINE)
    assert len(sets) >= 2
    for start, mean in sets:
        head = " ".join(start.split())
        assert any(head in line and mean in line for line in figures), (head, mean)
    assert re.search(r"gainst .*: ", text) or "VIMAGE: " in text
    assert "Cores " in text
    assert client.get(f"/experiments/{number}.svg").status_code == 200


@pytest.mark.parametrize("seed", FLAVOUR_2016)
def test_the_block_of_an_older_ministat_is_found_to_be_one(
    agent: Client, client: Client, seed: str
) -> None:
    number = experiment(agent, seed)
    page = client.get(f"/experiments/{number}/")
    flavours = [part.cell.flavour for part in page.context["report"].parts]
    assert flavours.count("2016") == FLAVOUR_2016[seed]


def test_a_second_session_of_the_commit_leaves_the_report_as_it_was(
    agent: Client, client: Client
) -> None:
    number = experiment(agent, "000")
    before = client.get(f"/experiments/{number}.md").content
    runs = upload(agent, DIRECTORIES["000"])
    again = [
        run.document() | {"uuid": str(run.uuid)[:-4] + "0000", "evidence": {"session": "again"}}
        for run in runs
    ]
    sent = agent.post("/api/v1/runs", json.dumps({"runs": again}), "application/json")
    assert sent.status_code == 201, sent.content
    assert client.get(f"/experiments/{number}.md").content == before


def test_what_was_typed_and_what_was_measured_differ_in_one_of_them(
    agent: Client, client: Client
) -> None:
    found = {
        seed: client.get(f"/experiments/{experiment(agent, seed)}/").context["report"]
        for seed in DIRECTORIES
    }
    assert {seed: one.contradictions for seed, one in found.items() if one.contradictions} == {
        "001": ["Typed: r312663; the data are of r317849."]
    }
