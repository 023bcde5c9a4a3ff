"""Rationales: spans and masks, carried by a dataset, and the attention they ask for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tiny_data import build
from unseen.data.catalogue import hatexplain_posts, load_card
from unseen.data.rationales import ground_truth_attention, mask_of, rationales_of, white_space_tokens
from unseen.data.tables import load_table
from unseen.errors import InputError, UnknownNameError


def test_spans_and_masks_mean_the_same_and_are_carried_through_taking() -> None:
    texts = ["one two three", "one two three", "four"]
    data = build(["a", "b", "c"], texts, rationales=[["0-3 8-13", "4-7"], ["101", ""], None])
    assert rationales_of(data.take([1, 2, 0])) == [[[(0, 3), (8, 13)], []], [], [[(0, 3), (8, 13)], [(4, 7)]]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0-3", "4-7"], [[[(0, 3)]], [[(4, 7)]]]),
        (["\"['0-3', '4-7']\"", "[]"], [[[(0, 3)], [(4, 7)]], []]),
        (["10", "11"], [[[(0, 3)]], [[(0, 3), (4, 7)]]]),
        (["01", ""], [[[(4, 7)]], []]),
    ],
    ids=["strings", "lists", "masks that look like numbers", "a mask and nothing"],
)
def test_a_cell_of_a_table_is_one_string_or_a_list(tmp_path: Path, cells: list[str], expected: object) -> None:
    lines = [f"one two,{label},{cell}" for label, cell in zip(("no", "yes"), cells, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["text,label,rationales", *lines]))
    data = load_table(tmp_path / "d.csv", text="text", label="label", attributes=["rationales"])
    assert rationales_of(data) == expected


def test_every_row_that_holds_no_rationale_is_named() -> None:
    wrong = ["0-8", "3-3", "4-7 0-3", "0-3 2-4", "first", "011", "0-3", "-1-2", "0-3,4-7"]
    data = build([f"r{row}" for row in range(len(wrong))], ["one two"] * len(wrong), rationales=[[x] for x in wrong])
    with pytest.raises(InputError) as caught:
        rationales_of(data)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [f"r{n}" for n in range(9) if n != 6]
    with pytest.raises(UnknownNameError, match="attributes"):
        rationales_of(build())
    with pytest.raises(InputError, match="read as numbers"):
        rationales_of(build(rationales=[0.5, 1.0, None, None]))


def test_a_token_counts_when_half_of_it_is_covered() -> None:
    tokens = white_space_tokens(" four  five\nsix ")
    assert tokens == [(1, 5), (7, 11), (12, 15)]
    assert mask_of([(0, 3), (10, 13)], tokens).tolist() == [True, False, False]
    assert mask_of([(1, 2), (4, 5), (12, 14)], [*tokens, (3, 3)]).tolist() == [True, False, True, False]
    assert mask_of([], tokens).tolist() == [False] * 3


def test_attention_is_the_softmax_of_the_mean_mask() -> None:
    masks = [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(ground_truth_attention(masks), [0.187, 0.187, 0.365, 0.261], atol=5e-4)
    np.testing.assert_allclose(ground_truth_attention(masks, 5), [0.028, 0.028, 0.794, 0.150], atol=5e-4)
    np.testing.assert_allclose(ground_truth_attention(np.empty((0, 4))), [0.25] * 4)


def test_highlighted_tokens_become_spans_of_the_joined_text(tmp_path: Path) -> None:
    tokens = ["a b", "", "cd", "e"]
    annotators = [{"label": "offensive", "target": []}] * 3
    post = {"annotators": annotators, "post_tokens": tokens, "rationales": [[1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]]}
    (tmp_path / "dataset.json").write_text(json.dumps({"1": post, "2": post | {"rationales": [[1]]}}))
    first, second = hatexplain_posts(tmp_path / "dataset.json")
    assert first["text"] == "a b  cd e"
    assert first["rationales"] == ["0-3 8-9", "5-7", ""]
    assert second["rationales"] == ["1"]  # loads, and is refused when somebody needs it
    data = load_table([first, second | {"label": "normal"}], text="text", label="label", attributes=["rationales"])
    with pytest.raises(InputError, match="1 digits for 4 tokens"):
        rationales_of(data)


def test_rationales_of_hatexplain(shared_data: Path) -> None:
    if not (shared_data / "hatexplain" / "dataset_val_test.json").is_file():
        pytest.skip("HateXplain is not in the folder of real data")
    data = load_card("hatexplain", shared_data, "dataset_val_test.json", attributes=["part", "rationales"])
    rationales = rationales_of(data)
    parts = np.asarray(data.attribute("part").to_pylist())
    has = np.asarray([bool(annotators) for annotators in rationales])
    assert (has == (data.labels != data.label_names.index("normal"))).all()
    assert [int(has[parts == part].sum()) for part in ("dev", "test")] == [1141, 1142]
    words = [white_space_tokens(text) for text in data.texts.to_pylist()]
    marked = [mask_of(spans, words[row]).sum() for row in np.flatnonzero(has) for spans in rationales[row]]
    assert 5 < np.mean(marked) < 6  # the paper says 5.5 words a post
