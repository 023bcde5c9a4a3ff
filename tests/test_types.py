from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unseen.errors import InputError, MismatchError, UnknownNameError, VectorsError
from unseen.types import (
    Certificate,
    Dataset,
    Embeddings,
    Explanation,
    Finding,
    Measurement,
    Origin,
    Predictions,
    Split,
    finite_float32,
    frozen,
    some,
    string_array,
)
from unseen.types.arrays import encode_labels

Builder = Callable[..., Dataset]

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1f:1"), max_size=4)
FEW_TEXTS = st.text("\x1f1", max_size=3)
LIKE_ROWS = st.lists(
    st.tuples(FEW_TEXTS, FEW_TEXTS, st.just("no")), min_size=1, max_size=2, unique_by=lambda row: row[0]
)
ROWS = st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.sampled_from(["no", "yes"])), max_size=6, unique_by=lambda row: row[0])


def split_of(data: Dataset, parts: Sequence[int], clusters: Sequence[int] | None = None, **changes: Any) -> Split:
    asked = {"no": 1, "yes": 1}
    given = {"ids": data.ids, "dataset": data.fingerprint, "certificate": Certificate(asked, asked)} | changes
    return Split("s", parts=np.array(parts), clusters=np.array(clusters or [-1] * len(parts)), **given)


def columns(rows: Sequence[tuple[str, str, str]]) -> dict[str, list[str]]:
    ids, texts, labels = zip(*rows, strict=True) if rows else ((), (), ())
    return {"ids": list(ids), "texts": list(texts), "labels": list(labels)}


RECORDS: list[Any] = [
    Origin("made"),
    Certificate({}, {}),
    Explanation("1", (), (), (), "no", "m"),
    Measurement("f1", 1.0, 1),
    Finding("c", "ok", "fine"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_plain_records_are_frozen(record: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, "other")


def test_records_of_arrays_are_frozen(tiny: Builder) -> None:
    data = tiny(["1"])
    vectors, predictions = np.ones((1, 2)), np.ones((1, 1))
    for record in (
        data,
        split_of(data, [0]),
        Embeddings(data.ids, vectors),
        Predictions(data.ids, predictions, ("a",)),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            record.origin = Origin("forged")  # type: ignore[misc]


def test_arrays_of_records_are_read_only_and_the_callers_are_not(tiny: Builder) -> None:
    data, given, part = tiny(), np.ones((4, 2), np.float32), np.zeros(4, np.int8)
    split = dataclasses.replace(split_of(data, [0] * 4), parts=part)
    predictions = Predictions(data.ids, np.full((4, 2), 0.5), data.label_names)
    for array in (
        data.labels,
        Embeddings(data.ids, given).vectors,
        split.parts,
        split.clusters,
        predictions.probabilities,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    given[0], part[0] = 2, 1
    assert frozen([1, 2], np.int8).dtype == np.int8


# Dataset


def test_a_dataset_reads_as_its_columns(tiny: Builder) -> None:
    data = tiny(["a", "b", "c"], ["x", "y", "z"], ["yes", "no", "yes"], user=["u", "v", None])
    assert len(data) == 3
    assert data.ids.to_pylist() == ["a", "b", "c"]
    assert data.texts.to_pylist() == ["x", "y", "z"]
    assert data.labels.tolist() == [1, 0, 1]
    assert data.label_counts == {"no": 1, "yes": 2}
    assert data.attribute("user").to_pylist() == ["u", "v", None]


def test_labels_are_in_declared_order_even_when_unobserved(tiny: Builder) -> None:
    data = tiny(["a"], labels=["c"], label_names=("b", "c", "a"))
    assert data.labels.tolist() == [1]
    assert list(data.label_counts.items()) == [("b", 0), ("c", 1), ("a", 0)]


def test_a_dataset_without_rows_is_a_dataset(tiny: Builder) -> None:
    data = tiny([])
    assert (len(data), data.labels.tolist(), data.label_counts) == (0, [], {"no": 0, "yes": 0})
    assert data.fingerprint != tiny([], label_names=("yes", "no")).fingerprint


def test_columns_other_than_declared_are_refused(tiny: Builder) -> None:
    with pytest.raises(InputError, match="columns are wrong"):
        dataclasses.replace(tiny(), attributes=("user",))
    with pytest.raises(InputError, match="columns are wrong"):
        dataclasses.replace(tiny(user=["u"] * 4), attributes=())


@pytest.mark.parametrize("column", ["id", "text", "label"])
def test_missing_values_are_refused(tiny: Builder, column: str) -> None:
    table, position = tiny().table, ["id", "text", "label"].index(column)
    holed = pa.chunked_array([pa.array(["1", None, "3", None])])
    values = encode_labels(holed, ("1", "3")) if column == "label" else holed
    with pytest.raises(InputError, match=f"2 rows have no {column}"):
        Dataset("d", table.set_column(position, column, values), ("no", "yes"))


@pytest.mark.parametrize(("column", "values"), [("id", [1, 2]), ("text", [1.0, 2.0]), ("label", ["no", "yes"])])
def test_columns_of_another_type_are_refused(tiny: Builder, column: str, values: list[Any]) -> None:
    table = tiny(["a", "b"]).table
    with pytest.raises(InputError, match=f"'{column}' has the wrong type"):
        Dataset("d", table.set_column(table.column_names.index(column), column, pa.array(values)), ("no", "yes"))


def test_repeated_ids_and_labels_are_refused(tiny: Builder) -> None:
    with pytest.raises(InputError, match="2 rows have the id of another row"):
        tiny(["a", "b", "a", "a"])
    with pytest.raises(InputError, match="label names repeat"):
        tiny(["a"], labels=["x"], label_names=("x", "x"))


def test_a_label_column_in_another_order_is_refused(tiny: Builder) -> None:
    with pytest.raises(InputError, match="declared label names"):
        dataclasses.replace(tiny(), label_names=("yes", "no"))


def test_an_unknown_attribute_is_refused_with_the_nearest(tiny: Builder) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'user'"):
        tiny(user=["u"] * 4).attribute("usr")


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0], np.uint8), (2, 0)])
def test_take_gives_these_rows_in_this_order(tiny: Builder, rows: Any) -> None:
    taken = tiny(["a", "b", "c"], user=[["u"], [], ["v", "w"]]).take(rows)
    assert taken.table.select(["id", "text", "label"]).to_pylist() == [
        {"id": "c", "text": "text c", "label": "no"},
        {"id": "a", "text": "text a", "label": "no"},
    ]
    assert taken.attribute("user").to_pylist() == [["v", "w"], ["u"]]
    assert taken.label_counts == {"no": 2, "yes": 0}


