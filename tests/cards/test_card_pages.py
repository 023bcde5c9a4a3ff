"""Pages of platforms as cards: what each heading is, and what counts as saying nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from readme_page import BODY, HEADER, PROSE, TEMPLATE

from unseen.cards import Document, read_document, survey
from unseen.cards.documents import (
    NOT_CONFIRMED,
    content_words,
    kind_of_statement,
    own_words,
    sorted_statements,
    why_missing,
)
from unseen.cards.pages import builtin_pages, headings
from unseen.errors import InputError, UnknownNameError, UnseenError

GOLDEN = {
    "Hugging Face": (3, 4, 4),
    "Papers with Code": (1, 0, 5),
    "TensorFlow Datasets": (7, 0, 5),
    "PyTorch (torchtext)": (3, 0, 1),
}
"""Descriptive, social and administrative items of each platform, as Park and Jeoung (2022) count them."""

LABELLED = [
    ("The texts are in English only.", "limitations", "limitations_contextual"),
    ("There are too few examples: the dataset is too small.", "limitations", "limitations_technical"),
    ("Models trained on it may become more explainable and less biased.", "impact", "impact_positive"),
    ("It encourages work on languages other than English.", "impact", "impact_functional"),
    ("Whoever reads it is exposed to offensive content.", "impact", "impact_negative"),
]
"""What the five cards that the paper quotes state, in our words, and the kind the paper gives each."""


@pytest.fixture
def page(tmp_path: Path) -> Document:
    path = tmp_path / "README.md"
    path.write_text(HEADER + BODY, encoding="utf-8")
    return read_document(path)


def test_the_matrix_of_the_paper() -> None:
    found = survey(builtin_pages())
    assert {each.platform: each.counts for each in found} == GOLDEN
    assert found[0].titles["descriptive"] == ("curation rationale", "source data", "annotations")
    assert found[0].titles["social"][0] == "personal and sensitive information"
    assert [sum(each.answered.values()) for each in found] == [11, 6, 12, 4]


def test_the_matrix_follows_the_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("## Dataset Creation\n### Annotations\n#### Who are the annotators?\nWe.\n### Citation\n\n")
    (found,) = survey([path])
    assert found.counts == (1, 0, 1)
    assert found.answered == {"descriptive": 1, "social": 0, "administrative": 0}


def test_a_card_of_ours_has_a_place_for_all(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text('{"unseen_card": 1, "name": "a", "fields": {}}')
    (found,) = survey([path])
    assert found.counts == (17, 13, 10)
    assert sum(found.answered.values()) == 0


def test_the_header_of_a_readme(page: Document) -> None:
    card = page.card
    assert card["title"].value == "Kitchen talk"
    assert card["language"].value == ["no"]
    assert card["licence"].value == "cc-by-4.0"
    assert card["keywords"].value == ["recipes"]
    assert card["task"].value == "text-classification"
    assert card["splits"].value == {"train": 50, "test": 10}
    assert card["n_items"].value == 60
    assert card["label_names"].value == ["calm", "loud"]
    assert card["columns"].value == ["text", "label"]
    assert (card["title"].status, card["title"].role, card["title"].source) == ("declared", "contributor", "README.md")


def test_headings_become_fields(page: Document) -> None:
    card = page.card
    assert page.platform == "Hugging Face"
    assert card["scope"].value.startswith("Short remarks")
    assert card["homepage"].value == "https://example.org/kitchen"
    assert card["source_data"].value == "Two people wrote the remarks down and removed names."
    assert card["data_demographics"].value == {
        "text": "Cooks between 20 and 60 years of age, most of them trained in one school."
    }
    assert card["personal_sensitive_info"].value == {"text": "First names were replaced."}
    assert card["creators"].value == ["Ada Lovelace, Example University"]
    assert "curator_name" not in card.values()
    assert card["contributor_names"].value == ["Thanks to @somebody for adding this dataset."]
    assert "# Not a heading" in card["citation"].value


def test_what_no_field_takes_is_kept(page: Document) -> None:
    assert page.card.unplaced == {
        "data fields": "- text: the remark",
        "social impact of dataset": "Opinions vary.",
        "licence": "Free for everybody",
    }


def test_what_says_nothing_is_unknown(page: Document) -> None:
    assert page.missing["curation rationale"] == "template"
    assert page.missing["supported tasks and leaderboards"] == "placeholder"
    assert page.missing["who are the annotators"] == "empty"
    assert page.missing["annotation process"] == "repeats initial data collection and normalization"
    for name in ("curation_rationale", "annotation_process", "annotator_demographics", "source_code"):
        assert page.card[name].status == "unknown"


def test_statements_are_sorted_for_a_person_to_confirm(page: Document) -> None:
    card = page.card
    assert card["impact_positive"].value == "It helps to build assistants that are fairer to tired people."
    assert card["impact_functional"].value == "It encourages work on languages other than English."
    assert card["impact_negative"].value == "Readers are exposed to offensive remarks."
    assert card["limitations_technical"].value == "The dataset is small."
    assert card["limitations_contextual"].value == (
        "Only canteens of one town are represented.\n\nIt covers one language only."
    )
    assert card["impact_negative"].method == NOT_CONFIRMED
    assert card["impact_negative"].status == "declared"


@pytest.mark.parametrize(("sentence", "family", "kind"), LABELLED)
def test_the_five_statements_of_the_paper(sentence: str, family: str, kind: str) -> None:
    assert kind_of_statement(sentence, family) == kind


def test_what_has_no_cue_or_two_is_left_to_a_person() -> None:
    assert kind_of_statement("It is blue.", "impact") is None
    assert kind_of_statement("It reduces harm.", "impact") is None
    assert sorted_statements("It is blue. It harms.", "impact") == {
        None: ["It is blue."],
        "impact_negative": ["It harms."],
    }
    with pytest.raises(UnknownNameError, match="impact"):
        kind_of_statement("x", "impacts")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (None, "absent"),
        ("", "empty"),
        ("  \n\n", "empty"),
        ("<!-- a note", "empty"),
        ("[More Information Needed]", "placeholder"),
        ("[Needs More Information]\n", "placeholder"),
        ("N/A", "placeholder"),
        ("TODO", "placeholder"),
        (PROSE, "template"),
        (f"**{PROSE.upper()}**\n[More Information Needed]", "template"),
        ("Nothing is known.", None),
        ("MIT", None),
        (f"{PROSE} It is MIT.", None),
    ],
)  # fmt: skip
def test_when_a_section_says_nothing(body: str | None, why: str | None) -> None:
    assert why_missing(body) == why


def test_template_sentences_are_taken_out() -> None:
    assert own_words(f"{PROSE} It is MIT.") == "It is MIT."
    assert [each for each in TEMPLATE if own_words(each)] == []
    assert own_words("One line.\n\nAnother line.") == "One line.\n\nAnother line."


def test_content_words_are_counted_once() -> None:
    assert content_words("The cat and the cat and a dog") == 2


def test_headings_form_a_tree() -> None:
    text = "# A\nx\n## B #\n```\n# code\n```\ny\n### C\n## D\n~~~\n## not\n"
    found = [(each.level, each.title, each.body, each.above) for each in headings(text)]
    assert found == [
        (1, "A", "x", ()),
        (2, "B", "```\n# code\n```\ny", ("A",)),
        (3, "C", "", ("A", "B")),
        (2, "D", "~~~\n## not", ("A",)),
    ]


def test_a_page_of_tensorflow_datasets(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.md"
    path.write_text(
        "# `kitchen`\n\n*   **Description**:\n\nRemarks of cooks.\n\n*   **Homepage**:\n    [https://a.org](https://a.org)\n\n"
        "*   **Versions**:\n\n    *   **`1.0.0`**: Old.\n    *   **`2.0.0`** (default): New.\n\n"
        "*   **Auto-cached**\n    ([documentation](https://a.org/cache)):\n    Yes\n\n"
        "*   **Splits**:\n\nSplit | Examples\n:--- | ---:\n`'test'` | 1,600\n`'train[:50%]'` | 20\n\n"
        "*   **Citation**:\n\n"
    )
    found = read_document(path)
    assert found.platform == "TensorFlow Datasets"
    assert found.card.values() == {
        "title": "kitchen", "scope": "Remarks of cooks.", "homepage": "https://a.org", "version": "2.0.0",
        "splits": {"test": 1600, "train[:50%]": 20}, "n_items": 1620,
    }  # fmt: skip
    assert [item.title for item in found.items][3] == "auto-cached"
    assert found.missing == {"citation": "empty"}


@pytest.mark.parametrize("classes", ["Number of classes: 4", "Number of classes\n        4"])
def test_a_docstring_of_torchtext(tmp_path: Path, classes: str) -> None:
    path = tmp_path / "kitchen.txt"
    path.write_text(
        '"""Kitchen dataset\n\n    Number of lines per split:\n        - train: 120,000\n        - test: 7600\n\n'
        f"    {classes}\n\n"
        '    Args:\n        root: where\n        split: which\n    """\n'
    )
    found = read_document(path)
    assert found.platform == "PyTorch (torchtext)"
    assert found.card["splits"].value == {"train": 120_000, "test": 7600}
    assert found.card["n_classes"].value == 4
    assert found.card["title"].value == "Kitchen dataset"
    assert [item.title for item in found.items] == ["lines per split", "number of classes", "parameters"]


