"""`unseen model metrics`: facts, names and usage."""

from __future__ import annotations

import json

import pytest


def test_facts_by_id_and_by_name(unseen):
    done = unseen("model", "metrics", "show", "f1.macro", "ROC AUC")
    assert done.code == 0, done.err
    for words in (
        "f1, f_measure, classification",
        "higher is better, 0 to 1, fraction",
        "roc_auc",
        "classes: required",
    ):
        assert words in done.out
    (facts,) = json.loads(unseen("model", "metrics", "show", "log_loss", "--json").out)
    assert (facts["direction"], facts["range"]) == ("lower", [0, None])


def test_a_name_that_is_not_understood_is_refused(unseen):
    done = unseen("model", "metrics", "show", "DVD")
    assert done.code == 2
    assert "not understood: dvd" in done.err


def test_all_as_a_table_a_tree_and_a_glossary(unseen):
    assert "f1.dodrans" in unseen("model", "metrics", "show").out
    tree = json.loads(unseen("model", "metrics", "show", "--json").out)
    assert tree[0]["id"] == "classification"
    assert "accuracy" in [child["id"] for child in tree[0]["children"]]
    glossary = unseen("model", "metrics", "show", "--format", "md").out
    assert "| f1.macro |" in glossary
    assert unseen("model", "metrics", "show", "accuracy", "--format", "md").code == 2
    assert unseen("model", "metrics", "show", "--format", "xml").code == 2


def test_names_are_read_from_the_line_and_from_a_file(unseen, folder):
    (folder / "names.txt").write_text("Macro-F1 (dev)\n\nF1@IoU=.3\n", encoding="utf-8")
    first, second, third = json.loads(unseen("model", "metrics", "normalise", "F1", "names.txt", "--json").out)
    assert (first["id"], first["missing"]) == ("f1", ["average"])
    assert (second["id"], second["qualifiers"]) == ("f1.macro", {"average": "macro", "split": "dev"})
    assert (third["id"], third["unread"]) == (None, ["f1@iou=.3"])
    assert "undetermined" in unseen("model", "metrics", "normalise", "DVD").out
    assert unseen("model", "metrics", "normalise", "absent.txt").code == 2


@pytest.fixture
def leaderboards(folder):
    rows = ["dataset,metric", "a,BLEU-1", "a,BLEU-4", "b,BLEU", "b,METEOR", "c,Foo"]
    (folder / "leaderboards.csv").write_text("\n".join(rows), encoding="utf-8")


@pytest.mark.usefixtures("leaderboards")
def test_usage_counts_datasets(unseen):
    usage = json.loads(unseen("model", "metrics", "usage", "leaderboards.csv", "--json").out)
    assert usage["families"][0] == {"id": "bleu", "datasets": 2, "pairs": 3, "alone": 1}
    assert usage["together"] == [{"families": ["bleu", "meteor"], "datasets": 1}]
    done = unseen("model", "metrics", "usage", "leaderboards.csv")
    assert "5 results, 5 pairs of dataset and name, 3 datasets" in done.out
    assert "of 3" in done.out
