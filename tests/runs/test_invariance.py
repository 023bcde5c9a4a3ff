from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen import invariance
from unseen.api import load
from unseen.errors import InputError, MismatchError
from unseen.runs import experiment
from unseen.types import Dataset

WORDS = {"calm": ("rain", "wind", "soup", "bread"), "loud": ("goal", "drum", "horn", "match")}
SWAPPED = {"rain": "goal", "wind": "drum", "soup": "horn", "bread": "match"}


def posts(tiny: Any, count: int, start: int = 0) -> Dataset:
    """Texts whose words tell their label, but for one of seven."""
    labels, texts = [], []
    for number in range(start, start + count):
        label = ("calm", "loud")[number % 2]
        told = label if number % 7 else ("loud", "calm")[number % 2]
        words = WORDS[told]
        labels.append(label)
        texts.append(f"{words[number % 4]} and {words[(number // 4) % 4]} number {number}")
    return tiny([f"p{number}" for number in range(start, start + count)], texts, labels, ("calm", "loud"))


def louder(texts: list[str]) -> list[str]:
    """Words of the calm become those of the loud."""
    return [" ".join(SWAPPED.get(word, word) for word in text.split()) for text in texts]


class Keyword:
    """Says `loud` of texts with a word of the loud; its answer depends on nothing else."""

    classes_ = ("calm", "loud")

    def predict_proba(self, texts: list[str]) -> np.ndarray:
        loud = np.array([any(word in text for word in WORDS["loud"]) for text in texts])
        return np.where(loud[:, None], [0.1, 0.9], [0.9, 0.1])


def test_nothing_flips_where_nothing_changes(tiny) -> None:
    data = posts(tiny, 60)
    result = invariance(data, transformed={"same": data.texts.to_pylist()}, model=Keyword())
    assert result.value("flip_rate", transformation="same") == 0
    assert result.value("flip_rate.floor", transformation="same", floor="identity") == 0
    assert result.value("unchanged", transformation="same") == 1
    assert result.verdict.level == "ok"
    levels = {finding.check: finding.level for finding in result.findings}
    assert levels == {"unchanged[same]": "warn", "bias[same]": "ok", "flips[same]": "ok", "floor": "skipped"}


def test_a_transformation_that_changes_the_property_is_told(tiny, tmp_path: Path) -> None:
    data = posts(tiny, 120)
    result = invariance(
        data,
        transformed={"louder": louder},
        train=posts(tiny, 120, 200),
        params={"C": 1.0},
        folds=2,
        out=tmp_path / "run",
    )
    assert "transformation bias" in result.verdict.headline
    assert (result.value("difference.skew[loud]", transformation="louder") or 0) > 0.05
    assert (result.row("difference.flip_rate", transformation="louder").low or 0) > 0
    with (tmp_path / "run" / "flips.csv").open(newline="") as file:
        flips = list(csv.DictReader(file))
    assert len(flips) == round((result.value("flip_rate", transformation="louder") or 0) * 120)
    assert {row["after"] for row in flips} == {"loud"}
    assert "original" not in flips[0], "texts are written when they are asked for"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert flips[0]["id"] in page


def test_the_model_is_on_trial_where_meaning_is_kept(tiny) -> None:
    class Cased(Keyword):
        def predict_proba(self, texts: list[str]) -> np.ndarray:
            return super().predict_proba([text if text.islower() else "goal" for text in texts])

    options = {"perturbations": ["upper"], "trial": "model", "gates": ["flip_rate<=0.05", "findings.fail<=0"]}
    result = invariance(posts(tiny, 60), model=Cased(), **options)
    assert "the model is not invariant" in result.verdict.headline
    assert not result.passed
    assert invariance(posts(tiny, 60), model=Keyword(), perturbations=["double"], trial="model").passed


def test_a_second_classifier_judges_the_other_language(tiny) -> None:
    def german(texts: list[str]) -> list[str]:
        return ["".join(letter + "x" if letter.isalpha() else letter for letter in text) for text in texts]

    train = posts(tiny, 160, 300)
    translated = tiny(
        train.ids.to_pylist(), german(train.texts.to_pylist()), train.table["label"].to_pylist(), train.label_names
    )
    options = {"transformed": {"german": german}, "train": train, "params": {"C": 1.0}, "folds": 2}
    result = invariance(posts(tiny, 100), train_transformed=translated, **options)
    assert {str(row.tags["classifier"]) for row in result.record.rows("held_out.f1.macro")} == {
        "original",
        "transformed",
    }
    levels = {finding.check: finding.level for finding in result.findings}
    assert levels["flips[german]"] == "skipped"
    assert levels["bias[german]"] == "ok"
    lone = invariance(posts(tiny, 100), model=Keyword(), model_transformed=Keyword(), transformed={"german": german})
    assert "undecidable" in lone.verdict.headline


