"""Domain pretraining against a control: equal steps, contamination taken out, paired differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

from masked_lm import write_masked_lm
from tiny_data import build
from tiny_transformer import write_transformer
from unseen import api
from unseen.engines.steps import Step
from unseen.errors import InputError
from unseen.evaluation.measurements import aligned
from unseen.inference import predict
from unseen.runs import pretraining
from unseen.runs.frame import Result
from unseen.runs.pretraining import (
    ALL,
    AS_IT_COMES,
    CONTROL,
    DOMAIN,
    WITHOUT,
    Copies,
    Dose,
    UnlabelledTexts,
    pretrain,
)
from unseen.runs.source import by_id
from unseen.runs.transfer import KINDS
from unseen.runs.transfer_file import DatasetEntry
from unseen.store import read_predictions, read_split
from unseen.training.pretraining import MaskedLM, PretrainingSettings
from unseen.training.transformer import Transformer
from unseen.types import Dataset

TOPICS = {"calm": ["rain", "cloud", "leaf", "river"], "loud": ["drum", "horn", "crowd", "siren"]}
OTHERS = ["salt", "pan", "soup", "bread", "fork", "plate"]
QUICK: dict[str, Any] = {
    "params": {"epochs": 2, "batch": 16, "learning_rate": 3e-3, "max_tokens": 16},
    "pretraining": {"epochs": 4, "batch_tokens": 256, "learning_rate": 3e-3, "max_tokens": 16},
}


def labelled(count: int, seed: int) -> Dataset:
    """Texts of five words of their label's topic."""
    draw = np.random.default_rng(seed)
    labels = [("calm", "loud")[code] for code in draw.integers(2, size=count)]
    texts = [" ".join(draw.choice(TOPICS[label], 5)) for label in labels]
    return build([f"{seed}-{row}" for row in range(count)], texts, labels, ("calm", "loud"))


def unlabelled(words: list[str], count: int, length: int, seed: int) -> Dataset:
    draw = np.random.default_rng(seed)
    texts = [" ".join(draw.choice(words, length)) for _ in range(count)]
    return build([f"u{seed}-{row}" for row in range(count)], texts, label_names=("",))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    words = [*TOPICS["calm"], *TOPICS["loud"], *OTHERS]
    return str(write_masked_lm(tmp_path_factory.mktemp("masked") / "bert", words))


@pytest.fixture(scope="module")
def datasets() -> dict[str, Dataset]:
    return {"red": labelled(80, 1), "blue": labelled(60, 2)}


def copied(datasets: dict[str, Dataset]) -> list[str]:
    """Texts of the test part of red: two of them, one in another spelling."""
    parts = api.split(datasets["red"], "random", test=0.2, dev=0.1, seed=42)
    texts = datasets["red"].take(np.sort(parts.rows("test"))).texts.to_pylist()
    return [texts[0], texts[3].upper() + "!"]


def corpora(datasets: dict[str, Dataset]) -> dict[str, Dataset]:
    domain = unlabelled([*TOPICS["calm"], *TOPICS["loud"]], 100, 9, 3)
    ids, texts = [*domain.ids.to_pylist(), "x1", "x2"], [*domain.texts.to_pylist(), *copied(datasets)]
    return {"corpus": build(ids, texts, label_names=("",)), "control": unlabelled(OTHERS, 200, 5, 4)}


@pytest.fixture(scope="module")
def done(encoder: str, datasets: dict[str, Dataset], tmp_path_factory: pytest.TempPathFactory) -> Result:
    out = tmp_path_factory.mktemp("pretraining") / "out"
    return pretrain(datasets, model=encoder, sizes=[20], trainings=2, out=out, **corpora(datasets), **QUICK)


def whole(done: Result) -> int:
    return int(done.record.about["corpora"][DOMAIN]["train"])


def test_domain_and_control_have_equal_steps_and_tokens(done: Result) -> None:
    for texts in (20, whole(done)):
        steps, tokens, passes = (
            [done.value(f"pretraining.{name}", encoder=of, texts=texts) for of in (DOMAIN, CONTROL)]
            for name in ("steps", "tokens", "passes")
        )
        assert steps[0] == steps[1]
        assert tokens[0] == pytest.approx(tokens[1], abs=11)
        assert passes == pytest.approx([4.0, 4.0], rel=0.3)