def test_take_of_no_rows_is_empty(tiny: Builder) -> None:
    assert len(tiny().take([])) == 0


@pytest.mark.parametrize("rows", [[True, False, False, True], [0.7], ["1"]])
def test_take_refuses_what_is_not_positions(tiny: Builder, rows: list[Any]) -> None:
    with pytest.raises(InputError, match="row positions"):
        tiny().take(rows)


@pytest.mark.parametrize("row", [-1, 4])
def test_take_refuses_rows_that_do_not_exist(tiny: Builder, row: int) -> None:
    with pytest.raises(IndexError):
        tiny().take([row])


@given(rows=ROWS, random=st.randoms(use_true_random=False), cut=st.integers(0, 6))
def test_a_fingerprint_ignores_order_chunks_and_attributes(tiny: Builder, rows: Any, random: Any, cut: int) -> None:
    data = tiny(**columns(rows))
    chunked = pa.concat_tables([data.table[:cut], data.table[cut:]])
    assert Dataset("other name", chunked, data.label_names).fingerprint == data.fingerprint
    assert dataclasses.replace(data, table=chunked).order == data.order
    assert dataclasses.replace(data, table=chunked).labels.tolist() == data.labels.tolist()
    assert tiny(**columns(rows), user=["u"] * len(rows)).fingerprint == data.fingerprint
    assert tiny(**columns(random.sample(rows, len(rows)))).fingerprint == data.fingerprint


@given(rows=LIKE_ROWS, field=st.integers(0, 1), value=FEW_TEXTS)
def test_a_change_of_one_field_changes_the_fingerprint(tiny: Builder, rows: Any, field: int, value: str) -> None:
    row = list(rows[0])
    row[field] = value
    assume(row[0] not in [other[0] for other in rows[1:]])
    same = tiny(**columns([row, *rows[1:]])).fingerprint == tiny(**columns(rows)).fingerprint
    assert same == (row == list(rows[0]))


@pytest.mark.parametrize(
    "other",
    [
        {"ids": ["1", "3"], "texts": ["text 1", "text 2"]},
        {"texts": ["text 1", "text 3"]},
        {"texts": ["text 2", "text 1"]},
        {"labels": ["no", "no"]},
        {"labels": ["yes", "no"]},
        {"label_names": ("no", "yes", "maybe"), "labels": ["no", "yes"]},
        {"label_names": ("yes", "no"), "labels": ["no", "yes"]},
        {"ids": ["1"]},
    ],
)
def test_any_change_changes_the_fingerprint(tiny: Builder, other: dict[str, Any]) -> None:
    assert tiny(**{"ids": ["1", "2"]} | other).fingerprint != tiny(["1", "2"]).fingerprint


