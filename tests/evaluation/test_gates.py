"""Bounds that the numbers of a run must keep."""

from __future__ import annotations

import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.gates import Gate, GateOutcome, judged, parsed_gates
from unseen.types import Finding, Measurement

ROWS = [
    Measurement("pass_rate", 0.8, 10, slice="all", tags={"model": "m"}),
    Measurement("pass_rate", 0.4, 5, slice="functionality=a", tags={"model": "m"}),
    Measurement("pass_rate", 0.5, 5, slice="functionality=b", tags={"model": "m"}),
    Measurement("pass_rate", None, 0, slice="functionality=c", tags={"model": "m"}),
    Measurement("pair_accuracy", 0.0, 5, slice="functionality=a", tags={"model": "m"}),
]
FINDINGS = [
    Finding("copies[a]", "fail", "Some."),
    Finding("copies[b]", "warn", "Few."),
    Finding("authors", "fail", "All."),
]


def place(slice: str, **tags: str) -> Measurement:
    return Measurement("pass_rate", 0.5, 5, slice=slice, tags=tags)


def outcomes(gate: str, rows: list[Measurement]) -> list[tuple[str, float | None, bool]]:
    return [(outcome.place, outcome.value, outcome.passed) for outcome in judged([Gate.parsed(gate)], rows)]


def test_gates_are_typed_as_metric_place_and_bound() -> None:
    assert Gate.parsed("pass_rate>=0.8") == Gate("pass_rate", ">=", 0.8)
    assert Gate.parsed(" fall.f1.macro <= .2 ") == Gate("fall.f1.macro", "<=", 0.2)
    assert Gate.parsed("accuracy > -1e-1") == Gate("accuracy", ">", -0.1)
    assert Gate.parsed("pass_rate where functionality=a>=.5") == Gate("pass_rate", ">=", 0.5, {"functionality": "a"})
    crossed = Gate.parsed("pass_rate where target=x:y , model=a b >= 1")
    assert crossed == Gate("pass_rate", ">=", 1.0, {"target": "x:y", "model": "a b"})
    assert Gate.parsed("f1[yes]<0.5") == Gate("f1[yes]", "<", 0.5)
    assert Gate.parsed("f1[of < 5 words] where split=a <=0.5") == Gate("f1[of < 5 words]", "<=", 0.5, {"split": "a"})


@pytest.mark.parametrize(
    "wrong",
    [
        "", "pass_rate", "pass_rate>=", "pass_rate>=much", "pass_rate>=nan", ">=0.5", "pass_rate=0.5",
        "pass_rate where >= 0.5", "pass_rate where target >= 0.5", "pass_rate where =a >= 0.5",
        "pass_rate where target=a, target=b >= 0.5", "pass_rate>=--1",
    ],
)  # fmt: skip
def test_what_is_no_gate_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="not a gate") as caught:
        Gate.parsed(wrong)
    assert caught.value.expected


@pytest.mark.parametrize("text", ["fall.f1.macro<=0.2", "pass_rate where target=*, model=a >= 0.5", "x>-1e-05"])
def test_a_gate_is_written_as_it_is_typed(text: str) -> None:
    assert str(Gate.parsed(text)) == text
    assert Gate.parsed(str(Gate.parsed(text))) == Gate.parsed(text)


@pytest.mark.parametrize(
    ("gate", "kept", "broken"),
    [("x<=0.2", 0.2, 0.21), ("x>=0.2", 0.2, 0.19), ("x<0.2", 0.19, 0.2), ("x>0.2", 0.21, 0.2)],
)
def test_bounds(gate: str, kept: float, broken: float) -> None:
    assert Gate.parsed(gate).keeps(kept)
    assert not Gate.parsed(gate).keeps(broken)
    assert not Gate.parsed(gate).keeps(None), "a number that is missing is not within any bound"


