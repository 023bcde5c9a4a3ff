from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

import unseen
from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning, VectorsError
from unseen.splits import ClosestSplit
from unseen.store import read_split, write_embeddings, write_split
from unseen.types import Embeddings

FEW = {"n_clusters": [4, 7], "n_init": 2}


def points(n=80, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(6, 4))[rng.integers(0, 6, n)] * 4 + rng.normal(size=(n, 4))).astype(np.float32)


@pytest.fixture(scope="module")
def data(tiny):
    rng = np.random.default_rng(1)
    return tiny(
        ids=[f"id {row * 37 % 80:02}" for row in range(80)],
        texts=[" ".join(rng.choice(["sun", "rain", "wind", "snow", "fog"], 4)) for _ in range(80)],
        user=[f"user {u}" for u in rng.integers(0, 30, 80)],
        source=[("app", "mail", "web")[s] for s in rng.integers(0, 3, 80)],
        targets=[[["women"], ["islam", "women"], []][s] for s in rng.integers(0, 3, 80)],
        year=[None if row == 3 else 2020 + row % 4 for row in range(80)],
        day=[f"2024-0{1 + row % 9}-11" for row in range(80)],
        part=["test" if row % 4 == 0 else "train" for row in range(80)],
    )


def held_out(split):
    return set(split.ids.take(split.rows("test")).to_pylist())


@pytest.mark.parametrize(
    ("method", "request_", "message"),
    [
        ("random", {"using": points()}, "vectors have no effect on the splitter 'random.v1'"),
        ("length", {"using": "tfidf"}, "vectors have no effect"),
        ("closest", {"by": "source"}, "by='source' has no effect"),
        ("random", {"by": "source"}, "by='source' has no effect"),
        ("attribute", {"by": "source", "test": 0.1}, "test=0.1 has no effect"),
        ("hard-kfold", {"test": 0.1}, "test=0.1 has no effect"),
        ("attribute", {"by": "source", "groups": "user"}, "groups have no effect"),
        ("predefined", {"by": "part", "groups": "user"}, "groups have no effect"),
        ("closest", {"n_cluster": 3}, "did you mean 'n_clusters'"),
        ("random", {"difficulty": 0.5}, "'difficulty' is not a parameter"),
        ("random", {"random_state": 1}, "random_state is called seed here"),
        ("random", {"test_size": 0.3, "test": 0.1}, "test_size is called test here"),
        (ShuffleSplit(1), {"test": 0.1}, "has its own settings"),
        (ClosestSplit(0.1), {"n_clusters": 3}, "has its own settings"),
        ("grouped", {}, "needs groups"),
        ("time", {}, "reads an attribute"),
        ("closets", {}, "did you mean 'closest'"),
        ("nowhere:Splitter", {}, "cannot be imported"),
        ("grouped", {"groups": "users"}, "did you mean 'user'"),
        ("grouped", {"groups": "targets"}, "several values per row"),
        ("attribute", {"by": "source", "values": ["ap"]}, "did you mean 'app'"),
        ("random", {"dev": 0.95}, "dev=76 asks for 76 of 72 rows"),
        ("random", {"independent": 80}, "independent=80 asks for 80 of 80 rows"),
        ("random", {"test": 1.0}, "test_size must be above 0"),
        ("closest", {"using": points(79)}, "expected: 80 rows"),
        ("closest", {"using": np.full((80, 3), np.nan)}, "80 of 80 vectors are not finite"),
        ("closest", {"using": np.zeros(80)}, "vectors must be a table"),
        ("closest", {"using": "missing.npy"}, "cannot read vectors from missing.npy"),
        ("closest", {"using": "tfdif"}, "did you mean 'tfidf'"),
        ("predefined", {"by": "missing.csv"}, "there is no file missing.csv"),
    ],
)
def test_what_cannot_be_done_or_has_no_effect_is_refused(data, method, request_, message):
    with pytest.raises(InputError, match=message):
        unseen.split(data, method, **request_)


