"""What an audit says about a card: how it is made up, and its numbers beside the data's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from readme_page import BODY, HEADER

from unseen import load, split
from unseen.cards import Card, Document, Entry, audit_card, measure_card, read_document, write_card
from unseen.cards.audit import lint, merged
from unseen.cards.drafts import catalogue_card, start_card
from unseen.cards.facts import mentions, read_ratings, script_shares, scripts_of, text_sizes
from unseen.errors import InputError, MismatchError
from unseen.reports.dataset_card import as_markdown
from unseen.types import Dataset, Finding, Origin

Builder = Callable[..., Dataset]


def told(value: Any, role: str = "curator", method: str = "") -> Entry:
    return Entry(value, "declared", role, method=method)


def ours(entries: dict[str, Entry] | None = None) -> Document:
    return Document("unseen", Card("a", entries or {}), (), {})


def levels(findings: Any) -> dict[str, str]:
    return {each.check.removeprefix("card."): each.level for each in findings}


def one(findings: Any, check: str) -> Finding:
    (found,) = [each for each in findings if each.check == f"card.{check}"]
    return found


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    path = tmp_path / "README.md"
    path.write_text(HEADER + BODY, encoding="utf-8")
    return path


def test_a_page_is_judged_by_its_structure(readme: Path) -> None:
    found = lint(read_document(readme))
    assert levels(found) == {
        "personal_information_place": "warn", "sections": "warn", "curator": "warn", "impact": "ok",
        "limitations": "ok", "to_confirm": "warn", "personal_information_assessed": "warn", "demographics": "warn",
        "roles": "warn", "licence": "ok", "unplaced": "warn",
    }  # fmt: skip
    assert one(found, "sections").count == 4
    assert "annotation process (repeats" in one(found, "sections").message
    assert one(found, "to_confirm").count == 5
    assert "impact_negative by contributor, not curator" in one(found, "roles").message


def test_personal_information_in_its_own_place_is_fine(readme: Path) -> None:
    text = readme.read_text().replace("### Personal and Sensitive Information", "## Personal and Sensitive Information")
    readme.write_text(text)
    assert one(lint(read_document(readme)), "personal_information_place").level == "ok"


@pytest.mark.parametrize(
    ("creators", "curators", "level"),
    [
        (["Ada Lovelace, Example University"], ["ada lovelace"], "warn"),
        (["Ada Lovelace"], ["Grace Hopper"], "ok"),
        (["Ada Lovelace"], ["Ada Love"], "ok"),
        (None, ["Grace Hopper"], "skipped"),
        (["Ada Lovelace"], None, "warn"),
    ],
)
def test_the_curator_is_not_a_creator(creators: list[str] | None, curators: list[str] | None, level: str) -> None:
    named = {"creators": creators, "curator_name": curators}
    card = ours({name: told(value) for name, value in named.items() if value})
    assert one(lint(card), "curator").level == level


@pytest.mark.parametrize(
    ("known", "level", "said"),
    [
        (["positive"], "warn", "only good"),
        (["positive", "functional"], "warn", "whom its use may hurt"),
        ([], "warn", "no impact"),
        (["negative"], "ok", "impact_negative"),
    ],
)
def test_impact_that_is_only_good_is_doubted(known: list[str], level: str, said: str) -> None:
    found = one(lint(ours({f"impact_{kind}": told("x") for kind in known})), "impact")
    assert (found.level, said in found.message) == (level, True)


@pytest.mark.parametrize(
    ("licence", "level"),
    [("MIT", "ok"), ("cc-by-sa-4.0", "ok"), ("CC BY-SA 3.0 ES", "ok"), ("free", "warn"), (None, "warn")],
)  # fmt: skip
def test_licences_are_known_identifiers(licence: str | None, level: str) -> None:
    assert one(lint(ours({"licence": told(licence)} if licence else {})), "licence").level == level


def test_demographics_need_a_basis() -> None:
    shares = {"attributes": {"age": {"old": 0.5}}}
    assert one(lint(ours({"data_demographics": told(shares)})), "demographics").level == "warn"
    based = told(shares | {"basis": "self_report"})
    assert one(lint(ours({"data_demographics": based})), "demographics").level == "ok"
    assert one(lint(ours()), "demographics").level == "skipped"


def test_a_curator_has_to_assess_personal_information() -> None:
    scanned = {"rate_per_1000": {"email": 0.1}, "assessed_after_collection": False}
    assert one(lint(ours({"personal_sensitive_info": told(scanned)})), "personal_information_assessed").level == "warn"
    assessed = told(scanned | {"assessed_after_collection": True})
    assert one(lint(ours({"personal_sensitive_info": assessed})), "personal_information_assessed").level == "ok"


def test_open_social_fields_fail_only_when_strict(tiny: Builder) -> None:
    found = audit_card(ours())
    assert (one(found.findings, "social").level, found.passed) == ("warn", True)
    found = audit_card(ours(), strict=True)
    assert (one(found.findings, "social").level, found.passed) == ("fail", False)
    assert one(found.findings, "social").count == len(found.undocumented) == 13


def test_measured_fields_are_counted(tiny: Builder) -> None:
    data = tiny(
        ids=list("abc"), texts=["one two", "öne", "  three  "], labels=["no", "yes", "yes"], user=["u", "u", "v"]
    )
    found = measure_card(data, date="2024-05-01").entries
    assert found["n_items"].value == 3
    assert found["splits"].value == {"all": 3}
    assert found["class_counts"].value == {"no": 1, "yes": 2}
    assert found["label_names"].value == ["no", "yes"]
    assert found["columns"].value == ["id", "text", "label", "user"]
    assert found["checksum"].value == f"unseen:{data.fingerprint}"
    sizes = found["sizes"].value
    assert (sizes["characters"], sizes["bytes"], sizes["words_median"], sizes["words_longest"]) == (19, 20, 1.0, 2)
    assert {(each.status, each.role, each.date) for each in found.values()} == {("measured", "tool", "2024-05-01")}
    assert Card("a", found)


def test_lengths_are_those_of_numpy(tiny: Builder) -> None:
    texts = ["w " * n for n in range(1, 41)]
    sizes = text_sizes(tiny(ids=[str(n) for n in range(40)], texts=texts))
    low, middle, high = np.quantile([len(text.split()) for text in texts], [0.05, 0.5, 0.95])
    assert (sizes["words_5_percent"], sizes["words_median"], sizes["words_95_percent"]) == (low, middle, high)


def test_scripts_are_shares_of_letters(tiny: Builder) -> None:
    data = tiny(ids=["1", "2"], texts=["abcd 123 !", "мир слово"])
    assert script_shares(data) == {"Cyrl": 8 / 12, "Latn": 4 / 12}
    assert script_shares(tiny(ids=["1"], texts=["12 ?"], labels=["no"])) == {}
    assert scripts_of(["en", "ru", "ja"]) == {"Latn", "Cyrl", "Hani", "Hira", "Kana"}


def test_mentions_count_texts_by_list(tiny: Builder) -> None:
    data = tiny(ids=list("abcd"), texts=["Cooks and a cook", "COOK", "cookery", "the deaf waiter"])
    assert mentions(data, {"cooks": ["cook", "cooks"], "waiters": ["waiter"], "deaf": ["deaf"]}) == {
        "cooks": 2, "waiters": 1, "deaf": 1,
    }  # fmt: skip
    entry = measure_card(data, terms={"cooks": ["cook"]}).entries["identity_mentions"]
    assert "who is talked about, not who speaks" in entry.method


def test_declared_numbers_are_compared(tiny: Builder, readme: Path) -> None:
    data = tiny(ids=list("abcd"), label_names=("calm", "loud"))
    found = audit_card(read_document(readme), data, measure_card(data))
    own = levels(each for each in found.findings if ".declared" in each.check)
    assert own == {
        "declared.n_items": "warn",
        "declared.n_classes": "ok",
        "declared.label_names": "ok",
        "declared.language": "ok",
    }
    assert one(found.findings, "declared.n_items").message == "n_items: the card says 60, measured is 4"
    assert found.card["n_items"].value == 4
    assert found.card["n_items"].evidence == ("declared: 60 (README.md)",)
    assert found.card["n_classes"].evidence == ("as declared (README.md)",)


def test_rows_left_out_when_loading_are_named(tiny: Builder, readme: Path) -> None:
    data = replace(tiny(), origin=Origin("load", {"dropped": {"empty": 50, "unlabelled": 6}}))
    found = audit_card(read_document(readme), data, measure_card(data))
    assert "; 56 rows were left out when loading" in one(found.findings, "declared.n_items").message


def test_parts_are_compared_only_with_a_split(tiny: Builder) -> None:
    data = tiny(ids=[str(n) for n in range(10)])
    made = split(data, "random", test=0.2)
    card = ours({"splits": told({"train": 8, "test": 3})})
    assert "declared.splits" not in levels(audit_card(card, data, measure_card(data)).findings)
    found = audit_card(card, data, measure_card(data, split=made))
    assert one(found.findings, "declared.splits").message.endswith("says train 8, test 3, measured is train 8, test 2")


def test_another_file_than_the_card_s_is_a_failure(tiny: Builder) -> None:
    card = ours(dict(measure_card(tiny()).entries))
    assert audit_card(card, tiny(), measure_card(tiny())).passed
    other = tiny(texts=["other", "texts", "than", "those"])
    found = audit_card(card, other, measure_card(other))
    assert one(found.findings, "declared.checksum").level == "fail"
    assert not found.passed
    of_a_file = ours({"checksum": told("sha256:" + "0" * 64)})
    assert "declared.checksum" not in levels(audit_card(of_a_file, other, measure_card(other)).findings)


def test_a_language_in_another_script_is_doubted(tiny: Builder) -> None:
    data = tiny(texts=["мир", "слово", "дом", "кот"])
    found = audit_card(ours({"language": told(["en"])}), data, measure_card(data)).findings
    assert one(found, "declared.language").message.startswith("100.0 % of letters")
    assert one(found, "declared.language").level == "warn"
    found = audit_card(ours({"language": told(["ru"])}), data, measure_card(data)).findings
    assert one(found, "declared.language").level == "ok"


def test_personal_data_is_a_finding_with_ids(tiny: Builder) -> None:
    data = tiny(ids=list("dcba"), texts=["x", "a@b.co", "@ann a@b.co", "@user"])
    found = one(audit_card(ours(), data, measure_card(data)).findings, "personal_data")
    assert (found.level, found.count, found.evidence) == ("warn", 2, ("b", "c"))
    assert "email 2, handle 1; 1 hold a placeholder" in found.message
    clean = one(audit_card(ours(), tiny(), measure_card(tiny())).findings, "personal_data")
    assert (clean.level, "names were not looked for" in clean.message) == ("ok", True)


def test_annotators_become_evidence_and_findings(tiny: Builder, tmp_path: Path) -> None:
    data = tiny(ids=[str(n) for n in range(30)])
    rows = [f"{n},{who},{('no', 'yes')[who == 'a']},{who}" for n in range(30) for who in "ab"]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["item,annotator,label,group", *rows]))
    found = audit_card(ours(), data, measure_card(data, ratings=read_ratings(path)))
    assert one(found.findings, "agreement").level == "warn"
    assert "a gives yes 100 points more often than b" in one(found.findings, "annotator_groups").message
    assert found.coverage["social"].required == 14
    assert found.card["label_bias_evidence"].value["agreement"]["all"]["n"] == 30
    with pytest.raises(MismatchError, match="26 of 30 annotated items"):
        measure_card(tiny(ids=["1", "2", "3", "4"]), ratings=read_ratings(path))


def test_what_people_wrote_about_personal_data_stays(tiny: Builder) -> None:
    before = told({"text": "checked by us", "categories": ["email"], "assessed_after_collection": True})
    after = merged(Card("a", {"personal_sensitive_info": before}), measure_card(tiny()).entries)[
        "personal_sensitive_info"
    ]
    assert after.role == "curator"
    assert after.value["text"] == "checked by us"
    assert after.value["categories"] == ["email"]
    assert after.value["assessed_after_collection"] is True
    assert after.value["rate_per_1000"]["email"] == 0


def test_a_card_that_is_there_is_brought_up_to_date(tiny: Builder, tmp_path: Path, readme: Path) -> None:
    path = write_card(
        Card("a", {"scope": told("talk in kitchens"), "n_items": Entry(9, "measured", "tool")}), tmp_path / "c.json"
    )
    begun = start_card(tiny(), path)
    card = audit_card(begun, tiny(), measure_card(tiny())).card
    assert (card["scope"].value, card["n_items"].value) == ("talk in kitchens", 4)
    with pytest.raises(InputError, match="would have no effect"):
        start_card(tiny(), path, readme)
    with pytest.raises(InputError, match="not a card of ours"):
        start_card(tiny(), readme)


def test_a_readme_comes_before_the_catalogue(shared_data: Path, readme: Path, tmp_path: Path) -> None:
    data = load("stormfront", data_dir=shared_data)
    plain = start_card(data, tmp_path / "new.json").card
    assert plain["licence"].value == "CC BY-SA 3.0 ES"
    assert plain["n_items"].value == 10_944
    assert "184 rows repeat" in plain.unplaced["traps"]
    both = start_card(data, tmp_path / "new.json", readme)
    assert both.card["licence"].value == "cc-by-4.0"
    assert both.card["citation"].value.endswith("```")
    assert both.items
    message = one(
        audit_card(Document("unseen", plain, (), {}), data, measure_card(data)).findings, "declared.n_items"
    ).message
    assert message == "n_items: the card says 10,944, measured is 10,703; 241 rows were left out when loading"


def test_a_file_with_the_name_of_a_known_dataset_is_not_it(tiny: Builder) -> None:
    assert catalogue_card(replace(tiny(), name="stormfront")).values() == {}


def test_the_readable_card_shows_what_is_unknown(tiny: Builder) -> None:
    card = ours({"title": told("<b>*x*", "creator"), "broader_impact": Entry(None, "not_applicable", method="made up")})
    page = as_markdown(audit_card(card, tiny(), measure_card(tiny())))
    assert "&lt;b&gt;\\*x\\*" in page
    assert "impact\\_negative: **unknown**. To write: whom its use may hurt" in page
    assert "broader\\_impact: does not apply: made up" in page
    assert "label\\_bias" not in page
    assert page.index("## Social impact") < page.index("## What the data is")
    assert "| social | 13 | 2 |" in page
