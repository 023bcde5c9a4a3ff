"""Published suites as they are published: recognised by their columns, with small hand-made cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unseen.errors import InputError, TableError, UnknownNameError, UnseenWarning
from unseen.functional import check, load_suite, outcomes
from unseen.functional.catalogue import published, recognised
from unseen.functional.counts import count
from unseen.functional.pass_rates import _kinds, kind_of_failure
from unseen.functional.suite import MAIN, ROLES, partners
from unseen.types import Dataset, Predictions

MULTILINGUAL = """mhc_case_id,functionality,test_case,label_gold,target_ident,ref_case_id,ref_templ_id,templ_id,\
case_templ,gender_male,gender_female,label_annotated,label_annotated_maj,disagreement_in_case,disagreement_in_template
german-1,derog_h,Köche nerven.,hateful,cooks,,,1,[X] nerven.,,,"['hateful', 'x']",hateful,False,False
german-2,derog_h,Kellner nerven.,hateful,waiters,,,1,[X] nerven.,,,"['hateful', 'hateful']",hateful,False,False
german-3,negate_nh,Köche nerven nicht.,non-hateful,cooks,1.0,1.0,2,,,,"['hateful', 'x']",hateful,True,True
german-4,negate_nh,Kellner nerven nicht.,non-hateful,waiters,2.0,1.0,2,,,,"['x', 'x']",non-hateful,False,True
"""
CHECK = """case_id,templ_id,GROUP,text,target,functionality,set,label_gold,unrealistic_flags,included_in_test_suite
0,1.0,1,I 🔪 cooks,cooks,verb_swap,orig,1,0,1
1,1.0,1,I 🔫 cooks,cooks,verb_swap,orig,1,0,1
2,1.1,1,I 🔪 soup,None,verb_swap,identity_perturb,0,0,1
3,1.2,1,I ❤️ cooks,cooks,verb_swap,polarity_perturb,0,0,1
4,1.3,1,I stab cooks,cooks,verb_swap,no_emoji_perturb,1,2,1
5,1.3,1,I stab stew,None,verb_swap,no_emoji_perturb,1,3,0
"""
BUILD = """entry_id,text,type,target,round.base,round.set,set,split,label_gold,matched_text,matched_id
0,🔪 the cook,derogation,"['cooks', 'men']",5,5a,original,test,1,🥕 the cook,1
1,🥕 the cook,none,['none'],5,5b,perturbation,test,0,🔪 the cook,0
8,soup 🤢,none,['none'],5,5b,perturbation,test,0,cooks 🤢,9
"""
CHECKLIST = """test_name,capability,test_type,group_id,text,label
bad food,Vocabulary,MFT,0,the soup is bad,negative
good food,Vocabulary,MFT,0,the soup is good,positive
typos,Robustness,INV,0,a fine stew,
typos,Robustness,INV,0,a fien stew,
typos,Robustness,INV,1,an awful stew,
typos,Robustness,INV,1,an awflu stew,
"""


def loaded(folder: Path, content: str, **given: object) -> Dataset:
    path = folder / "cases.csv"
    path.write_text(content, encoding="utf-8")
    return load_suite(path, **given)  # type: ignore[arg-type]


def said(suite: Dataset, answers: list[str]) -> Predictions:
    codes = [suite.label_names.index(each) for each in answers]
    return Predictions(suite.ids, np.eye(len(suite.label_names))[codes], suite.label_names)


def test_labels_that_are_numbers_are_called_by_their_names_in_sentences(tmp_path: Path) -> None:
    suite = loaded(tmp_path, CHECK.replace("GROUP", "test_group_id"))
    assert suite.label_names == ("0", "1")
    passed, codes = np.array([0.0, 0, 1, 0, 0]), np.array([0, 0, 0, 1, 0])
    sentences = [sentence for _, sentence, _ in _kinds(suite, passed, codes, passed == 0)]
    assert "It errs mostly on hateful cases: it misses 100 % of them and 50 % of the others." in sentences
    always = kind_of_failure(suite, np.array([0.0, 0, 1, 1, 0]), np.zeros(5, int)).sentence
    assert always.startswith("It says non-hateful for 100 % of all cases: it misses 100 % of the hateful ones")


def test_a_suite_that_is_not_fetched_is_told_with_its_address() -> None:
    with pytest.raises(InputError, match="Multilingual HateCheck is not fetched") as caught:
        load_suite("multilingual-hatecheck")
    assert "https://github.com/rewire-online/multilingual-hatecheck" in caught.value.fix
    with pytest.raises(UnknownNameError) as caught:
        load_suite("hatechek")
    assert "hatemojicheck, multilingual-hatecheck are recognised by their columns" in caught.value.fix


def test_definitions_are_whole() -> None:
    assert {"hatecheck", "multilingual-hatecheck", "hatemojicheck", "hatemojibuild", "checklist"} <= set(published())
    for each in published().values():
        assert all((each.title, each.homepage, each.licence, each.citation, each.means))
        assert set(each.roles) | set(each.values) <= {*MAIN, *ROLES}
        assert recognised(each.recognised_by) is each
    assert recognised(["functionality", "text", "label"]) is None


@pytest.mark.parametrize("written", ["1.0", "1", "german-1"])
def test_a_case_of_a_language_is_referred_to_by_its_number(tmp_path: Path, written: str) -> None:
    suite = loaded(tmp_path, MULTILINGUAL.replace("cooks,1.0,", f"cooks,{written},"))
    assert suite.attribute("reference").to_pylist() == [None, None, "german-1", "german-2"]
    assert suite.label_counts == {"hateful": 2, "non-hateful": 2}
    assert suite.attribute("label_annotated_maj").to_pylist()[2] == "hateful"
    assert suite.attribute("target").to_pylist() == ["cooks", "waiters"] * 2
    assert suite.origin.params["published"] == "multilingual-hatecheck"
    with pytest.raises(TableError, match="not in the suite"):
        loaded(tmp_path, MULTILINGUAL.replace("cooks,1.0,", "cooks,7.0,"))


def test_references_that_a_data_frame_made_numbers_are_understood(tmp_path: Path) -> None:
    columns = {"case_id": [1, 2], "ref_case_id": [None, 1.0], "functionality": ["a_h", "a_nh"], "templ_id": [1, 2]}
    table = pa.table({**columns, "test_case": ["x", "y"], "label_gold": ["rude", "fine"]})
    pq.write_table(table, tmp_path / "cases.parquet")
    assert load_suite(tmp_path / "cases.parquet").attribute("reference").to_pylist() == [None, "1"]


@pytest.mark.parametrize("group", ["test_group_id", "test_grp_id"])
def test_perturbations_are_compared_with_every_original_of_their_set(tmp_path: Path, group: str) -> None:
    suite = loaded(tmp_path, CHECK.replace("GROUP", group))
    assert suite.ids.to_pylist() == ["0", "1", "2", "3", "4"]  # the last row is not part of the suite
    assert suite.attribute("target").to_pylist() == ["cooks", "cooks", None, "cooks", "cooks"]
    assert list(zip(*(each.tolist() for each in partners(suite)), strict=True)) == [
        (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1)
    ]  # fmt: skip
    rows = check(suite, said(suite, ["1", "0", "0", "1", "1"]))
    pairs = {row.tags["pairs"]: row for row in rows if (row.metric, row.slice) == ("pair_accuracy", "all")}
    assert (pairs["contrast"].value, pairs["contrast"].n) == (0.25, 2)  # right with one of two, and with none
    assert (pairs["alteration"].value, pairs["alteration"].n) == (0.5, 1)
    assert (count(suite).references, count(suite).contrasts) == (3, 2)


def test_another_column_may_say_what_a_case_of_a_set_is(tmp_path: Path) -> None:
    table = CHECK.replace("GROUP,text", "set,text").replace("functionality,set", "functionality,type")
    assert len(partners(loaded(tmp_path, table))[0]) == 6


def test_pairs_of_originals_and_perturbations_count_once(tmp_path: Path) -> None:
    with pytest.warns(UnseenWarning, match="1 cases of cases belong to a case that is not in this file"):
        suite = loaded(tmp_path, BUILD)
    assert suite.attribute("reference").to_pylist() == [None, "0", None]
    assert suite.attribute("functionality").to_pylist() == ["derogation", "none", "none"]
    assert suite.attribute("target").to_pylist() == ["cooks, men", None, None]


def test_checklist_groups_begin_with_their_original(tmp_path: Path) -> None:
    with pytest.warns(UnseenWarning, match="4 cases of cases have no label"):
        suite = loaded(tmp_path, CHECKLIST)
    assert suite.attribute("class").to_pylist()[:3] == ["Vocabulary", "Vocabulary", "Robustness"]
    answers = ["negative", "negative", "positive", "negative", "negative", "negative"]
    found = outcomes(suite, said(suite, answers))
    np.testing.assert_array_equal(found, [1, 0, np.nan, 0, np.nan, 1])
    with pytest.raises(TableError, match="5 rows have no label"):
        loaded(tmp_path, CHECKLIST + "bad food,Vocabulary,MFT,1,the stew is bad,\n")


def test_cases_without_labels_are_read_where_labels_are_declared(tmp_path: Path) -> None:
    header, bad, _, *unlabelled = CHECKLIST.splitlines(keepends=True)
    for lines in ([header, bad, *unlabelled], [header, *unlabelled]):
        with pytest.raises(TableError, match=r"labels=\['…', '…'\]"):
            loaded(tmp_path, "".join(lines))
        with pytest.warns(UnseenWarning, match="4 cases of cases have no label"):
            suite = loaded(tmp_path, "".join(lines), labels=["negative", "positive"])
        assert suite.label_names == ("negative", "positive")
        found = outcomes(suite, said(suite, ["negative"] * (len(suite) - 4) + ["positive", "negative"] * 2))
        np.testing.assert_array_equal(found[-4:], [np.nan, 0, np.nan, 0])
    with pytest.raises(TableError):
        loaded(tmp_path, "".join([header, bad, *unlabelled]), labels=["good", "positive"])


def test_directional_cases_need_an_expectation(tmp_path: Path) -> None:
    table = CHECKLIST.replace("typos,Robustness,INV,1,an", "turns,Robustness,DIR,1,an").replace(
        "stew,", "stew,positive"
    )
    with pytest.warns(UnseenWarning, match="2 directional cases"):
        assert len(loaded(tmp_path, table)) == 4


def test_columns_can_be_ignored_or_said_to_be_something_else(tmp_path: Path) -> None:
    suite = loaded(tmp_path, MULTILINGUAL, ignore=["ref_case_id", "label_annotated"], columns={"class": "gender_male"})
    assert "label_annotated" not in suite.attributes
    assert "reference" not in suite.attributes
    assert suite.attribute("class").to_pylist() == [None] * 4
    with pytest.raises(UnknownNameError, match="label_annotated"):
        loaded(tmp_path, MULTILINGUAL, ignore=["label_anotated"])


def test_columns_that_nobody_knows_stop_nothing(tmp_path: Path) -> None:
    rows = {"functionality": ["a", "b"], "case": ["x", "y"], "label": ["rude", "fine"], "text": ["other", "words"]}
    table = pa.table({**rows, "score": [0.5, 1.0], "nested": [[{"a": 1}], []]})
    pq.write_table(table.drop_columns("nested"), tmp_path / "flat.parquet")
    pq.write_table(table, tmp_path / "nested.parquet")
    flat = load_suite(tmp_path / "flat.parquet", columns={"text": "case"})
    assert (flat.texts.to_pylist(), flat.attribute("score").to_pylist()) == (["x", "y"], [0.5, 1.0])
    assert (
        load_suite(tmp_path / "nested.parquet", columns={"text": "case"}, attributes=["score"]).attributes[-1]
        == "score"
    )
