from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError, MismatchError, VectorsError
from unseen.store import read_embeddings, read_json, write_embeddings, write_json
from unseen.types import Dataset, Embeddings, Origin

Builder = Callable[..., Dataset]

VECTORS = np.arange(8, dtype=np.float32).reshape(4, 2)


class Bomb:
    """Says so when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("a pickle was loaded",))


def written(data: Dataset, path: Path, vectors: np.ndarray = VECTORS) -> Path:
    return write_embeddings(Embeddings(data.ids, vectors, Origin("tfidf.v1", {"size": 2}, 3)), path, data)


def test_vectors_come_back_as_they_were_with_their_origin(tiny: Builder, tmp_path: Path) -> None:
    read = read_embeddings(written(tiny(), tmp_path / "v.npy"), tiny())
    assert np.array_equal(read.vectors, VECTORS)
    assert read.ids.equals(tiny().ids)
    assert read.origin == Origin("tfidf.v1", {"size": 2}, 3)
    assert read_json(tmp_path / "v.json")["shape"] == [4, 2]


def test_vectors_are_mapped_not_copied(tiny: Builder, tmp_path: Path) -> None:
    base = read_embeddings(written(tiny(), tmp_path / "v.npy"), tiny()).vectors
    while not isinstance(base, np.memmap):
        assert base.base is not None
        base = base.base


def test_vectors_of_other_content_are_refused(tiny: Builder, tmp_path: Path) -> None:
    path = written(tiny(), tmp_path / "v.npy")
    with pytest.raises(MismatchError, match="another dataset"):
        read_embeddings(path, tiny(texts=["changed"] * 4))


def test_vectors_of_rows_in_another_order_are_refused(tiny: Builder, tmp_path: Path) -> None:
    path = written(tiny(), tmp_path / "v.npy")
    with pytest.raises(MismatchError, match="in another order"):
        read_embeddings(path, tiny().take([1, 0, 2, 3]))


def test_vectors_replaced_after_writing_are_refused(tiny: Builder, tmp_path: Path) -> None:
    path = written(tiny(), tmp_path / "v.npy")
    np.save(path, VECTORS + 1)
    with pytest.raises(MismatchError, match="changed after it was written"):
        read_embeddings(path, tiny())


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int64, np.bool_])
def test_foreign_vectors_are_accepted(tiny: Builder, tmp_path: Path, kind: type) -> None:
    np.save(tmp_path / "v.npy", VECTORS.astype(kind))
    read = read_embeddings(tmp_path / "v.npy", tiny())
    assert np.array_equal(read.vectors, VECTORS.astype(kind))
    assert read.origin == Origin("given", {"file": "v.npy"})


@pytest.mark.parametrize("content", ['[{"text": "a post"}]', '{"text": "a post"}\n{"text": "more"}'])
def test_foreign_vectors_may_stand_beside_the_users_own_json(tiny: Builder, tmp_path: Path, content: str) -> None:
    (tmp_path / "posts.json").write_text(content)
    np.save(tmp_path / "posts.npy", VECTORS)
    assert len(read_embeddings(tmp_path / "posts.npy", tiny())) == 4
    with pytest.raises(InputError, match="would be overwritten"):
        written(tiny(), tmp_path / "posts.npy", VECTORS + 1)
    assert (tmp_path / "posts.json").read_text() == content
    assert np.array_equal(np.load(tmp_path / "posts.npy"), VECTORS)


def test_foreign_vectors_of_another_length_are_refused(tiny: Builder, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS[:3])
    with pytest.raises(VectorsError, match="4 rows, one per text"):
        read_embeddings(tmp_path / "v.npy", tiny())


def test_pickles_are_never_loaded(tiny: Builder, tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([[Bomb()]] * 4, dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Bomb()))
    for path in tmp_path.iterdir():
        with pytest.raises(VectorsError, match="not an NPY file of numbers"):
            read_embeddings(path, tiny())


def test_objects_are_never_pickled(tiny: Builder, tmp_path: Path) -> None:
    embeddings = Embeddings(tiny().ids, VECTORS)
    object.__setattr__(embeddings, "vectors", VECTORS.astype(object))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_embeddings(embeddings, tmp_path / "v.npy", tiny())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"id,x\n1,2\n", None])
def test_what_is_no_npy_file_is_refused(tiny: Builder, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(VectorsError, match=r"v\.npy"):
        read_embeddings(tmp_path / "v.npy", tiny())


def test_a_truncated_file_is_refused(tiny: Builder, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:-4])
    with pytest.raises(VectorsError, match="not an NPY file"):
        read_embeddings(tmp_path / "v.npy", tiny())


def test_an_archive_of_several_arrays_is_refused(tiny: Builder, tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", a=VECTORS, b=VECTORS)
    with pytest.raises(VectorsError, match="several arrays"):
        read_embeddings(tmp_path / "v.npz", tiny())


def test_foreign_vectors_that_are_not_finite_are_refused(tiny: Builder, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.full((4, 2), np.nan))
    with pytest.raises(VectorsError, match="4 of 4 vectors are not finite"):
        read_embeddings(tmp_path / "v.npy", tiny())


def test_only_npy_names_are_written(tiny: Builder, tmp_path: Path) -> None:
    with pytest.raises(VectorsError, match=r"-o .*v\.npy"):
        written(tiny(), tmp_path / "v.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_origin_that_cannot_be_written_leaves_the_old_pair(tiny: Builder, tmp_path: Path) -> None:
    path = written(tiny(), tmp_path / "v.npy")
    with pytest.raises(TypeError):
        write_embeddings(Embeddings(tiny().ids, VECTORS + 1, Origin("mine", {"by": object()})), path, tiny())
    assert np.array_equal(read_embeddings(path, tiny()).vectors, VECTORS)


def test_no_rows_come_back(tiny: Builder, tmp_path: Path) -> None:
    path = written(tiny([]), tmp_path / "v.npy", np.zeros((0, 3), np.float32))
    assert read_embeddings(path, tiny([])).vectors.shape == (0, 3)


def test_our_own_description_may_be_written_again(tiny: Builder, tmp_path: Path) -> None:
    path = written(tiny(), tmp_path / "v.npy")
    written(tiny(), path, VECTORS + 1)
    assert np.array_equal(read_embeddings(path, tiny()).vectors, VECTORS + 1)
    write_json(tmp_path / "v.json", {"dataset": "only"})
    assert read_embeddings(path, tiny()).origin.step == "given"
