"""Suite files: cases, ids, pairs, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from unseen.errors import InputError
from unseen.functional.suite import as_suite
from unseen.functional.suite_file import build_suite, read_suite_file
from unseen.types import Dataset

HEAD = """
name = "kitchen"
labels = ["fine", "rude"]
[lists]
DISH = ["soup", "stew", "bread"]
[groups]
cooks = {PLURAL = "cooks", SINGULAR = "cook"}
waiters = {PLURAL = "waiters", SINGULAR = "waiter"}
"""
PRAISE = """
[[tests]]
functionality = "praise"
label = "fine"
templates = ["Well done!"]
"""
DIRECT = """
[[tests]]
functionality = "insult_direct"
label = "rude"
direction = "general"
templates = ["I cannot stand [PLURAL].", "Every [SINGULAR] ruins the [DISH]."]
"""
NEGATED = """
[[tests]]
functionality = "insult_negated"
label = "fine"
contrast = "insult_direct"
templates = ["Who could not stand [PLURAL]?", "No [SINGULAR] ruins the [DISH]."]
"""
LEET = """
[[tests]]
functionality = "spell_leet"
alter = "leet"
of = "insult_direct"
focus = ["stand", "ruins"]
"""
SHOUT = """
[[tests]]
functionality = "shout"
alter = "upper"
of = "insult_negated"
kind = "invariance"
"""
ADDED = """
[[tests]]
functionality = "insult_added"
append = "I cannot stand it."
of = "insult_negated"
kind = "directional"
expect = "up rude"
label = "rude"
"""
WHOLE = HEAD + DIRECT + NEGATED + LEET + SHOUT + ADDED


@pytest.fixture
def made(tmp_path: Path) -> Any:
    """`made(text)` is the suite of a file with this content."""

    def make(text: str, seed: int = 42, ending: str = ".toml") -> Dataset:
        path = tmp_path / f"suite{ending}"
        path.write_text(text, encoding="utf-8")
        return build_suite(read_suite_file(path), seed)

    return make


def rows(suite: Dataset, functionality: str) -> list[dict[str, Any]]:
    return [row for row in suite.table.to_pylist() if row["functionality"] == functionality]


def problems_of(made: Any, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        made(text)
    return list(caught.value.problems)


def test_templates_give_a_case_per_group_and_value(made: Any) -> None:
    suite = made(HEAD + DIRECT + PRAISE)
    assert suite.name == "kitchen"
    assert suite.label_names == ("fine", "rude")
    assert suite.texts.to_pylist()[:3] == [
        "I cannot stand cooks.",
        "I cannot stand waiters.",
        "Every cook ruins the soup.",
    ]
    assert len(suite) == 2 + 2 * 3 + 1
    first = suite.table.to_pylist()[0]
    assert (first["target"], first["direction"], first["label"]) == ("cooks", "general", "rude")
    assert first["pattern"] == "I cannot stand [PLURAL]."
    assert len(set(suite.attribute("template").to_pylist())) == 3
    assert not {"reference", "kind", "expect", "class"} & set(suite.attributes)


def test_ids_depend_on_the_case_alone(made: Any) -> None:
    before = dict(zip(*(made(WHOLE).table[name].to_pylist() for name in ("text", "id")), strict=True))
    text = WHOLE.replace('"soup", ', '"tea", "soup", ').replace(
        'templates = ["I cannot', 'templates = ["Go away, [PLURAL]!", "I cannot'
    )
    text = text.replace('templates = ["Who', 'templates = ["Stay, [PLURAL]!", "Who')
    after = dict(zip(*(made(text).table[name].to_pylist() for name in ("text", "id")), strict=True))
    assert len(after) > len(before)
    assert {text: after[text] for text in before} == before
    assert all(name.startswith(("insult_", "spell_leet-", "shout-")) for name in before.values())


def test_the_same_file_gives_the_same_suite(made: Any) -> None:
    assert made(WHOLE).table.equals(made(WHOLE).table)
    drawn = HEAD + PRAISE + DIRECT.replace("direction", "at_most = 4\ndirection")
    assert made(drawn).table.equals(made(drawn).table)
    assert len({tuple(made(drawn, seed).texts.to_pylist()) for seed in range(6)}) > 1


def test_contrasts_refer_to_the_case_with_the_same_group_and_values(made: Any) -> None:
    suite = made(WHOLE)
    texts = dict(zip(suite.ids.to_pylist(), suite.texts.to_pylist(), strict=True))
    pairs = {row["text"]: texts[row["reference"]] for row in rows(suite, "insult_negated")}
    assert len(pairs) == 8
    assert pairs["Who could not stand waiters?"] == "I cannot stand waiters."
    assert pairs["No cook ruins the bread."] == "Every cook ruins the bread."


def test_contrasts_follow_what_was_drawn(made: Any) -> None:
    suite = made(HEAD + DIRECT.replace("direction", "at_most = 4\ndirection") + NEGATED)
    assert len(rows(suite, "insult_direct")) == len(rows(suite, "insult_negated")) == 6


def test_a_contrast_follows_a_sample_of_large_lists(made: Any) -> None:
    """A million combinations, of which six are drawn; the further list of the contrast has all its values."""
    lists = "".join(f"{name} = {[f'{name.lower()}{n}' for n in range(100)]}\n" for name in ("ONE", "TWO", "THREE"))
    direct = DIRECT.replace("direction", "at_most = 4\ndirection").replace("[DISH]", "[ONE] of [TWO] in [THREE]")
    negated = NEGATED.replace("the [DISH]", "[THREE]: [TWO], [ONE], [DISH]")
    suite = made(HEAD.replace("[lists]\n", f"[lists]\n{lists}") + direct + negated)
    text = dict(zip(suite.ids.to_pylist(), suite.texts.to_pylist(), strict=True))
    drawn = [row["text"] for row in rows(suite, "insult_direct") if "ruins" in row["text"]]
    found = [(row["text"], text[row["reference"]]) for row in rows(suite, "insult_negated") if "ruins" in row["text"]]
    expected = set()
    for said in drawn:
        who, one, two, three = re.match(r"Every (\w+) ruins the (\w+) of (\w+) in (\w+)\.", said).groups()  # type: ignore[union-attr]
        for dish in ("soup", "stew", "bread"):
            expected.add((f"No {who} ruins {three}: {two}, {one}, {dish}.", said))
    assert len(drawn) == 4
    assert len(found) == 12
    assert set(found) == expected


def test_a_contrast_of_what_cannot_be_built_is_no_second_mistake(made: Any) -> None:
    lists = "".join(f"{name} = {[f'{name.lower()}{n}' for n in range(100)]}\n" for name in ("ONE", "TWO", "THREE"))
    text = HEAD.replace("[lists]\n", f"[lists]\n{lists}") + DIRECT.replace("[DISH]", "[ONE] [TWO] [THREE] [DISH]")
    text += NEGATED.replace("[DISH]", "[ONE] [TWO] [THREE] [DISH]") + LEET + PRAISE
    (problem,) = problems_of(made, text)
    assert "insult_direct: 'Every [SINGULAR] ruins the [ONE] [TWO] [THREE] [DISH].' gives 6,000,000 cases" in problem


def test_a_contrast_whose_further_lists_give_too_much_is_refused(made: Any) -> None:
    lists = "".join(f"{name} = {[f'{name.lower()}{n}' for n in range(100)]}\n" for name in ("ONE", "TWO", "THREE"))
    text = HEAD.replace("[lists]\n", f"[lists]\n{lists}") + DIRECT
    text += NEGATED.replace("[DISH]", "[ONE] [TWO] [THREE] [DISH]")
    (problem,) = problems_of(made, text)
    assert problem.startswith("insult_negated: ")
    assert problem.endswith("gives 6,000,000 cases")


def test_a_contrast_may_have_more_placeholders(made: Any) -> None:
    suite = made(HEAD + DIRECT + NEGATED.replace("Who could not stand [PLURAL]?", "[PLURAL^] with [DISH]: who minds?"))
    references = [row["reference"] for row in rows(suite, "insult_negated") if "minds" in row["text"]]
    assert len(references) == 6
    assert len(set(references)) == 2


def test_altered_cases_keep_label_template_and_target(made: Any) -> None:
    suite = made(WHOLE)
    by_id = {row["id"]: row for row in suite.table.to_pylist()}
    for row in rows(suite, "spell_leet"):
        original = by_id[row["reference"]]
        assert original["functionality"] == "insult_direct"
        assert [row[key] for key in ("label", "template", "target")] == [
            original[key] for key in ("label", "template", "target")
        ]
        assert row["text"] != original["text"]
        assert row["kind"] == "functional"
    assert {row["text"] for row in rows(suite, "shout")} == {
        row["text"].upper() for row in rows(suite, "insult_negated")
    }
    assert {row["kind"] for row in rows(suite, "shout")} == {"invariance"}


def test_added_sentences_may_have_another_label_and_an_expectation(made: Any) -> None:
    first = rows(made(WHOLE), "insult_added")[0]
    assert first["text"] == "Who could not stand cooks? I cannot stand it."
    assert (first["kind"], first["expect"], first["label"]) == ("directional", "up rude", "rude")


def test_rewritten_templates_copy_the_label(made: Any) -> None:
    suite = made(
        HEAD + PRAISE + DIRECT + NEGATED.replace("contrast", "of").replace('label = "fine"', 'kind = "invariance"')
    )
    assert {row["label"] for row in rows(suite, "insult_negated")} == {"rude"}


def test_what_a_perturbation_does_not_apply_to_has_no_version(made: Any) -> None:
    suite = made(HEAD + PRAISE + DIRECT + LEET.replace('["stand", "ruins"]', '["stand"]'))
    assert len(rows(suite, "spell_leet")) == 2
    none = HEAD + PRAISE + DIRECT + LEET.replace('["stand", "ruins"]', '["spoon"]')
    assert problems_of(made, none) == ["spell_leet: it has no cases"]


def test_classes_are_given_or_come_from_names(made: Any) -> None:
    assert set(made(WHOLE).attribute("class").to_pylist()) == {"insult", "spell", "shout"}
    suite = made(WHOLE.replace('label = "rude"\ndirection', 'class = "attack"\nlabel = "rude"\ndirection'))
    assert {row["class"] for row in rows(suite, "insult_direct")} == {"attack"}
    assert {row["class"] for row in rows(suite, "insult_negated")} == {"insult"}


def test_a_suite_that_is_built_is_a_suite(made: Any) -> None:
    suite = made(WHOLE)
    assert as_suite(suite).table.select(suite.table.column_names).equals(suite.table)


def test_all_mistakes_are_told_at_once(made: Any) -> None:
    text = (
        HEAD.replace("[lists]", "autor = 'me'\n[lists]\nUNUSED = ['x']\nEMPTY = []\nlower = ['x', 'x']").replace(
            ', SINGULAR = "waiter"', ""
        )
        + DIRECT.replace("[PLURAL]", "[PLURL]").replace('"rude"', '"rudde"')
        + NEGATED.replace('"insult_direct"', '"insult_dirct"').replace("templates", "templats")
        + LEET.replace('"leet"', '"leat"')
        + SHOUT.replace('"invariance"', '"invariant"')
        + ADDED.replace("up rude", "upp rude")
        + DIRECT.replace('label = "rude"', "at_most = 1\nfocus = ['a']")
    )
    found = "\n".join(problems_of(made, text))
    for said in (
        "the file: 'autor' is not known here",
        "lists: EMPTY must be a list of texts with at least one in it",
        "lists: lower: 'x' must not stand there twice",
        "the placeholder 'lower' must be in capitals",
        "lists: no template has [UNUSED]",
        "groups: waiters has no SINGULAR",
        "test 1 (insult_direct): label: 'rudde' is not one of fine, rude; did you mean 'rude'?",
        "test 1 (insult_direct): 'I cannot stand [PLURL].': no list and no group has [PLURL]; did you mean 'PLURAL'?",
        "test 2 (insult_negated): 'templats' is not known here; did you mean 'templates'?",
        "test 2 (insult_negated): contrast: no test above has the functionality 'insult_dirct'; did you mean",
        "test 2 (insult_negated): one of templates, alter and append makes the cases; here none is given",
        "test 3 (spell_leet): no perturbation is called 'leat'; did you mean 'leet'?",
        "test 4 (shout): kind must be one of functional, invariance, directional, not 'invariant'; did you mean",
        "test 5 (insult_added): expect is 'upp rude'",
        "test 6 (insult_direct): another test has this functionality",
        "test 6 (insult_direct): label is missing",
        "test 6 (insult_direct): focus has no effect without alter",
        "test 6 (insult_direct): at_most = 1 is less than a case for each of 2 groups",
    ):
        assert said in found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"Who could not stand [PLURAL]?", ',
            "",
            "templates pair one to one, but there are 1 here and 2 in insult_direct",
        ),
        ("Who could not stand [PLURAL]?", "Who minds?", "it lacks [PLURAL or SINGULAR]"),
        ("No [SINGULAR] ruins the [DISH].", "No [SINGULAR] does.", "it lacks [DISH]"),
        ('label = "fine"', 'label = "rude"', "insult_direct has the same label; a contrast has another one"),
        ('label = "fine"', 'label = "fine"\nat_most = 9', "at_most has no effect here"),
        ('label = "fine"', 'label = "fine"\nalter = "leet"', "here templates and alter is given"),
        ('label = "fine"', 'label = "fine"\nkind = "invariance"', "the kind invariance needs of ="),
        ('label = "fine"', 'label = "fine"\nexpect = "up rude"', "go together"),
        ('label = "fine"', 'label = "fine"\nof = "insult_direct"', "contrast goes with templates, and without of"),
        ('label = "fine"', 'label = "fine"\nat_most = "many"', "at_most must be a whole number from 1 on, not 'many'"),
        ('label = "fine"', "label = 1", "label must be a text, not 1; put it in quotes"),
    ],
)
def test_pairs_that_cannot_be_are_refused(made: Any, old: str, new: str, said: str) -> None:
    assert old in NEGATED
    (only, *_) = [each for each in problems_of(made, HEAD + DIRECT + NEGATED.replace(old, new)) if said in each]
    assert only.startswith("test 2 (insult_negated): ")


def test_two_cases_with_one_text_are_refused(made: Any) -> None:
    text = HEAD + DIRECT + NEGATED.replace("Who could not stand [PLURAL]?", "I cannot stand [PLURAL].")
    assert problems_of(made, text) == [
        f"insult_negated and insult_direct both have 'I cannot stand {each}.'" for each in ("cooks", "waiters")
    ]


def test_every_label_needs_a_case(made: Any) -> None:
    assert problems_of(made, HEAD + DIRECT) == ["no case has the label 'fine'"]


def test_yaml_says_the_same_as_toml(made: Any) -> None:
    import tomllib

    yaml = pytest.importorskip("yaml")
    assert made(yaml.safe_dump(tomllib.loads(WHOLE)), ending=".yaml").table.equals(made(WHOLE).table)
    with pytest.raises(InputError, match="YAML that cannot be read"):
        made("a: [", ending=".yml")
    assert any("put it in quotes" in each for each in _yaml_problems(made))


def test_yaml_that_grows_is_refused_before_it_does(made: Any) -> None:
    pytest.importorskip("yaml")
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    with pytest.raises(InputError, match="uses aliases"):
        made("\n".join(lines), ending=".yaml")


def _yaml_problems(made: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        made("labels: [no, yes]\ntests:\n- {functionality: a, label: x, templates: [b]}\n", ending=".yaml")
    return list(caught.value.problems)


@pytest.mark.parametrize(("text", "said"), [("a = ", "is not TOML"), ("", "cannot be built")])
def test_files_that_are_no_suites(made: Any, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made(text)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_suite_file(tmp_path / "none.toml")
