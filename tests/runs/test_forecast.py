"""A forecast from the first call to the labels of people: sheet, page, gates, refusals."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import unseen
from finished_runs import run_here, write_rows
from unseen.data.sample import sample_corpus
from unseen.errors import InputError, TableError, UnknownNameError
from unseen.reports.comparison import compare_runs
from unseen.reports.forecast_page import TO_LABEL
from unseen.reports.record import read_record
from unseen.types.numbers import scored

SAMPLE = sample_corpus(1_400)
MODEL = unseen.train(SAMPLE.take(np.arange(600)), "logistic", C=1.0)
HOME, NEW = SAMPLE.take(np.arange(600, 1_000)), SAMPLE.take(np.arange(1_000, 1_400))
TRUTH = dict(zip(NEW.ids.to_pylist(), (NEW.label_names[code] for code in NEW.labels), strict=True))
TEXTS = [{"id": key, "text": text} for key, text in zip(NEW.ids.to_pylist(), NEW.texts.to_pylist(), strict=True)]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill_in(path: Path, count: int) -> None:
    rows = rows_of(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for place, row in enumerate(rows):
            writer.writerow(row | {"label": TRUTH[row["id"]] if place < count else row["label"]})


def true_accuracy() -> float:
    answers = MODEL.predict_proba(NEW.texts.to_pylist()).argmax(axis=1)
    return float((np.array(MODEL.classes_)[answers] == list(TRUTH.values())).mean())


def test_labels_are_filled_in_and_the_same_call_goes_on(tmp_path: Path) -> None:
    settings = {"model": MODEL, "known": [HOME], "draw": 60, "metric": "accuracy", "out": tmp_path / "run", "seed": 7}
    first = unseen.forecast(TEXTS, **settings)
    assert first.verdict.headline.startswith("Cannot be told from texts alone: no labelled texts")
    assert "labelled.accuracy" not in {row.metric for row in first.measurements}
    topic = first.row("forecast.if_topic.accuracy")
    assert topic.low < true_accuracy() < topic.high
    sheet = tmp_path / "run" / TO_LABEL
    before = rows_of(sheet)
    assert len(before) == 60
    assert {row["label"] for row in before} == {""}
    fill_in(sheet, 40)
    second = unseen.forecast(TEXTS, **settings)
    row = second.row("labelled.accuracy")
    assert (row.tags["labels"], row.n) == (40, 400)
    assert row.low < true_accuracy() < row.high
    assert second.verdict.headline == f"On these 400 texts expect accuracy of {scored(row)} (40 labels)."
    after = rows_of(sheet)
    assert [line["id"] for line in after] == [line["id"] for line in before]
    assert [line["label"] for line in after[:40]] == [TRUTH[line["id"]] for line in after[:40]]
    assert unseen.report(tmp_path / "run").verdict.headline == second.verdict.headline


def test_a_twin_of_another_seed_is_one_more_estimator() -> None:
    twins = [unseen.train(SAMPLE.take(np.arange(begin, 600)), "logistic", C=1.0) for begin in (100, 200)]
    alone, asked = (
        unseen.forecast(TEXTS, model=MODEL, known=[HOME], twins=some, metric="accuracy") for some in ((), twins)
    )
    named = [
        {str(row.tags["estimator"]) for row in one.measurements if "estimator" in row.tags} for one in (alone, asked)
    ]
    assert named[1] - named[0] == {"agreement"}
    said, *others = (one.predict_proba(NEW.texts.to_pylist()).argmax(axis=1) for one in (MODEL, *twins))
    row = asked.row("estimate.accuracy", estimator="agreement", rung=None)
    assert row.value == pytest.approx(np.mean([(other == said).mean() for other in others]))


def test_a_width_asks_for_more_labels_and_loses_none(tmp_path: Path) -> None:
    settings = {"model": MODEL, "draw": 30, "metric": "accuracy", "out": tmp_path / "run"}
    unseen.forecast(TEXTS, **settings)
    sheet = tmp_path / "run" / TO_LABEL
    first = [row["id"] for row in rows_of(sheet)]
    fill_in(sheet, 30)
    result = unseen.forecast(TEXTS, **settings, width=0.04)
    longer = rows_of(sheet)
    assert len(longer) > 60
    assert [row["id"] for row in longer[:30]] == first
    assert all(row["label"] for row in longer[:30])
    assert "For ± 4.0 points label about" in str(result.verdict)


def test_labels_that_the_texts_bring_are_used_and_odd_ones_are_noticed(tmp_path: Path) -> None:
    brought = [row | {"label": TRUTH[row["id"]] if place % 4 == 0 else ""} for place, row in enumerate(TEXTS)]
    result = unseen.forecast(brought, model=MODEL, metric="accuracy")
    assert result.row("labelled.accuracy").tags["labels"] == 100
    assert not [finding for finding in result.findings if finding.check == "labels"]
    sure = np.argsort(-MODEL.predict_proba(NEW.texts.to_pylist()).max(axis=1))[:100].tolist()
    picked = [row | {"label": TRUTH[row["id"]] if place in sure else ""} for place, row in enumerate(TEXTS)]
    result = unseen.forecast(picked, model=MODEL, metric="accuracy")
    assert "-o FOLDER writes them" in str(unseen.forecast(TEXTS, model=MODEL).verdict)
    assert "no random sample" in next(finding for finding in result.findings if finding.check == "labels").message


def test_texts_from_elsewhere_are_rungs_and_make_it_stand() -> None:
    """Parts of the sample stand for other places: they are no farther than home, and neither is the target."""
    parts = [HOME.take(np.arange(start, start + 80)) for start in range(80, 400, 80)]
    result = unseen.forecast(TEXTS, model=MODEL, known=[HOME.take(np.arange(80)), *parts], metric="accuracy")
    row = result.row("forecast.accuracy")
    kinds = [row.tags["kind"] for row in result.record.rows("rung.accuracy")]
    assert kinds == ["words left out"] * 4 + ["known"] * 4
    assert row.value is not None
    assert row.low < true_accuracy() < row.high
    assert "(90 %, no labels)" in result.verdict.headline


def test_slices_are_rungs_at_home_and_scored_with_labels(tmp_path: Path) -> None:
    place = ["north" if row % 2 else "south" for row in range(400)]
    home = [
        {"text": text, "label": HOME.label_names[code], "place": where}
        for text, code, where in zip(HOME.texts.to_pylist(), HOME.labels, place, strict=True)
    ]
    new = [row | {"label": TRUTH[row["id"]], "place": where} for row, where in zip(TEXTS, place, strict=True)]
    result = unseen.forecast(new, model=MODEL, known=[home], slices=["place"], metric="accuracy")
    assert {row.tags["rung"] for row in result.record.rows("rung.accuracy", kind="place")} == {
        "place=north",
        "place=south",
    }
    answers = MODEL.predict_proba(NEW.texts.to_pylist()).argmax(axis=1) == NEW.labels
    for name in ("north", "south"):
        own = answers[[where == name for where in place]].mean()
        assert result.value("labelled.accuracy", f"place={name}") == pytest.approx(own)


def test_a_slice_may_be_a_column_of_one_side_alone() -> None:
    labelled = [
        {"text": text, "label": HOME.label_names[code]}
        for text, code in zip(HOME.texts.to_pylist(), HOME.labels, strict=True)
    ]
    home = [row | {"source": "mail" if place % 2 else "web"} for place, row in enumerate(labelled)]
    new = [row | {"label": TRUTH[row["id"]], "group": "old"} for row in TEXTS]
    result = unseen.forecast(new, model=MODEL, known=[home], slices=["group", "source"], metric="accuracy")
    assert {row.tags["rung"] for row in result.record.rows("rung.accuracy", kind="source")} == {
        "source=mail",
        "source=web",
    }
    assert result.value("labelled.accuracy", "group=old") == pytest.approx(true_accuracy())
    with pytest.raises(UnknownNameError, match="no column of the new texts or the first known ones is called 'place'"):
        unseen.forecast(new, model=MODEL, known=[home], slices=["group", "place"])


def test_few_texts(tmp_path: Path) -> None:
    one = unseen.forecast(TEXTS[:1], model=MODEL, known=[HOME], draw=50, out=tmp_path / "run")
    assert one.row("forecast.if_topic.f1.macro") is not None
    assert len(rows_of(tmp_path / "run" / TO_LABEL)) == one.record.about["to_label"] == 1
    assert "Label every text" in str(one.verdict)
    assert not [row for row in one.measurements if row.value is not None and np.isnan(row.value)]
    with pytest.raises(InputError, match="no text to label"):
        unseen.forecast(TEXTS, model=MODEL, draw=0)
    with pytest.raises(InputError, match="these known texts are too few"):
        unseen.forecast(TEXTS, model=MODEL, known=[HOME, HOME.take(np.arange(29))])


def test_where_every_text_is_labelled_the_score_is_known() -> None:
    labelled = [row | {"label": TRUTH[row["id"]]} for row in TEXTS]
    result = unseen.forecast(labelled, model=MODEL, known=[HOME])
    row = result.row("labelled.f1.macro")
    assert row.low == row.value == row.high
    assert "Label more" not in str(result.verdict)
    assert "together.f1.macro" not in {row.metric for row in result.measurements}


def test_texts_that_bring_their_label_are_not_drawn_again(tmp_path: Path) -> None:
    brought = [row | {"label": TRUTH[row["id"]] if place % 4 == 0 else ""} for place, row in enumerate(TEXTS)]
    result = unseen.forecast(brought, model=MODEL, metric="accuracy", draw=10, width=0.05, out=tmp_path / "run")
    drawn = [row["id"] for row in rows_of(tmp_path / "run" / TO_LABEL)]
    assert not set(drawn) & {row["id"] for row in brought if row["label"]}
    assert f"label about {100 + len(drawn)} texts in all" in str(result.verdict)


def test_two_weeks_are_compared_with_an_interval(tmp_path: Path) -> None:
    labelled = [row | {"label": TRUTH[row["id"]] if place % 2 else ""} for place, row in enumerate(TEXTS)]
    for name, rows in (("old", labelled[:200]), ("new", labelled[200:])):
        unseen.forecast(rows, model=MODEL, known=[HOME], metric="accuracy", out=tmp_path / name)
    compared = compare_runs(tmp_path / "old", tmp_path / "new")
    assert {row.metric.split(".")[1] for row in compared.rows} == {"labelled", "together", "home", "forecast"}
    old, new = (read_record(tmp_path / name).row("labelled.accuracy") for name in ("old", "new"))
    row = next(row for row in compared.rows if row.metric == "difference.labelled.accuracy")
    assert row.value == pytest.approx(new.value - old.value)
    assert row.value - row.low == pytest.approx(np.hypot(new.value - new.low, old.high - old.value))
    assert row.high - row.value == pytest.approx(np.hypot(new.high - new.value, old.value - old.low))
    same = compare_runs(tmp_path / "old", tmp_path / "old")
    assert {row.low for row in same.rows} == {None}


def test_gates_and_json(tmp_path: Path) -> None:
    labelled = [row | {"label": TRUTH[row["id"]]} for row in TEXTS]
    kept = unseen.forecast(labelled, model=MODEL, gates=["labelled.f1.macro>=0.2", "labelled.f1.macro>=0.999"])
    assert [outcome.passed for outcome in kept.gates] == [True, False]
    assert not kept.passed
    assert kept.described()["kind"] == "forecast"


def test_wrong_input_is_refused_before_the_model_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="width is half of an interval"):
        unseen.forecast(TEXTS, model=MODEL, width=5)
    with pytest.raises(TableError, match="labels that the model does not give"):
        unseen.forecast([TEXTS[0] | {"label": "spam"}, TEXTS[1] | {"label": ""}], model=MODEL)
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        unseen.forecast(TEXTS, model=MODEL, metric="acuracy")
    with pytest.raises(InputError, match="log_loss is not decided by labels alone"):
        unseen.forecast(TEXTS, model=MODEL, metric="log_loss")
    with pytest.raises(TableError, match="has no texts"):
        unseen.forecast([{"text": " "}], model=MODEL)
    unseen.forecast(TEXTS, model=MODEL, draw=5, out=tmp_path / "run")
    sheet = tmp_path / "run" / TO_LABEL
    sheet.write_text(sheet.read_text().replace(",,", ",spam,", 1))
    with pytest.raises(InputError, match=r"is labelled 'spam'"):
        unseen.forecast(TEXTS, model=MODEL, draw=5, out=tmp_path / "run")


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    MODEL.save(tmp_path / "model")
    columns = ("text", "label", "source")
    rows = [
        (text, SAMPLE.label_names[code], "ab"[place % 2])
        for place, (text, code) in enumerate(zip(SAMPLE.texts.to_pylist(), SAMPLE.labels, strict=True))
    ]
    for name, part in (
        ("posts", rows[:300]),
        ("held-out", rows[600:800]),
        ("dvd", rows[800:900]),
        ("kitchen", rows[900:1_000]),
    ):
        write_rows(tmp_path / f"{name}.csv", columns, part)
    write_rows(tmp_path / "new.csv", ("text", "source"), [(text, source) for text, _, source in rows[1_000:]])
    scores = [("en=100", target, 0.5 + place / 20) for place, target in enumerate(("de", "fr", "it", "es"))]
    write_rows(tmp_path / "scores.csv", ("configuration", "target", "score"), scores)
    features = [(name, place) for place, name in enumerate(("en", "de", "fr", "it", "es", "th"))]
    write_rows(tmp_path / "features.csv", ("name", "size"), features)
    page = (Path(__file__).resolve().parents[2] / "docs" / "forecast.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 4
    quick = shlex.split("--model logistic --seeds 42 --seen-folds 0 --space-seeds 0 --workers 1")
    for line in lines:
        words = shlex.split(line)[1:]
        more = quick if words[0] == "stress" else ["-o", f"out-{len(words)}"]
        done = run_here(*words, *more)
        assert done.code == 0, done.err


def test_the_order_of_the_file_decides_nothing(tmp_path: Path) -> None:
    sheets = []
    for name, rows in (("one", TEXTS), ("other", TEXTS[::-1])):
        unseen.forecast(rows, model=MODEL, draw=25, out=tmp_path / name)
        sheets.append([row["id"] for row in rows_of(tmp_path / name / TO_LABEL)])
    assert sheets[0] == sheets[1]
