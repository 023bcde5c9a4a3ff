"""Levels and falls over seeds and rows."""

import numpy as np
import pytest
from scipy import stats

from unseen.errors import InputError
from unseen.evaluation import Run, fall, level, metric, over_seeds
from unseen.evaluation.bootstrap import Patterns, bootstrap
from unseen.evaluation.intervals import widened
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
    assert mean.n == 600
    assert {"seed": "mean", "family": "random", "seeds": 3}.items() <= mean.tags.items()
    assert error.tags == {"seed": "mean", "family": "random"}
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
    assert apart.high - apart.low < 0.7 * (mean.high - mean.low)


def test_where_seeds_alone_vary_the_interval_is_students():
    """Each model is right on all rows or on none: rows have no spread, and what is left is that of seeds."""
    scores = [1, 0, 0, 1, 1]
    ups = [run("closest", seed, np.full(30, score)) for seed, score in enumerate(scores)]
    downs = [run("random-1", seed, np.ones(30, bool)) for seed in range(5)]
    found = fall(downs, ups, "accuracy")
    assert found.tags["standard_error"] == pytest.approx(stats.sem(scores))
    # the seeds of the other side have degrees of freedom too
    assert found.tags["df"] == pytest.approx(8)
    assert found.low == pytest.approx(0.4 - stats.t.ppf(0.975, 8) * stats.sem(scores))


def test_where_rows_alone_vary_seeds_add_nothing():
    """Three seeds with rows of their own and the same score: less spread than chance gives them."""
    right = np.arange(400) < 300
    mean = level([run(f"random-{seed}", seed, np.roll(right, seed)) for seed in (1, 2, 3)], "accuracy", draws=4000)[0]
    assert mean.tags["standard_error"] == pytest.approx(np.sqrt(0.75 * 0.25 / 1200), rel=0.05)
    assert mean.tags["df"] == pytest.approx(399)


def test_an_interval_stays_within_the_bounds_of_its_metric():
    draw = np.random.default_rng(0)
    near = [run("closest", seed, draw.random(40) < 0.95) for seed in (1, 2)]
    far = [run("random-1", seed, draw.random(40) < share) for seed, share in ((1, 0.1), (2, 0.7))]
    for found in (level(near, "accuracy")[0], level(far, "accuracy")[0], level(far, "log_loss")[0]):
        assert 0 <= found.low < found.value < found.high
    assert level(far, "accuracy")[0].high < 1
    assert fall(near, far, "accuracy").high <= 1


def test_how_an_interval_came_about_can_be_read():
    draw = np.random.default_rng(0)
    easy = [run("random-1", seed, draw.random(90) < 0.7) for seed in (1, 2, 3)]
    found = fall(easy, [run("closest", 1, draw.random(90) < 0.5)], "accuracy")
    error, df = found.tags["standard_error"], found.tags["df"]
    assert found.tags["seeds"] == 1
    assert found.high == pytest.approx(found.value + stats.t.ppf(0.975, df) * error)


def test_one_group_has_no_interval_and_no_spread_has_none():
    draw = np.random.default_rng(0)
    runs = [run("closest", 1, draw.random(60) < 0.7, groups=np.zeros(60, int))]
    for found in (level(runs, "accuracy")[0], fall(runs, runs, "accuracy")):
        assert (found.low, found.tags["few_groups"]) == (None, 1)
    alike = level([run("closest", 1, np.ones(60, bool))], "accuracy")[0]
    assert (alike.value, alike.low, alike.tags["no_spread"]) == (1, None, 1)


def test_a_fall_is_paired_over_seeds_on_the_same_rows():
    """A seed that is good on both sides cancels out of the fall, not out of the levels."""
    rights = {1: 0.5, 2: 0.6, 3: 0.7, 4: 0.8}
    draw = np.random.default_rng(0)

    def runs(name, less, sample):
        return [run(name, s, draw.permutation(2000) < 2000 * (r - less), sample=sample) for s, r in rights.items()]

    paired = fall(runs("seen", 0.0, "same"), runs("unseen", 0.3, "same"), "accuracy")
    apart = fall(runs("random-1", 0.0, "one"), runs("closest", 0.3, "other"), "accuracy")
    assert paired.value == apart.value == pytest.approx(0.3)
    assert paired.metric == "fall.accuracy"
    assert apart.high - apart.low > 3 * (paired.high - paired.low)


def test_a_fall_on_shared_rows_is_paired_over_rows():
    right = np.random.default_rng(0).random(300) < 0.5
    other = np.where(np.arange(300) < 10, ~right, right)
    easy, hard = run("random-1", 1, right, sample="independent"), run("closest", 1, other, sample="independent")
    shared, apart = fall([easy], [hard], "accuracy"), fall([run("a", 1, right)], [run("b", 1, other)], "accuracy")
    assert shared.value == apart.value
    assert apart.high - apart.low > 3 * (shared.high - shared.low)
    assert fall([easy], [easy], "accuracy").tags["no_spread"] == 1


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
    assert len(set(found.groups)) == 2
    again, elsewhere = (Run.of(data, said, each, split="t", family="f", seed=2) for each in (rows, np.array([0, 1])))
    assert found.sample == again.sample != elsewhere.sample
    few = found.only(np.array([True, False]))
    assert (len(few.gold), len(few.groups)) == (1, 1)
    assert few.sample != found.sample


def resamples(n, groups, draws, seed):
    """Row positions of each resample, drawn one after the other."""
    draw, unit = np.random.default_rng(seed), np.arange(n) if groups is None else groups
    for _ in range(draws):
        times = np.bincount(draw.integers(unit.max() + 1, size=unit.max() + 1), minlength=unit.max() + 1)
        yield np.repeat(np.arange(n), times[unit])