def test_scores_are_those_of_the_predictions(done: Result, datasets: dict[str, Dataset]) -> None:
    assert done.folder is not None
    scores: dict[str, list[float]] = {}
    for name, data in datasets.items():
        test = data.take(read_split(done.folder / "splits" / f"{name}.csv", data).rows("test"))
        for encoder, texts in ((AS_IT_COMES, 0), (DOMAIN, 20), (CONTROL, 20)):
            files = (done.folder / "predictions" / name).glob(f"{Dose(encoder, texts)}.*".replace(" ", "_"))
            answers = [
                aligned(test, read_predictions(file, test), np.arange(len(test))).argmax(axis=1) for file in files
            ]
            assert len(answers) == 2
            mean = float(np.mean([f1_score(test.labels, answer, average="macro") for answer in answers]))
            assert done.value("f1.macro", data=name, encoder=encoder, texts=texts, seed="mean") == pytest.approx(mean)
            scores.setdefault(encoder, []).append(mean)
    for after, before in ((DOMAIN, CONTROL), (DOMAIN, AS_IT_COMES), (CONTROL, AS_IT_COMES)):
        row = done.row("difference.f1.macro", data=ALL, encoder=after, texts=20, than=before)
        assert row is not None
        assert row.value == pytest.approx(np.mean(scores[after]) - np.mean(scores[before]))


def test_contamination_is_counted_by_kind_and_taken_out(done: Result) -> None:
    n = sum(done.record.about["datasets"]["red"]["counts"]["test"].values())
    shares = [done.value(f"contamination.{kind}", data="red", corpus=DOMAIN) for kind in KINDS]
    assert shares == pytest.approx([1 / n, 2 / n, 2 / n])
    assert done.value("contamination.near", data="red", corpus=CONTROL) == 0
    levels = {finding.check: finding.level for finding in done.findings}
    assert levels["contamination[domain → red]"] == "fail"
    assert levels["contamination[control → red]"] == levels["contamination[domain → blue]"] == "ok"
    row = done.row("f1.macro", WITHOUT, data="red", encoder=DOMAIN, texts=20, seed="mean")
    assert row is not None
    assert row.n == n - 2
    assert done.row("f1.macro", WITHOUT, data="blue", encoder=DOMAIN, texts=20, seed="mean") is None
    assert done.verdict.level == "fail"
    assert "stand in neither corpus" in done.verdict.headline


def test_the_loss_is_measured_before_and_after(done: Result) -> None:
    def loss(encoder: str, texts: int, held_out: str) -> float:
        value = done.value("masked_loss", encoder=encoder, texts=texts, held_out=held_out)
        assert value is not None
        return value

    most = whole(done)
    for held_out in (DOMAIN, CONTROL):
        other = CONTROL if held_out == DOMAIN else DOMAIN
        assert loss(held_out, most, held_out) < loss(AS_IT_COMES, 0, held_out) - 0.3
        assert loss(held_out, most, held_out) < loss(other, most, held_out)
    assert {finding.level for finding in done.findings if finding.check == "head"} == {"warn"}  # weights are random


def test_the_encoders_open_as_models(done: Result, datasets: dict[str, Dataset]) -> None:
    assert done.folder is not None
    folders = sorted(path.name for path in (done.folder / "models").iterdir())
    sizes, seeds = (20, whole(done)), (42, 43)
    assert folders == sorted(f"{of}_{n}.seed-{seed}" for of in (DOMAIN, CONTROL) for n in sizes for seed in seeds)
    vectors = [api.encode(datasets["red"], done.folder / "models" / name).vectors for name in folders[:2]]
    assert not np.allclose(*vectors)  # each seed reads on its own
    assert len(done.record.about["tokenizer"]) == 64


def test_arms_fine_tune_the_encoders_that_were_trained(done: Result, datasets: dict[str, Dataset]) -> None:
    assert done.folder is not None
    red = by_id(datasets["red"])
    parts = read_split(done.folder / "splits" / "red.csv", red)
    train, dev, test = (red.take(parts.rows(part)) for part in ("train", "dev", "test"))
    trained = Transformer(str(done.folder / "models" / "domain_20.seed-42"), **QUICK["params"]).fit(train, dev, 42)
    kept = read_predictions(done.folder / "predictions" / "red" / "domain_20.seed-42.parquet", test)
    expected = predict(trained, test).probabilities
    np.testing.assert_allclose(aligned(test, kept, np.arange(len(test))), expected, atol=1e-6)


def test_losses_are_those_of_the_encoders_with_the_same_masks(done: Result, datasets: dict[str, Dataset]) -> None:
    assert done.folder is not None
    held_out = UnlabelledTexts.of(corpora(datasets)["control"], 42).rest.texts.to_pylist()
    settings = PretrainingSettings(**QUICK["pretraining"])
    models = [MaskedLM(str(done.folder / "models" / f"domain_20.seed-{seed}"), settings) for seed in (42, 43)]
    expected = np.mean([model.loss(model.tokens(held_out), 42).value for model in models])
    assert done.value("masked_loss", encoder=DOMAIN, texts=20, held_out=CONTROL) == pytest.approx(expected)