def test_rounding_breaks_no_gate() -> None:
    assert Gate.parsed("x<=0.3").keeps(0.1 + 0.2)
    assert Gate.parsed("x>=0.3").keeps(1 - 0.7)
    assert not Gate.parsed("x>0.3").keeps(0.1 + 0.2)


def test_every_slice_that_matches_must_keep_the_bound() -> None:
    assert outcomes("pass_rate where functionality=* >= 0.5", ROWS) == [
        ("functionality=a", 0.4, False), ("functionality=b", 0.5, True), ("functionality=c", None, False),
    ]  # fmt: skip


def test_without_a_slice_a_gate_is_about_all_rows_alone() -> None:
    slices = [place("functionality=a"), place("once"), place("without overlap"), place("label=x & target=y")]
    assert outcomes("pass_rate>=0.8", [*ROWS, *slices]) == [("", 0.8, True)]
    assert outcomes("pass_rate where slice=once >= 0.8", [*ROWS, *slices]) == [("once", 0.5, False)]


def test_a_gate_that_is_about_nothing_fails() -> None:
    for gate in ("pass_rate where functionality=z >= 0", "pass_rate where space=* >= 0", "speed>=0"):
        assert outcomes(gate, ROWS) == [("", None, False)]
        assert str(judged([Gate.parsed(gate)], ROWS)[0]) == f"gate FAILED: {Gate.parsed(gate)}: not measured"


def test_a_gate_on_targets_is_not_about_their_cells() -> None:
    cell = place("target=cooks & functionality=a", target="cooks", functionality="a")
    target = Gate.parsed("pass_rate where target=* >= 0.5")
    assert target.is_about(place("target=cooks"))
    assert not target.is_about(cell)
    both = Gate.parsed("pass_rate where target=*, functionality=a >= 0.5")
    assert both.is_about(cell)
    assert not both.is_about(place("target=cooks"))
    assert not both.is_about(place("functionality=a"))
    assert Gate("pass_rate", ">=", 0.5, {"slice": "target=cooks & functionality=a"}).is_about(cell)


def test_a_name_is_a_name_and_not_a_pattern_only() -> None:
    assert Gate.parsed("pass_rate where functionality=a[b] >= 0.5").is_about(place("functionality=a[b]"))
    assert Gate.parsed("pass_rate where functionality=salt & pepper >= 0.5").is_about(
        place("functionality=salt & pepper")
    )


def test_numbers_of_single_trainings_are_not_judged() -> None:
    tags = {"family": "closest", "part": "test"}
    rows = [
        Measurement("f1.macro", 0.1, 5, tags={**tags, "split": "closest-1", "seed": 42}),
        Measurement("f1.macro", 0.5, 5, tags={**tags, "seed": "mean"}),
    ]
    assert outcomes("f1.macro>=0.4", rows) == [("", 0.5, True)]


def test_a_split_is_its_family_and_other_parts_are_named() -> None:
    rows = [
        Measurement("fall.f1.macro", value, 5, tags={"family": family, "part": part})
        for family, part, value in (("closest", "test", 0.3), ("region", "test", 0.1), ("closest", "independent", 0.0))
    ]
    assert outcomes("fall.f1.macro<=0.2", rows) == [("closest", 0.3, False), ("region", 0.1, True)]
    assert outcomes("fall.f1.macro where split=region <= 0.2", rows) == [("", 0.1, True)]
    assert outcomes("fall.f1.macro where split=closest, part=independent <= 0.2", rows) == [("", 0.0, True)]


def test_the_place_tells_numbers_apart_and_no_more() -> None:
    rows = [place("functionality=a", model=model, suite="s") for model in ("x", "y")]
    assert [where for where, _, _ in outcomes("pass_rate where functionality=a >= 0.5", rows)] == [
        "functionality=a, x", "functionality=a, y",
    ]  # fmt: skip
    first, _ = judged([Gate.parsed("pass_rate where functionality=a >= 0.6")], rows)
    assert str(first) == "gate FAILED: pass_rate where functionality=a >= 0.6: .500 (functionality=a, x)"