@given(whole=st.text("\x1f1", max_size=4), first=st.integers(0, 4), second=st.integers(0, 4))
def test_a_fingerprint_sees_where_a_field_ends(tiny: Builder, whole: str, first: int, second: int) -> None:
    one, other = (tiny([whole[:cut]], [whole[cut:]]).fingerprint for cut in (first, second))
    assert (one == other) == (whole[:first] == whole[:second])


def test_separators_inside_fields_do_not_hide_a_change(tiny: Builder) -> None:
    assert tiny(["a"], ["b\x1fc"]).fingerprint != tiny(["a\x1fb"], ["c"]).fingerprint
    assert tiny(["a\x1fb"]).order != tiny(["a", "b"]).order


def test_a_fingerprint_is_this_on_every_machine(tiny: Builder) -> None:
    data = tiny(["1", "2"], ["héllo", "wörld"])
    assert data.fingerprint == "43dc176c8a058403058eecaa66f3a6a8"
    assert data.order == "c1a20b6bd4b602a201c037210cde6429"


@given(rows=ROWS.filter(lambda rows: len(rows) > 1))
def test_the_order_hash_sees_rows_change_places(tiny: Builder, rows: Any) -> None:
    data = tiny(**columns(rows))
    swapped = data.take([1, 0, *range(2, len(data))])
    assert swapped.order != data.order
    assert swapped.take([1, 0, *range(2, len(data))]).order == data.order


# Embeddings


def test_vectors_become_float32_and_keep_their_rows(tiny: Builder) -> None:
    embeddings = Embeddings(tiny().ids, np.arange(8).reshape(4, 2))
    assert embeddings.vectors.dtype == np.float32
    assert embeddings.vectors.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert len(embeddings) == 4


@pytest.mark.parametrize(
    ("shape", "message"), [((4,), "two dimensions"), ((4, 2, 2), "two dimensions"), ((3, 2), "4 rows, one per text")]
)
def test_vectors_of_another_shape_are_refused(tiny: Builder, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(VectorsError, match=message):
        Embeddings(tiny().ids, np.zeros(shape))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e39])
def test_numbers_that_are_not_finite_are_refused_by_row(wrong: float) -> None:
    vectors = np.zeros((10, 3))
    vectors[[2, 7], 1] = wrong
    with pytest.raises(VectorsError, match="2 of 10 vectors are not finite") as caught:
        finite_float32(vectors)
    assert caught.value.got == "rows 2, 7"


def test_wrong_rows_are_found_beyond_the_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.types.ROWS_AT_ONCE", 4)
    vectors = np.zeros((11, 1))
    vectors[[1, 4, 10]] = np.nan
    with pytest.raises(VectorsError) as caught:
        finite_float32(vectors)
    assert caught.value.got == "rows 1, 4, 10"


@pytest.mark.parametrize("values", [["a"], [1j], [None], [b"x"]])
def test_vectors_that_are_not_numbers_are_refused(values: list[Any]) -> None:
    with pytest.raises(VectorsError, match="must be numbers"):
        finite_float32(np.array([values]))


def test_a_message_shows_some_values_only() -> None:
    assert some(range(5)) == "0, 1, 2, 3, 4"
    assert some(range(9), most=2) == "0, 1, …"


# Split and Certificate


def test_a_split_names_its_rows(tiny: Builder) -> None:
    split = split_of(tiny(), [0, 2, 3, 0])
    assert split.rows("train").tolist() == [0, 3]
    assert split.rows("dev").tolist() == []
    assert split.sizes == {"train": 2, "test": 1, "independent": 1}
    with pytest.raises(UnknownNameError, match="did you mean 'test'"):
        split.rows("tests")


@given(parts=st.lists(st.integers(0, 3), max_size=8))
def test_parts_are_disjoint_and_complete(tiny: Builder, parts: list[int]) -> None:
    split = split_of(tiny([str(row) for row in range(len(parts))]), parts)
    rows = [row for part in ("train", "dev", "test", "independent") for row in split.rows(part).tolist()]
    assert sorted(rows) == list(range(len(parts)))
    assert sum(split.sizes.values()) == len(split)


@pytest.mark.parametrize("part", [-1, 5, 256])
def test_an_unknown_part_is_refused(tiny: Builder, part: int) -> None:
    with pytest.raises(InputError, match="unknown part"):
        split_of(tiny(), [0, 1, 2, part])


def test_a_split_needs_one_part_and_cluster_per_id(tiny: Builder) -> None:
    with pytest.raises(InputError, match="4 ids, 3 parts, 3 clusters"):
        split_of(tiny(), [0, 1, 2])
    with pytest.raises(InputError, match="4 ids, 4 parts, 3 clusters"):
        split_of(tiny(), [0, 1, 2, 2], [0, 0, 0])