def test_called_again_nothing_is_done_again(
    done: Result, encoder: str, datasets: dict[str, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert done.folder is not None
    carried = []
    monkeypatch.setattr(Step, "carry_out", lambda step, here: carried.append(step.name))
    again = pretrain(datasets, model=encoder, sizes=[20], trainings=2, out=done.folder, **corpora(datasets), **QUICK)
    assert carried == []
    assert [row.value for row in again.measurements] == [row.value for row in done.measurements]


def test_the_page_says_what_was_measured(done: Result) -> None:
    assert done.report is not None
    page = done.report.read_text(encoding="utf-8")
    for words in ("Over the number of unlabelled texts", "domain less control", "as it comes", "loss on domain"):
        assert words in page
    assert set(done.tables) == {"scores", "differences", "reading", "contamination"}


def test_held_out_texts_have_no_copy_among_those_trained_on() -> None:
    texts = [f"rain {row // 3}" + "!" * (row % 3) for row in range(60)]
    corpus = UnlabelledTexts.of(build([f"{row:02}" for row in range(60)], texts, label_names=("",)), 7)
    trained, held_out = ({text.strip("!") for text in part.texts.to_pylist()} for part in (corpus.train, corpus.rest))
    assert not trained & held_out
    assert len(held_out) == 2
    first = corpus.order(1)
    assert sorted(first) == list(range(len(corpus.train)))
    assert (first != corpus.order(2)).any()


def test_a_control_that_is_the_domain_is_told() -> None:
    domain = UnlabelledTexts.of(unlabelled(OTHERS, 30, 12, 5), 0)
    copies = Copies({"red": labelled(5, 1)}, {DOMAIN: domain, CONTROL: domain}, 0)
    assert copies.control_finding().level == "warn"
    other = UnlabelledTexts.of(unlabelled(TOPICS["calm"], 30, 12, 6), 0)
    assert Copies({"red": labelled(5, 1)}, {DOMAIN: domain, CONTROL: other}, 0).control_finding().level == "ok"


def test_placeholders_are_put_into_all_texts_alike(
    encoder: str, datasets: dict[str, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = []
    monkeypatch.setattr(pretraining, "with_plain_posts", lambda data: prepared.append(data.name) or data)
    pretrain(
        {"red": datasets["red"]}, model=encoder, corpus=unlabelled(OTHERS, 20, 5, 5), trainings=1, placeholders=True,
        control=unlabelled(OTHERS, 20, 5, 6), out=tmp_path / "out", **QUICK,
    )  # fmt: skip
    assert sorted(prepared) == ["red", "tiny", "tiny"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sizes": [500]}, "cannot be drawn"),
        ({"model": "logistic", "params": {}}, "no encoder"),
        ({"pretraining": {"epoch": 3}}, "parameters it does not take"),
        ({"datasets": {}}, "nothing to fine-tune on"),
        ({"trainings": 0}, "too few or too many"),
        ({"groups": "user", "datasets": {"red": DatasetEntry("red", groups="user")}}, "groups has no effect"),
        ({"metric": "f1"}, "f1"),
    ],
    ids=["sizes", "model", "settings", "datasets", "trainings", "groups", "metric"],
)
def test_mistakes_are_refused_before_anything_is_written(
    encoder: str, datasets: dict[str, Dataset], tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    given = {
        "datasets": datasets, "model": encoder, "corpus": unlabelled(OTHERS, 20, 5, 5),
        "control": unlabelled(OTHERS, 20, 5, 6), "out": tmp_path / "out", **QUICK, **changed,
    }  # fmt: skip
    with pytest.raises(InputError, match=message):
        pretrain(given.pop("datasets"), **given)
    assert not (tmp_path / "out").exists()


def test_an_encoder_without_a_head_is_refused(datasets: dict[str, Dataset], tmp_path: Path) -> None:
    bare = write_transformer(tmp_path / "bare", OTHERS)
    corpora = {"corpus": unlabelled(OTHERS, 20, 5, 5), "control": unlabelled(OTHERS, 20, 5, 6)}
    with pytest.raises(InputError, match="no masked-LM head"):
        pretrain(datasets, model=str(bare), out=tmp_path / "out", **corpora, **QUICK)
    assert not (tmp_path / "out").exists()
