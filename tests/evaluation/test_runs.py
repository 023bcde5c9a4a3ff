"""Levels and falls over seeds and rows."""

import numpy as np
import pytest
from scipy import stats

from unseen.errors import InputError
from unseen.evaluation import Run, fall, level, metric, over_seeds
from unseen.evaluation.counting import Patterns
from unseen.evaluation.intervals import bootstrap, resamples
from unseen.evaluation.runs import seed_weights
from unseen.types import Predictions

NAMES = ("a", "b", "c")


def run(split, seed, right, gold=None, **more):
    """A run that is right on the rows marked so."""
    gold = np.arange(len(right)) % 3 if gold is None else gold
    p = np.eye(3)[np.where(right, gold, (gold + 1) % 3)] * 0.7 + 0.1
    return Run(split, split.partition("-")[0], seed, gold, p, NAMES, **more)


def test_mean_and_standard_error_are_those_of_scipy():
    values = [0.61, 0.66, 0.64, 0.70]
    found = over_seeds(values)
    assert found.mean == pytest.approx(np.mean(values))
    assert found.standard_error == pytest.approx(stats.sem(values))
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 3, np.mean(values), stats.sem(values)))


def test_one_seed_has_no_standard_error():
    assert over_seeds([0.5]) == (0.5, None, None, None)
    (row,) = level([run("closest", 1, np.arange(60) < 40)], "accuracy")
    assert (row.metric, row.tags["seed"]) == ("accuracy", "mean")
    with pytest.raises(InputError, match="no values"):
        over_seeds([])


def test_level_is_the_mean_with_its_standard_error():
    draw = np.random.default_rng(0)
    runs = [run(f"random-{i}", seed, draw.random(300) < 0.7) for i in (1, 2) for seed in (4, 5, 6)]
    values = [metric("f1.macro")(each.gold, each.probabilities, NAMES) for each in runs]
    mean, error = level(runs, "f1.macro", tags={"family": "random"})
    assert (mean.value, error.value) == pytest.approx((np.mean(values), stats.sem(values)))
    assert (mean.n, mean.tags) == (600, {"seed": "mean", "family": "random"})
    assert error.metric == "standard_error.f1.macro"
    assert mean.low < mean.value < mean.high


def test_with_one_seed_only_rows_are_drawn():
    right = np.arange(400) < 300
    mean = level([run("closest", 1, right)], "accuracy", draws=4000)[0]
    spread = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (mean.low, mean.high) == pytest.approx((0.75 - spread, 0.75 + spread), abs=0.005)


def test_runs_on_the_same_rows_share_the_draws():
    """Three equal runs know no more than one."""
    right = np.arange(400) < 300
    mean = level([run("closest", seed, right) for seed in (1, 2, 3)], "accuracy", draws=4000)[0]
    apart = level([run(f"closest-{seed}", seed, right) for seed in (1, 2, 3)], "accuracy", draws=4000)[0]
    spread = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert mean.high - mean.low == pytest.approx(2 * spread, abs=0.01)
    # of rows of three splits apart, two of three seeds are drawn: the mean of two, sometimes of one
    assert apart.high - apart.low < 0.9 * (mean.high - mean.low)


def test_drawn_seeds_have_the_variance_of_their_mean():
    """Runs that are all right or all wrong have no spread of rows: what is left is that of seeds."""
    scores = [0.2, 0.5, 0.9]
    runs = [run(f"closest-{seed}", seed, np.ones(30, bool)) for seed in (1, 2, 3)]
    times = seed_weights([runs], 200_000, 0)[0]
    means = sum(times[seed] * score for seed, score in zip((1, 2, 3), scores, strict=True)) / sum(times.values())
    assert means.mean() == pytest.approx(np.mean(scores), abs=0.005)
    assert means.std() == pytest.approx(stats.sem(scores), rel=0.01)


def test_seeds_are_drawn_together_where_both_sides_have_them():
    ones = np.ones(3, bool)
    left = [run("random-1", seed, ones) for seed in (1, 2, 3)]
    right = [run("closest", seed, ones) for seed in (2, 3, 4)]
    first, second = seed_weights([left, right], 500, 0)
    assert np.array_equal(first[2], second[2])
    assert np.array_equal(first[3], second[3])
    assert first[2].std() > 0
    assert first[1].tolist() == second[4].tolist() == [1] * 500
    assert np.all(sum(first.values()) == 3)


def test_a_fall_is_paired_over_seeds():
    """A seed that is good on both sides cancels out of the fall, not out of the levels."""
    rights = {1: 0.5, 2: 0.6, 3: 0.7, 4: 0.8}
    draw = np.random.default_rng(0)
    easy = [run("random-1", seed, draw.permutation(2000) < 2000 * right) for seed, right in rights.items()]
    hard = [run("closest", seed, draw.permutation(2000) < 2000 * (right - 0.3)) for seed, right in rights.items()]
    other = [run("closest", 5 - seed, each.probabilities.argmax(1) == each.gold) for seed, each in enumerate(hard, 1)]
    paired, crossed = fall(easy, hard, "accuracy"), fall(easy, other, "accuracy")
    assert paired.value == crossed.value == pytest.approx(0.3)
    assert paired.metric == "fall.accuracy"
    assert crossed.high - crossed.low > 2 * (paired.high - paired.low)


def test_a_fall_on_shared_rows_is_paired_over_rows():
    right = np.random.default_rng(0).random(300) < 0.5
    easy, hard = run("random-1", 1, right, sample="independent"), run("closest", 1, right, sample="independent")
    assert fall([easy], [hard], "accuracy").high == 0
    apart = fall([run("random-1", 1, right)], [run("closest", 1, right)], "accuracy")
    assert apart.value == 0
    assert apart.high > 0.04


