"""UTF-8 that was read as Latin-1 or Windows-1252: finding it and putting it right.

A run of characters that are the bytes of well-formed UTF-8 hardly stands in a text by itself. It can: a capital Ã
before a closing quotation mark reads the same. Sequences that begin otherwise than those of accented letters,
punctuation and emoji count only where two stand side by side, as they do in mis-read Cyrillic or Greek.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc


def _bytes_by_character() -> dict[str, int]:
    """The byte of every character that a byte from 80 on is read as, in either encoding."""
    bytes_of = {chr(byte): byte for byte in range(0x80, 0x100)}
    for byte in range(0x80, 0xA0):
        character = bytes([byte]).decode("cp1252", errors="ignore")
        bytes_of |= {character: byte} if character else {}
    return bytes_of


BYTES = _bytes_by_character()
FOLLOWING = "".join(character for character, byte in BYTES.items() if byte < 0xC0)
BEGINNING = "".join(character for character, byte in BYTES.items() if 0xC2 <= byte <= 0xF4)
SURE = frozenset("ÂÃâïð")
"""What bytes C2, C3, E2, EF and F0 are read as: they begin accented letters, punctuation and emoji."""
CANDIDATE = f"[{BEGINNING}][{FOLLOWING}]"
RUN = re.compile(f"(?:[{BEGINNING}][{FOLLOWING}]{{1,3}})+")
LOST = "\ufffd"
ENTITY = r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);"


def repaired(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts with every such run read as the UTF-8 it is; other texts as they are."""
    return _where(texts, CANDIDATE, put_right_in)


def unescaped(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts with HTML's names and numbers of characters, such as &amp;, as the characters they are."""
    return _where(texts, ENTITY, html.unescape)


def _where(texts: pa.ChunkedArray, pattern: str, change: Callable[[str], str]) -> pa.ChunkedArray:
    """The texts, those with the pattern changed."""
    where = pc.match_substring_regex(texts, pattern)
    if not pc.any(where).as_py():
        return texts
    changed = pa.array([_sound(change(text)) for text in texts.filter(where).to_pylist()], type=texts.type)
    return pa.chunked_array([pc.replace_with_mask(texts.combine_chunks(), where.combine_chunks(), changed)])


def _sound(text: str) -> str:
    """Without half characters, which an entity may name and no column of text may hold."""
    return text.encode("utf-8", "replace").decode()


def put_right_in(text: str) -> str:
    """One text, put right.

    >>> put_right_in("It â€™s a cafÃ©")
    'It ’s a café'
    """
    return RUN.sub(lambda run: _decoded(run[0]), text)


def _decoded(run: str) -> str:
    try:
        decoded = bytes(BYTES[character] for character in run).decode("utf-8")
    except UnicodeDecodeError:
        return run
    return decoded if run[0] in SURE or len(decoded) > 1 else run
