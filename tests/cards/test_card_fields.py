"""The fields of a card, what may stand in them, and cards as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unseen.cards import Card, Entry, coverage, fields, read_document, slices_of, undocumented, write_card
from unseen.cards.card import GROUPS, KINDS, ROLES, card_model, value_problems
from unseen.errors import InputError, TableError, UnseenError
from unseen.store.settings_file import settings_schema


def told(value: Any, role: str = "curator", **more: Any) -> Entry:
    return Entry(value, "declared", role, **more)


def test_the_table_of_fields_is_whole() -> None:
    table = fields()
    assert {each.group for each in table.values()} == set(GROUPS)
    assert all(each.kind in KINDS and set(each.who) <= set(ROLES) and each.write for each in table.values())
    social = {each.id for each in table.values() if each.group == "social" and each.required is True}
    assert social == {
        "critiques", "personal_sensitive_info", "data_demographics", "annotator_demographics", "limitations_technical",
        "limitations_contextual", "impact_positive", "impact_functional", "impact_negative", "exclusion_risk",
        "overgeneralisation_risk", "broader_impact", "privacy_gdpr",
    }  # fmt: skip
    assert table["label_bias_evidence"].required == "annotators"


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("text", "a", ["", " ", None, 3]),
        ("names", ["a"], ["a", [], [""], [1]]),
        ("languages", ["en", "pt-BR", "no"], [["English"], ["xx-nowhere"], "en"]),
        ("domain", {"kind": "news", "text": "papers"}, [{"kind": "paper"}, "news", {}, {"kind": "news", "x": 1}]),
        ("number", 3, [-1, 2.5, True, "3"]),
        ("counts", {"a": 1}, [{"a": -1}, {"a": "1"}, [1]]),
        ("numbers", {"a": 1.5}, [{"a": float("nan")}, {"a": "x"}]),
        ("checksum", "sha256:" + "a" * 64, ["a" * 64, "sha256:xyz", "sha256:" + "a" * 63]),
        ("works", [], [None, "a paper", [{"citation": "a", "stance": "likes"}], [{"stance": "uses", "page": 3}]]),
        ("works", [{"citation": "a", "stance": "criticises", "finding": "b"}], []),
        ("groups", [{"group": "the old", "reason": "few online"}], [[{"reason": "x"}], [{"group": " "}], ["the old"]]),
        ("personal", {"text": "none"}, [{}, {"names": 3}, {"assessed_after_collection": "yes"}]),
        ("population", {"attributes": {"age": {"old": 0.4, "young": 0.6}}, "basis": "self_report"},
         [{"attributes": {"age": {"old": 0.9, "young": 0.6}}}, {"attributes": {"age": {"old": 40}}},
          {"attributes": {"age": "old"}}, {"attributes": 3}, {"n_annotators": 3}, {"basis": "inferred"}]),
        ("annotators", {"n_annotators": 3, "pay": "ten an hour"}, [{"n_annotators": "three"}, {"wage": 3}]),
        ("privacy", {"lawful_basis": "consent"}, [{"basis": "consent"}, "consent"]),
        ("object", {"x": 1}, [[1], "x"]),
    ],
)  # fmt: skip
def test_values_are_checked_by_kind(kind: str, right: Any, wrong: list[Any]) -> None:
    assert value_problems(kind, right) == []
    for value in wrong:
        assert value_problems(kind, value), value


def test_what_people_are_is_never_inferred() -> None:
    (problem,) = value_problems("population", {"basis": "inferred"})
    assert "never inferred" in problem


def test_every_problem_of_a_card_is_told_at_once() -> None:
    with pytest.raises(TableError) as refused:
        Card("a", {
            "titel": told("x"),
            "title": Entry("x", "guessed", "boss", date="2024-02-30"),
            "scope": Entry("x", "unknown"),
            "task": Entry(None, "declared", "creator"),
            "citation": Entry(None, "not_applicable"),
            "homepage": Entry("x", "declared"),
            "licence": told("mit", by=3),
        })  # fmt: skip
    said = "\n".join(refused.value.problems)
    for part in (
        "'titel' is not known here; did you mean 'title'?", "title: status", "title: role", "title: date",
        "scope: the status unknown",
        "task: the status declared needs a value", "citation: not_applicable needs its reason", "homepage: role: who",
        "licence: by",
    ):  # fmt: skip
        assert part in said
    assert len(refused.value.problems) == 9


def test_a_field_that_nobody_answered_is_unknown() -> None:
    card = Card("a", {"title": told("x", "creator")})
    assert list(card.entries) == list(fields())
    assert card["scope"] == Entry()
    assert card.values() == {"title": "x"}


FULL = Card(
    "full",
    {
        "title": told("Été", "creator", by="A. B.", date="2024-05-01", source="a page", evidence=("e",)),
        "language": told(["no"], "creator"),
        "known_uses": told([]),
        "n_items": Entry(3, "measured", "tool"),
        "personal_sensitive_info": told({"categories": [], "assessed_after_collection": True}),
        "privacy_gdpr": Entry(None, "not_applicable", "curator", method="the texts are made up"),
    },
    {"a heading": "some words: yes"},
)


@pytest.mark.parametrize("name", ["card.json", "card.yaml", "card.yml"])
def test_a_card_comes_back_from_a_file(tmp_path: Path, name: str) -> None:
    path = write_card(FULL, tmp_path / name)
    document = read_document(path)
    assert document.platform == "unseen"
    assert document.card == FULL


def test_a_file_says_what_is_still_to_write(tmp_path: Path) -> None:
    content = json.loads(write_card(FULL, tmp_path / "card.json").read_text())
    assert content["fields"]["impact_negative"]["status"] == "unknown"
    assert content["to_write"]["impact_negative"].endswith("(by curator)")
    assert "title" not in content["to_write"]


def test_dates_in_yaml_may_stand_without_quotes(tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    path.write_text(
        "unseen_card: 1\nname: a\nfields:\n  title: {value: x, status: declared, role: creator, date: 2024-05-01}\n"
    )
    assert read_document(path).card["title"].date == "2024-05-01"


def test_another_name_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no name for a card"):
        write_card(FULL, tmp_path / "card.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "JSON object"),
        ("{", "not valid JSON"),
        ('{"unseen_card": 2, "fields": {}}', "not a dataset card of ours"),
        (
            '{"unseen_card": 1, "name": "a", "fields": {"title": "x", "scope": {"text": 1}}}',
            "scope: 'text' is not known here",
        ),
        ('{"unseen_card": 1, "fields": {}, "extra": 1, "unplaced": {"a": 1}}', "'extra' is not known here"),
        (
            '{"unseen_card": 1, "name": "a", "fields": {"title": {"value": "x", "evidence": "e"}}}',
            "title: evidence must be a list of texts",
        ),
    ],
)
def test_files_that_are_no_cards(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "card.json"
    path.write_text(content)
    with pytest.raises(UnseenError) as refused:
        read_document(path)
    assert said in str(refused.value)


def test_mistakes_of_a_file_have_places_and_near_names(tmp_path: Path) -> None:
    answers = {
        "licence": {"value": 3, "status": "declard", "role": "creator"},
        "known_uses": {"value": [{"citation": "a", "stance": "likes"}]},
        "data_demographics": {"value": {"atributes": {}, "attributes": {"age": {"old": 40}}}},
        "language": {"value": ["nowhere"]},
        "title": "x",
    }
    path = tmp_path / "card.json"
    path.write_text(json.dumps({"unseen_card": 1, "name": "", "fields": answers, "unplased": {}}))
    with pytest.raises(TableError, match=r"card\.json is not a valid card") as refused:
        read_document(path)
    assert sorted(refused.value.problems) == [
        "data_demographics: 'atributes' is not known here; did you mean 'attributes'?",
        "data_demographics: attributes age old must be a number from 0 to 1, not 40",
        "known_uses: item 1 stance must be one of uses, extends, criticises, audits, not 'likes'",
        "language: value item 1: 'nowhere' is not a BCP-47 language tag",
        "licence: status must be one of declared, measured, assessed, unknown, not_applicable, not 'declard'; "
        "did you mean 'declared'?",
        "licence: value must be a text, not 3; put it in quotes",
        "name must be a text, not ''",
        "the file: 'unplased' is not known here; did you mean 'unplaced'?",
        "title: must be a table, not 'x'",
    ]


def test_a_card_has_a_schema_for_editors() -> None:
    schema = settings_schema(card_model())
    assert schema["$defs"]["CardFields"]["properties"].keys() == fields().keys()
    assert "self_report" in json.dumps(schema)


def test_coverage_is_counted_group_by_group() -> None:
    found = coverage(FULL)
    assert {group: (each.filled, each.required) for group, each in found.items()} == {
        "descriptive": (3, 17),
        "social": (2, 13),
        "administrative": (1, 10),
    }
    assert [row.value for row in found["social"].measurements()] == [2 / 13, 0 / 13]


@pytest.mark.parametrize(
    ("name", "value", "substantive"),
    [
        ("scope", "Various topics.", False),
        ("scope", "Sports news from three Scottish local papers", True),
        ("scope", "the the the of and to it they were", False),
        ("homepage", "https://example.org", True),
        ("known_uses", [], False),
        ("exclusion_risk", [{"group": "x", "reason": "y"}], False),
        ("data_demographics", {"attributes": {"age": {"old": 0.5}}}, True),
        ("personal_sensitive_info", {"text": "none"}, False),
    ],
)
def test_an_answer_of_a_word_is_not_substantive(name: str, value: Any, substantive: bool) -> None:
    found = coverage(Card("a", {name: told(value)}))[fields()[name].group]
    assert (found.filled, found.substantive) == (1, int(substantive))


def test_evidence_of_label_bias_is_asked_for_only_with_annotators() -> None:
    assert coverage(FULL)["social"].required == 13
    card = FULL.filled({"label_bias_evidence": Entry({"agreement": {}}, "measured", "tool")})
    assert coverage(card)["social"].required == 14


def test_what_is_undocumented() -> None:
    names = [each.id for each in undocumented(FULL)]
    assert len(names) == 11
    assert "privacy_gdpr" not in names
    assert "impact_negative" in names
    every = {
        name: Entry(None, "not_applicable", method="made up")
        for name, about in fields().items()
        if about.group == "social"
    }
    assert undocumented(FULL.filled(every)) == []


def test_groups_of_a_card_become_slices() -> None:
    card = FULL.filled({
        "exclusion_risk": told([{"group": "elders", "reason": "few online"}]),
        "overgeneralisation_risk": told([{"group": "students", "reason": "most annotators"}]),
        "data_demographics": told({"attributes": {"age": {"old": 0.1, "young": 0.9}}, "basis": "self_report"}),
        "annotator_demographics": told({"attributes": {"age": {"young": 1.0, "middle": 0.0}}, "n_annotators": 3}),
    })  # fmt: skip
    assert slices_of(card) == {
        "exclusion_risk": ("elders",),
        "overgeneralisation_risk": ("students",),
        "age": ("old", "young", "middle"),
    }
    assert slices_of(FULL) == {}


def test_a_card_is_not_changed_by_filling() -> None:
    assert FULL.filled({"title": told("y")})["title"].value == "y"
    assert FULL["title"].value == "Été"
    assert replace(FULL, name="b").entries == FULL.entries
