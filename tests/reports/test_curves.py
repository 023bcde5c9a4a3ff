from __future__ import annotations

import re

import numpy as np
import pytest
from html_page import Page

from unseen.errors import InputError
from unseen.evaluation.class_weights import alpha_sweep
from unseen.reports import figures
from unseen.reports.figures import (
    BOTH_COLOUR,
    INDEPENDENT_COLOUR,
    TEST_COLOUR,
    TRAIN_COLOUR,
    CostMark,
    CurvePoint,
    DotLine,
    Series,
    alpha_chart,
    curve_chart,
    dot_chart,
    pareto_chart,
    shared_map,
)
from unseen.types import Measurement

LINE = Series("$a_1$", (CurvePoint(0.5, 0.2, 0.1, 0.3), CurvePoint(0.2, 0.7, 0.65, 0.75), CurvePoint(0.3, 0.6)))
OTHER = Series("b", (CurvePoint(0.2, 0.6, 0.5, 0.7), CurvePoint(0.5, 0.4)))
HOSTILE = '"><script>it</script>&\x00'


def texts(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


def drawn(picture):
    """Points of each drawn line [line, (x, y)], without whiskers."""
    paths = re.findall(r'<path d="([^"]*)"[^>]*style="fill: none; stroke: #[0-9a-f]{6}; stroke-width: 1.3', picture)
    return [np.array(re.findall(r"[ML] (\S+) (\S+)", path), float) for path in paths]


@pytest.mark.parametrize("narrow", [False, True])
def test_a_chart_draws_what_it_is_given(narrow):
    picture = curve_chart([LINE, OTHER], "distance", "macro F1", narrow=narrow)
    assert {"$a_1$", "b", "distance", "macro F1"} <= set(texts(picture))
    assert picture.count("stroke-opacity: 0.55") == 3, "three whiskers"
    assert 'aria-label="macro F1 over distance. $a_1$: .70 at .2, .60 at .3, .20 at .5; b: .60 at .2, .40 at .5."' in (
        picture
    )
    assert "currentColor" in picture
    assert not {figures.INK, figures.FAINT, figures.PAPER} & set(re.findall(r"#[0-9a-f]{6}", picture))
    Page(picture)


def test_points_are_joined_in_order_and_stand_where_they_belong():
    (line,) = drawn(curve_chart([LINE], "distance", "f1"))
    x, y = line.T
    assert (np.diff(x) > 0).all()
    assert (x[1] - x[0]) / (x[2] - x[0]) == pytest.approx(1 / 3, abs=1e-3)
    assert (y[1] - y[0]) / (y[2] - y[0]) == pytest.approx(0.1 / 0.5, abs=1e-3)


@pytest.mark.parametrize("narrow", [False, True])
def test_the_sweep_marks_where_the_winner_changes(narrow):
    counts = np.array([100.0, 1.0])
    models = {"$a$": (np.array([0.9, 0.1]), counts), HOSTILE: (np.array([0.6, 0.8]), counts)}
    sweep = alpha_sweep(models)
    picture = alpha_chart(sweep, "F1", narrow=narrow)
    assert {"$a$", "macro", "dodrans", "weighted", ".18"} <= {text.strip() for text in texts(picture)}
    assert picture.count("stroke-dasharray: 1.8,1.8") == 1, "one rule"
    assert "changes at .184 from " in picture
    assert "$a$: .50 at 0, " in picture
    assert "script>" not in picture
    Page(picture)
    same = alpha_chart(alpha_sweep({"a": models["$a$"]}), "F1", narrow=narrow)
    assert "The winner is the same for every power" in same
    assert "stroke-dasharray: 1.8" not in same


def test_a_logarithmic_axis_names_what_was_measured():
    series = [Series("s", tuple(CurvePoint(x, 0.5) for x in (200, 10, 50)))]
    picture = curve_chart(series, "numbers per text", "f1", logarithmic=True)
    assert texts(picture)[:3] == ["10", "50", "200"]
    ((x, _),) = [line.T for line in drawn(picture)]
    assert (x[1] - x[0]) / (x[2] - x[0]) == pytest.approx(np.log(5) / np.log(20), abs=1e-3)
    with pytest.raises(InputError, match="no room for 0"):
        curve_chart([Series("s", (CurvePoint(0, 0.5),))], "x", "f1", logarithmic=True)


def test_several_series_stand_a_little_apart_and_have_keys():
    first, second = drawn(curve_chart([LINE, OTHER], "distance", "f1"))[:2]
    assert second[0, 0] - first[0, 0] == pytest.approx(3, abs=0.01)
    many = [Series(f"s{n}", OTHER.points) for n in range(9)]
    lines = [line for line in drawn(curve_chart(many, "distance", "f1")) if abs(np.ptp(line[:, 0])) > 50]
    assert lines[-1][0, 0] - lines[0][0, 0] == pytest.approx(12, abs=0.01)
    assert "b" not in texts(curve_chart([OTHER], "distance", "f1")), "one series needs no key"


@pytest.mark.parametrize("narrow", [False, True])
def test_every_text_is_inside_the_picture_and_in_the_ink_of_the_page(narrow):
    picture = curve_chart([Series(f"s{n}", LINE.points) for n in range(7)], "x", "f1", narrow=narrow)
    width, height = (float(each) for each in re.search(r'viewBox="0 0 (\S+) (\S+)"', picture).groups())
    places = re.findall(r'<text style="[^"]*fill: currentColor" x="(\S+)" y="(\S+)"', picture)
    assert len(places) == len(texts(picture)) > 12
    assert all(0 <= float(x) <= width and 9 <= float(y) <= height for x, y in places)


def test_curves_without_marks_are_not_moved():
    plain = curve_chart([LINE, OTHER, Series("all", OTHER.points, dashed=True)], "distance", "f1", marked=False)
    first, second = (line for line in drawn(plain) if abs(np.ptp(line[:, 0])) > 50)
    assert first[0, 0] == second[0, 0]
    assert plain.count("stroke-dasharray: 4,3") == 2, "the line, and its key"
    uses = [curve_chart([LINE, OTHER], "distance", "f1", marked=marked).count("<use") for marked in (True, False)]
    assert uses[0] - uses[1] >= 5 + 2, "a mark per point and key"


def test_dollars_are_no_formulas():
    said = texts(curve_chart([Series("$a$", OTHER.points), LINE], "$b$", "$c$"))
    assert {"$a$", "$b$", "$c$"} <= set(said)


@pytest.mark.parametrize(("low", "high", "expected"), [(0.1, 0.9, ".2"), (0.41, 0.48, ".42"), (0.401, 0.407, ".402")])
def test_scores_have_as_many_decimals_as_tell_them_apart(low, high, expected):
    said = texts(curve_chart([Series("s", (CurvePoint(1, low), CurvePoint(2, high)))], "x", "f1"))
    assert expected in said
    assert len(said) == len(set(said))


def test_names_are_only_names():
    picture = curve_chart([Series(HOSTILE, OTHER.points), LINE], HOSTILE, HOSTILE)
    page = Page(picture)
    assert "script" not in page.tags
    assert HOSTILE[:20] in dict(page.attributes)["aria-label"]


def test_one_point_and_the_same_bytes_every_time():
    one = [Series("s", (CurvePoint(1, 0.5),))]
    assert curve_chart(one, "x", "f1") == curve_chart(one, "x", "f1")
    with pytest.raises(InputError, match="nothing to draw"):
        curve_chart([Series("s", ())], "x", "f1")


def test_a_shared_map_tells_whose_test_rows_are_whose(monkeypatch):
    points = np.arange(10.0).reshape(5, 2)
    a, b = np.array(["test", "test", "train", "dev", "train"]), np.array(["test", "train", "test", "train", "test"])
    seen = []
    monkeypatch.setattr("unseen.reports.figures._scattered", lambda layers, said: seen.append((layers, said)) or "")
    shared_map(points, a, b, ("one", "two"))
    ((others, tested), said) = seen[0]
    assert others[0].tolist() == [[6, 7]]
    assert others[1:] == (TRAIN_COLOUR, 0.15)
    colours = {tuple(point): colour for point, colour in zip(tested[0].tolist(), tested[1], strict=True)}
    assert colours == {
        (0, 1): BOTH_COLOUR,
        (2, 3): TEST_COLOUR,
        (4, 5): INDEPENDENT_COLOUR,
        (8, 9): INDEPENDENT_COLOUR,
    }
    assert "1 test rows of one alone in orange, 2 of two alone in blue, 1 of both in grey" in said


def test_a_shared_map_is_a_picture():
    points = np.random.default_rng(0).normal(size=(50, 2))
    parts = [np.where(points[:, side] > 0.5, "test", "train") for side in (0, 1)]
    assert shared_map(points, *parts, ("a", "b")).count("<image") == 1
    none = np.array(["train"] * 50)
    assert "<svg" in shared_map(points, none, none, ("a", "b"))


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("costs", [(7.1, 14.4), (0.012, 0.19), (3.0, 3.1), (0.5, 4_000)])
def test_costs_near_and_far_have_an_axis_with_numbers(costs, narrow):
    marks = [
        CostMark(str(cost), Measurement("latency.p50", cost, 9), Measurement("f1.macro", 0.5, 9), dominated=False)
        for cost in costs
    ]
    picture = texts(pareto_chart(marks, "seconds", "macro F1", narrow=narrow))
    between = picture[: picture.index("seconds")]
    assert len([word for word in between if re.fullmatch(r"[\d.]+", word)]) >= 2


@pytest.mark.parametrize("more", [0, 1])
def test_lines_that_are_left_out_are_told_where_there_are_some(more: int) -> None:
    lines = [DotLine(f"line {number}", "", (None,)) for number in range(figures.MOST_LINES + more)]
    assert ("more are in the table" in dot_chart(lines, ["m"], "passed")) == bool(more)