def test_a_fall_is_positive_where_more_is_worse():
    good, bad = (run(name, 1, np.arange(60) < n) for name, n in (("random-1", 50), ("closest", 20)))
    found = fall([good], [bad], "log_loss")
    assert found.value > 0
    assert found.low < found.value < found.high


def test_no_value_gives_no_fall():
    odd = run("closest", 1, np.ones(10, bool), gold=np.zeros(10, int))
    assert fall([run("random-1", 1, np.ones(9, bool))], [odd], "f1[b]").value is None
    assert level([odd], "f1[b]")[0].value is None


def test_runs_said_to_share_rows_must():
    one, other = run("closest", 1, np.ones(9, bool)), run("closest", 2, np.ones(9, bool), gold=np.zeros(9, int))
    with pytest.raises(InputError, match="different rows"):
        level([one, other], "accuracy")
    with pytest.raises(InputError, match="no runs"):
        level([], "accuracy")
    with pytest.raises(InputError, match="needs one gold label"):
        Run("closest", "closest", 1, np.zeros(3, int), np.ones((2, 3)) / 3, NAMES)


def test_a_run_of_predictions_is_matched_by_id_and_knows_its_rows(tiny):
    data = tiny(user=["u1", "u2", "u1", "u2"])
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    said = Predictions(data.ids.take([3, 2, 1, 0]), p[::-1], data.label_names)
    rows = np.array([1, 2])
    found = Run.of(data, said, rows, split="s", family="f", seed=1, groups="user")
    assert found.probabilities.tolist() == p[rows].tolist()
    assert found.gold.tolist() == data.labels[rows].tolist()
    assert len(set(found.units)) == 2
    again, elsewhere = (Run.of(data, said, each, split="t", family="f", seed=2) for each in (rows, np.array([0, 1])))
    assert found.sample == again.sample != elsewhere.sample
    few = found.only(np.array([True, False]))
    assert (len(few.gold), len(few.units)) == (1, 1)
    assert few.sample != found.sample


@pytest.mark.parametrize("groups", [None, np.arange(90) // 3])
@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "f1[b]", "roc_auc.ovo", "roc_auc[a]"])
def test_counting_gives_what_drawing_rows_gives(groups, name):
    """The bootstrap of counts or weights and that of rows have the same spread."""
    draw = np.random.default_rng(0)
    gold, p = draw.integers(3, size=90), draw.dirichlet(np.ones(3), 90)
    score = metric(name)
    fast = bootstrap(score, gold, [p], NAMES, groups=groups, draws=2000)[0]
    slow = np.array([score(gold[rows], p[rows], NAMES) for rows in resamples(90, groups, 2000, seed=7)])
    assert stats.ks_2samp(fast, slow).pvalue > 0.01


@pytest.mark.parametrize("name", ["roc_auc.binary", "roc_auc.ovo", "roc_auc.ovr", "roc_auc[b]"])
@pytest.mark.parametrize("ties", [False, True])
def test_a_weight_is_a_row_repeated(name, ties):
    draw = np.random.default_rng(0)
    k = 2 if name == "roc_auc.binary" else 3
    gold, p = draw.integers(k, size=40), draw.dirichlet(np.ones(k), 40)
    p = p.round(1) if ties else p
    weights = draw.integers(3, size=(20, 40)).astype(float)
    weights[0] = gold == 0  # only one class is left
    score = metric(name)
    expected = [score(np.repeat(gold, w), np.repeat(p, w, axis=0), NAMES[:k]) for w in weights.astype(int)]
    assert expected[0] is None
    found = score.of_weights(gold, p, weights, NAMES[:k])
    assert found == pytest.approx(np.array(expected, dtype=float), nan_ok=True)


def test_counts_of_no_resampling_are_the_confusion():
    draw = np.random.default_rng(0)
    gold, said = draw.integers(3, size=50), [draw.integers(3, size=50) for _ in range(2)]
    patterns = Patterns(gold, said, 3)
    for model, each in enumerate(said):
        expected = np.zeros((3, 3))
        np.add.at(expected, (gold, each), 1)
        assert patterns.matrices(patterns.sizes.astype(float), model).tolist() == expected.tolist()


def test_many_models_have_patterns_too():
    """More models than digits fit into one number; only the last one is ever wrong."""
    gold, wrong = np.zeros(50, int), (np.arange(50) < 20).astype(int)
    patterns = Patterns(gold, [gold] * 70 + [wrong], 2)
    assert patterns.sizes.tolist() == [30, 20]
    assert patterns.matrices(patterns.sizes.astype(float), 70).tolist() == [[30, 20], [0, 0]]


def runs_of(name, mean, skills, draw, n=300, luck=0.2):
    """Runs of one split: a text is as easy for all seeds but for some luck; `skills` are added to the mean."""
    easy = draw.random(n)
    alone = [np.where(draw.random(n) < luck, draw.random(n), easy) for _ in skills]
    return [run(name, seed, each < mean + skill) for seed, (each, skill) in enumerate(zip(alone, skills, strict=True))]


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "spread", "least"), [(3, 0.0, 0.92), (6, 0.03, 0.90), (3, 0.03, 0.85)])
def test_the_interval_of_a_fall_covers_the_truth(seeds, spread, least):
    """The truth is .3; three seeds that differ much are too few for 95 %, as the docstring says."""
    draw = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        easy = runs_of("random-1", 0.7, draw.normal(0, spread, seeds), draw)
        hard = runs_of("closest", 0.4, draw.normal(0, spread, seeds), draw)
        found = fall(easy, hard, "accuracy", draws=400)
        covered.append(found.low <= 0.3 <= found.high)
    assert least <= np.mean(covered) <= 0.985
