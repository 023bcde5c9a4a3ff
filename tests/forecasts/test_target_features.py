"""Features of languages and of texts, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError, TableError
from unseen.forecasts.features import Features, read_features, text_features, with_features
from unseen.forecasts.score_table import ScoreTable

FEATURES = Features(
    {"de": {"bytes": 4.0}, "en": {"bytes": 8.0}},
    {
        (source, target): {"overlap": 1.0 if source == target else 0.25}
        for source in ("de", "en")
        for target in ("de", "en")
    },
)


def table(*rows: tuple[dict[str, float], str]) -> ScoreTable:
    configurations, targets = zip(*rows, strict=True)
    return ScoreTable(tuple(configurations), np.array(targets), np.zeros(len(rows)), np.full(len(rows), "t"))


def test_several_sources_have_a_column_each_and_a_weighted_mean() -> None:
    made = with_features(table(({"de": 99.0, "en": 297.0}, "de"), ({"en": 999.0}, "de")), FEATURES)
    first, second = (dict(zip(made.columns, row, strict=True)) for row in made.features.tolist())
    assert first == pytest.approx({
        "size[de]": 2.0, "size[en]": np.log10(298), "size.own": 2.0, "size.all": np.log10(397), "target.bytes": 4.0,
        "source.bytes": 7.0, "overlap[de]": 1.0, "overlap[en]": 0.25, "overlap": 0.4375,
    })  # fmt: skip
    assert (second["size[de]"], second["size.own"], second["overlap[de]"], second["overlap"]) == (0.0, 0.0, 1.0, 0.25)


def test_everything_without_features_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        with_features(table(({"fr": 1.0, "en": 1.0}, "it")), FEATURES)
    assert caught.value.problems == (
        "'fr' has none", "'it' has none", "'en' with 'it' has none", "'fr' with 'it' has none",
    )  # fmt: skip
    with pytest.raises(InputError, match="needed") as caught:
        with_features(table(({"de": 1.0}, "en")), FEATURES, sources=["en"])
    assert caught.value.problems == ("'de' is none of the sources of the scores",)


def test_texts_are_counted() -> None:
    made = text_features({"a": ["to be or", "not to be"], "b": ["be"]}, {"a": {"x": 1.0}, "b": {"x": 0.25, "y": 0.75}})
    assert made.of_name["a"] == pytest.approx({"length": 3.0, "variety": 4 / 6})
    assert made.of_pair["a", "b"] == pytest.approx({"vocabulary": 0.25, "pieces": 0.2, "priors": 0.75})
    assert made.of_pair["a", "a"] == {"vocabulary": 1.0, "pieces": 1.0, "priors": 0.0}
    assert "priors" not in text_features({"a": ["x"]}).of_pair["a", "a"]
    with pytest.raises(InputError, match="without words"):
        text_features({"a": [" "]})


def test_language_features_have_their_names(shared_data: Path) -> None:
    made = read_features(shared_data / "litmus" / "precomputed_features.min.json")
    sizes = {name: values["pretraining"] for name, values in made.of_name.items()}
    assert sorted(sizes, key=sizes.__getitem__)[-2:] == ["ru", "en"], "XLM-R learnt most from these"
    near = {pair: values["syntax"] for pair, values in made.of_pair.items() if pair[0] != pair[1]}
    assert near["hi", "pa"] < near["hi", "ga"]
    assert made.of_pair["de", "de"] == {"overlap": 1.0, "syntax": 0.0}


def test_wrong_features_in_a_file_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("name,bytes\nen,1\nen,2\nde,many\n,3\n", encoding="utf-8")
    with pytest.raises(TableError) as caught:
        read_features(path)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["line 3", "line 4", "line 5"]
    path.write_text("source,target,overlap\nen,de,.5\n", encoding="utf-8")
    assert read_features(path).of_pair == {("en", "de"): {"overlap": 0.5}}
    (tmp_path / "f.json").write_text('{"type_overlap": {}}', encoding="utf-8")
    with pytest.raises(InputError, match="does not hold the language features"):
        read_features(tmp_path / "f.json")
