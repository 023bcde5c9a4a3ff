"""Pipelines that leak are caught with a proof, corrected ones pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tiny_data import build
from unseen.api import split as split_data
from unseen.audits import Audit
from unseen.audits.pipelines import EXPERIMENTS, audit_pipeline, default_split, planned_runs
from unseen.audits.pipelines.examples import (
    features_in_each_fold,
    features_on_all_data,
    oversampled_before_split,
    oversampled_in_training,
    vocabulary_of_all_data,
    words_chosen_in_training,
    words_chosen_on_all_data,
)
from unseen.audits.pipelines.experiments import ranked
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.probability_scores import auc
from unseen.types import Dataset, Finding, Split

Scores = np.ndarray[Any, Any]
NETWORK = {"embedding": 16, "hidden": 8, "epochs": 6, "batch": 32, "rate": 0.03, "longest": 6}


def posts(n: int, seed: int = 0) -> Dataset:
    """Texts of five rare words; most of the label 'yes' have a word that tells."""
    chance = np.random.default_rng(seed)
    words = np.array([f"word{place}" for place in range(n)])
    yes = chance.random(n) < 0.3
    texts = [" ".join([*chance.choice(words, 5), *(["key"] if each and chance.random() < 0.8 else [])]) for each in yes]
    return build([f"p{row}" for row in range(n)], texts, np.where(yes, "yes", "no").tolist())


@pytest.fixture(scope="module")
def data() -> Dataset:
    return posts(160)


@pytest.fixture(scope="module")
def split(data: Dataset) -> Split:
    return split_data(data, "random", test=0.25, seed=1)


def found(audit: Audit) -> dict[str, Finding]:
    return {each.check.removeprefix("pipeline."): each for each in audit.findings}


def levels(audit: Audit) -> dict[str, str]:
    return {name: each.level for name, each in found(audit).items()}


def fresh() -> Any:
    return make_pipeline(TfidfVectorizer(), LogisticRegression())


def texts_of(data: Dataset, rows: Any) -> list[str]:
    return [data.texts[int(row)].as_py() for row in rows]


def labels_of(data: Dataset, rows: Any) -> Any:
    return np.array(data.label_names)[data.labels[rows]]


def test_words_chosen_on_all_data_are_caught_with_a_proof(data: Dataset, split: Split) -> None:
    audit = audit_pipeline(words_chosen_on_all_data, data, split)
    assert not audit.passed
    assert levels(audit) == {
        "repeatable": "ok",
        "test_labels": "fail",
        "test_texts": "fail",
        "fewer_rows": "warn",
        "planted": "ok",
        "vocabulary": "skipped",
    }
    proof = found(audit)["test_labels"]
    exchanged = 2 * int(data.labels[split.rows("test")].sum())  # each 'yes' with a 'no'
    assert proof.message.startswith(f"the labels of {exchanged} of 40 test rows were exchanged and nothing else; ")
    assert f"; {proof.count} of 160 answers about texts left alone changed, the most by ." in proof.message
    assert len(proof.evidence) == 10
    assert set(proof.evidence) <= set(data.ids.to_pylist())
    assert "training rows alone" in proof.advice
    share = next(row for row in audit.measurements if row.metric == "pipeline.changed_share")
    assert (share.value, share.n) == (proof.count / 160, 160)


def test_the_corrected_choice_of_words_passes(data: Dataset, split: Split) -> None:
    audit = audit_pipeline(words_chosen_in_training, data, split)
    assert audit.passed
    assert set(levels(audit).values()) == {"ok", "skipped"}
    assert found(audit)["planted"].level == "ok"


def test_a_vocabulary_of_all_data_is_caught_by_texts_and_not_by_labels(data: Dataset, split: Split) -> None:
    audit = levels(audit_pipeline(vocabulary_of_all_data, data, split))
    assert (audit["test_labels"], audit["test_texts"]) == ("ok", "fail")


@pytest.mark.parametrize(("example", "level"), [(features_on_all_data, "fail"), (features_in_each_fold, "ok")])
def test_word_vectors_of_all_data_are_caught(
    example: Callable[..., Any], level: str, data: Dataset, split: Split
) -> None:
    settings = NETWORK | {"trees": 20}
    names = ["repeatable", "test_labels", "test_texts", "planted"]
    audit = audit_pipeline(example, data, split, experiments=names, settings=settings)
    assert levels(audit) == {"repeatable": "ok", "test_labels": level, "test_texts": level, "planted": level}
    assert audit.passed == (level == "ok")


@pytest.mark.parametrize(("example", "level"), [(oversampled_before_split, "fail"), (oversampled_in_training, "ok")])
def test_oversampling_before_the_split_is_caught(example: Callable[..., Any], level: str, data: Dataset) -> None:
    audit = audit_pipeline(example, data, experiments=["repeatable", "test_texts", "planted"], settings=NETWORK)
    assert levels(audit) == {"repeatable": "ok", "test_texts": level, "planted": level}
    if level == "fail":
        assert "whose label, 'no' or 'yes', is a coin toss" in found(audit)["planted"].message
        planted = next(row for row in audit.measurements if row.metric == "pipeline.planted_auc")
        assert planted.value is not None
        assert planted.value > 0.9


def test_a_notebook_that_fits_on_everything(data: Dataset, split: Split) -> None:
    def notebook(data: Dataset, split: Split, seed: int) -> Any:
        return fresh().fit(data.texts.to_pylist(), data.labels)

    audit = audit_pipeline(notebook, data, split)
    assert [levels(audit)[each] for each in ("test_labels", "test_texts", "planted")] == ["fail"] * 3
    assert found(audit)["vocabulary"].level == "fail"
    assert "occur in test rows and in no training row ('word" in found(audit)["vocabulary"].message


def test_a_notebook_that_keeps_apart(data: Dataset, split: Split) -> None:
    def notebook(data: Dataset, split: Split, seed: int) -> Any:
        return fresh().fit(texts_of(data, split.rows("train", "dev")), data.labels[split.rows("train", "dev")])

    audit = audit_pipeline(notebook, data, split)
    assert levels(audit) == dict.fromkeys(levels(audit), "ok")


def test_tuning_on_the_test_part_is_caught(data: Dataset, split: Split) -> None:
    def tuned(data: Dataset, split: Split, seed: int) -> Any:
        train, test = split.rows("train", "dev"), split.rows("test")
        vectors = TfidfVectorizer().fit(texts_of(data, train)).transform(data.texts.to_pylist())
        models = [LogisticRegression(C=c).fit(vectors[train], data.labels[train]) for c in (0.01, 1, 3, 10, 30, 100)]
        return max(models, key=lambda each: roc_auc_score(data.labels[test], each.predict_proba(vectors[test])[:, 1])
                   ).predict_proba(vectors)  # fmt: skip

    audit = levels(audit_pipeline(tuned, data, split, experiments=["test_labels"]))
    assert audit["test_labels"] == "fail"


def test_answers_about_test_rows_only_as_labels(data: Dataset, split: Split) -> None:
    def looked_up(data: Dataset, split: Split, seed: int) -> Any:
        return labels_of(data, split.rows("test"))

    def majority(data: Dataset, split: Split, seed: int) -> Any:
        return np.zeros(len(split.rows("test")), int)

    caught = levels(audit_pipeline(looked_up, data, split))
    assert (caught["test_labels"], caught["test_texts"], caught["planted"]) == ("fail", "ok", "fail")
    assert audit_pipeline(majority, data, split).passed


def clean_but_noisy(data: Dataset, split: Split) -> Scores:
    said = words_chosen_in_training(data, split)
    return said + np.random.default_rng().normal(0, 0.01, said.shape)


def leaking_and_noisy(data: Dataset, split: Split) -> Scores:
    said = clean_but_noisy(data, split)
    said[:, 1] += (data.labels == 1)[:]
    return said


def test_chance_is_told_apart_from_a_leak(data: Dataset, split: Split) -> None:
    names = ["repeatable", "test_labels", "planted"]
    clean = audit_pipeline(clean_but_noisy, data, split, experiments=names)
    assert levels(clean) == {"repeatable": "warn", "test_labels": "skipped", "planted": "ok"}
    assert found(clean)["repeatable"].message.startswith("4 runs on the same data with the same seed differ by up to .")
    assert "a leak cannot be told from chance" in found(clean)["test_labels"].message
    leaking = audit_pipeline(leaking_and_noisy, data, split, experiments=names)
    assert levels(leaking) == {"repeatable": "warn", "test_labels": "fail", "planted": "fail"}


def test_a_protocol_that_tests_other_rows_each_time(data: Dataset) -> None:
    def unseeded(data: Dataset) -> Any:
        rows = np.random.default_rng().permutation(len(data))[:60]
        return rows, np.zeros((60, 2))

    audit = audit_pipeline(unseeded, data)
    assert "runs cannot be compared" in found(audit)["test_texts"].message
    assert levels(audit) == {
        "repeatable": "warn",
        "test_labels": "skipped",
        "test_texts": "skipped",
        "planted": "ok",
        "rows_on_both_sides": "skipped",
    }


def test_rows_on_both_sides_where_the_protocol_tells(data: Dataset) -> None:
    def telling(data: Dataset, seed: int, shared: int = 0) -> Any:
        rows = np.random.default_rng(seed).permutation(len(data))
        return rows[40 - shared :], rows[:40], np.zeros((40, 2))

    clean = found(audit_pipeline(telling, data, experiments=["rows_on_both_sides"]))["rows_on_both_sides"]
    caught = audit_pipeline(telling, data, experiments=["rows_on_both_sides"], settings={"shared": 7})
    assert (clean.level, clean.count) == ("ok", 0)
    assert (caught.findings[0].level, caught.findings[0].count, len(caught.findings[0].evidence)) == ("fail", 7, 7)


def test_cross_validation_of_ones_own_is_judged_by_planted_texts(data: Dataset) -> None:
    def folds(data: Dataset, seed: int, leaking: bool = False) -> Any:
        texts = np.array(data.texts.to_pylist(), dtype=object)
        fold = np.random.default_rng(seed).integers(0, 3, len(data))
        told = []
        for each in range(3):
            train = np.ones(len(data), bool) if leaking else fold != each
            model = fresh().fit(texts[train], data.labels[train])
            told.append((np.flatnonzero(fold == each), model.predict_proba(texts[fold == each])))
        return told

    clean, caught = (levels(audit_pipeline(folds, data, settings={"leaking": each})) for each in (False, True))
    assert (clean["planted"], caught["planted"]) == ("ok", "fail")
    assert clean["test_texts"] == "skipped"


def cross_validated(data: Dataset, seed: int, form: str, leaking: bool = False) -> Any:
    """Some folds of five, each answered from the rows of the others, or from all rows; told in several forms."""
    texts, told = np.array(data.texts.to_pylist(), dtype=object), []
    for train, test in KFold(5, shuffle=True, random_state=seed).split(texts):
        learnt = np.arange(len(data)) if leaking else train
        told.append((test, fresh().fit(texts[learnt], data.labels[learnt]).predict_proba(texts[test])))
    if form == "two folds":
        return told[:2]
    rows, scores = (np.concatenate(each) for each in zip(*told, strict=True))
    if form == "training rows told":
        kept = rows < 150
        return np.arange(len(data)), rows[kept], scores[kept]
    return rows, scores


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("two folds", "2 folds were answered"),
        ("all rows", "every row is tested"),
        ("training rows told", "150 of them are among its training rows"),
    ],
)
def test_a_clean_cross_validation_is_not_accused(form: str, why: str, data: Dataset) -> None:
    names = ["test_labels", "test_texts", "planted"]
    audit, leaking = (
        found(audit_pipeline(cross_validated, data, experiments=names, settings={"form": form, "leaking": each}))
        for each in (False, True)
    )
    for name in ("test_labels", "test_texts"):
        assert audit[name].level == leaking[name].level == "skipped"
        assert audit[name].message == f"tested rows train other folds: {why}"
    assert leaking["planted"].level == ("skipped" if form == "training rows told" else "fail")
    assert audit["planted"].level != "fail"


def test_a_single_test_part_in_a_list_is_still_judged(data: Dataset) -> None:
    def single(data: Dataset, seed: int) -> Any:
        texts, test = np.array(data.texts.to_pylist(), dtype=object), np.arange(0, len(data), 4)
        return [(test, fresh().fit(texts, data.labels).predict_proba(texts[test]))]

    audit = levels(audit_pipeline(single, data, experiments=["test_labels", "test_texts"]))
    assert audit == {"test_labels": "fail", "test_texts": "fail"}


def test_folds_that_are_given_are_one_split(data: Dataset, split: Split) -> None:
    def whole(data: Dataset, folds: Any, seed: int) -> Any:
        texts = np.array(data.texts.to_pylist(), dtype=object)
        return [(test, fresh().fit(texts, data.labels).predict_proba(texts[test])) for _, test in folds]

    audit = levels(audit_pipeline(whole, data, split, experiments=["test_labels", "test_texts"]))
    assert audit == {"test_labels": "fail", "test_texts": "fail"}


def test_a_recipe_that_keeps_to_its_rows(data: Dataset, split: Split) -> None:
    def recipe(train: Dataset, dev: Dataset, seed: int) -> Any:
        return fresh().fit(train.texts.to_pylist(), labels_of(train, np.arange(len(train))))

    audit = levels(audit_pipeline(recipe, data, split))
    assert audit == {
        "test_rows": "skipped",
        "repeatable": "ok",
        "vocabulary": "ok",
        "captured_data": "ok",
        "shuffled_training_labels": "ok",
    }


def test_a_recipe_whose_closure_holds_the_data(data: Dataset, split: Split) -> None:
    def recipe(train: Dataset, dev: Dataset) -> Any:
        return fresh().fit(data.texts.to_pylist(), labels_of(data, np.arange(len(data))))

    audit = audit_pipeline(recipe, data, split)
    assert levels(audit) == {
        "test_rows": "skipped",
        "repeatable": "ok",
        "vocabulary": "fail",
        "captured_data": "warn",
        "shuffled_training_labels": "warn",
    }
    assert found(audit)["captured_data"].count == len(split.rows("test"))


def on(model: Any, data: Dataset, rows: Any) -> Any:
    return model.fit(texts_of(data, rows), labels_of(data, rows))


def test_an_estimator_that_was_fitted_on_everything(data: Dataset, split: Split) -> None:
    audit = audit_pipeline(on(fresh(), data, np.arange(len(data))), data, split)
    assert (levels(audit)["refit"], levels(audit)["vocabulary"]) == ("fail", "fail")
    assert "fitted anew on all rows, test rows included (160)" in found(audit)["refit"].message


def test_an_estimator_that_was_fitted_on_the_training_rows(data: Dataset, split: Split) -> None:
    audit = audit_pipeline(on(fresh(), data, split.rows("train")), data, split)
    assert audit.passed
    assert levels(audit)["refit"] == "ok"
    assert found(audit)["vocabulary"].message.startswith("0 of ")
    by_place = fresh().fit(texts_of(data, split.rows("train")), data.labels[split.rows("train")])
    assert levels(audit_pipeline(by_place, data, split, experiments=["refit"])) == {"refit": "ok"}
    unfitted = audit_pipeline(fresh(), data, split)
    assert unfitted.passed
    assert levels(unfitted)["refit"] == "skipped"


def joined(vectoriser: Any, data: Dataset, rows: Any) -> Any:
    """A fitted pipeline whose steps were fitted apart."""
    model = LogisticRegression().fit(vectoriser.transform(texts_of(data, rows)), labels_of(data, rows))
    return Pipeline([("words", vectoriser), ("model", model)])


def test_a_vectoriser_that_was_fitted_on_all_texts(data: Dataset, split: Split) -> None:
    train = split.rows("train")
    every = joined(TfidfVectorizer().fit(data.texts.to_pylist()), data, train)
    finding = found(audit_pipeline(every, data, split, experiments=["vocabulary"]))["vocabulary"]
    seen = {word for text in texts_of(data, train) for word in text.split()}
    only = {word for text in texts_of(data, split.rows("test")) for word in text.split()} - seen
    assert (finding.level, finding.count) == ("fail", len(only))
    rows = [row for row in split.rows("test") if only & set(texts_of(data, [row])[0].split())]
    assert finding.evidence == tuple(data.ids[int(row)].as_py() for row in rows[:10])


def test_a_fitted_vectoriser_behind_a_method_or_a_global_name(data: Dataset, split: Split) -> None:
    SHARED.fit(data.texts.to_pylist())
    behind = make_pipeline(FunctionTransformer(SHARED.transform), LogisticRegression())
    for pipeline in (behind, shared_recipe, partial(shared_recipe)):
        finding = found(audit_pipeline(pipeline, data, split, experiments=["vocabulary"]))["vocabulary"]
        assert finding.level == "fail"


SHARED = TfidfVectorizer()


def shared_recipe(train: Dataset, dev: Dataset, seed: int) -> Any:
    def prepared(texts: list[str]) -> Any:
        return SHARED.transform(texts)

    model = LogisticRegression().fit(prepared(train.texts.to_pylist()), labels_of(train, np.arange(len(train))))

    class Model:
        classes_ = tuple(model.classes_)

        def predict_proba(self, texts: list[str]) -> Any:
            return model.predict_proba(prepared(texts))

    return Model()


def test_document_frequencies_of_all_texts(data: Dataset, split: Split) -> None:
    train = split.rows("train")
    few = TfidfVectorizer(min_df=4)
    every = joined(few.fit(data.texts.to_pylist()), data, train)
    finding = found(audit_pipeline(every, data, split, experiments=["vocabulary"]))["vocabulary"]
    assert finding.level == "fail"
    assert "document frequencies of a TfidfVectorizer are those of all 160 rows" in finding.message
    own = joined(TfidfVectorizer(min_df=4).fit(texts_of(data, train)), data, train)
    assert found(audit_pipeline(own, data, split, experiments=["vocabulary"]))["vocabulary"].level == "ok"


def test_a_vocabulary_from_elsewhere_is_no_proof(data: Dataset, split: Split) -> None:
    lexicon = TfidfVectorizer().fit([*data.texts.to_pylist(), "words of another corpus"])
    model = joined(lexicon, data, split.rows("train"))
    finding = found(audit_pipeline(model, data, split, experiments=["vocabulary"]))["vocabulary"]
    assert finding.level == "warn"
    assert "4 occur in neither" in finding.message


def test_a_vocabulary_that_was_given_is_not_fitted(data: Dataset, split: Split) -> None:
    seen, asked = (
        {word for text in texts_of(data, split.rows(part)) for word in text.split()} for part in ("train", "test")
    )
    for words, level in (([*sorted(seen)[:5], min(asked - seen)], "warn"), (sorted(seen)[:5], "ok")):
        pipeline = make_pipeline(CountVectorizer(vocabulary=words), LogisticRegression())
        finding = found(audit_pipeline(pipeline, data, split, experiments=["vocabulary"]))["vocabulary"]
        assert (finding.level, finding.count) == (level, int(level == "warn"))
        assert ("its vocabulary was given: make sure nobody" in finding.advice) == (level == "warn")


def test_words_in_a_message_cannot_steer_a_terminal(data: Dataset) -> None:
    texts = [*data.texts.to_pylist()[:-1], "\x1b[31mred\x1b[0m " + "x" * 90]
    odd = build(data.ids.to_pylist(), texts, labels_of(data, np.arange(len(data))).tolist())
    last = _last_row_tested(odd)
    vectoriser = TfidfVectorizer(token_pattern=r"\S+").fit(texts)
    model = joined(vectoriser, odd, last.rows("train"))
    message = found(audit_pipeline(model, odd, last, experiments=["vocabulary"]))["vocabulary"].message
    assert message.isprintable()
    assert "x" * 30 not in message


def _last_row_tested(data: Dataset) -> Split:
    one = split_data(data, "random", test=0.25, seed=1)
    parts = np.zeros(len(data), np.int8)
    parts[-1] = 2
    return Split("last", one.ids, parts, one.clusters, one.certificate, one.dataset)


def test_the_planned_runs_are_the_runs(data: Dataset, split: Split) -> None:
    calls = []

    def counted(data: Dataset, split: Split, seed: int) -> Scores:
        calls.append(seed)
        return np.zeros((len(data), 2))

    assert sum(planned_runs(counted).values()) == 6
    audit_pipeline(counted, data, split, seed=3)
    assert calls == [3] * 6
    fitted = on(fresh(), data, np.arange(len(data)))
    assert [planned_runs(each)["refit"] for each in (fitted, fresh())] == [4, 0]  # two kinds of rows, two of all


def test_a_pipeline_that_fails_on_changed_data_is_skipped(data: Dataset, split: Split) -> None:
    def picky(data: Dataset, split: Split, seed: int) -> Scores:
        if len(data) > 160:
            raise RuntimeError("no such words")
        return np.zeros((len(data), 2))

    finding = found(audit_pipeline(picky, data, split, experiments=["planted"]))["planted"]
    assert (finding.level, "RuntimeError: no such words" in finding.message) == ("skipped", True)
    with pytest.raises(InputError, match="the pipeline broken failed: KeyError"):
        audit_pipeline(broken, data, split)


def broken(data: Dataset, split: Split) -> Scores:
    raise KeyError("text")


def test_wrong_input_is_refused(data: Dataset, split: Split) -> None:
    def own(data: Dataset, seed: int) -> Any:
        return np.arange(5), np.zeros((5, 2))

    with pytest.raises(InputError) as caught:
        audit_pipeline(own, data, split, planted=3)
    assert caught.value.problems == (
        "a split has no effect on a pipeline that makes its own",
        "planted must be at least 20, not 3",
    )
    with pytest.raises(InputError, match="'protocol' needs a split"):
        audit_pipeline(words_chosen_in_training, data)
    with pytest.raises(UnknownNameError, match="did you mean 'planted'"):
        audit_pipeline(own, data, experiments=["plantet"])
    with pytest.raises(InputError, match="refit cannot be tried on a pipeline of the shape 'own split'"):
        audit_pipeline(own, data, experiments=["refit"])
    with pytest.raises(UnknownNameError, match="shape"):
        audit_pipeline(own, data, shape="recpie")
    with pytest.raises(InputError, match="parameters it does not take"):
        audit_pipeline(words_chosen_in_training, data, split, settings={"shares": 3})
    with pytest.raises(InputError, match="no effect on a pipeline of the shape 'estimator'"):
        audit_pipeline(fresh(), data, split, settings={"share": 3})
    with pytest.raises(InputError, match="not a pipeline"):
        audit_pipeline(3, data, split)
    with pytest.raises(UnknownNameError, match="did you mean 'words-chosen-in-training'"):
        audit_pipeline("words-chosen-in-trainin", data, split)


def test_a_pipeline_by_its_name(data: Dataset, split: Split) -> None:
    by_name, by_place, itself = (
        audit_pipeline(each, data, split, experiments=["test_labels", "test_texts"])
        for each in (
            "words-chosen-on-all-data",
            "unseen.audits.pipelines.examples:words_chosen_on_all_data",
            words_chosen_on_all_data,
        )
    )
    assert by_name == by_place == itself
    assert not by_name.passed
    assert planned_runs("words-chosen-on-all-data") == planned_runs(words_chosen_on_all_data)


def test_the_split_that_is_made_is_the_random_one(data: Dataset) -> None:
    made, known = default_split(words_chosen_in_training, data, seed=5), split_data(data, "random", test=0.2, seed=5)
    assert made is not None
    assert (made.name, made.parts.tolist(), made.origin.step) == (known.name, known.parts.tolist(), known.origin.step)
    assert default_split(oversampled_in_training, data) is None


POSSIBLE = {
    "recipe": "repeatable vocabulary captured_data shuffled_training_labels",
    "protocol": "repeatable test_labels test_texts fewer_rows planted vocabulary",
    "own split": "repeatable test_labels test_texts planted rows_on_both_sides",
    "estimator": "repeatable vocabulary refit shuffled_training_labels",
}


@pytest.mark.parametrize("shape", POSSIBLE)
def test_every_experiment_runs_on_its_shapes_and_is_refused_on_others(shape: str, data: Dataset, split: Split) -> None:
    def recipe(train: Dataset, dev: Dataset, seed: int) -> Any:
        return on(fresh(), train, np.arange(len(train)))

    def own(data: Dataset, seed: int) -> Any:
        return np.arange(0, len(data), 2), np.zeros(((len(data) + 1) // 2, 2))

    fit = {"recipe": recipe, "protocol": words_chosen_in_training, "own split": own, "estimator": fresh()}[shape]
    given = None if shape == "own split" else split
    possible = POSSIBLE[shape].split()
    assert list(found(audit_pipeline(fit, data, given, experiments=possible))) == possible
    for name in EXPERIMENTS.keys() - set(possible):
        with pytest.raises(InputError, match=f"{name} cannot be tried"):
            audit_pipeline(fit, data, given, experiments=[name])


def test_auc_is_that_of_scikit_learn() -> None:
    chance = np.random.default_rng(5)
    for _ in range(20):
        scores, positive = chance.integers(0, 6, 30).astype(float), chance.random(30) < 0.4
        assert auc(positive, scores) == pytest.approx(roc_auc_score(positive, scores))


def test_chance_is_that_of_the_rank_sum_test() -> None:
    from scipy.stats import mannwhitneyu

    scores, positive = np.random.default_rng(8).normal(size=24), np.arange(24) < 10
    scores[:10] += 0.7
    value, bound, p = ranked(scores, positive, 1)
    exact = mannwhitneyu(scores[positive], scores[~positive], alternative="greater", method="exact").pvalue
    assert value == pytest.approx(roc_auc_score(positive, scores))
    assert p == pytest.approx(exact, abs=0.006)
    assert 0.8 < bound < 0.95
