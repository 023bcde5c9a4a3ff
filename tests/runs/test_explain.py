"""Explaining a model: the run, its files and its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unseen
from unseen.errors import InputError, UnknownNameError
from unseen.naming import recipe_of
from unseen.runs.explain import explain
from unseen.runs.frame import report

BAD, FINE, OTHERS = ["idiot", "scum"], ["lovely", "kind"], ["the", "cat", "dog", "house", "is", "today"]


def posts(rows: int) -> unseen.Dataset:
    """Texts whose label hangs on one word, which two people highlighted."""
    draw = np.random.default_rng(1)
    lines: list[dict[str, Any]] = []
    for row in range(rows):
        words = [*draw.choice(OTHERS, 5), str(draw.choice(BAD if row % 2 else FINE))]
        draw.shuffle(words)
        mask = "".join("1" if word in BAD else "0" for word in words)
        lines.append({
            "id": f"post-{row}", "text": " ".join(words), "label": "bad" if row % 2 else "fine",
            "place": "ab"[row % 3 == 0], "rationales": [mask, mask] if row % 2 else [],
        })  # fmt: skip
    return unseen.load(lines, id="id", attributes=["place", "rationales"])


DATA = posts(160)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "linear"
    recipe_of("logistic").fit(DATA.take(np.arange(90)), DATA.take(np.arange(90, 110)), 1).save(folder)
    return folder


ASKED = DATA.take(np.arange(110, 160))


def test_a_model_that_uses_one_word_is_explained_by_it(model: Path, tmp_path: Path) -> None:
    result = explain(ASKED, model=model, slices=["place"], texts=True, out=tmp_path / "why", normalised=5)
    assert result.verdict.level == "ok"
    occlusion, chance = (result.row("comprehensiveness.aopc", method=name) for name in ("occlusion", "random"))
    assert occlusion.low > chance.high
    assert result.value("auprc", method="occlusion", floor=None) == pytest.approx(1.0)
    assert result.value("auprc", floor="yes", method="constant") < 0.65
    assert result.value("auprc", floor="yes", method="lexicon") == pytest.approx(1.0)  # it knows the two words
    assert result.row("comprehensiveness.normalised", method="occlusion").n == 5
    assert result.row("tau.leave_one_out", "place=a", method="occlusion").value == pytest.approx(1.0)
    assert result.value("right_for_the_wrong_reason", method="occlusion") == 0
    page = (tmp_path / "why" / "report.html").read_text("utf-8")
    assert 'class="unit for s5 strong people"' in page
    again = report(tmp_path / "why")
    assert again.verdict.headline == result.verdict.headline


def test_attributions_are_a_file_that_can_be_judged_again(model: Path, tmp_path: Path) -> None:
    result = explain(ASKED, model=model, methods=["occlusion"], out=tmp_path / "why", normalised=0)
    file = tmp_path / "why" / "attributions.parquet"
    table = pq.read_table(file)
    assert {"id", "method", "label", "explains", "tokens", "starts", "ends", "scores"} == {*table.column_names}
    assert table["tokens"].null_count == len(table)  # texts only when asked
    foreign = table.filter(np.array(table["method"].to_pylist()) == "occlusion").drop_columns(["method", "tokens"])
    pq.write_table(foreign, tmp_path / "theirs.parquet")
    judged = explain(ASKED, model=model, methods=["random"], attributions=[tmp_path / "theirs.parquet"], normalised=0)
    for metric in ("comprehensiveness.aopc", "tau.leave_one_out", "auprc"):
        assert judged.value(metric, method="theirs", floor=None) == result.value(metric, method="occlusion", floor=None)


def test_highlights_without_scores_are_judged_too(model: Path, tmp_path: Path) -> None:
    lines = []
    for key, text in zip(ASKED.ids.to_pylist(), ASKED.texts.to_pylist(), strict=True):
        word = next(word for word in BAD + FINE if word in text.split())
        start = f" {text} ".index(f" {word} ")
        lines.append(json.dumps({"id": key, "method": "llm", "starts": [start], "ends": [start + len(word)]}))
    (tmp_path / "llm.jsonl").write_text("\n".join(lines))
    result = explain(ASKED, model=model, methods=["random"], attributions=[tmp_path / "llm.jsonl"], normalised=0)
    assert result.value("auprc", method="llm", floor=None) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "post-111", "starts": [0], "ends": [999]}', "not within"),
        ('{"id": "post-111", "starts": [0, 1], "ends": [4]}', "one length"),
        ('{"id": "nobody", "starts": [0], "ends": [4]}', "none of its 1 ids"),
        ('{"id": "post-111", "starts": [0], "ends": [4]}', "leave out 49 of 50"),
    ],
)
def test_attributions_that_do_not_fit_are_refused(model: Path, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "theirs.jsonl").write_text(line)
    with pytest.raises(InputError, match=message):
        explain(ASKED, model=model, methods=["random"], attributions=[tmp_path / "theirs.jsonl"])


def test_an_interrupted_run_goes_on(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.explanations.lime import Lime

    asked: list[int] = []
    whole = Lime.attributions

    def counted(self: Lime, subject: Any, seed: int = 42) -> Any:
        asked.append(len(subject))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return whole(self, subject, seed)

    monkeypatch.setattr("unseen.runs.explain.AT_ONCE", 20)
    monkeypatch.setattr(Lime, "attributions", counted)
    options: dict[str, Any] = {
        "model": model,
        "methods": ["lime"],
        "params": {"lime": {"samples": 20}},
        "normalised": 0,
    }
    with pytest.raises(KeyboardInterrupt):
        explain(ASKED, out=tmp_path / "why", **options)
    result = explain(ASKED, out=tmp_path / "why", **options)
    assert asked == [17, 17, 17, 16]  # the first part was not made again
    assert result.value("tau.leave_one_out", method="lime") == explain(ASKED, **options).value(
        "tau.leave_one_out", method="lime"
    )


def test_texts_are_written_only_when_asked_for(model: Path, tmp_path: Path) -> None:
    explain(
        ASKED, model=model, methods=["sampling-occlusion", "occlusion"], normalised=0, limit=12, out=tmp_path / "why"
    )
    texts = [text.encode() for text in ASKED.texts.to_pylist()]
    files = [path for path in (tmp_path / "why").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if any(text in path.read_bytes() for text in texts)]


def test_terms_are_swapped_and_false_alarms_counted(model: Path) -> None:
    result = explain(
        ASKED, model=model, methods=["occlusion"], normalised=0, terms={"animals": ["cat", "dog"]}, positive=["bad"]
    )
    assert result.value("false_alarms", "term=cat") == 0
    assert result.value("bias.flip_rate") == 0
    assert 0 <= result.value("attribution_shift") < 0.2
    assert "Terms" in {table.title for table in result.tables.values()}


def test_parts_of_a_split_are_judged_apart(model: Path) -> None:
    split = unseen.split(ASKED, "random", test=0.4, seed=1)
    result = explain(ASKED, model=model, methods=["occlusion"], normalised=0, split=split, limit=15)
    assert result.record.about["texts"] == 15
    assert result.row("comprehensiveness.aopc", "part=test", method="occlusion").n == 15


def test_what_cannot_be_is_refused_with_what_can(model: Path) -> None:
    with pytest.raises(InputError, match="does not allow gradient"):
        explain(ASKED, model=model, methods=["gradient"])
    with pytest.raises(UnknownNameError, match="did you mean 'occlusion'"):
        explain(ASKED, model=model, methods=["oclusion"])
    with pytest.raises(InputError, match="'samplse' is not a parameter"):
        explain(ASKED, model=model, methods=["lime"], params={"lime": {"samplse": 5}})
    with pytest.raises(UnknownNameError, match="lime"):
        explain(ASKED, model=model, methods=["occlusion"], params={"lime": {"samples": 5}})
    with pytest.raises(UnknownNameError, match="bda"):
        explain(ASKED, model=model, label="bda")
    with pytest.raises(InputError, match="positive"):
        explain(ASKED, model=model, terms={"animals": ["cat", "dog"]})


def test_a_stress_run_judges_explanations_of_every_part(tmp_path: Path) -> None:
    result = unseen.stress(
        DATA, model="logistic", params={"C": 1}, out=tmp_path / "run", splits=("random", "closest"), random_splits=1,
        seeds=(42,), seen_folds=0, space_seeds=0, explain=8, texts=True,
    )  # fmt: skip
    for family in ("random", "closest"):
        for part in ("test", "independent"):
            tags = {"split": family, "part": part, "method": "occlusion"}
            assert result.row("comprehensiveness.aopc", **tags).n == 8
            assert result.value("auprc", floor=None, **tags) == pytest.approx(1.0)
    assert json.loads((tmp_path / "run" / "explanations" / "closest.json").read_text())["texts"]
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert 'id="explanations"' in page
    assert 'class="unit for' in page


def test_rationales_and_word_vectors_decide_what_a_training_is(tmp_path: Path) -> None:
    """A run that goes on takes up no training that was taught by other rationales, or began with other vectors."""
    from unseen.runs.source import Source
    from unseen.runs.spaces import Model
    from unseen.runs.training_steps import train_step

    spans = pa.array([["0-1"] if row % 2 else [] for row in range(160)], pa.list_(pa.string()))
    table = DATA.table.set_column(DATA.table.schema.get_field_index("rationales"), "rationales", spans)
    other = unseen.Dataset(DATA.name, table, DATA.label_names, DATA.attributes)
    (tmp_path / "vectors.txt").write_text("cat 1 0\ndog 0 1\n")
    plain, taught = (Model("birnn-attention", params) for params in ({}, {"supervise": "rationales"}))
    nothing = np.zeros(len(DATA), bool)

    def key(data: unseen.Dataset, model: Model) -> str:
        source = Source("source", data, nothing)
        cut = train_step(source, None, model, 1, "cut")  # type: ignore[arg-type]
        return str(cut.settings)

    assert key(DATA, plain) == key(other, plain)
    assert key(DATA, taught) != key(other, taught)
    params = {"vectors": str(tmp_path / "vectors.txt")}
    before = key(DATA, Model("birnn", params))
    (tmp_path / "vectors.txt").write_text("cat 0 1\ndog 1 0\n")
    assert key(DATA, Model("birnn", params)) != before
