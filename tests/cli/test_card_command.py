"""`unseen data card`: a card from data, its audit, and the survey."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from unseen.cards import read_document
from unseen.cli.card import app
from unseen.errors import InputError, UnknownNameError

COLUMNS = ["--text", "text", "--label", "label", "--id", "id"]
README = """---
language: en
---
# Kitchen
## Dataset Creation
### Personal and Sensitive Information
Names were removed.
## Considerations
### Other Known Limitations
The dataset is small.
"""


def run(*words: str) -> Any:
    """What a command printed; an error of the user's is raised."""
    done = CliRunner().invoke(app, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_a_card_is_begun_and_audited(folder: Path) -> None:
    made = run("init", "posts.csv", *COLUMNS, "-o", "card.json", "-q")
    assert made.exit_code == 0
    assert "social                13         1            1" in made.stdout
    assert "impact_negative          curator" in made.stdout
    assert made.stdout.endswith("written: card.json\n")
    card = read_document("card.json").card
    assert card["n_items"].value == 60
    assert card["n_items"].date
    judged = run("audit", "card.json", "posts.csv", *COLUMNS, "-q", "-o", "card.md")
    assert judged.exit_code == 0
    assert "ok      card.declared.checksum" in judged.stdout
    assert "impact\\_negative: **unknown**" in Path("card.md").read_text()
    assert run("audit", "card.json", "--strict").exit_code == 1


def test_the_same_command_again_keeps_what_people_wrote(folder: Path) -> None:
    run("init", "posts.csv", *COLUMNS, "-q")
    content = json.loads(Path("card.json").read_text())
    content["fields"]["impact_negative"] = {"value": "it may bore", "status": "assessed", "role": "curator"}
    Path("card.json").write_text(json.dumps(content))
    run("init", "posts.csv", *COLUMNS, "-q")
    assert read_document("card.json").card["impact_negative"].value == "it may bore"


def test_a_readme_is_taken_over_and_audited(folder: Path) -> None:
    Path("README.md").write_text(README)
    run("init", "posts.csv", *COLUMNS, "--readme", "README.md", "-o", "card.yaml", "-q")
    card = read_document("card.yaml").card
    assert card["limitations_technical"].value == "The dataset is small."
    assert card["personal_sensitive_info"].value["text"] == "Names were removed."
    assert card["personal_sensitive_info"].value["rate_per_1000"]["email"] == 0
    judged = run("audit", "README.md")
    assert "warn    card.personal_information_place" in judged.stdout


def test_a_checked_sample_gives_the_precision(folder: Path, write_posts: Any) -> None:
    write_posts(folder / "posts.csv", edit=lambda n, row: {"text": "a@b.co"} if n < 4 else {})
    run("init", "posts.csv", *COLUMNS, "--to-check", "check.csv", "-q")
    with Path("check.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["category"]) for row in rows] == [(f"p0{n}", "email") for n in range(4)]
    answers = [f"{row['id']},email,{'no' if row['id'] == 'p00' else 'yes'}" for row in rows]
    Path("check.csv").write_text("\n".join(["id,category,right", *answers]))
    again = run("init", "posts.csv", *COLUMNS, "--checked", "check.csv", "-q")
    assert ".75 [.30, .95] (n = 4)" in again.stdout
    assert read_document("card.json").card["personal_sensitive_info"].value["precision"]["email"]["right"] == 0.75


def test_annotators_terms_and_parts(folder: Path) -> None:
    votes = [f"p{n:02},{who},{('calm', 'loud')[n % 2]},{who}" for n in range(60) for who in "ab"]
    Path("votes.csv").write_text("\n".join(["item,annotator,label,group", *votes]))
    Path("terms.txt").write_text("rain\nsoup\n")
    Path("parts.csv").write_text("\n".join(["id,part", *(f"p{n:02},{('train', 'test')[n < 6]}" for n in range(60))]))
    given = ["--annotations", "votes.csv", "--terms", "terms.txt", "--split", "parts.csv"]
    made = run("init", "posts.csv", *COLUMNS, *given, "--json", "-q")
    content = json.loads(made.stdout)
    assert {each["check"]: each["level"] for each in content["findings"]}["card.agreement"] == "ok"
    card = read_document("card.json").card
    assert card["splits"].value == {"train": 54, "test": 6}
    assert set(card["identity_mentions"].value) == {"rain", "soup"}
    assert card["label_bias_evidence"].value["agreement"]["all"]["value"] == 1.0


def test_data_that_the_card_does_not_describe_fails(folder: Path, write_posts: Any) -> None:
    run("init", "posts.csv", *COLUMNS, "-q")
    write_posts(folder / "posts.csv", n=50)
    judged = run("audit", "card.json", "posts.csv", *COLUMNS, "--json", "-q")
    assert judged.exit_code == 1
    content = json.loads(judged.stdout)
    assert content["passed"] is False
    assert [each["check"] for each in content["findings"] if each["level"] == "fail"] == ["card.declared.checksum"]


def test_data_is_loaded_for_an_audit_as_for_other_commands(folder: Path) -> None:
    table = Path("posts.csv").read_text().replace(",", "|").replace("rain", "r\xe4in")
    Path("posts.txt").write_bytes(table.encode("latin-1"))
    loading = [*COLUMNS, "--delimiter", "|", "--encoding", "latin-1", "--attribute", "user"]
    assert run("init", "posts.txt", *loading, "-q").exit_code == 0
    assert read_document("card.json").card["columns"].value == ["id", "text", "label", "user"]
    judged = run("audit", "card.json", "posts.txt", *loading, "--json", "-q")
    content = json.loads(judged.stdout)
    assert judged.exit_code == 0
    levels = {each["check"]: each["level"] for each in content["findings"] if "declared" in each["check"]}
    assert levels["card.declared.checksum"] == levels["card.declared.n_items"] == "ok"
    assert any(row["metric"] == "label_share" for row in content["measurements"])


def test_the_survey_prints_the_matrix_of_the_paper() -> None:
    lines = run("survey", "--builtin").stdout.splitlines()
    assert [line.split()[-8:-5] for line in lines[1:]] == [
        ["3", "4", "4"],
        ["1", "0", "5"],
        ["7", "0", "5"],
        ["3", "0", "1"],
    ]
    content = json.loads(run("survey", "--builtin", "--json").stdout)
    assert content[0]["titles"]["social"][1] == "social impact of dataset"
    assert content[0]["page"] == "hugging_face.md"


def test_pages_of_ones_own_are_surveyed(folder: Path) -> None:
    Path("README.md").write_text(README)
    (line,) = run("survey", "README.md").stdout.splitlines()[1:]
    assert " ".join(line.split()) == "README.md Hugging Face 0 2 0 0 + 2 + 0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["init", "posts.csv", *COLUMNS, "--texts"], "without --to-check"),
        (["init", "posts.csv", *COLUMNS, "-o", "card.txt"], "no name for a card"),
        (["init", "posts.csv", *COLUMNS, "-o", "posts.csv"], "no name for a card"),
        (["audit", "posts.csv"], "no card that is known"),
        (["audit", "card.json", "--text", "text"], "--text has no effect without DATA"),
        (
            ["audit", "card.json", "--encoding", "latin-1", "-a", "user", "--data-dir", "."],
            "--attribute, --encoding, --data-dir has no effect without DATA",
        ),
        (["audit", "card.json", "--split", "parts.csv"], "--split has no effect without DATA"),
        (["audit", "card.json", "-o", "card.html"], "no name for a readable card"),
        (["survey"], "name pages"),
        (["survey", "card.json", "--builtin"], "name pages"),
    ],
)
def test_wrong_use_is_refused_and_writes_nothing(words: list[str], said: str, folder: Path) -> None:
    Path("card.json").write_text('{"unseen_card": 1, "name": "a", "fields": {}}')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=said):
        run(*words)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_dataset_that_nobody_knows(folder: Path) -> None:
    Path("card.json").write_text('{"unseen_card": 1, "name": "a", "fields": {}}')
    with pytest.raises(UnknownNameError):
        run("audit", "card.json", "nowhere")


@pytest.mark.parametrize("name", ["stormfront", "davidson"])
def test_cards_of_real_datasets(name: str, shared_data: Path, folder: Path) -> None:
    made = run("init", name, "--data-dir", str(shared_data), "-q")
    assert made.exit_code == 0
    card = read_document("card.json").card
    rates = card["personal_sensitive_info"].value["rate_per_1000"]
    assert card["licence"].value == {"stormfront": "CC BY-SA 3.0 ES", "davidson": "MIT"}[name]
    assert card["scripts"].value["Latn"] > 0.99
    if name == "davidson":
        assert rates["handle"] == 0
        assert rates["handle_masked"] > 500
        assert "14,162 texts hold a placeholder" in card["personal_sensitive_info"].value["text"]
    else:
        assert card["n_items"].evidence == ("declared: 10944 (catalogue of unseen)",)
        assert 1 < rates["email"] < 5


def test_the_command_imports_nothing_heavy() -> None:
    code = "import sys, unseen.cli.card; print(sorted({'pyarrow', 'numpy', 'yaml', 'scipy'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
