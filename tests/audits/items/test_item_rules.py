"""Each rule on texts written for it, and what rules that count may look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiny_data import build
from unseen.audits.items import flag_items
from unseen.audits.items.quotes import linear_share, quotations, squared_share
from unseen.audits.items.rule import RULE_PACKS, Items, put_right_in, repaired
from unseen.types import PARTS, Certificate, Dataset, Split

PACKS = tuple(RULE_PACKS)


def fired(texts: Sequence[str], rule: str, language: str = "en", **more: Sequence[str]) -> list[bool]:
    data = build([str(row) for row in range(len(texts))], list(texts), **more)
    found = flag_items(data, PACKS, language=language)
    return found.fired[:, [each.name for each in found.rules].index(rule)].tolist()


LONG = "The council has voted to keep the old library open for another year"


@pytest.mark.parametrize(
    ("rule", "flagged", "left"),
    [
        ("html", ["see <br/> here it is", 'say class="big" now', "<P>Hello you"], ["<user> says 3 < 4", LONG]),
        ("ends_open", ["we went to the", "first this,", "He said BUT"], ["all in all", "he said but.", "the best"]),
        (
            "is_date",
            ["2021-05-03", "3 May 2021", "Monday, March 5th, 2012", "05/12/99", "May 2010", "May 4, 2010, 10:30 am"],
            ["May I go", "13 apples", "March on, 2010 was long", "2021-15-03"],
        ),
        ("too_short", ["so it goes", "Well !!!", "@ann @bob no http://a.b/c"], ["so it really goes", "!!!", "@ann"]),
        ("misdecoded", ["It â€™s a cafÃ©", "naÃ¯ve", "a \ufffd b", "ÐŸÑ€Ð¸"], ["It’s a café", "MENÜ“", "Âme", LONG]),
        ("links_only", ["http://a.b/c", "@ann www.a.b !"], ["see http://a.b/c", "@ann", "..."]),
        ("handles_only", ["@ann @bob", "<user> !"], ["@ann www.a.b", "@ann yes", "..."]),
        ("empty", ["...", "😀 😀", " "], ["@ann", "http://a.b", "1"]),
        ("quotes_only", ['"so it goes"', "“so” “it goes”", "@ann «so it»"], ['"so it" goes', '"so', LONG]),
        ("mostly_quotes", ['He said "so it goes"', "„so it goes“ he"], ['He never has said again "so"', LONG]),
        ("opens_with_command", ["Watch the sea", "“Find out more"], ["Watching the sea", "The watch is mine"]),
        ("first_or_second_person", ["I went", "It is for you", "we're in"], ["my dog", "He told us", "Ian went"]),
        ("question_exclamation", ["Why?", "Go!"], ["Why.", "see http://a.b/?c=d"]),
    ],
)  # fmt: skip
def test_rules_on_texts_written_for_them(rule: str, flagged: list[str], left: list[str]) -> None:
    assert fired(flagged + left, rule) == [True] * len(flagged) + [False] * len(left)


GERMAN = "Der Rat hat gestern beschlossen, dass die alte Bücherei noch ein Jahr lang offen bleibt"
SPANISH = "El consejo ha decidido que la vieja biblioteca siga abierta un año más para todos los vecinos"
RUSSIAN = "Совет решил оставить старую библиотеку открытой"


def test_language_is_judged_on_long_texts_only() -> None:
    texts = [LONG, GERMAN, SPANISH, RUSSIAN, "Guten Morgen", "Да", "lol idk wtf bruh that aint even right tho smh fr"]
    assert fired(texts, "wrong_language") == [False, True, True, True, False, False, False]
    assert fired(texts[:4], "wrong_language", "de") == [True, False, True, True]
    assert fired(texts[:4], "wrong_language", "ru") == [True, True, True, False]
    assert fired(texts[:4], "wrong_language", "zh") == [True] * 4


def test_rules_that_know_english_words_do_not_vote_elsewhere() -> None:
    found = flag_items(build(texts=["the", "a", "und", "I"]), PACKS, language="de")
    assert set(found.skipped) == {"ends_open", "is_date", "opens_with_command", "first_or_second_person"}
    assert not set(found.skipped) & {rule.name for rule in found.rules}


def test_the_own_label_is_a_word_of_the_text() -> None:
    texts = ["this is loud", "LOUD!", "loudly", "calm and loud", "not calm at all", "notCalm", "cloud"]
    labels = ["loud", "loud", "loud", "loud", "notCalm", "notCalm", "loud"]
    assert fired(texts, "own_label", labels=labels, label_names=("loud", "notCalm")) == [
        True, True, False, True, True, True, False,
    ]  # fmt: skip
    assert fired(["1 or 0", "x y"], "own_label", labels=["1", "x"], label_names=("1", "x")) == [False, False]


@pytest.mark.parametrize("marks", ["“”", '""', "„“", "«»", '“"'])
def test_the_published_example_of_quotes(marks: str) -> None:
    text = f"This summary {marks[0]}contains words between two double quotes{marks[1]}"
    assert quotations(text) == ([6], 8)
    assert linear_share(*quotations(text)) == 0.75
    assert squared_share(*quotations(text)) == 0.5625
    assert fired([text], "mostly_quotes") == fired([text], "mostly_quotes_squared") == [True]


def test_the_two_quote_rules_differ_between_their_thresholds() -> None:
    text = 'a "b c d e f" g h i j'  # a half: above .35, and .25 squared
    assert fired([text], "mostly_quotes") == [True]
    assert fired([text], "mostly_quotes_squared") == [False]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30))
def test_whatever_was_misread_is_put_right(text: str) -> None:
    misread = "".join(bytes([byte]).decode("latin-1") for byte in text.encode())
    sure = [each for each in text if not each.isascii()]
    if sure and all(each.encode()[0] in (0xC2, 0xC3, 0xE2, 0xF0) for each in sure) and put_right_in(text) == text:
        assert put_right_in(misread) == text
    assert put_right_in(text.encode("ascii", "ignore").decode()) == text.encode("ascii", "ignore").decode()


def test_misread_windows_bytes_are_put_right() -> None:
    for text in ("“so it goes”", "it’s – a café…", "😀"):
        read = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in text.encode())
        assert repaired(pa.chunked_array([["plain", read]])).to_pylist() == ["plain", text]


def test_copies_of_each_kind() -> None:
    base = "the tram to the old harbour was late again this morning"
    run = "please do not reply to this automatic message ever"
    texts = [
        base, base, f"{base.upper()}!!", f"{base}s", "something else was said here by somebody",
        *(f"{word} {run} {word}" for word in ("one", "two", "red", "six", "ten")),
        *(f"ticket {number} is still open after all" for number in (1, 22, 333)),
    ]  # fmt: skip
    labels = ["no", "no", "yes", "no", *["no"] * 9]
    rows = dict(enumerate(texts))
    for rule, expected in (
        ("exact_duplicate", {0, 1}),
        ("repeated", {0, 1}),
        ("near_duplicate", {0, 1, 2, 3} | {row for row in rows if row >= 5}),
        ("conflicting_duplicate", {0, 1, 2}),
        ("boilerplate", {5, 6, 7, 8, 9}),
        ("repeated_template", {10, 11, 12}),
    ):
        found = fired(texts, rule, labels=labels)
        if rule == "near_duplicate":
            assert {row for row in range(5) if found[row]} == {0, 1, 2, 3}
        else:
            assert {row for row in rows if found[row]} == expected, rule


def test_copies_in_the_test_part_are_nobodys() -> None:
    base = "the tram to the old harbour was late again this morning"
    data = build([str(row) for row in range(4)], [base, f"{base}s", "something else was said by them", f"{base} so"])
    for parts, expected in (([2, 2, 0, 2], [False] * 4), ([0, 2, 0, 2], [False, True, False, True])):
        found = flag_items(data, ["label-text"], split_of(data, parts))
        assert found.fired[:, [rule.name for rule in found.rules].index("near_duplicate")].tolist() == expected


def test_few_texts_make_no_template_and_no_boilerplate() -> None:
    run = "please do not reply to this automatic message ever"
    texts = [
        *(f"{word} {run} {word}" for word in ("one", "two", "red", "six")),
        "ticket 1 is open",
        "ticket 22 is open",
    ]
    assert not any(fired(texts, "boilerplate"))
    assert not any(fired(texts, "repeated_template"))


WORDS = st.sampled_from(["a", "b", "12", "7", "@u", "x y z", "one two three four five six seven eight", "!"])
TEXTS = st.lists(st.lists(WORDS, max_size=4).map(" ".join), min_size=4, max_size=14)


@settings(max_examples=25)
@given(TEXTS, st.data())
def test_test_rows_change_nobody_elses_flags(texts: list[str], draw: st.DataObject) -> None:
    parts = draw.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=len(texts), max_size=len(texts)))
    parts[0] = 0
    data = build([f"r{row:02}" for row in range(len(texts))], texts)
    whole = flag_items(data, PACKS, split_of(data, parts))
    for row in (each for each, part in enumerate(parts) if part == 2):
        kept = np.array([each for each, part in enumerate(parts) if part != 2 or each == row])
        fewer = data.take(kept)
        alone = flag_items(fewer, PACKS, split_of(fewer, [parts[each] for each in kept]))
        np.testing.assert_array_equal(alone.fired, whole.fired[kept])


@settings(max_examples=25)
@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing(texts: list[str], shuffle: np.random.Generator) -> None:
    data = build([f"r{row:02}" for row in range(len(texts))], texts)
    order = list(range(len(texts)))
    shuffle.shuffle(order)
    turned = flag_items(data.take(np.array(order)), PACKS)
    np.testing.assert_array_equal(turned.fired, flag_items(data, PACKS).fired[order])


def test_training_texts_alone_are_counted() -> None:
    texts = ["so it goes today", "so it goes today", "a b c d e f", "a b c d e f", "so it goes today"]
    data = build([str(row) for row in range(5)], texts)
    found = flag_items(data, ["label-text", "strapline"], split_of(data, [0, 1, 2, 2, 2]))
    names = [rule.name for rule in found.rules]
    assert found.counted_on == "train"
    for rule in ("exact_duplicate", "repeated"):
        assert found.fired[:, names.index(rule)].tolist() == [True, True, False, False, True]


def split_of(data: Dataset, parts: Sequence[int]) -> Split:
    assert PARTS[:3] == ("train", "dev", "test")
    nothing = np.full(len(data), -1, np.int32)
    return Split("mine", data.ids, np.array(parts, np.int8), nothing, Certificate({}, {}), data.fingerprint)


def test_words_of_forms_are_found_again() -> None:
    data = build(texts=["a b!", "...", "", "b  c"])
    words, codes, begins = Items(data, np.ones(4, bool)).form_words
    said = [[words[int(code)].as_py() for code in codes[begins[row] : begins[row + 1]]] for row in range(4)]
    assert said == [["a", "b"], [], [], ["b", "c"]]
