"""Near-duplicates from ten thousand to a million texts: time, memory, what is missed, and the peers beside it.

`python -m benchmarks.duplicates` writes docs/results/duplicates.md. The peers (rensa, datasketch) are measured where
they are installed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections import defaultdict
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.setting import ROOT, in_fresh_process, machine, processor_seconds, seconds, table

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PEER_SIZE, ROUNDS = 20_000, 5
THRESHOLD = 0.8
COPIES = 0.05
"""Share of texts that are an earlier one with a word more, or another word."""


def main() -> None:
    """Measure everything, each in a fresh process, and write the page."""
    sizes = [_in_process("texts", size) for size in SIZES]
    vectors = [_in_process("vectors", size) for size in SIZES]
    audit = _in_process("audit", SIZES[-1])
    names = [name for name in ("ours", "rensa", "datasketch") if _is_here(name)] * ROUNDS  # in turn
    peers = [_in_process(name, PEER_SIZE) for name in [*names, "exact"]]
    page = "\n".join([_heading(), _curve(sizes, vectors), _whole(audit), _beside(peers)])
    (ROOT / "docs" / "results" / "duplicates.md").write_text(page, encoding="utf-8")
    print(page)


def _is_here(name: str) -> bool:
    return name == "ours" or find_spec(name) is not None


def _in_process(what: str, size: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(in_fresh_process("-m", "benchmarks.duplicates", what, str(size)))
    return found


def _heading() -> str:
    load = f"{os.getloadavg()[0]:.1f}"
    return (
        f"# Near-duplicates: what was measured\n\n{machine()}. Load of the machine before the run: {load} processes. "
        "Ratios are of times in one run on one machine.\n"
    )


def _curve(texts: list[dict[str, Any]], vectors: list[dict[str, Any]]) -> str:
    rows = [
        [f"{a['rows']:,}", f"{a['seconds'] / texts[0]['seconds']:.1f}", f"{a['gigabytes']:.2f} GB", f"{a['pairs']:,}",
         f"{b['seconds'] / vectors[0]['seconds']:.1f}", f"{b['gigabytes']:.2f} GB", f"{b['pairs']:,}",
         f"{b['recall']:.1%}"]
        for a, b in zip(texts, vectors, strict=True)
    ]  # fmt: skip
    last, slow = texts[-1], vectors[-1]
    return (
        "## Cost\n\n"
        f"`near_pairs` (at least {THRESHOLD} of 5-grams in common) of texts of about 115 characters, words drawn by "
        f"Zipf's law, {COPIES:.0%} of them an earlier text with one word more or changed (seed 1); `vector_pairs` "
        "(cosine at least .95) of as many vectors of 384 numbers, 2 % of them near an earlier one (seed 1), found "
        "by all pairs up to 20,000 and by planes above. Memory is the peak of a fresh process, data and imports "
        f"included. A million texts took {last['seconds'] / 60:.1f} minutes, a million vectors "
        f"{slow['seconds'] / 60:.1f} minutes. The last column is the share of the planted vector pairs that was found."
        "\n\n"
        + table(["rows", "texts: time, relative", "memory", "pairs", "vectors: time, relative", "memory", "pairs",
                 "planted pairs found"], rows)
    )  # fmt: skip


def _whole(audit: dict[str, Any]) -> str:
    return (
        f"All checks of `unseen.audit` but that of vectors, of {audit['rows']:,} such texts with authors, times and a "
        f"split: {audit['seconds'] / 60:.1f} minutes, {audit['gigabytes']:.2f} GB.\n"
    )


def _beside(rounds: list[dict[str, Any]]) -> str:
    exact = {tuple(pair) for pair in rounds[-1]["found"]}
    ways = {one["what"]: one for one in rounds}
    times = {what: [one["seconds"] for one in rounds if one["what"] == what] for what in ways}
    rows = []
    for what, way in ways.items():
        pairs = {tuple(pair) for pair in way["found"]}
        right = len(pairs & exact)
        ratios = [theirs / ours for theirs, ours in zip(times[what], times["ours"], strict=False)]
        spread = f" ({min(ratios):.1f} to {max(ratios):.1f})" if len(ratios) > 1 and what != "ours" else ""
        share, rightness = f"{right / len(exact):.2%}", f"{right / max(1, len(pairs)):.1%}"
        rows.append([way["called"], f"{np.median(ratios):.1f}{spread}", share, rightness])
    return (
        f"## Beside other programs\n\n{PEER_SIZE:,} texts made the same way, from the normal form of the texts to "
        f"pairs, {len(exact):,} pairs at {THRESHOLD} or above by an inverted index of all 5-grams (exact). The peers "
        "have 128 hash functions of the same 5-grams and their own LSH at that threshold, and verify nothing, which "
        "is what their documentation shows; the 5-grams they are given are made in Python, as their users do, and "
        "that counts. Ours makes the normal form once more. Processor time, median and range of "
        f"{ROUNDS} rounds in turn, each in a fresh process. Loading our compiled loops is not counted, nor compiling "
        "them, which happens once per installation.\n\n"
        + table(["", "time, relative", "pairs found", "pairs right"], rows)
    )


def made(n: int) -> list[str]:
    """Texts, some of them edited copies of earlier ones."""
    draw = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlu"))
    words = np.array(["".join(draw.choice(letters, size)) for size in draw.integers(2, 10, 30_000)], dtype=object)
    lengths = draw.integers(6, 30, n)
    weights = 1 / np.arange(1, len(words) + 1)
    flat = words[draw.choice(len(words), int(lengths.sum()), p=weights / weights.sum())]
    ends = np.cumsum(lengths)
    texts = [" ".join(flat[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
    for row in draw.integers(1, n, int(COPIES * n)).tolist():
        source = texts[int(draw.integers(row))].split()
        if draw.random() < 0.5:
            source.append(str(words[int(draw.integers(len(words)))]))
        else:
            source[int(draw.integers(len(source)))] = str(words[int(draw.integers(len(words)))])
        texts[row] = " ".join(source)
    return texts


def measure_texts(n: int) -> dict[str, Any]:
    """Time and memory of `near_pairs`."""
    from unseen.duplicates import near_pairs

    near_pairs(pa.chunked_array([["one text", "another text"]]))  # compiled loops are loaded before the clock starts
    texts = pa.chunked_array([pa.array(made(n), pa.large_string())])
    taken, pairs = seconds(lambda: near_pairs(texts, THRESHOLD))
    return {"rows": n, "seconds": taken, "pairs": len(pairs), "gigabytes": _peak()}


def measure_vectors(n: int) -> dict[str, Any]:
    """Time and memory of `vector_pairs`, and the share of planted pairs that it finds."""
    from unseen.duplicates import vector_pairs

    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((n, 384), dtype=np.float32)
    copies, sources = np.arange(n - n // 50, n), draw.integers(0, n - n // 50, n // 50)
    vectors[copies] = vectors[sources] + 0.25 * draw.standard_normal((len(copies), 384), dtype=np.float32)
    unit = vectors[copies] / np.linalg.norm(vectors[copies], axis=1, keepdims=True)
    other = vectors[sources] / np.linalg.norm(vectors[sources], axis=1, keepdims=True)
    alike = (unit * other).sum(axis=1) >= 0.95
    taken, pairs = seconds(lambda: vector_pairs(vectors))
    found = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    planted = list(zip(sources[alike].tolist(), copies[alike].tolist(), strict=True))
    recall = sum(pair in found for pair in planted) / len(planted)
    return {"rows": n, "seconds": taken, "pairs": len(pairs), "gigabytes": _peak(), "recall": recall}


def measure_audit(n: int) -> dict[str, Any]:
    """Time and memory of all checks of texts with authors, times and a split."""
    import unseen

    draw = np.random.default_rng(1)
    columns = {
        "id": [str(row) for row in range(n)], "text": made(n), "label": np.where(draw.random(n) < 0.3, "yes", "no"),
        "user": draw.zipf(1.3, n).clip(0, 200_000).astype(str), "day": draw.integers(0, 1000, n),
        "part": np.where(draw.random(n) < 0.1, "test", "train"),
    }  # fmt: skip
    data = unseen.load(pa.table(columns), id="id", attributes=["user", "day", "part"])
    split = unseen.split(data, "predefined", by="part")
    taken, _ = seconds(lambda: unseen.audit(data, split, author="user", time="day"))
    return {"rows": n, "seconds": taken, "gigabytes": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure_beside(what: str, n: int) -> dict[str, Any]:
    """The pairs that one program finds, as positions in the sorted distinct forms."""
    from unseen.duplicates import near_pairs, normal_forms

    forms = sorted(set(normal_forms(pa.chunked_array([made(n)])).to_pylist()))
    if what == "ours":
        near_pairs(pa.chunked_array([["one text", "another text"]]))
    run = {"ours": _ours, "exact": _exact, "rensa": _rensa, "datasketch": _datasketch}[what]
    called = {"ours": "unseen", "exact": "all 5-grams, exact (Python)"}.get(what) or f"{what} {version(what)}"
    taken, found = processor_seconds(lambda: run(forms))
    return {"what": what, "called": called, "seconds": taken, "found": sorted(found)}


def shingles(text: str) -> set[str]:
    """Its 5-grams; a shorter text is one."""
    return {text[at : at + 5] for at in range(max(1, len(text) - 4))}


def _ours(forms: list[str]) -> set[tuple[int, int]]:
    from unseen.duplicates import near_pairs

    pairs = near_pairs(pa.chunked_array([forms]), THRESHOLD)
    return set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


def _exact(forms: list[str]) -> set[tuple[int, int]]:
    sets = [shingles(form) for form in forms]
    holders: dict[str, list[int]] = defaultdict(list)
    found = set()
    for row, own in enumerate(sets):
        shared: dict[int, int] = defaultdict(int)
        for shingle in own:
            for other in holders[shingle]:
                shared[other] += 1
            holders[shingle].append(row)
        found |= {(other, row) for other, n in shared.items() if n / (len(own) + len(sets[other]) - n) >= THRESHOLD}
    return found


def _rensa(forms: list[str]) -> set[tuple[int, int]]:
    from rensa import RMinHash, RMinHashLSH

    index, hashes = RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16), []
    for row, form in enumerate(forms):
        hashed = RMinHash(num_perm=128, seed=42)
        hashed.update(list(shingles(form)))
        index.insert(row, hashed)
        hashes.append(hashed)
    return {(other, row) for row, hashed in enumerate(hashes) for other in index.query(hashed) if other < row}


def _datasketch(forms: list[str]) -> set[tuple[int, int]]:
    from datasketch import MinHash, MinHashLSH

    index, found = MinHashLSH(threshold=THRESHOLD, num_perm=128), set()
    for row, form in enumerate(forms):
        hashed = MinHash(num_perm=128, seed=42)
        hashed.update_batch([shingle.encode() for shingle in shingles(form)])
        found |= {(other, row) for other in index.query(hashed)}
        index.insert(row, hashed)
    return found


if __name__ == "__main__":
    if len(sys.argv) == 3:
        kind, rows = sys.argv[1], int(sys.argv[2])
        measures = {"texts": measure_texts, "vectors": measure_vectors, "audit": measure_audit}
        print(json.dumps(measures[kind](rows) if kind in measures else measure_beside(kind, rows)))
    else:
        main()
