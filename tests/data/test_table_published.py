"""Counted facts of the published files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unseen.data import load_table
from unseen.errors import InputError

HATEXPLAIN = {"text": "example", "attributes": ["target", "dataset"]}
HATECHECK = {"text": "test_case", "label": "label_gold", "id": "case_id", "attributes": ["functionality"]}
DAVIDSON = {"text": "tweet", "label": "class", "id": "", "labels": {"0": "hate", "1": "offensive", "2": "neither"}}
STORMFRONT = {"id": "file_id", "attributes": ["user_id", "subforum_id"]}
TEMPLATES = {"text": "phrase", "label": "toxicity", "attributes": ["template"]}

PUBLISHED: list[tuple[str, dict[str, Any], list[int]]] = [
    ("hatexplain/train_test.csv", HATEXPLAIN, [5341, 7032, 4932]),
    ("hatexplain/dev.csv", HATEXPLAIN, [594, 782, 548]),
    ("hatexplain/standard/train_standard.csv", HATEXPLAIN, [4748, 6251, 4384]),
    ("hatexplain/standard/dev_standard.csv", HATEXPLAIN, [593, 781, 548]),
    ("hatexplain/standard/test_standard.csv", HATEXPLAIN, [594, 782, 548]),
    ("stormfront/stormfront.csv", STORMFRONT, [1196, 73, 9507, 168]),
    ("stormfront/stormfront.csv", {**STORMFRONT, "labels": ("noHate", "hate"), "drop": "undeclared"}, [9507, 1196]),
    ("davidson/labeled_data.csv", DAVIDSON, [1430, 19190, 4163]),
    ("hatecheck/test_suite_cases.csv", HATECHECK, [2563, 1165]),
    ("hatecheck/all_cases.csv", HATECHECK, [2659, 1242]),
    ("hatecheck/test_suite_annotations.csv", HATECHECK, [2563, 1165]),
    ("hatecheck/all_annotations.csv", HATECHECK, [2659, 1242]),
    ("identity_templates/en_sentence_templates.csv", TEMPLATES, [38282, 38282]),
]


def existing(folder: Path, file: str) -> Path:
    if not (folder / file).exists():
        pytest.skip(f"{folder / file} is not there; set UNSEEN_DATA to the folder of the data")
    return folder / file


@pytest.mark.parametrize(("file", "arguments", "counts"), PUBLISHED)
def test_rows_per_label(file: str, arguments: dict[str, Any], counts: list[int], shared_data: Path) -> None:
    data = load_table(existing(shared_data, file), **arguments)
    assert list(data.label_counts.values()) == counts


def test_targets_of_hatexplain_are_lists(shared_data: Path) -> None:
    data = load_table(existing(shared_data, "hatexplain/dev.csv"), **HATEXPLAIN)
    assert data.table.schema.field("target").type == pa.list_(pa.string())
    assert data.attribute("target")[0].as_py() == ["African", "None"]
    assert data.attribute("dataset").type == pa.large_string()


def test_users_of_stormfront(shared_data: Path) -> None:
    users = load_table(existing(shared_data, "stormfront/stormfront.csv"), **STORMFRONT).attribute("user_id")
    assert len(users.unique()) == 2792


@pytest.mark.parametrize(
    "file",
    [
        "hatexplain/post_id_divisions.json",
        "hatexplain/dataset_val_test.json",
        "hatecheck/template_placeholders.csv",
        "hatexplain/published_splits/closest_bert_bottleneck50.txt",
    ],
)
def test_files_that_are_no_labelled_texts_are_refused(file: str, shared_data: Path) -> None:
    with pytest.raises(InputError):
        load_table(existing(shared_data, file))