def test_a_record_of_papers_with_code(tmp_path: Path) -> None:
    record = {
        "name": "K", "full_name": "Kitchen", "description": "Remarks.", "homepage": "", "languages": ["en", "fr"],
        "paper": {"title": "On cooks", "url": "https://a.org/p"}, "license": None, "num_papers": 3,
    }  # fmt: skip
    path = tmp_path / "k.json"
    path.write_text(json.dumps(record))
    found = read_document(path)
    assert found.platform == "Papers with Code"
    assert found.card["title"].value == "Kitchen"
    assert found.card["citation"].value == "On cooks, https://a.org/p"
    assert found.card["language"].value == ["en", "fr"]
    assert found.missing == {"license": "empty"}


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("---\na: &x [1]\nb: *x\n---\n", "uses aliases"),
        (f"---\na: {'[' * 40}{']' * 40}\n---\n", "nested too deeply"),
        ("---\na: [\n---\n", "cannot be read"),
        ("---\n- a\n---\n", "not a list of names and values"),
        ("---\na: 1\n", "does not end"),
    ],
)
def test_hostile_headers_are_refused(tmp_path: Path, header: str, said: str) -> None:
    path = tmp_path / "README.md"
    path.write_text(header + BODY)
    with pytest.raises(UnseenError, match=said):
        read_document(path)


def test_tags_of_yaml_make_no_objects(tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    path.write_text("unseen_card: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_document(path)


def test_what_is_no_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Shopping\n- **Eggs**: six\n")
    with pytest.raises(InputError, match="no card that is known"):
        read_document(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_document(path)
    with pytest.raises(InputError, match="cannot read"):
        read_document(tmp_path / "nowhere.md")
