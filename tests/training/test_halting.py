"""Rules that stop early: what they promise, held against every trace that could come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.training.halting import AT_ONCE, BOUNDS, NEVER, Dact, Entropy, Patience, promised_threshold
from unseen.types import ExitTrace, string_array
from unseen.types.arrays import Floats


def random_trace(seed: int, texts: int, layers: int, labels: int) -> tuple[Floats, Floats]:
    """Answers [layers, texts, labels] and halting values [layers, texts], many of them near 0 and 1."""
    draw = np.random.default_rng(seed)
    answers = draw.dirichlet(np.full(labels, draw.choice([0.2, 1.0, 5.0])), (layers, texts))
    return answers, draw.beta(0.3, draw.choice([0.3, 2.0]), (layers, texts))


def walked(rule: Dact | Entropy | Patience, answers: Floats, halting: Floats) -> tuple[Floats, Floats]:
    """Answers and scores after every layer, all texts to the end."""
    steps = [rule.after(one, halts) for one, halts in zip(answers, halting, strict=True)]
    return np.stack([answer for answer, _ in steps]), np.stack([scores for _, scores in steps])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 5), st.sampled_from(BOUNDS))
def test_no_layer_after_the_bound_changes_the_answer(seed: int, layers: int, labels: int, bound: str) -> None:
    answers, scores = walked(Dact(layers, bound), *random_trace(seed, 200, layers, labels))
    stops = (scores >= 0).argmax(axis=0)
    assert (scores[-1] >= 0).all()
    assert (answers[stops, np.arange(200)].argmax(axis=1) == answers[-1].argmax(axis=1)).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_average_is_the_closed_form_and_its_weights_sum_to_one(seed: int, layers: int) -> None:
    answers, halting = random_trace(seed, 20, layers, 3)
    products = np.concatenate([np.ones((1, 20)), halting.cumprod(axis=0)])  # p_0 to p_N
    weights = np.stack([
        products[n] * np.prod(1 - products[n + 1 : layers], axis=0) if n else np.prod(1 - products[1:layers], axis=0)
        for n in range(layers)
    ])  # fmt: skip
    averaged, _ = walked(Dact(layers), answers, halting)
    assert weights.sum(axis=0) == pytest.approx(1)
    assert averaged[-1] == pytest.approx((weights[:, :, None] * answers).sum(axis=0))


def test_the_tight_bound_stops_no_later() -> None:
    trace = random_trace(1, 2_000, 12, 3)
    loose, tight = (walked(Dact(12, bound), *trace)[1] for bound in BOUNDS)
    assert (tight >= loose - 1e-12).all()
    assert ((tight >= 0) & (loose < 0)).any()


def test_worked_numbers_of_dact() -> None:
    rule = Dact(3)
    answers, scores = rule.after(np.array([[0.9, 0.1]]), np.array([0.1]))
    assert answers.tolist() == [[0.9, 0.1]]
    assert scores[0] == pytest.approx(0.9 * 0.9**2 - (0.1 + 0.1 * 2))
    answers, scores = rule.after(np.array([[0.4, 0.6]]), np.array([0.5]))
    assert answers[0] == pytest.approx([0.1 * 0.4 + 0.9 * 0.9, 0.1 * 0.6 + 0.9 * 0.1])
    assert scores[0] == pytest.approx(answers[0, 0] * 0.95 - (answers[0, 1] + 0.05))


def test_entropy_is_in_nats_and_zero_of_a_certain_answer() -> None:
    _, scores = Entropy(6).after(np.array([[1.0, 0.0], [0.5, 0.5]]), np.zeros(2))
    assert -scores == pytest.approx([0.0, np.log(2)])


def test_patience_counts_confirmations_in_a_row() -> None:
    labels = np.array([0, 0, 1, 1, 1])
    _, scores = walked(Patience(5), np.eye(2)[labels][:, None], np.zeros((5, 1)))
    assert scores[:, 0].tolist() == [0, 1, 0, 1, 2]


@pytest.mark.parametrize("rule", [Dact, Patience])
def test_texts_that_stop_are_forgotten(rule: type[Dact | Patience]) -> None:
    answers, halting = random_trace(3, 6, 4, 3)
    going = np.array([True, False, True, True, False, True])
    alone, among = rule(4), rule(4)
    alone.after(answers[0][going], halting[0][going])
    among.after(answers[0], halting[0])
    among.keep(going)
    for one, other in zip(
        alone.after(answers[1][going], halting[1][going]),
        among.after(answers[1][going], halting[1][going]),
        strict=True,
    ):
        assert (one == other).all()


def trace_of(answers: Floats, scores: Floats) -> ExitTrace:
    ids = string_array([str(number) for number in range(len(answers))])
    return ExitTrace(ids, answers.astype(np.int16), scores.astype(np.float32), 0.0, ("a", "b", "c"))


def made_up(seed: int, texts: int) -> ExitTrace:
    """Answers that agree with the last layer more often the readier the text is."""
    draw = np.random.default_rng(seed)
    scores = draw.random((texts, 5)) * np.linspace(0.4, 1, 5)
    last = draw.integers(3, size=texts)
    other = (last[:, None] + 1 + draw.integers(2, size=(texts, 5))) % 3
    return trace_of(np.where(draw.random((texts, 5)) < scores, last[:, None], other) * 1.0, scores)


def lost(trace: ExitTrace, threshold: float) -> float:
    return float((trace.at(trace.depths(threshold)) != trace.at(np.full(len(trace), trace.layers))).mean())


def test_the_promise_holds_on_average_and_is_not_wasteful() -> None:
    risks = []
    for seed in range(300):
        whole = made_up(seed, 450)
        known, new = (
            ExitTrace(whole.ids[rows], whole.answers[rows], whole.scores[rows], 0.0, whole.label_names)
            for rows in (slice(0, 150), slice(150, None))
        )
        risks.append(lost(new, promised_threshold(known, 0.1)))
    error = np.std(risks) / len(risks) ** 0.5
    assert np.mean(risks) <= 0.1 + 3 * error
    assert np.mean(risks) >= 0.05


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.3, 0.6]))
def test_the_threshold_is_the_lowest_that_brute_force_allows(seed: int, rate: float) -> None:
    trace = made_up(seed, 40)
    chosen = promised_threshold(trace, rate)
    candidates = np.unique(trace.scores)[::-1]
    ever, allowed = np.zeros(40, bool), NEVER
    for threshold in candidates:  # from the most careful on: a text once lost stays lost
        ever |= trace.at(trace.depths(float(threshold))) != trace.answers[:, -1]
        if (ever.sum() + 1) / 41 > rate:
            break
        allowed = float(threshold)
    assert (trace.depths(chosen) == trace.depths(allowed)).all()


def test_too_few_texts_promise_nothing_and_texts_that_never_change_stop_at_once() -> None:
    same = trace_of(np.zeros((9, 4)), np.random.default_rng(0).random((9, 4)))
    assert promised_threshold(same, 0.05) == NEVER
    assert promised_threshold(same, 0.2) == AT_ONCE
    assert (same.depths(AT_ONCE) == 1).all()
    assert (same.depths(NEVER) == 4).all()
    with pytest.raises(InputError, match="between 0 and 1"):
        promised_threshold(same, 1.0)