@given(order=st.permutations(range(4)))
def test_a_split_follows_the_rows_of_its_dataset(tiny: Builder, order: list[int]) -> None:
    moved = split_of(tiny(), [0, 1, 2, 3], [9, 8, 7, 6]).of(tiny().take(order))
    assert moved.ids.equals(tiny().take(order).ids)
    assert moved.parts.tolist() == order
    assert moved.clusters.tolist() == [9 - row for row in order]


def test_a_split_refuses_another_dataset(tiny: Builder) -> None:
    with pytest.raises(MismatchError, match="belongs to another dataset") as caught:
        split_of(tiny(), [0] * 4).of(tiny(labels=["no"] * 4))
    assert "4 rows" in str(caught.value)


@pytest.mark.parametrize("ids", [["1", "2", "3", "x"], ["1", "2", "3"], ["1", "2", "3", "4", "5"]])
def test_a_split_whose_ids_are_not_the_datasets_is_refused(tiny: Builder, ids: list[str]) -> None:
    with pytest.raises(MismatchError, match="ids of the split"):
        split_of(tiny(), [0] * len(ids), ids=string_array(ids)).of(tiny())


def test_a_split_and_a_dataset_may_differ_in_string_width(tiny: Builder) -> None:
    narrow = tiny().table.set_column(0, "id", tiny().ids.cast(pa.string()))
    data = Dataset("narrow", narrow, ("no", "yes")).take([3, 2, 1, 0])
    assert split_of(tiny(), [0, 1, 2, 3]).of(data).parts.tolist() == [3, 2, 1, 0]


def test_repeated_ids_are_refused_everywhere() -> None:
    twice, half = string_array(["1", "1"]), np.full((2, 2), 0.5)
    with pytest.raises(InputError, match="1 rows have the id of another"):
        Embeddings(twice, half)
    with pytest.raises(InputError, match="1 rows have the id of another"):
        Predictions(twice, half, ("a", "b"))
    with pytest.raises(InputError, match="1 rows have the id of another"):
        Split("s", twice, np.zeros(2), np.zeros(2), Certificate({}, {}), "f")


def test_a_certificate_counts_what_was_missed() -> None:
    certificate = Certificate({"no": 5, "yes": 5}, {"no": 3, "yes": 6}, completed=3)
    assert certificate.missed == 3
    assert certificate.completed_share == pytest.approx(1 / 3)
    assert Certificate({}, {}).completed_share == 0


# Predictions, Explanation, Measurement, Finding


@pytest.mark.parametrize(
    "row", [[0.5, 0.4], [1.5, -0.5], [np.nan, 1.0], [np.inf, 0.0], [0.0, 0.0]], ids=lambda row: str(row)
)
def test_what_is_not_a_probability_is_refused_by_row(row: list[float]) -> None:
    with pytest.raises(InputError, match="1 rows of the predictions are not probabilities") as caught:
        Predictions(string_array(["a", "b"]), np.array([[0.5, 0.5], row]), ("no", "yes"))
    assert str(caught.value.got).startswith("row 1: [")


def test_predictions_of_the_wrong_shape_or_with_repeated_labels_are_refused() -> None:
    with pytest.raises(InputError, match=r"expected: \(1, 2\)"):
        Predictions(string_array(["a"]), np.ones((1, 3)), ("no", "yes"))
    with pytest.raises(InputError, match="label names repeat"):
        Predictions(string_array(["a"]), np.array([[0.5, 0.5]]), ("no", "no"))


def test_rounded_probabilities_are_accepted() -> None:
    predictions = Predictions(string_array(["a"]), np.array([[0.333, 0.333, 0.3335]]), ("a", "b", "c"))
    assert predictions.probabilities.dtype == np.float64


def test_an_explanation_needs_one_span_and_score_per_token() -> None:
    assert Explanation("1", ("a",), ((0, 1),), (0.5,), "no", "m").scores == (0.5,)
    for spans, scores in [((), (0.5,)), (((0, 1),), ())]:
        with pytest.raises(InputError, match="one span and one score"):
            Explanation("1", ("a",), spans, scores, "no", "m")


@pytest.mark.parametrize("n", [0, -1])
def test_no_data_gives_no_value(n: int) -> None:
    assert Measurement("f1", None, 0).value is None
    with pytest.raises(InputError, match="f1 has a value without data"):
        Measurement("f1", 0.5, n)


def test_a_finding_has_a_known_level() -> None:
    assert Finding("duplicates", "skipped", "no texts").level == "skipped"
    with pytest.raises(UnknownNameError, match="did you mean 'warn'"):
        Finding("duplicates", "warning", "some")
