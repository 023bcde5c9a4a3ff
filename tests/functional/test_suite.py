"""Suites: tables whose columns have the names of published suites, or a user's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError, TableError, UnknownNameError
from unseen.functional import as_suite, balanced, load_suite
from unseen.functional.suite import references, template_codes
from unseen.types import Dataset

Builder = Callable[..., Dataset]


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_published_names_of_columns_are_known(tmp_path: Path) -> None:
    path = written(
        tmp_path / "cases.csv",
        "functionality,case_id,test_case,label_gold,target_ident,ref_case_id,templ_id,case_templ",
        "greet_plain,1,hello cooks,fine,cooks,,7,hello [X]",
        "greet_not,2,no hello cooks,rude,cooks,1,8,",
    )
    suite = load_suite(path)
    assert suite.ids.to_pylist() == ["1", "2"]
    assert suite.attribute("class").to_pylist() == ["greet", "greet"]
    assert suite.attribute("template").to_pylist() == ["7", "8"]
    assert suite.attribute("reference").to_pylist() == [None, "1"]
    assert suite.attribute("target").to_pylist() == ["cooks", "cooks"]


def test_a_users_own_names_are_mapped(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", "skill;satz;urteil;beruf", "gruss;hallo;gut;koch", "tadel;pfui;schlecht;koch")
    columns = {"functionality": "skill", "text": "satz", "label": "urteil", "target": "beruf"}
    suite = load_suite(path, columns=columns)
    assert suite.attribute("functionality").to_pylist() == ["gruss", "tadel"]
    assert suite.attribute("target").to_pylist() == ["koch", "koch"]
    assert "class" not in suite.attributes  # nothing stands before an underscore


def test_json_and_parquet_are_read_too(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = (
        '{"functionality": "a_b", "text": "x", "label": "no"}\n{"functionality": "a_c", "text": "y", "label": "yes"}'
    )
    first = load_suite(written(tmp_path / "cases.jsonl", lines))
    rows = {"functionality": ["a_b", "a_c"], "text": ["x", "y"], "label": ["no", "yes"]}
    pq.write_table(pa.table(rows), tmp_path / "cases.parquet")
    second = load_suite(tmp_path / "cases.parquet")
    assert first.fingerprint == second.fingerprint
    assert first.attribute("class").to_pylist() == second.attribute("class").to_pylist() == ["a", "a"]


def test_the_original_of_a_set_is_the_reference(tiny: Builder) -> None:
    data = tiny(
        ids=["1", "2", "3", "4"], functionality=["f"] * 4, test_grp_id=["a", "a", "b", "b"],
        variant=["orig", "emoji removed", "flipped", "orig"],
    )  # fmt: skip
    assert as_suite(data).attribute("reference").to_pylist() == [None, "1", "4", None]


def test_what_is_no_suite_is_refused(tiny: Builder) -> None:
    with pytest.raises(InputError, match="no functionality"):
        as_suite(tiny(author=["a"] * 4))
    with pytest.raises(TableError, match=r"1 cases .* have no functionality"):
        as_suite(tiny(functionality=["f", None, "f", "f"]))
    with pytest.raises(UnknownNameError, match="functionality"):
        as_suite(tiny(functionality=["f"] * 4), {"funktionality": "functionality"})
    with pytest.raises(TableError, match="not in the suite"):
        as_suite(tiny(functionality=["f"] * 4, reference=["9", None, None, None]))
    with pytest.raises(TableError, match="themselves"):
        as_suite(tiny(functionality=["f"] * 4, reference=["1", None, None, None]))
    with pytest.raises(UnknownNameError, match="hatecheck"):
        load_suite("hatechek")


def test_cases_that_cannot_be_judged_are_all_named(tiny: Builder) -> None:
    kinds = {"functionality": ["f"] * 4, "kind": ["functional", "invariance", "directional", "directional"]}
    with pytest.raises(TableError) as caught:
        as_suite(tiny(**kinds, reference=[None, None, "1", "1"], expect=[None, None, "up yes", "sideways yes"]))
    assert "2: a case of the kind invariance needs a reference" in str(caught.value)
    assert "4: expect is 'sideways yes'" in str(caught.value)
    assert "3:" not in str(caught.value)
    with pytest.raises(UnknownNameError, match="invariance"):
        as_suite(tiny(functionality=["f"] * 4, kind=["invariants"] * 4))


def test_hatecheck_is_a_suite(shared_data: Path) -> None:
    suite = load_suite("hatecheck", data_dir=shared_data)
    assert len(suite) == 3728
    assert len(set(suite.attribute("functionality").to_pylist())) == 29
    assert len(set(suite.attribute("class").to_pylist())) == 11
    assert suite.label_counts == {"non-hateful": 1165, "hateful": 2563}
    same = load_suite(shared_data / "hatecheck" / "test_suite_cases.csv", labels=["non-hateful", "hateful"])
    assert same.fingerprint == suite.fingerprint


def test_a_table_without_the_columns_of_a_suite_says_how_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text or the label or the functionality") as caught:
        load_suite(written(tmp_path / "posts.csv", "tweet,verdict", "x,no", "y,yes"))
    assert "--column" in str(caught.value)


def test_cases_without_a_template_stand_alone(tiny: Builder) -> None:
    suite = as_suite(tiny(ids=["1", "2", "3", "4"], functionality=["f"] * 4, template=["2", None, "2", None]))
    found = template_codes(suite)
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3  # a template called 2 is not the case 2
    assert references(suite).tolist() == [-1] * 4


def test_groups_are_compared_on_templates_that_all_of_them_have(tiny: Builder) -> None:
    suite = as_suite(
        tiny(
            ids=[str(each) for each in range(8)], functionality=["f"] * 8,
            template=["1", "1", "2", "2", "2", "3", "4", "4"],
            target=["cooks", "waiters", "cooks", "cooks", "waiters", "cooks", "waiters", None],
        )
    )  # fmt: skip
    assert balanced(suite).tolist() == [True, True] + [False] * 6


def test_hatecheck_has_421_balanced_cases_per_group(shared_data: Path) -> None:
    suite = load_suite("hatecheck", data_dir=shared_data)
    target = np.array(suite.attribute("target").to_pylist(), dtype=object)[balanced(suite)]
    names, counts = np.unique(target, return_counts=True)
    assert len(names) == 7
    assert set(counts.tolist()) == {421}