def test_rows_without_a_group_are_groups_of_their_own_and_named(data):
    nameless = data.ids[3].as_py()
    with pytest.warns(UnseenWarning, match=f"1 rows have no year, each is a group of its own: {nameless}$"):
        split = unseen.split(data, "grouped", groups="year", test=0.4)
    assert split.certificate.groups["count"] == len(set(data.attribute("year").to_pylist()))


def test_vectors_may_come_as_a_record_an_array_a_list_or_a_file(data, tmp_path):
    X = points()
    np.save(tmp_path / "foreign.npy", X)
    own = write_embeddings(Embeddings(data.ids, X), tmp_path / "own.npy", data)
    forms = [Embeddings(data.ids, X), X.astype(np.float64), X.tolist(), tmp_path / "foreign.npy", str(own)]
    found = [held_out(unseen.split(data, "closest", using=form, test=0.2, **FEW)) for form in forms]
    assert all(each == found[0] for each in found)
    assert len(found[0]) == 16


def test_without_vectors_texts_are_encoded(data):
    named, default, given = (
        unseen.split(data, "closest", using=using, test=0.2, **FEW) for using in ("tfidf", None, unseen.encode(data))
    )
    assert held_out(named) == held_out(default) == held_out(given)
    assert named.origin.params["encoder"] == "tfidf.v1"
    assert named.origin.inputs["vectors"] == unseen.encode(data).fingerprint


def test_vectors_in_another_order_are_refused(data, tmp_path):
    shuffled = data.take(np.arange(80)[::-1])
    with pytest.raises(InputError, match="belong to other rows"):
        unseen.split(shuffled, "closest", using=Embeddings(data.ids, points()))
    path = write_embeddings(Embeddings(data.ids, points()), tmp_path / "v.npy", data)
    with pytest.raises(MismatchError, match="another order"):
        unseen.split(shuffled, "closest", using=path)


def test_a_splitter_of_scikit_learn_works_as_an_object_and_by_its_place(data):
    split = unseen.split(data, ShuffleSplit(1, test_size=0.25, random_state=3))
    assert split.name == "ShuffleSplit"
    assert split.sizes == {"train": 60, "test": 20}
    assert split.origin.params == {"n_splits": 1, "test_size": 0.25, "train_size": None, "random_state": 3}
    by_place = unseen.split(data, "sklearn.model_selection:ShuffleSplit", n_splits=1, test=0.25, seed=3)
    assert held_out(by_place) == held_out(split)
    assert by_place.name == "ShuffleSplit"


def test_rows_that_a_foreign_splitter_leaves_out_are_on_neither_side(data):
    split = unseen.split(data, ShuffleSplit(1, test_size=10, train_size=20, random_state=3))
    assert split.sizes == {"train": 20, "test": 10, "independent": 50}


def test_a_splitter_object_of_ours_reads_the_vectors(data):
    split = unseen.split(data, ClosestSplit(0.2, **FEW), using=points())
    assert held_out(split) == held_out(unseen.split(data, "closest", using=points(), test=0.2, **FEW))


def test_several_splits_come_from_folds(data):
    assert [split.name for split in unseen.folds(data, KFold(3))] == ["KFold-1", "KFold-2", "KFold-3"]
    held = [held_out(split) for split in unseen.folds(data, "hard-kfold", using=points(), n_splits=4)]
    assert sorted(name for each in held for name in each) == sorted(data.ids.to_pylist())
    with pytest.raises(InputError, match="gives 3 splits"):
        unseen.split(data, "attribute", by="source")


def test_attributes_by_name(data):
    for split, source in zip(unseen.folds(data, "attribute", by="source"), ("app", "mail", "web"), strict=True):
        assert set(data.take(split.rows("test")).attribute("source").to_pylist()) == {source}
        assert source not in data.take(split.rows("train")).attribute("source").to_pylist()
    women = unseen.split(data, "attribute", by="targets", values="women")
    assert {"women"} <= set.intersection(*map(set, data.take(women.rows("test")).attribute("targets").to_pylist()))
    year = unseen.split(data, "attribute", by="year", values=["2021"])
    assert set(data.take(year.rows("test")).attribute("year").to_pylist()) == {2021}