@pytest.mark.parametrize(
    ("gate", "count", "passed"),
    [
        ("findings.fail<=0", 2, False),
        ("findings.fail<=2", 2, True),
        ("findings.warn<=0", 1, False),
        ("findings.skipped<=0", 0, True),
        ("findings.fail where check=copies* <= 0", 1, False),
        ("findings.fail where check=copies[a] <= 0", 1, False),
        ("findings.warn where check=authors <= 0", 0, True),
    ],
)
def test_findings_are_counted(gate: str, count: int, passed: bool) -> None:
    (outcome,) = judged([Gate.parsed(gate)], [], FINDINGS)
    assert outcome == GateOutcome(str(Gate.parsed(gate)), "", float(count), passed)
    assert str(outcome).endswith(f": {count}")


def test_findings_of_an_unknown_level_or_place_are_refused() -> None:
    with pytest.raises(InputError, match="unknown level") as caught:
        Gate.parsed("findings.error<=0")
    assert "fail" in str(caught.value.expected)
    with pytest.raises(InputError, match="not a gate"):
        Gate.parsed("findings.fail where split=closest <= 0")  # would always pass


def test_limits_may_have_units_and_numbers_are_told_in_them() -> None:
    gate = Gate.parsed("latency.p95<=50ms")
    assert (gate.metric, gate.limit, str(gate)) == ("latency.p95", 0.05, "latency.p95<=50ms")
    assert Gate.parsed(str(gate)) == gate
    assert Gate.parsed("memory.training where model=a <= 1.5 GB").limit == 1.5e9
    rows = [
        Measurement("latency.p95", seconds, 3, tags={"model": model}) for model, seconds in (("a", 0.012), ("b", 1.2))
    ]
    told = [str(outcome) for outcome in judged([gate], rows)]
    assert told == ["gate passed: latency.p95<=50ms: 12.0 ms (a)", "gate FAILED: latency.p95<=50ms: 1.20 s (b)"]
    size = [Measurement("memory.training", 2.5e9, 1)]
    assert [outcome.measured for outcome in judged([Gate.parsed("memory.training<=2GB")], size)] == ["2.50 GB"]


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        ("f1.macro<=5ms", "f1.macro is not in seconds"),
        ("latency.p95<=2GB", "latency.p95 is not in bytes"),
        ("latency.p95<=50mss", "unknown unit"),
        ("latency.p95<=50", "does not say the unit"),
        ("own.metric<=5ms", "own.metric is not in seconds"),
    ],
)
def test_a_unit_that_the_metric_does_not_have_or_that_is_missing_is_refused(gate: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        Gate.parsed(gate)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("gone.f1.macro", "no metric is called 'gone.f1.macro'"),
        ("bias.subgroup_acu", "did you mean 'bias.subgroup_auc'?"),
        ("fal.f1[hate]", "did you mean 'fall.f1[hate]'?"),
        ("leakd.author", "did you mean 'leaked.author'?"),
        ("f1", "no run measures 'f1'\n  expected: one of f1[LABEL], f1.micro, f1.macro"),
        ("fall", "expected: one of fall.accuracy, fall.f1.micro"),
        ("fall.mcc", "no run measures 'fall.mcc'"),
        ("bleu", "no run measures 'bleu'"),
        ("comparisons", "no metric is called 'comparisons'"),
    ],
)
def test_a_gate_on_what_no_run_measures_is_refused_with_the_nearest_name(metric: str, said: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        parsed_gates([f"{metric}<=0.2"])
    assert said in str(caught.value)
    with pytest.raises(UnknownNameError):
        parsed_gates([Gate(metric, "<=", 0.2)])


def test_gates_on_what_some_run_measures_are_let_through() -> None:
    scores = ["fall.f1[hate]", "know_top_authors.f1", "false_positive_rate"]
    names = [*scores, "kl.gold", "split_groups.user.id", "findings.ok"]
    assert [gate.metric for gate in parsed_gates(f"{name}<=0.2" for name in names)] == names
