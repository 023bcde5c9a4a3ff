"""What comes from elsewhere runs no code unless the user says --trust."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unseen as package
from tiny_transformer import write_transformer

CODE = """
from pathlib import Path
from transformers import BertConfig, BertModel, BertForSequenceClassification, PreTrainedTokenizerFast
Path({marker!r}).touch()
class Mine(BertConfig):
    model_type = "mine"
class Model(BertModel):
    config_class = Mine
class Labels(BertForSequenceClassification):
    config_class = Mine
class Tokens(PreTrainedTokenizerFast):
    pass
"""


@pytest.fixture
def hostile(folder: Path) -> Path:
    """A model folder whose code leaves the file `ran` when it is imported."""
    place = write_transformer(folder / "hostile", ["rain", "wind", "soup", "salt"])
    (place / "code.py").write_text(CODE.format(marker=str(folder / "ran")))
    for name, added in (
        ("config.json", {"model_type": "mine", "auto_map": {
            "AutoConfig": "code.Mine", "AutoModel": "code.Model", "AutoModelForSequenceClassification": "code.Labels",
        }}),
        ("tokenizer_config.json", {"tokenizer_class": "Tokens", "auto_map": {"AutoTokenizer": [None, "code.Tokens"]}}),
    ):  # fmt: skip
        content = json.loads((place / name).read_text())
        (place / name).write_text(json.dumps(content | added))
    return place


COMMANDS = {
    "encode": ["encode", "posts.csv", "--model", "hostile"],
    "train": ["train", "posts.csv", "--model", "hostile"],
    "stress": ["stress", "posts.csv", "--model", "hostile"],
    "dry-run": ["stress", "posts.csv", "--model", "hostile", "--dry-run"],
    "predict": ["predict", "posts.csv", "--model", "hostile"],
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_code_of_a_model_folder_is_not_run(
    program: Callable[..., Any], hostile: Path, folder: Path, words: list[str]
) -> None:
    done = program(*words, cwd=folder, input="yes\n" * 100)
    assert not (folder / "ran").exists()
    assert done.code in (1, 2), done
    assert "--trust" in done.out + done.err
    assert "Traceback" not in done.err


def test_code_of_a_model_folder_is_run_for_whoever_trusts_it(
    program: Callable[..., Any], hostile: Path, folder: Path
) -> None:
    done = program("encode", "posts.csv", "--model", "hostile", "--trust", "-q", cwd=folder)
    assert done.code == 0, done.err
    assert (folder / "ran").exists()


def test_one_place_opens_what_transformers_reads() -> None:
    sources = Path(package.__file__).parent.rglob("*.py")
    calls = [each.name for each in sources if re.search(r"\.from_pretrained\(|[^_]pipeline\(\"", each.read_text())]
    assert calls == ["checkpoints.py"]