def test_time_by_name(data):
    split = unseen.split(data, "time", by="day", test=8, stratify=False)
    days = data.attribute("day").to_pylist()
    assert min(days[row] for row in split.rows("test")) >= max(days[row] for row in split.rows("train"))
    with pytest.raises(InputError, match="1 rows have no time"):
        unseen.split(data, "time", by="year")


def test_a_given_split_from_a_column_or_any_file(data, tmp_path):
    test = [row for row in range(80) if row % 4 == 0]
    names = data.ids.to_pylist()
    table = "id\tpart\n" + "".join(f"{name}\t{'test' if row in test else 'train'}\n" for row, name in enumerate(names))
    (tmp_path / "table.tsv").write_text(table)
    (tmp_path / "table.csv").write_text(table.replace("\t", ","))
    (tmp_path / "lines.txt").write_text(f"test: {test}\n")
    others = [row for row in range(80) if row not in test]
    (tmp_path / "positions.json").write_text(json.dumps({"train": others, "test": test}))
    (tmp_path / "ids.json").write_text(
        json.dumps({"train": [names[r] for r in others], "test": [names[r] for r in test]})
    )
    for by in ("part", *sorted(tmp_path.iterdir())):
        split = unseen.split(data, "predefined", by=by)
        assert held_out(split) == {names[row] for row in test}, by
        assert split.sizes == {"train": 60, "test": 20}
        assert split.origin.params == {"by": Path(by).name}


def test_our_own_file_is_a_given_split_too(data, tmp_path):
    split = unseen.split(data, "random", dev=10, independent=10)
    write_split(split, tmp_path / "own.csv")
    again = unseen.split(data, "predefined", by=tmp_path / "own.csv")
    assert (again.parts == split.parts).all()


@pytest.mark.parametrize("file", ["closest_bert_bottleneck50.txt", "closest_roberta_bottleneck50.txt"])
def test_the_published_splits(shared_data, file):
    folder = shared_data / "hatexplain"
    posts = unseen.load(folder / "train_test.csv", text="example", label="label")
    split = unseen.split(posts, "predefined", by=folder / "published_splits" / file)
    assert split.sizes == {"train": 15_575, "test": 1_730}
    assert posts.label_counts == {"hate": 5_341, "noHate": 7_032, "offensive": 4_932}
    assert split.certificate.got == {"hate": 534, "noHate": 703, "offensive": 493}
    ours = unseen.split(posts, "random", test=0.1)
    assert ours.certificate.got == split.certificate.got


def test_the_origin_tells_how_to_make_the_split_again(data):
    split = unseen.split(
        data,
        "closest",
        using=points(),
        test=np.float64(0.2),
        dev=0.1,
        groups="user",
        seed=np.int64(7),
        n_clusters=range(4, 7),
    )
    assert split.origin.step == "closest.v1"
    assert split.origin.seed == 7
    assert split.origin.params == {
        "dev": 0.1, "groups": "user", "test_size": 0.2, "n_clusters": [4, 5, 6], "metric": "euclidean", "n_init": 10,
        "max_iter": 300, "mix": None, "stratify": True, "random_state": 7, "encoder": "given",
    }  # fmt: skip
    assert split.origin.inputs["dataset"] == data.fingerprint == split.dataset
    assert {"unseen", "numpy", "ortools"} <= split.origin.versions.keys()
    assert split.certificate.groups["attribute"] == "user"


def test_values_of_an_attribute_are_written_down(data):
    split = unseen.split(data, "attribute", by="source", values={"web", "app"})
    assert split.origin.params == {"by": "source", "values": ["app", "web"]}


@pytest.mark.parametrize(("name", "expected"), [(None, "closest"), ("hard one", "hard one")])
def test_a_split_has_the_name_of_its_method_or_its_own(data, name, expected):
    assert unseen.split(data, "closest.v1", using=points(), test=0.2, name=name, **FEW).name == expected


