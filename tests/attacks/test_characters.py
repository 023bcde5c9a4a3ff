"""Edits of characters: all there are, and only where a reader still reads the word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from unseen.attacks.characters import Characters, edits_of, inside_words
from unseen.attacks.search import Informants, attack_texts
from unseen.attacks.validity import one_edit
from unseen.errors import InputError
from unseen.types.arrays import Floats


def test_all_places_and_characters_are_all_texts_one_edit_away() -> None:
    text, alphabet = "abc", "abx"
    by_force = {text[:at] + new + text[at:] for at in range(4) for new in alphabet}
    by_force |= {text[:at] + new + text[at + 1 :] for at in range(3) for new in ("", *alphabet)}
    assert set(edits_of(text, range(7), "", *alphabet)) == by_force - {text}


def test_places_inside_words_keep_first_and_last_letters() -> None:
    text = "so much rain"
    edits = edits_of(text, inside_words(text, text), "", "z")
    words = [edit.split() for edit in edits]
    assert all(len(one) == 3 and one[0] == "so" for one in words)
    assert {(word[0], word[-1]) for one in words for word in one[1:]} == {("m", "h"), ("r", "n")}
    assert inside_words(text, "so mzuch rain") == [place + 2 for place in inside_words("so much rain", "so XXXX rain")]


class Letters:
    """Calm unless the text lost its letters `a` and `i`."""

    def __call__(self, texts: Sequence[str]) -> Floats:
        calm = np.array([min(1.0, 0.2 + 0.4 * sum(letter in text for letter in "ai")) for text in texts])
        return np.column_stack([calm, 1 - calm])


def attempt(text: str, **params: object) -> object:
    return attack_texts([text], [0], Characters(**params).search, Informants(Letters()))[0]  # type: ignore[arg-type]


def test_edits_go_on_until_the_label_flips() -> None:
    done = attempt("the main brain", edits=4)
    assert done.status == "failed"  # each word is edited once, and both have an a and an i
    done = attempt("the mast list", edits=2)
    assert done.status == "flipped"
    assert sorted(map(len, done.text.split())) in ([3, 3, 3], [3, 3, 4], [3, 4, 4], [3, 4, 5])
    assert not set("ai") & set(done.text)


def test_a_text_without_long_words_is_left_alone_unless_it_need_not_be_readable() -> None:
    assert attempt("it as so", edits=3).status == "failed"
    assert attempt("it as so", edits=3, readable=False).status == "flipped"


def test_default_edits_grow_with_the_text() -> None:
    assert attempt("mast list").status == "failed"
    assert attempt("mast list " + "zzz " * 18).status == "flipped"


@pytest.mark.parametrize(
    ("old", "new", "one"),
    [("rain", "rein", True), ("rain", "ran", True), ("rain", "raain", True), ("rain", "rian", True),
     ("rain", "rain", False), ("rain", "train!", False), ("rain", "nair", False), ("rain", "", False)],
)  # fmt: skip
def test_one_edit(old: str, new: str, one: bool) -> None:
    assert one_edit(old, new) is one


def test_idle_settings_are_refused() -> None:
    with pytest.raises(InputError, match="at least one place"):
        Characters(places=0)
