"""Hard or broken: cases made so that the answer is known."""

import numpy as np
import pytest

from unseen.audits import Trial, hard_or_broken, label_noise_of
from unseen.errors import InputError
from unseen.evaluation import metric
from unseen.evaluation.metrics import chance
from unseen.types import PARTS, Certificate, Predictions, Split

NAMES = ("calm", "loud", "mixed")
N, TEST, INDEPENDENT = 600, slice(0, 60), slice(540, 600)
TRUE = np.arange(N) % 3
CHECKS = [
    "learnt",
    "control",
    "completed",
    "class-mix",
    "label-noise",
    "below-chance",
    "annotators",
]


def answers(codes, least=0.6):
    """Probabilities that are sure of these labels, more or less."""
    sure = least + 0.09 * (np.arange(len(codes)) % 7) / 7
    p = np.eye(3)[codes] * sure[:, None]
    return p + (1 - p.sum(axis=1, keepdims=True)) / 3


def split_of(data, name, test, **certificate):
    parts = np.zeros(len(data), np.int8)
    parts[test], parts[INDEPENDENT] = PARTS.index("test"), PARTS.index("independent")
    counts = np.bincount(data.labels[test], minlength=3).tolist()
    got = dict(zip(NAMES, counts, strict=True))
    made = Certificate(got, got, **({"n_clusters": 5} | certificate))
    return Split(name, data.ids, parts, np.zeros(len(data), np.int32), made, data.fingerprint)


@pytest.fixture
def judge(tiny):
    """`judge(labels=…, said=…)` is what is found; `said` changes the answers of models trained on the hard split.

    The models of random splits know the truth, and so does the witness, unless `witness` are its answers.
    """

    def judged(
        labels=TRUE, said=TRUE, test=TEST, certificate=None, attributes=None, control=True, witness=None, **options
    ):
        ids = [f"r{i:03}" for i in range(N)]
        data = tiny(ids=ids, labels=[NAMES[code] for code in labels], label_names=NAMES, **(attributes or {}))
        draw = np.random.default_rng(0)
        told = answers(TRUE, 0.9) if witness is None else witness
        asked = label_noise_of(data, Predictions(data.ids, told, NAMES))
        split = split_of(data, "closest", test, **(certificate or {}))
        hard = [Trial(split, seed, Predictions(data.ids, answers(said), NAMES)) for seed in (1, 2)]
        noise = np.where(draw.random(N) < 0.1, (TRUE + 1) % 3, TRUE)
        controls = (
            [
                Trial(
                    split_of(data, f"random-{i}", slice(100 * i, 100 * i + 60)),
                    seed,
                    Predictions(data.ids, answers(noise), NAMES),
                    "random",
                )
                for i in (1, 2)
                for seed in (1, 2)
            ]
            if control
            else []
        )
        rows, findings = hard_or_broken(data, asked, hard, controls, draws=200, **options)
        assert [each.check for each in findings] == [f"{check}[closest]" for check in CHECKS]
        return rows, {each.check.partition("[")[0]: each for each in findings}

    return judged


def changed(rows, by=1):
    """The truth, but wrong on these rows."""
    labels = TRUE.copy()
    labels[rows] = (labels[rows] + by) % 3
    return labels


def value(rows, name, **tags):
    (found,) = [row for row in rows if row.metric == name and row.tags.items() >= tags.items()]
    return found.value


def test_a_hard_split_with_right_labels_is_hard(judge):
    rows, found = judge(said=changed(slice(0, 20)))  # wrong on a third of the test part
    levels = {check: each.level for check, each in found.items()}
    assert levels == dict.fromkeys(CHECKS, "ok") | {"annotators": "skipped"}
    assert value(rows, "label_noise") < 0.02
    assert "The task was learnt" in found["learnt"].message
    assert " worse. That is clearly harder." in found["control"].message


def test_flipped_labels_are_found_and_explain_the_score(judge):
    rows, found = judge(labels=changed(slice(0, 50)))
    assert found["label-noise"].level == "fail"
    assert found["below-chance"].level == "fail"
    assert value(rows, "label_noise", split="closest", part="test") == pytest.approx(50 / 60, abs=0.02)
    assert value(rows, "label_noise.control") < 0.02
    assert value(rows, "suspect_labels") == pytest.approx(50 / 60)
    assert value(rows, "fall.corrected.f1.macro") < 0  # the models of random splits err on a tenth
    evidence = found["label-noise"].evidence
    assert found["label-noise"].count == 50
    assert len(evidence) == 20
    assert set(evidence) <= {f"r{i:03}" for i in range(50)}
    assert found["learnt"].level == "ok"


def test_some_flipped_labels_are_a_warning(judge):
    _, found = judge(labels=changed(slice(0, 20)))
    assert (found["label-noise"].level, found["label-noise"].count) == ("warn", 20)
    assert found["below-chance"].level == "ok"


def test_a_witness_that_is_not_sure_tells_nothing(judge):
    """It knows half of the rows and guesses the others."""
    draw = np.random.default_rng(1)
    guessed = answers(draw.integers(3, size=N), 0.3)
    rows, found = judge(witness=np.where(np.arange(N)[:, None] % 2, answers(TRUE, 0.9), guessed))
    assert found["label-noise"].level == "warn"
    assert "cannot be told" in found["label-noise"].message
    (noise,) = [row for row in rows if row.metric == "label_noise"]
    assert noise.value is None
    assert "cannot be told" in noise.tags["undefined"]
    assert "fall.corrected.f1.macro" not in {row.metric for row in rows}