@pytest.mark.parametrize(
    ("method", "request_"),
    [
        ("random", {"dev": 0.1, "independent": 0.1}),
        ("grouped", {"groups": "user"}),
        ("closest", {"using": points()} | FEW),
    ],
)
def test_a_split_survives_being_written_and_read(data, tmp_path, method, request_):
    split = unseen.split(data, method, test=0.2, **request_)
    again = read_split(write_split(split, tmp_path / "split.csv"), data)
    assert (again.parts == split.parts).all()
    assert (again.clusters == split.clusters).all()
    assert again.certificate == split.certificate
    assert again.name == split.name
    assert again.origin.params == split.origin.params


def test_labels_are_certified_in_their_declared_order(tiny):
    data = tiny(ids=[str(row) for row in range(40)], label_names=("zebra", "ant"))
    assert list(unseen.split(data, "random").certificate.got) == ["zebra", "ant"]


def test_encode_gives_vectors_in_row_order(data):
    found = unseen.encode(data, "tfidf", dimensions=3, seed=5)
    assert found.vectors.shape == (80, 3)
    assert found.ids.equals(data.ids)
    assert (found.origin.step, found.origin.params, found.origin.seed) == ("tfidf.v1", {"dimensions": 3}, 5)
    twins = [row for row, text in enumerate(data.texts.to_pylist()) if text == data.texts.to_pylist()[0]]
    assert np.allclose(found.vectors[twins], found.vectors[0], atol=1e-6)
    with pytest.raises(InputError, match="did you mean 'dimensions'"):
        unseen.encode(data, dimension=3)


class Letters:
    """An encoder of the user's own: how many letters, how many words."""

    def encode(self, texts):
        return np.array([[len(text), len(text.split())] for text in texts])


class Lazy:
    def encode(self, texts):
        return np.ones((len(texts) - 1, 2))


def test_an_encoder_of_ones_own_by_its_place(data, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    found = unseen.encode(data, f"{Path(__file__).stem}:Letters")
    assert (found.vectors == Letters().encode(data.texts.to_pylist())).all()
    with pytest.raises(VectorsError, match="expected: 80 rows"):
        unseen.encode(data, f"{Path(__file__).stem}:Lazy")


def test_loading_refuses_what_has_no_effect(tmp_path):
    (tmp_path / "posts.csv").write_text("text,label\na,x\nb,y\n")
    with pytest.raises(InputError, match="data_dir has no effect on a table"):
        unseen.load(tmp_path / "posts.csv", data_dir=tmp_path)
    with pytest.raises(InputError, match="text has no effect on the sample"):
        unseen.load("sample", text="text")


def test_unknown_parts_of_the_package_are_refused():
    with pytest.raises(AttributeError, match="ClosetSplit"):
        getattr(unseen.splits, "Closet" + "Split")
    with pytest.raises(UnknownNameError):
        unseen.split(unseen.load("sample").take(np.arange(60)), "closest", using="bert")


def test_what_is_no_splitter_is_refused(data):
    with pytest.raises(InputError, match="is not a splitter"):
        unseen.split(data, "os:getcwd")
    with pytest.raises(InputError, match="cannot be made: Setting a random_state"):
        unseen.split(data, "sklearn.model_selection:KFold")


def test_a_mistyped_dataset_has_a_hint(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="did you mean 'stormfront'"):
        unseen.load("stromfront")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").mkdir()
    assert unseen.load("sample").name == "sample"


def test_settings_of_clustering_are_checked(data):
    with pytest.raises(InputError, match="'n_init' takes int, not 'a'"):
        unseen.split(data, "closest", n_init="a")


def test_public_names_are_shown_and_vectors_are_an_array(data):
    assert set(unseen.__all__) <= set(dir(unseen))
    vectors = unseen.encode(data)
    assert np.asarray(vectors) is vectors.vectors
    assert np.array(vectors, dtype=float).dtype == float


def test_one_column_is_not_both_texts_and_labels(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,y\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot both be the column 'text'"):
        unseen.load(tmp_path / "a.csv", label="text")