@pytest.mark.parametrize("groups", [None, np.arange(90) // 3])
@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "f1[b]", "roc_auc.ovo", "roc_auc.ovr", "roc_auc[a]"])
def test_counting_gives_what_drawing_rows_gives(groups, name):
    """The bootstrap of counts or weights and that of rows have the same spread."""
    draw = np.random.default_rng(0)
    gold, p = draw.integers(3, size=90), draw.dirichlet(np.ones(3), 90)
    score = metric(name)
    fast = bootstrap(score, gold, [p], NAMES, groups=groups, draws=2000)[0]
    slow = np.array([score(gold[rows], p[rows], NAMES) for rows in resamples(90, groups, 2000, seed=7)])
    assert stats.ks_2samp(fast, slow).pvalue > 0.01


WEIGHED = [
    "roc_auc.binary",
    "roc_auc[b]",
    "average_precision[b]",
    "average_precision.macro",
    "log_loss",
    "brier",
    "ece.15",
]


@pytest.mark.parametrize("name", WEIGHED)
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
    assert (expected[0] is None) == name.startswith(("roc_auc", "average_precision"))
    found = score.of_weights(gold, p, NAMES[:k])(weights)
    assert found == pytest.approx(np.array(expected, dtype=float), nan_ok=True)


@pytest.mark.parametrize("name", ["roc_auc.ovo", "roc_auc.ovr"])
@pytest.mark.parametrize("ties", [False, True])
def test_resampled_mean_areas_are_linear_in_the_weights(name, ties):
    draw = np.random.default_rng(0)
    gold, score = draw.integers(4, size=60), metric(name)
    p = draw.dirichlet(np.ones(4), 60) + np.eye(4)[gold] * 0.2
    p = p.round(1) if ties else p
    names, many = ("a", "b", "c", "d"), 50
    value = score(gold, p, names)
    assert score.of_weights(gold, p, names)(np.ones((1, 60))) == pytest.approx(value)
    for row in range(60):  # nearly the derivative: one more among fifty copies of every row
        weights = np.full(60, many)
        weights[row] += 1
        exact = score(np.repeat(gold, weights), np.repeat(p, weights, axis=0), names)
        linear = score.of_weights(gold, p, names)(weights[None] / many)[0]
        assert linear - value == pytest.approx(exact - value, abs=2e-6)


def test_counts_of_no_resampling_are_the_tally():
    draw = np.random.default_rng(0)
    gold, said = draw.integers(3, size=50), [draw.integers(3, size=50) for _ in range(2)]
    patterns = Patterns(gold, said, 3)
    for model, each in enumerate(said):
        hits = np.bincount(gold[gold == each], minlength=3)
        expected = [hits.tolist(), np.bincount(each, minlength=3).tolist(), np.bincount(gold, minlength=3).tolist()]
        assert patterns.tallies(patterns.sizes.astype(float), model).tolist() == expected


def test_many_models_have_patterns_too():
    """More models than digits fit into one number; only the last one is ever wrong."""
    gold, wrong = np.zeros(50, int), (np.arange(50) < 20).astype(int)
    patterns = Patterns(gold, [gold] * 70 + [wrong], 2)
    assert patterns.sizes.tolist() == [30, 20]
    assert patterns.tallies(patterns.sizes.astype(float), 70).tolist() == [[30, 0], [30, 20], [50, 0]]


def runs_of(name, mean, skills, draw, n=300, luck=0.2):
    """Runs of one split: a text is as easy for all seeds but for some luck; `skills` are added to the mean."""
    easy = draw.random(n)
    alone = [np.where(draw.random(n) < luck, draw.random(n), easy) for _ in skills]
    return [run(name, seed, each < mean + skill) for seed, (each, skill) in enumerate(zip(alone, skills, strict=True))]


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "spread"), [(2, 0.034), (3, 0.0), (3, 0.068)])
def test_the_interval_of_a_fall_covers_the_truth(seeds, spread):
    """The truth is .3; all cells are in docs/results/intervals.md."""
    draw = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        easy = runs_of("random-1", 0.7, draw.normal(0, spread, seeds), draw)
        hard = runs_of("closest", 0.4, draw.normal(0, spread, seeds), draw)
        found = fall(easy, hard, "accuracy", draws=200)
        covered.append(found.low <= 0.3 <= found.high)
    assert 0.93 <= np.mean(covered) <= 0.99


def test_the_worst_of_families_is_widened_by_sidaks_bound():
    assert widened(0.1, 0.3, 0.05, 4.0, 1) == (0.1, 0.3)
    low, high = widened(0.2 - 1.0, 0.2 + 1.0, 1.0, 4.0, 3)
    both = 1 - 0.05
    assert (low - -0.8, high - 1.2) == pytest.approx(
        np.array([-1, 1]) * (stats.t.ppf((1 + both ** (1 / 3)) / 2, 4) - stats.t.ppf(0.975, 4))
    )


@pytest.mark.slow
@pytest.mark.parametrize("families", [1, 2, 5])
def test_no_fall_is_rarely_seen_in_the_worst_family(families):
    draw = np.random.default_rng(2)
    seen = []
    for _ in range(300):
        easy = runs_of("random-1", 0.6, draw.normal(0, 0.034, 3), draw)
        rows = [
            fall(easy, runs_of(f"hard-{i}", 0.6, draw.normal(0, 0.034, 3), draw), "accuracy", draws=200)
            for i in range(families)
        ]
        worst = max(rows, key=lambda row: row.value)
        seen.append(widened(worst.low, worst.high, worst.tags["standard_error"], worst.tags["df"], families)[0] > 0)
    assert np.mean(seen) <= 0.05