def test_below_chance_with_right_labels_is_a_failure(judge):
    _, found = judge(said=changed(slice(0, 57)))
    assert found["below-chance"].level == "fail"
    assert found["label-noise"].level == "ok"


@pytest.mark.parametrize(("wrong", "level"), [(0, "ok"), (8, "warn"), (30, "fail")])
def test_what_was_not_learnt_is_seen_on_independent_rows(judge, wrong, level):
    rows, found = judge(said=changed(slice(540, 540 + wrong)))
    assert found["learnt"].level == level
    (gap,) = [row for row in rows if row.metric == "fall.f1.macro"]
    assert gap.tags.items() >= {"family": "closest", "against": "random", "part": "independent"}.items()
    assert gap.low <= gap.value <= gap.high


@pytest.mark.parametrize(
    ("wrong", "level", "said"),
    [(0, "warn", "is clearly easier"), (6, "warn", "is not clearly harder"), (30, "ok", "is clearly harder")],
)
def test_harder_easier_and_neither_are_told_apart(judge, wrong, level, said):
    _, found = judge(said=changed(slice(0, wrong)))
    assert found["control"].level == level
    assert said in found["control"].message


def test_another_class_mix_is_seen(judge):
    skewed = np.concatenate([np.flatnonzero(TRUE == 0)[:40], np.flatnonzero(TRUE == 1)[:20]])
    _, found = judge(test=skewed)
    assert found["class-mix"].level == "fail"
    assert "'mixed' is 0.0 % of the test part and 37.5 %" in found["class-mix"].message
    assert found["control"].level == "warn"
    assert "random-1, random-2 have another test size or class mix" in found["control"].message


def test_a_largely_completed_split_is_said(judge):
    _, found = judge(certificate={"completed": 22})
    assert found["completed"].level == "warn"
    assert found["completed"].message == "22 of 60 test texts (37 %) were added singly to whole clusters."
    _, found = judge(certificate={"n_clusters": None})
    assert found["completed"].level == "skipped"


def test_disagreement_of_annotators_is_seen(judge):
    draw = np.random.default_rng(0)
    agreement = 0.9 - 0.3 * (np.arange(N) < 60) + draw.normal(0, 0.1, N)
    rows, found = judge(attributes={"agreement": agreement.tolist()}, agreement="agreement")
    assert found["annotators"].level == "warn"
    assert value(rows, "annotator_agreement", part="test") == pytest.approx(agreement[:60].mean())
    assert value(rows, "annotator_agreement", part="train") == pytest.approx(agreement[60:540].mean())
    _, found = judge(attributes={"agreement": agreement[::-1].tolist()}, agreement="agreement")
    assert found["annotators"].level == "ok"
    _, found = judge(attributes={"agreement": ["high"] * N}, agreement="agreement")
    assert found["annotators"].level == "skipped"


def test_without_random_splits_what_needs_them_is_skipped(judge):
    rows, found = judge(said=changed(slice(0, 20)), control=False)
    assert (found["learnt"].level, found["control"].level) == ("skipped", "skipped")
    assert found["label-noise"].level == "ok"
    assert {row.metric for row in rows} == {
        "suspect_labels", "suspect_labels.control", "label_noise", "label_noise.control", "chance.f1.macro",
    }  # fmt: skip


def test_tags_are_on_every_measurement(judge):
    agreement = np.linspace(0.2, 0.9, N).tolist()
    rows, _ = judge(
        tags={"model": "minilm", "family": "ours"}, attributes={"agreement": agreement}, agreement="agreement"
    )
    assert "annotator_agreement" in {row.metric for row in rows}
    assert {row.tags.get("model") for row in rows} == {"minilm"}


def test_one_hard_split_at_a_time(tiny):
    data = tiny()
    with pytest.raises(InputError, match="one hard split"):
        hard_or_broken(data, None, [], [])


@pytest.mark.parametrize(
    "name", ["accuracy", "f1.macro", "f1[loud]", "log_loss", "brier", "roc_auc.ovr", "average_precision.macro"]
)
def test_chance_is_what_guessing_gives(name):
    """A guesser that draws labels from the mix; for probabilities, one that answers the mix (or noise, to rank)."""
    draw = np.random.default_rng(0)
    gold, mix = draw.choice(3, 20_000, p=[0.6, 0.3, 0.1]), np.array([0.5, 0.3, 0.2])
    said = np.eye(3)[draw.choice(3, len(gold), p=mix)]
    if name in {"log_loss", "brier"}:
        said = np.tile(mix, (len(gold), 1))
    elif "." in name and name != "f1.macro":
        said = draw.dirichlet(np.ones(3), len(gold))
    expected = metric(name)(gold, said, NAMES)
    assert chance(metric(name), gold, mix, NAMES) == pytest.approx(expected, abs=0.01)


def test_chance_of_even_classes_is_one_in_k():
    assert chance(metric("accuracy"), TRUE, np.full(3, 1 / 3), NAMES) == pytest.approx(1 / 3)
    assert chance(metric("ece.15"), TRUE, np.full(3, 1 / 3), NAMES) is None
