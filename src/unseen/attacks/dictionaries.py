"""Files that attacks take words from: pairs of words, WordNet's dictionary, parts of speech.

They are given by path and only read: nothing of a package is installed or run.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from unseen.errors import InputError
from unseen.store.files import door

Words = Mapping[str, tuple[str, ...]]
PARTS = ("noun", "verb", "adj", "adv")
ENDINGS = {
    "noun": (
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
"""How WordNet's own search takes inflected words back to those of the dictionary."""
NEEDED = {f"{kind}.{part}" for kind in ("data", "index") for part in PARTS}
LARGEST = 200_000_000
"""Bytes of the dictionary, at most."""


def read_pairs(path: str | Path) -> Words:
    """The partners of each word, from a file with two words on each line."""
    partners: dict[str, dict[str, None]] = defaultdict(dict)
    with door(path, "pairs of words"), Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if len(words) not in (0, 2):
                raise InputError(f"line {number} of {path} is no pair of words", got=line.strip()[:80])
            if words and words[0] != words[1]:
                partners[words[0]][words[1]] = None
                partners[words[1]][words[0]] = None
    if not partners:
        raise InputError(f"{path} has no pairs of words", expected="two words on each line")
    return {word: tuple(others) for word, others in partners.items()}


def read_tags(path: str | Path) -> Words:
    """Parts of speech of words, by the Penn Treebank's names: on each line a word and its tags; `;;;` is a comment."""
    tags: dict[str, tuple[str, ...]] = {}
    with door(path, "parts of speech"), Path(path).open(encoding="utf-8") as file:
        for line in file:
            word, *of_word = line.split() if not line.startswith(";;;") else [""]
            if word and of_word:
                tags[word] = tuple(dict.fromkeys((*tags.get(word, ()), *of_word)))
    if not tags:
        raise InputError(f"{path} has no parts of speech", expected="a word and its tags on each line")
    return tags


class WordNet:
    """The files of WordNet's dictionary (`data.noun`, `index.noun` …): a folder, or an archive that holds them."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        folders: dict[Path, dict[str, bytes]] = defaultdict(dict)
        with door(self.path, "WordNet's dictionary"):
            for file, content in _dictionary_files(self.path):
                folders[file.parent][file.name] = content
        whole = [folder for folder in sorted(folders) if folders[folder].keys() >= NEEDED]
        if not whole:
            raise InputError(
                f"{path} does not hold WordNet's dictionary", expected=", ".join(sorted(NEEDED)),
                fix="the folder 'dict' of WordNet, or an archive with it (.tar.gz, .tgz, .zip, .whl)",
            )  # fmt: skip
        self._files = folders[whole[-1]]  # of several versions the newest

    def synonyms(self, word: str) -> list[str]:
        """Single words that share a meaning with it, in the order of its meanings."""
        own = word.lower()
        shared = [other for part, synset in self._meanings(own) for other in self._synset(part, synset)]
        return [other for other in dict.fromkeys(shared) if "_" not in other and other.lower() != own]

    def _meanings(self, word: str) -> Iterator[tuple[str, int]]:
        """The meanings of the words that it may be an inflection of, with their parts of speech."""
        for part in PARTS:
            irregular = self._irregular[part].get(word, ())
            for lemma in dict.fromkeys([*_bases(word, part), *irregular]):
                for synset in self._index[part].get(lemma, ()):
                    yield part, synset

    @cached_property
    def _index(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Where the meanings of each word stand, by part of speech."""
        index: dict[str, dict[str, tuple[int, ...]]] = {}
        with door(self.path, "WordNet's dictionary"):
            for part in PARTS:
                lines = self._files[f"index.{part}"].decode("utf-8").splitlines()
                fields = [line.split() for line in lines if line and not line.startswith(" ")]
                index[part] = {line[0]: tuple(map(int, line[-int(line[2]) :])) for line in fields}
        return index

    @cached_property
    def _irregular(self) -> dict[str, dict[str, list[str]]]:
        """Inflected words that follow no rule, where the dictionary has lists of them."""
        with door(self.path, "WordNet's dictionary"):
            lists = {part: self._files.get(f"{part}.exc", b"").decode("utf-8").splitlines() for part in PARTS}
        return {
            part: {line.split()[0]: line.split()[1:] for line in lines if line.strip()} for part, lines in lists.items()
        }

    @cached_property
    def _lines(self) -> dict[str, dict[int, str]]:
        """The line of each meaning by the number that it begins with: places in the file, unless somebody edited it."""
        with door(self.path, "WordNet's dictionary"):
            lines = {part: self._files[f"data.{part}"].decode("utf-8").splitlines() for part in PARTS}
            return {
                part: {int(line[:8]): line for line in of_part if line[:8].isdigit()} for part, of_part in lines.items()
            }

    def _synset(self, part: str, offset: int) -> list[str]:
        """The words of a meaning."""
        with door(self.path, "WordNet's dictionary"):
            fields = self._lines[part][offset].split(" | ")[0].split()
            return [word.partition("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]


def _bases(word: str, part: str) -> list[str]:
    """The word, and what it may be an inflection of."""
    cut = [word[: -len(end)] + base for end, base in ENDINGS[part] if word.endswith(end) and len(word) > len(end)]
    return list(dict.fromkeys([word, *cut]))


def _dictionary_files(path: Path) -> Iterator[tuple[Path, bytes]]:
    """The files of the dictionary, wherever in a folder or an archive they lie."""
    names = NEEDED | {f"{part}.exc" for part in PARTS}
    if path.is_dir():
        for file in path.rglob("*"):
            if file.name in names and file.stat().st_size <= LARGEST:
                yield file, file.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as zipped:
            for entry in zipped.infolist():
                if Path(entry.filename).name in names and entry.file_size <= LARGEST:
                    yield Path(entry.filename), zipped.read(entry)
    else:
        with tarfile.open(path) as tarred:
            for member in tarred:
                if member.isfile() and Path(member.name).name in names and member.size <= LARGEST:
                    content = tarred.extractfile(member)
                    assert content is not None
                    yield Path(member.name), content.read()
