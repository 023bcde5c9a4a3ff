"""Ways to spoil a file, all decided by a seed."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

TOKENS = [
    b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[31m", b"null", b"NaN", b"1e999", b"-1", b"\"", b"'",
    b"\n", b"\r", b"\t", b",", b";", b"{", b"}", b"[" * 3000, b"{\"a\":" * 3000, b"9" * 400, b"=cmd()", b"a" * 200_000,
    b"true", b"[]", b"{}", "\u202e".encode(), "é".encode("latin-1"), b"!!python/object:os.system", b"&a [*a]",
]  # fmt: skip
WRONG: list[Any] = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), "", "x", "\ud800", "\x00", [], {}, [[]], {"x": {}}, "a" * 10_000,
]  # fmt: skip
COLUMNS: list[pa.Array] = [
    pa.array([["a"], None]), pa.array([{"x": 1}, None]), pa.array([b"\xff\xfe", None]), pa.array([1, None]),
    pa.array([1.5, float("nan")]), pa.array([None, None]), pa.array([True, None]), pa.array(["\x00", ""]),
    pa.array([0, 1], pa.timestamp("s")), pa.array(["a", None]).dictionary_encode(),
]  # fmt: skip


def spoiled(content: bytes, name: str, draw: random.Random) -> bytes:
    """`content` of a file called `name`, spoiled once to three times."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [cut, flip, drop, double, insert, swap]
    if name.endswith(".json"):
        ways += [replace_node] * 6
    if name.endswith(".parquet"):
        ways += [replace_column] * 6
    if name.endswith((".csv", ".tsv")):
        ways += [replace_field] * 4
    for _ in range(draw.randint(1, 3)):
        content = draw.choice(ways)(content, draw)
    return content


def cut(content: bytes, draw: random.Random) -> bytes:
    """The first part of it."""
    return content[: draw.randint(0, len(content))]


def flip(content: bytes, draw: random.Random) -> bytes:
    """A few bytes replaced."""
    changed = bytearray(content)
    for _ in range(min(len(changed), draw.randint(1, 8))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def drop(content: bytes, draw: random.Random) -> bytes:
    """Without a stretch."""
    start = draw.randint(0, len(content))
    return content[:start] + content[start + draw.randint(1, 40) :]


def double(content: bytes, draw: random.Random) -> bytes:
    """A stretch twice."""
    start = draw.randint(0, len(content))
    return content[:start] + content[start : start + draw.randint(1, 200)] * 2 + content[start:]


def insert(content: bytes, draw: random.Random) -> bytes:
    """Something odd in the middle."""
    place = draw.randint(0, len(content))
    return content[:place] + draw.choice(TOKENS) + content[place:]


def swap(content: bytes, draw: random.Random) -> bytes:
    """Two lines exchanged."""
    lines = content.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def replace_field(content: bytes, draw: random.Random) -> bytes:
    """A field of a table replaced."""
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    fields = lines[at].split(b",")
    fields[draw.randrange(len(fields))] = draw.choice(TOKENS)
    lines[at] = b",".join(fields)
    return b"\n".join(lines)


def replace_node(content: bytes, draw: random.Random) -> bytes:
    """A value, or a name, somewhere in a JSON document replaced by one of another type, or taken out."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        return insert(content, draw)
    places = list(_places(whole))
    if not places:
        return json.dumps(draw.choice(WRONG)).encode()
    holder, key = draw.choice(places)
    if isinstance(holder, dict) and draw.random() < 0.3:
        del holder[key]
    else:
        holder[key] = draw.choice(WRONG)
    return json.dumps(whole).encode()


def _places(node: Any) -> Any:
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from _places(node[key])


def replace_column(content: bytes, draw: random.Random) -> bytes:
    """A column of a Parquet file replaced by one of another type, or taken out."""
    try:
        table = pq.read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError):
        return flip(content, draw)
    if not table.num_columns:
        return content
    at = draw.randrange(table.num_columns)
    if draw.random() < 0.2:
        table = table.remove_column(at)
    else:
        values = draw.choice(COLUMNS).take(pa.array([draw.randint(0, 1) for _ in range(len(table))], pa.int64()))
        table = table.set_column(at, table.column_names[at], values)
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


def packed(content: bytes) -> bytes:
    """As a .gz file."""
    return gzip.compress(content, mtime=0)