def test_empty_outputs_are_counted_and_left_out(tiny) -> None:
    data = posts(tiny, 40)
    texts = ["" if row % 4 == 0 else text for row, text in enumerate(data.texts.to_pylist())]
    result = invariance(data, transformed={"t": texts}, model=Keyword())
    assert result.value("empty", transformation="t") == pytest.approx(0.25)
    assert result.row("flip_rate", transformation="t").n == 30
    assert any(finding.check == "empty[t]" and finding.count == 10 for finding in result.findings)


def test_what_an_interruption_left_is_not_trained_again(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[int] = []
    fit = experiment.fit

    def counted(described: Any, train: Any, dev: Any, seed: int, *more: Any) -> Any:
        if len(trained) == 2:
            raise KeyboardInterrupt
        trained.append(seed)
        return fit(described, train, dev, seed, *more)

    monkeypatch.setattr(experiment, "fit", counted)
    options = {"transformed": {"louder": louder}, "train": posts(tiny, 80, 200), "params": {"C": 1.0}, "folds": 3}
    with pytest.raises(KeyboardInterrupt):
        invariance(posts(tiny, 60), out=tmp_path / "run", **options)
    trained.clear()
    monkeypatch.setattr(experiment, "fit", lambda *given: trained.append(given[3]) or fit(*given))
    again = invariance(posts(tiny, 60), out=tmp_path / "run", **options)
    assert len(trained) == 2, "two of four trainings were there"
    fresh = invariance(posts(tiny, 60), **options)
    assert [row.value for row in again.measurements] == [row.value for row in fresh.measurements]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no transformation is named"),
        ({"transformed": {"t": ["one"]}}, "another number of texts"),
        ({"transformed": {"t": [""] * 20}}, "are empty"),
        ({"transformed": {"original": ["x"] * 20}}, "cannot be called"),
        ({"columns": ["german"]}, "german"),
        ({"perturbations": ["lowr"]}, "lower"),
        ({"perturbations": ["lower"], "trial": "both"}, "on trial"),
        ({"perturbations": ["lower"], "folds": 1}, "folds"),
        ({"perturbations": ["lower"], "groups": "author"}, "author"),
    ],
    ids=["nothing", "number", "empty", "name", "column", "perturbation", "trial", "folds", "groups"],
)
def test_mistakes_are_told(tiny, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        invariance(posts(tiny, 20), model=Keyword(), **options)


def test_data_that_cannot_be_judged_is_refused(tiny) -> None:
    data = posts(tiny, 20)
    one = data.take(np.flatnonzero(data.labels == 0))
    with pytest.raises(InputError, match="one property"):
        invariance(one, perturbations=["lower"], model=Keyword())
    other = tiny(label_names=("no", "yes"))
    with pytest.raises(MismatchError, match="other classes"):
        invariance(data, perturbations=["lower"], train=other)
    with pytest.raises(InputError, match="learn the property from"):
        invariance(data, perturbations=["lower"])


@pytest.mark.slow
def test_published_and_recomputed_figures_of_trustpilot(shared_data: Path) -> None:
    """p(A) in Italian and German, and the English paraphrase, recomputed by others with C = 1."""
    folder = shared_data / "trustpilot"
    if not folder.is_dir():
        pytest.skip("TrustPilot is not among the real data")
    options = {"params": {"C": 1.0}, "folds": 0}
    for language, share, distance in (("it", 0.532, 0.0005), ("de", 0.524, 0.0010)):
        data = load(folder / f"{language}_test.csv", label="gender", attributes=["google"])
        train = load(folder / f"{language}_train.csv", label="gender", drop=["empty"])
        result = invariance(data, columns=["google"], train=train, **options)
        of = {"transformation": "google", "side": "original"}
        assert result.value("share[M]", **of) == pytest.approx(share, abs=0.003)
        assert result.value("kl.gold", **of) == pytest.approx(distance, abs=0.0003)
    data = load(folder / "en_paraphrased.csv", label="gender", attributes=["pegasus"])
    train = load(folder / "en_train.csv", label="gender", drop=["empty"])
    result = invariance(data, columns=["pegasus"], train=train, **options)
    of = {"transformation": "pegasus"}
    assert result.value("share[M]", side="original", **of) == pytest.approx(0.511, abs=0.003)
    assert result.value("share[M]", side="transformed", **of) == pytest.approx(0.653, abs=0.003)
    assert result.value("kl.gold", side="transformed", **of) == pytest.approx(0.050, abs=0.002)
    counts = [round((result.value("transition", f"from={a} & to={b}", **of) or 0) * 403) for a, b in ("FM", "MF")]
    assert counts == [pytest.approx(88, abs=2), pytest.approx(31, abs=2)]
    assert result.value("flip_rate", **of) == pytest.approx(0.295, abs=0.006)
    assert result.value("unchanged", **of) == pytest.approx(2 / 403)
    assert "transformation bias" in result.verdict.headline
