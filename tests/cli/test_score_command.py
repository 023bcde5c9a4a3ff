"""`unseen model score --compare`: two models on the same rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unseen as package
from unseen.store import read_measurements

SOURCE = ("posts.csv", "a.csv", "--text", "text", "--label", "label", "--id", "id", "-q")


@pytest.fixture
def two_models(folder: Path) -> Path:
    """a.csv is right on all rows but six, b.csv on all but thirty."""
    data = package.load(folder / "posts.csv", text="text", label="label", id="id")
    for name, wrong in (("a", 6), ("b", 30)):
        said = [data.label_names[code ^ (row < wrong)] for row, code in enumerate(data.labels)]
        lines = ["id,prediction", *(f"{each},{label}" for each, label in zip(data.ids.to_pylist(), said, strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_the_difference_has_an_interval_and_a_p_value(two_models, unseen):
    done = unseen("model", "score", *SOURCE, "--compare", "b.csv", "-m", "accuracy", "--json", "-o", "m.csv")
    assert done.code == 0, done.err
    score, difference = json.loads(done.out)
    assert (score["metric"], score["value"]) == ("accuracy", 0.9)
    assert difference["metric"] == "difference.accuracy"
    assert difference["value"] == pytest.approx(0.4)
    assert 0.2 < difference["low"] < 0.4 < difference["high"] < 0.6
    assert difference["tags"]["p"] < 0.01
    assert difference["tags"]["p.mcnemar"] == pytest.approx(2 * 0.5**24)
    assert [row.metric for row in read_measurements("m.csv")] == ["accuracy", "difference.accuracy"]


def test_the_difference_is_printed_by_part_and_slice(two_models, unseen):
    words = (
        "--attribute",
        "source",
        "--attribute",
        "part",
        "--slice",
        "source",
        "--compare",
        "b.csv",
        "-m",
        "f1.macro",
    )
    plain = unseen("model", "score", *SOURCE, *words)
    assert plain.code == 0, plain.err
    head, *lines = plain.out.partition("\n\n")[2].splitlines()
    assert head.split() == ["part", "slice", "less", "b.csv", "value", "95", "%", "interval", "n", "p"]
    assert [line.split()[1] for line in lines] == ["all", "source=app", "source=mail", "source=web"]
    split = unseen("model", "score", *SOURCE, "--split", "split.csv", "--compare", "b.csv", "-m", "f1.macro")
    assert split.code == 2  # no such file


def test_an_interval_that_is_refused_has_its_reason_under_the_table(folder, unseen):
    labels = [f"l{row % 40}" for row in range(200)] + ["l0"] * 50
    (folder / "many.csv").write_text(
        "\n".join(["id,text,label", *(f"{row},text {row},{label}" for row, label in enumerate(labels))])
    )
    (folder / "p.csv").write_text("\n".join(["id,prediction", *(f"{row},{label}" for row, label in enumerate(labels))]))
    words = ("many.csv", "p.csv", "--text", "text", "--label", "label", "--id", "id", "-q")
    done = unseen("model", "score", *words, "-m", "f1.macro", "-m", "accuracy")
    assert done.out.splitlines()[-2:] == [
        "no interval for f1.macro: the rarest label has only 5 rows, too few in an average over so many labels",
        "no interval for accuracy: rows drawn again all give the same score",
    ]


def test_parts_that_only_one_model_predicts_are_left_out(two_models, unseen):
    data = package.load("posts.csv", text="text", label="label", id="id")
    split = package.split(data, "random", test=0.2)
    package.write_split(split, "split.csv")
    keep = {data.ids[int(row)].as_py() for row in split.rows("test")}
    lines = Path("b.csv").read_text(encoding="utf-8").splitlines()
    Path("b.csv").write_text("\n".join(each for each in lines if each.split(",")[0] in {*keep, "id"}), encoding="utf-8")
    done = unseen("model", "score", *SOURCE, "--split", "split.csv", "--compare", "b.csv", "-m", "accuracy", "--json")
    rows = json.loads(done.out)
    assert [(row["metric"], row["tags"]["part"]) for row in rows] == [
        ("accuracy", "train"),
        ("accuracy", "test"),
        ("difference.accuracy", "test"),
    ]


def test_a_missing_file_is_wrong_input(two_models, unseen):
    done = unseen("model", "score", *SOURCE, "--compare", "nowhere.csv")
    assert done.code == 2
    assert "nowhere.csv" in done.err


def test_files_of_the_same_name_are_two_models(two_models, unseen):
    Path("other").mkdir()
    Path("other/a.csv").write_bytes(Path("b.csv").read_bytes())
    done = unseen("model", "score", *SOURCE, "--compare", "other/a.csv", "-m", "accuracy", "--json", "--schemes")
    rows = json.loads(done.out)
    assert rows[1]["metric"] == "difference.accuracy"
    assert {row["tags"]["model"] for row in rows if row["metric"] == "f1.macro"} == {"a", "other/a.csv"}


def test_a_label_can_be_left_out_of_every_average(two_models, unseen):
    done = unseen("model", "score", *SOURCE, "--exclude", "calm", "-m", "f1.micro", "-m", "accuracy", "--json")
    assert done.code == 0, done.err
    assert [row["metric"] for row in json.loads(done.out)] == ["f1.micro(exclude=calm)", "accuracy"]
    wrong = unseen("model", "score", *SOURCE, "--exclude", "clam")
    assert wrong.code == 2
    assert "did you mean 'calm'" in wrong.err


@pytest.mark.parametrize("given", ["calm=0.9,loud=0.1", "mix.csv"])
def test_scores_in_a_mix(given, two_models, unseen):
    Path("mix.csv").write_text("label,share\ncalm,0.9\nloud,0.1\n", encoding="utf-8")
    done = unseen("model", "score", *SOURCE, "--mix", given, "-m", "accuracy", "--json")
    assert done.code == 0, done.err
    names = [row["metric"] for row in json.loads(done.out)]
    assert names == ["accuracy", "recall.mix(calm=0.9,loud=0.1)", "f1.mix(calm=0.9,loud=0.1)"]
    assert "must sum to one" in unseen("model", "score", *SOURCE, "--mix", "calm=0.5").err
    assert "no label is called 'maybe'" in unseen("model", "score", *SOURCE, "--mix", "maybe=1").err


def test_the_schemes_are_printed_with_what_one_text_does(two_models, unseen):
    Path("a2.csv").write_bytes(Path("b.csv").read_bytes())
    words = ("--schemes", "--compare", "b.csv", "--compare", "a=a2.csv", "-m", "accuracy")
    done = unseen("model", "score", *SOURCE, *words, "-o", "m.csv")
    assert done.code == 0, done.err
    assert "F1 under every weighting of the labels" in done.out
    assert "less b.csv" in done.out
    assert "less a2.csv" not in done.out, "another training of the same model"
    assert "labels are as hard to guess as 2.00 of equal size" in done.out
    assert "single texts move macro F1 of a 1 by more than a point when answered rightly" in done.out
    written = {row.metric for row in read_measurements("m.csv")}
    assert {"weight.dodrans", "label_perplexity", "influence.removal.f1.macro", "difference.accuracy"} <= written
