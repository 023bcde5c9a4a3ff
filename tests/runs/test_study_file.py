"""Study files: what they mean, and all their mistakes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen.runs.bench_file import read_bench
from unseen.runs.study_file import Study, read_study
from unseen.runs.transfer_file import read_datasets
from unseen.runs.validation import read_validation

SMALL = """
title = "Small"
seed = 7
[data.sample]
limit = 300
[model.neural]
epochs = 2
[model.tfidf]
use = "logistic"
[space.all]
model = ["neural", "tfidf"]
[split.random]
seeds = [1, 2]
[split.closest]
n_clusters = "3..6"
"""


def study(tmp_path: Path, content: str) -> Study:
    (tmp_path / "study.toml").write_text(content)
    return read_study(tmp_path / "study.toml")


def problems(tmp_path: Path, content: str) -> str:
    with pytest.raises(InputError) as caught:
        study(tmp_path, content)
    return "\n".join(caught.value.problems)


def test_a_study(tmp_path: Path) -> None:
    found = study(tmp_path, SMALL)
    assert (found.title, found.seed, found.seeds, found.metric) == ("Small", 7, (7,), "f1.macro")
    assert found.data["sample"].limit == 300
    assert found.models["tfidf"].use == "logistic"
    assert found.models["neural"].params == {"epochs": 2}
    assert list(found.spaces) == ["neural-own", "tfidf-own"]
    assert found.splits["random"].seeds == (1, 2)
    assert found.splits["closest"].knobs == {"n_clusters": [3, 4, 5, 6]}
    assert found.baseline.name == "random"
    (experiment,) = found.experiments
    assert (experiment.splits, experiment.models) == (("random", "closest"), ("own",))


def test_names_of_several_stand_for_all_of_them(tmp_path: Path) -> None:
    found = study(
        tmp_path,
        SMALL
        + 'vary.test = [0.1, 0.2]\n[[experiment]]\nname = "x"\nspaces = "all"\nsplits = "closest"\nmodels = ["tfidf"]',
    )
    assert list(found.splits) == ["random", "closest test=0.1", "closest test=0.2"]
    assert found.splits["closest test=0.2"].test == 0.2
    (experiment,) = found.experiments
    assert experiment.spaces == ("neural-own", "tfidf-own")
    assert experiment.splits == ("closest test=0.1", "closest test=0.2")
    assert found.variants["closest test=0.2"] == {"of": "closest", "test": 0.2}


def test_files_lie_beside_the_study(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text,label\n")
    (tmp_path / "aside.csv").write_text("text,label\n")
    found = study(tmp_path, SMALL.replace("limit = 300", 'source = "posts.csv"\nindependent = "aside.csv"'))
    assert found.data["sample"].source == str(tmp_path / "posts.csv")
    assert found.data["sample"].independent == str(tmp_path / "aside.csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("limit = 300", "limt = 300"), "[data.sample]: 'limt' is not known here; did you mean 'limit'?"),
        (("limit = 300", 'source = "smaple"'), "did you mean 'sample'?"),
        (("limit = 300", f'source = "{"x" * 999}"'), "[data.sample] File name too long"),
        (("limit = 300", "limit = 30"), "[data.sample] limit must be a whole number from 50 on, not 30"),
        (("limit = 300", "independent = 1.5"), "a number from 0 on and below 1 or the name of a file, not 1.5"),
        (("epochs = 2", "epoch = 2"), "[model.neural]"),
        (('use = "logistic"', 'use = "logistc"'), "did you mean 'logistic'?"),
        (('"neural", "tfidf"', '"neural", "tfid"'), "[space.all] model: 'tfid' is not defined; did you mean 'tfidf'?"),
        (("[space.all]", '[space.all]\nas = "bottleneck-50"'), "of transformers"),
        (("[space.all]", '[space.all]\nas = "pretrained-bottleneck-50"'), "pretrained vectors have none"),
        (("[split.random]", "[split.closets]"), "[split.random] is missing"),
        (("seeds = [1, 2]", "seeds = [1, 1]"), "[split.random] seeds: 1 must not stand there twice"),
        (("seeds = [1, 2]", "seeds = [1, 2]\ntest = 2"), "[split.random] test must be a number between 0 and 1, not 2"),
        (("[split.closest]", "[split.closest]\nn_cluster = 3"), "did you mean 'n_clusters'?"),
        (("[split.closest]", "[split.closest]\ntest_size = 0.2"), "is called test here"),
        (("[split.closest]", "[split.closest]\nvary.test = 0.2"), "[split.closest.vary] test must be a list of values"),
        (("[split.closest]", "[split.time]\n[split.closest]"), "reads an attribute"),
        (("title", "titel"), "'titel' is not known here; did you mean 'title'?"),
        (("[data.sample]", '[measure]\nmetric = "f1"\n[data.sample]'), "[measure] metric"),
        (("[data.sample]", '[data."a/b"]\nsource = "sample"\n[data.sample]'), "plain name"),
    ],
)  # fmt: skip
def test_mistakes_are_found_with_suggestions(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    assert said in problems(tmp_path, SMALL.replace(*change))


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    wrong = SMALL.replace("limit", "limt").replace("epochs", "epoch").replace("n_clusters", "n_cluster")
    wrong += '\n[[experiment]]\nname = "x"\nsplits = "nearest"\n[train]\nseed = 1\n'
    wrong = f'gates = ["rise.f1.macro<=1"]\n{wrong}'
    said = problems(tmp_path, wrong)
    for place in (
        "[data.sample]", "[model.neural]", "[split.closest]", "[[experiment]] x", "'rise.f1.macro'", "[train]",
    ):  # fmt: skip
        assert place in said


def test_an_experiment_without_a_space_cuts_none_and_names_its_models(tmp_path: Path) -> None:
    said = problems(tmp_path, SMALL + '[[experiment]]\nname = "x"\nspaces = []\n')
    assert "has no space, so no model of its own" in said
    assert "which closest would cut" in said
    right = '[[experiment]]\nname = "x"\nspaces = []\nsplits = "random"\nmodels = "tfidf"\n'
    assert study(tmp_path, SMALL + right).experiments[0].spaces == ()


def test_gates_name_what_there_is(tmp_path: Path) -> None:
    said = problems(tmp_path, f'gates = ["fall.f1.macro where split=closets <= 1"]\n{SMALL}')
    assert "gates: split: 'closets' is not one of random, closest; did you mean 'closest'?" in said
    for gate, said in (
        ("fall.f1.macro", "gates: 'fall.f1.macro' is not a gate"),
        ("fall.f1.marco <= 1", "gates: no metric is called 'fall.f1.marco'; did you mean 'fall.f1.macro'?"),
        ("findings.bad <= 0", "counts findings of an unknown level"),
    ):
        assert said in problems(tmp_path, f'gates = ["{gate}"]\n{SMALL}')
    assert "'gate' is not known here; did you mean 'gates'?" in problems(tmp_path, f'{SMALL}[[gate]]\nwhat = "fall"\n')


def test_what_is_no_study(tmp_path: Path) -> None:
    for content, said in (("a = [", "is not TOML"), ("", "cannot be run as it is")):
        (tmp_path / "study.toml").write_text(content)
        with pytest.raises(InputError, match=said):
            read_study(tmp_path / "study.toml")
    with pytest.raises(InputError, match="there is no file"):
        read_study(tmp_path / "none.toml")


READY = sorted(Path(__file__).parents[2].glob("studies/*.toml"))
OTHER_KINDS = ("arango2019", "transfer-hate", "bench-smoke", "bench-large")


@pytest.mark.parametrize("path", [each for each in READY if each.stem not in OTHER_KINDS], ids=lambda path: path.stem)
def test_the_ready_studies_can_be_read(path: Path) -> None:
    found = read_study(path)
    assert found.experiments


def test_the_ready_studies_of_other_kinds_can_be_read() -> None:
    validation, transfer, *suites = (next(each for each in READY if each.stem == name) for name in OTHER_KINDS)
    assert read_validation(validation).pipelines
    assert set(read_datasets(transfer).entries) == {"hatexplain", "davidson", "stormfront"}
    for suite in map(read_bench, suites):
        assert len(suite.data) >= 3
        assert suite.reference in suite.models
