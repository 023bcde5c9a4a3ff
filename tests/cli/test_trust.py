"""What comes from elsewhere runs no code unless the user says --trust."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
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
    "encode": ["model", "encode", "posts.csv", "--encoder", "hostile"],
    "train": ["model", "train", "posts.csv", "--model", "hostile"],
    "stress": ["stress", "posts.csv", "--model", "hostile"],
    "dry-run": ["stress", "posts.csv", "--model", "hostile", "--plan"],
    "predict": ["model", "predict", "posts.csv", "--model", "hostile"],
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_code_of_a_model_folder_is_not_run(
    forked: Callable[..., Any], hostile: Path, folder: Path, words: list[str]
) -> None:
    done = forked(*words, cwd=folder, input="yes\n" * 100)
    assert not (folder / "ran").exists()
    assert done.code in (1, 2), done
    assert "--trust" in done.out + done.err
    assert "Traceback" not in done.err


def test_code_of_a_model_folder_is_run_for_whoever_trusts_it(
    forked: Callable[..., Any], hostile: Path, folder: Path
) -> None:
    done = forked("model", "encode", "posts.csv", "--encoder", "hostile", "--trust", "-q", cwd=folder)
    assert done.code == 0, done.err
    assert (folder / "ran").exists()


STRANGE = """
from pathlib import Path
Path("ran").touch()
def alter(text, draw):
    return text.upper()
class Recipe:
    def __init__(self, **params):
        Path("called").touch()
    def fit(self, train, dev, seed): ...
"""
STUDY = """
[data.sample]
limit = 200
[model.tfidf]
use = "logistic"
[space.tfidf]
[measure]
seen_folds = 0
[split.random]
[split.closest]
[[experiment]]
name = "all"
"""
SUITE = """
labels = ["yes", "no"]
[[tests]]
functionality = "plain"
label = "yes"
templates = ["It is so."]
[[tests]]
functionality = "more"
label = "no"
templates = ["It is not so."]
[[tests]]
functionality = "altered"
of = "plain"
alter = "PLACE"
"""
FILES = {
    "model": STUDY + '[model.own]\nuse = "strange:Recipe"\n',
    "shell": STUDY + '[model.own]\nuse = "os:system"\ncommand = "touch ran"\n',
    "split": STUDY + '[split.own]\nuse = "strange:Recipe"\n',
    "setting": STUDY + '[model.own]\nuse = "logistic"\nfeatures = "strange:Recipe"\n',
    "file's own word": STUDY + '[model.own]\nuse = "strange.joblib"\ntrust = true\n',
    "pipeline": 'kind = "validation"\n[data]\nsource = "posts.csv"\nauthor = "user"\n[pipeline.own]\n'
    'leaking = "strange:alter"\ncorrected = "strange:alter"\n',
    "name of a model": 'kind = "validation"\n[data]\nsource = "posts.csv"\nauthor = "user"\n'
    '[model."strange:Recipe"]\n[validate]\nfolds = 2\n',
    "alter": SUITE.replace("PLACE", "strange:alter"),
    "builtin": SUITE.replace("PLACE", "cProfile:run"),
}


@pytest.fixture
def strange(folder: Path) -> Iterator[Path]:
    """A folder with a module that leaves `ran` when it is imported, and `called` when its class is called."""
    (folder / "strange.py").write_text(STRANGE)
    yield folder
    sys.modules.pop("strange", None)


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_code_that_a_file_names_is_neither_imported_nor_called(
    unseen: Callable[..., Any], strange: Path, content: str
) -> None:
    (strange / "file.toml").write_text(content)
    done = unseen(
        *(
            ["data", "suite", "build", "file.toml"]
            if "[[tests]]" in content
            else ["study", "run", "file.toml", "--plan"]
        )
    )
    assert done.code == 2
    assert "--trust" in done.err
    assert not (strange / "ran").exists()


def test_a_model_that_is_refused_is_the_only_problem(unseen: Callable[..., Any], strange: Path) -> None:
    text = STUDY.replace('"logistic"', '"os:system"') + '[[experiment]]\nname = "named"\nmodels = ["tfidf"]\n'
    (strange / "file.toml").write_text(text)
    done = unseen("study", "run", "file.toml", "--plan")
    assert [line for line in done.err.splitlines() if line.startswith("  - ")] == [
        "  - [model.tfidf] names code that runs only with --trust: os:system"
    ]


def test_a_plan_looks_at_code_that_is_trusted_and_does_not_call_it(unseen: Callable[..., Any], strange: Path) -> None:
    (strange / "file.toml").write_text(STUDY + 'models = ["own"]\n' + '[model.own]\nuse = "strange:Recipe"\n')
    done = unseen("study", "run", "file.toml", "--plan", "--trust")
    assert done.code == 0, done.err
    assert (strange / "ran").exists()
    assert not (strange / "called").exists()
    done = unseen("stress", "posts.csv", "--model", "strange:Recipe", "--plan", "--trust")
    assert not (strange / "called").exists()


@pytest.mark.parametrize(
    ("kind", "said"), [("shell", "is not a recipe"), ("split", "is not a splitter"), ("builtin", "is not a pert")]
)
def test_trusted_code_must_be_what_it_is_taken_for(
    unseen: Callable[..., Any], strange: Path, kind: str, said: str
) -> None:
    (strange / "file.toml").write_text(FILES[kind])
    words = ["data", "suite", "build", "file.toml"] if kind == "builtin" else ["study", "run", "file.toml", "--plan"]
    done = unseen(*words, "--trust")
    assert done.code == 2
    assert said in done.err


def test_a_suite_may_use_trusted_code(unseen: Callable[..., Any], strange: Path) -> None:
    (strange / "file.toml").write_text(FILES["alter"])
    assert unseen("data", "suite", "build", "file.toml", "--trust").code == 0
    assert "IT IS SO." in (strange / "suite.csv").read_text()


def test_one_place_opens_what_transformers_reads() -> None:
    sources = Path(package.__file__).parent.rglob("*.py")
    calls = [each.name for each in sources if re.search(r"\.from_pretrained\(|[^_]pipeline\(\"", each.read_text())]
    assert calls == ["checkpoints.py"]
