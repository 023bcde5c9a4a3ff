"""The points of a run: columns, neighbours, and bytes for a browser."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from unseen.reports.figures import MOST_POINTS, plane
from unseen.reports.page import gzipped
from unseen.reports.points import NONE, RUNNERS_UP, Column, RunPoints, packed, packed_for_page, points_of
from unseen.reports.record import LatentMap, RunRecord, SplitFile, read_record
from unseen.store import write_predictions
from unseen.types import Certificate, Origin, Predictions, string_array


def unpacked(content: bytes) -> tuple[dict, Callable[[str], np.ndarray]]:
    """The header of packed points, and a reader of their arrays."""
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])

    def array(name: str) -> np.ndarray:
        offset, kind, count = header["arrays"][name]
        return np.frombuffer(content, f"<{kind}", count, 4 + length + offset)

    return header, array


def many(count: int, ids: list[str] | None = None) -> RunPoints:
    draw = np.random.default_rng(1)
    columns = [Column("label", draw.integers(0, 3, count).astype(np.uint8), ("a", "b", "c"))]
    columns += [
        Column(f"part in s{number}", draw.choice(4, count, p=(0.8, 0.1, 0.05, 0.05)).astype(np.uint8), tuple("wxyz"))
        for number in range(6)
    ]
    columns += [Column("cluster", draw.integers(0, 40, count).astype(np.uint8), tuple(map(str, range(40))))]
    columns += [Column.of_numbers("sureness", np.where(draw.random(count) < 0.2, draw.random(count), np.nan))]
    nearest = np.full((count, 3), -1)
    nearest[: count // 10] = draw.integers(0, count, (count // 10, 3))
    places = draw.integers(0, 65_536, (count, 2)).astype(np.uint16)
    return RunPoints(
        pa.chunked_array([ids or [f"id-{row}" for row in range(count)]]), places, columns, np.arange(count), nearest
    )


def answered(points: RunPoints, labels: int, asked: float) -> RunPoints:
    """The points with probabilities of so many labels for a share of them, as hard to pack as they can be."""
    draw = np.random.default_rng(7)
    shares = draw.dirichlet(np.ones(labels), len(points))
    shares[draw.random(len(points)) >= asked] = np.nan
    order = np.argsort(-shares, axis=1)
    names = tuple(f"label {number}" for number in range(labels))
    ranked = [
        (Column("answer", codes.astype(np.uint8), names), Column.of_numbers("sureness", values))
        for codes, values in zip(order.T, np.take_along_axis(shares, order, axis=1).T, strict=True)
    ]
    columns = [*points.columns[:-1], *ranked[0]]
    return replace(points, columns=columns, labels=names, runners_up=ranked[1 : 1 + min(RUNNERS_UP, labels - 2)])


def test_what_is_packed_comes_back() -> None:
    points = answered(many(101), 5, 0.5)
    header, array = unpacked(packed(points))
    assert header["count"] == 101
    assert header["ids"] == points.ids.to_pylist()
    assert np.array_equal(array("x"), points.places[:, 0])
    assert np.array_equal(array("y"), points.places[:, 1])
    for place, column in enumerate(points.columns):
        assert header["columns"][place] == {"name": column.name, "names": list(column.names)}
        assert np.array_equal(array(f"column {place}"), column.codes)
    assert header["labels"] == list(points.labels)
    for place, (label, share) in enumerate(points.runners_up):
        assert header["runners_up"][place] == list(label.names)
        assert np.array_equal(array(f"runner-up {place}"), label.codes)
        assert np.array_equal(array(f"share {place}"), share.codes)
    assert np.array_equal(np.cumsum(array("rows")), np.arange(101))
    assert np.array_equal(array("nearest").reshape(-1, 3), points.nearest[:10])


@pytest.mark.parametrize(("labels", "asked", "told"), [(2, 1.0, 0), (3, 1.0, 1), (10, 0.2, 3), (10, 1.0, 1)])
def test_twenty_thousand_points_weigh_less_than_300_kilobytes_on_a_page(labels: int, asked: float, told: int) -> None:
    content = packed_for_page(answered(many(20_000), labels, asked))
    header, array = unpacked(content)
    assert len(gzipped(content)) < 300_000
    assert (header["count"], len(header["runners_up"])) == (20_000, told)
    assert len(np.unique(array("x"))) > 4_000  # as fine as a screen


def test_runs_that_know_much_of_each_text_have_fewer_points_on_a_page() -> None:
    points = many(30_000)
    names = tuple(map(str, range(100)))
    draw = np.random.default_rng(3)
    known = [Column(f"attribute {n}", draw.integers(0, 100, 30_000).astype(np.uint8), names) for n in range(12)]
    content = packed_for_page(replace(points, columns=[*points.columns, *known]))
    header, _ = unpacked(content)
    assert 240_000 < len(gzipped(content)) < 300_000
    assert 5_000 < header["count"] < 20_000
    assert header["drawn_from"] == 30_000
    header, _ = unpacked(packed_for_page(many(20_000)))
    assert (header["count"], header["drawn_from"]) == (20_000, 0)


def test_ids_that_do_not_pack_are_left_out_of_a_page() -> None:
    draw = np.random.default_rng(2)
    header, _ = unpacked(packed(many(20_000, [draw.bytes(16).hex() for _ in range(20_000)])))
    assert header["ids"] is None


def test_some_points_keep_their_neighbours_and_their_rows() -> None:
    points = many(1_000)
    points = answered(points, 4, 0.5)
    some = points.some(300)
    ids = points.ids.to_pylist()
    for row, (key, near) in enumerate(zip(some.ids.to_pylist(), some.nearest, strict=True)):
        old = ids.index(key)
        assert some.rows[row] == old
        kept, whole = ([share.codes[at] for _, share in of.runners_up] for of, at in ((some, row), (points, old)))
        assert kept == whole
        assert [some.rows[one] for one in near if one >= 0] == [one for one in points.nearest[old] if one in some.rows]


def test_numbers_and_missing_values_are_told_apart() -> None:
    column = Column.of_numbers("sureness", np.array([0.0, 0.5, 1.0, np.nan]))
    assert column.codes.tolist() == [0, 100, 200, 201]
    named = Column.of_values("answer", pa.array(["b", None, "a"]), first=("b", "a"))
    assert named.names == ("b", "a", NONE)
    assert named.codes.tolist() == [0, 2, 1]


def test_the_points_of_a_run_say_what_is_known_of_each_text(run: Path) -> None:
    record = read_record(run)
    points = points_of(record)
    assert points is not None
    labels, answers = points.by_name["label"], points.by_name["answer"]
    outcome = points.by_name["right or wrong"]
    assert labels.names == tuple(record.about["data"]["label_names"])
    tested = points.by_name["tested by"]
    for row in range(len(points)):
        said, given = answers.names[answers.codes[row]], labels.names[labels.codes[row]]
        right = NONE if said == NONE else "right" if said == given else "wrong"
        assert outcome.names[outcome.codes[row]] == right
        split = tested.names[tested.codes[row]]
        if split != NONE:
            part = points.by_name[f"part in {split}"]
            assert part.names[part.codes[row]] == "test"
    assert {"source", "cluster of closest", "part in novel"} <= {*points.by_name}
    assert "user" not in points.by_name  # what groups rows is not written
    hardest = points.nearest[:, 0] >= 0
    assert hardest.any()


def test_every_leaked_test_text_is_told_on_the_map(run: Path) -> None:
    record = read_record(run)
    points = points_of(record)
    assert points is not None
    counts = {row.tags["split"]: round(row.value * row.n) for row in record.measurements if row.metric == "leaked.near"}
    for split, count in counts.items():
        column = points.by_name.get(f"leak in {split}")
        told = [column.names[code].partition(",")[0] for code in column.codes] if column else []
        assert sum(kind in ("exact", "normalised", "near") for kind in told) == count
    assert all(counts.values())


def test_texts_are_kept_only_when_asked_for(run: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(run / "texts.parquet")
    assert table.column_names == ["id", "label", "source", "text"]


def test_rows_beyond_the_layout_lie_between_those_they_are_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.reports.figures.MOST_POINTS", 60)
    draw = np.random.default_rng(4)
    middles = np.eye(3)[draw.integers(0, 3, 200)] * 10
    vectors = (middles + draw.normal(size=(200, 3))).astype(np.float32)
    places = plane(vectors)
    kind = middles.argmax(axis=1)
    centres = np.stack([places[kind == one].mean(axis=0) for one in range(3)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == kind).mean() > 0.95
    assert MOST_POINTS == 4_000


def test_the_page_of_a_run_carries_its_points_and_one_script(run: Path) -> None:
    html = (run / "report.html").read_text(encoding="utf-8")
    assert html.count("<script>") == 1
    assert "script-src &#39;sha256-" in html
    packed_points = html.split('id="points">')[1].split("<")[0]
    import base64

    header, _ = unpacked(gzip.decompress(base64.b64decode(packed_points)))
    assert header["count"] == 120


def test_labels_that_are_called_like_columns_of_answers_are_told_by_their_names(tmp_path: Path) -> None:
    names, ids = ("id", "x"), pa.chunked_array([["a", "b"]])
    parts = {"closest": np.array(["test", "test"])}
    certificate = Certificate({"id": 1, "x": 1}, {"id": 1, "x": 1})
    split = SplitFile("closest", "closest", {"test": 2}, certificate, Origin("closest.v1"))
    latent = LatentMap(ids, np.array([[0.0, 0.0], [1.0, 1.0]]), np.array(names), parts)
    (tmp_path / "predictions").mkdir()
    answers = Predictions(string_array(["a", "b"]), np.array([[0.9, 0.1], [0.2, 0.8]]), names)
    write_predictions(answers, tmp_path / "predictions" / "closest-seed1.parquet")
    about = {"kind": "stress", "data": {"label_names": names}}
    record = RunRecord(about, (), folder=tmp_path, splits={"closest": split}, maps={"map": latent})
    points = points_of(record, neighbours=False)
    assert points is not None
    assert points.labels == names
    assert points.by_name["answer"].names[:2] == names
    assert points.by_name["right or wrong"].names == ("right",)
