from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unseen.api import load
from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.functional.transformations import (
    column_texts,
    function_texts,
    perturbed_texts,
    read_transformed,
    with_texts,
)


def test_texts_are_matched_by_id_whatever_their_order(tiny, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("id,text\n3,c\n1,a\n2,\n4,d\n9,z\n")
    assert read_transformed(path, tiny()) == ["a", "", "c", "d"]


def test_without_ids_texts_are_matched_by_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\nred,x\nblue,y\n")
    (tmp_path / "b.csv").write_text("text,id\nrot,7\nblau,8\n")
    data = load(tmp_path / "a.csv")
    assert read_transformed(tmp_path / "b.csv", data) == ["rot", "blau"], "ids made from texts are no ids of others"
    (tmp_path / "c.csv").write_text("text\nrot\n")
    with pytest.raises(MismatchError, match="another number of texts"):
        read_transformed(tmp_path / "c.csv", data)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("id,text\n1,a\n2,b\n3,c\n", MismatchError, "lacks 1 of the 4 texts"),
        ("id,text\n1,a\n1,b\n2,c\n3,c\n4,d\n", MismatchError, "repeat"),
        ("id,words\n1,a\n", UnknownNameError, "'text'"),
    ],
    ids=["missing", "repeated", "no-column"],
)
def test_files_that_do_not_match_are_refused(tiny, tmp_path: Path, content: str, error: type, message: str) -> None:
    path = tmp_path / "b.csv"
    path.write_text(content)
    with pytest.raises(error, match=message):
        read_transformed(path, tiny())
    with pytest.raises(UnknownNameError, match="key"):
        read_transformed(path, tiny(), text=content.split(",")[1].split("\n")[0], id="key")


def test_functions_give_one_text_for_each(tiny) -> None:
    assert function_texts(tiny(), lambda texts: [None, *texts[1:]]) == ["", "text 2", "text 3", "text 4"]
    with pytest.raises(MismatchError, match="another number of texts"):
        function_texts(tiny(), lambda texts: texts[1:])
    with pytest.raises(InputError, match="gave int"):
        function_texts(tiny(), lambda texts: [1] * len(texts))
    with pytest.raises(InputError, match="ZeroDivisionError"):
        function_texts(tiny(), lambda texts: [1 / 0])


def test_a_place_runs_only_with_trust(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_transformation.py").write_text(
        "def shout(texts):\n    return [t.upper() for t in texts]\nodd = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="trust"):
        function_texts(tiny(), "own_transformation:shout")
    assert "own_transformation" not in sys.modules
    assert function_texts(tiny(), "own_transformation:shout", trust=True)[0] == "TEXT 1"
    for wrong, message in (("own_transformation:gone", "cannot be imported"), ("own_transformation:odd", "a function")):
        with pytest.raises(InputError, match=message):
            function_texts(tiny(), wrong, trust=True)


def test_perturbed_texts_stay_where_nothing_applies(tiny) -> None:
    data = tiny(list("ab"), ["QUIET", "already quiet"], ["no", "yes"])
    assert perturbed_texts(data, "lower") == ["quiet", "already quiet"]


def test_columns_and_other_texts(tiny) -> None:
    data = tiny(list("ab"), labels=["no", "yes"], german=["eins", None])
    assert column_texts(data, "german") == ["eins", ""]
    other = with_texts(data, ["x", "y"], "other")
    assert (other.name, other.texts.to_pylist(), other.ids.to_pylist()) == ("other", ["x", "y"], ["a", "b"])
