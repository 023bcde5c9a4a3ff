"""What is in a file: its format, by its ending and its first bytes, and its bytes as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import mmap
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from unseen.errors import InputError, TableError
from unseen.store.files import missing_file

BLOCK = 1 << 22
HEAD = 1 << 20
MOST_TIMES = 200
"""How many times its size a gzip file may unpack to, at any point of it; text has 3 to 20 times, a bomb a thousand."""
ANYWAY = 1 << 26
"""Bytes that any file may unpack to."""
UTF8_MARK = b"\xef\xbb\xbf"
FORMATS = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
READABLE = "CSV, TSV, JSONL or Parquet; the first three also as .gz"
PARQUET = "a Parquet file"
FOREIGN = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"PK\x03\x04": "a zip archive (an .xlsx workbook is one)",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old Office document (.xls)",
    b"\x7fELF": "a program (ELF)",
    b"MZ\x90\x00": "a program (Windows)",
    b"%PDF-": "a PDF document",
    b"SQLite format 3\x00": "an SQLite database",
    b"ARROW1\x00\x00": "an Arrow file (Feather)",
    b"BZh91AY&SY": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x02": "a Python pickle, which is never loaded",
    b"\x80\x03": "a Python pickle, which is never loaded",
    b"\x80\x04\x95": "a Python pickle, which is never loaded",
    b"\x80\x05\x95": "a Python pickle, which is never loaded",
    b"\x1f\x8b": "compressed with gzip",
    b"PAR1": PARQUET,
}
WIDE_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


@dataclass(frozen=True)
class File:
    """A readable file of a known format."""

    path: Path
    format: str
    """`delimited`, `json` or `parquet`."""
    gzipped: bool
    encoding: str

    def open(self) -> BinaryIO:
        """The text as UTF-8: decompressed, recoded, without byte order mark."""
        stream: BinaryIO = io.BufferedReader(Unpacked(self.path)) if self.gzipped else self.path.open("rb")
        if self.encoding != "utf-8":
            stream = io.BufferedReader(Recoded(stream, self.encoding, self.path))
        if stream.peek(3)[:3] == UTF8_MARK:  # type: ignore[attr-defined]
            stream.read(3)
        return stream

    def head(self) -> bytes:
        """The first megabyte of the text."""
        with self.open() as stream:
            return stream.read(HEAD)

    def blocks(self) -> Iterator[bytes]:
        """The text, a few megabytes at a time."""
        with self.open() as stream:
            while block := stream.read(BLOCK):
                yield block

    @contextmanager
    def content(self) -> Iterator[bytes | mmap.mmap]:
        """The whole text, for a second look; mapped where the file is the text itself."""
        with self.open() as stream:
            if self.gzipped or self.encoding != "utf-8" or stream.tell():
                yield stream.read()
                return
        with self.path.open("rb") as plain, mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield mapped


class _Stream(io.RawIOBase):
    """A stream that is read through another one and closes it with itself."""

    def __init__(self, raw: BinaryIO | gzip.GzipFile, path: Path) -> None:
        self._raw, self._path = raw, path

    def readable(self) -> bool:
        """True."""
        return True

    def close(self) -> None:
        """Close the stream beneath, too."""
        self._raw.close()
        super().close()


class Unpacked(_Stream):
    """What a gzip file holds, read no further than a file of text can go."""

    def __init__(self, path: Path) -> None:
        self._packed, self._count = path.open("rb"), 0
        super().__init__(gzip.GzipFile(fileobj=self._packed), path)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes; 0 at the end."""
        size: int = self._raw.readinto(buffer)  # type: ignore[union-attr]
        self._count += size
        packed = self._packed.tell()
        if self._count > max(ANYWAY, MOST_TIMES * packed):  # at once, not after a reader has parsed most of a bomb
            raise TableError(
                f"{self._path} unpacks to more than {MOST_TIMES} times its size",
                got=f"{self._count:,} bytes from the first {packed:,}",
                fix="if it is meant so, unpack it (gunzip) and give that file",
            )
        return size

    def close(self) -> None:
        """Close the file as well."""
        super().close()
        self._packed.close()


class Recoded(_Stream):
    """A stream of another encoding, read as UTF-8; what cannot be decoded is a TableError with its line."""

    def __init__(self, raw: BinaryIO, encoding: str, path: Path) -> None:
        super().__init__(raw, path)
        self._encoding, self._decoder = encoding, codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._line = 1

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes; 0 at the end."""
        while not self._ready:
            block = self._raw.read(1 << 16)
            self._ready = self._decoded(block)
            if not block:
                break
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _decoded(self, block: bytes) -> bytes:
        try:
            text = self._decoder.decode(block, final=not block)
            self._line += text.count("\n")
            return text.encode("utf-8")
        except UnicodeError as cause:
            line = self._line
            if isinstance(cause, UnicodeDecodeError):
                line += cause.object[: cause.start].decode(self._encoding, "replace").count("\n")
            raise TableError(
                f"{self._path} is not encoded in {self._encoding}",
                problems=[f"line {line}: {cause}"],
                fix="name the encoding the file was written in: encoding=…",
            ) from cause


def known_encoding(encoding: str) -> str:
    """The standard name of a text encoding; `utf-8` for every spelling of it."""
    try:
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)
        name = codecs.lookup(encoding).name
    except LookupError as cause:
        raise InputError(
            f"no encoding is called {encoding!r}",
            expected="a text encoding that Python knows, e.g. utf-8, cp1252, utf-16",
        ) from cause
    return "utf-8" if name in ("utf-8", "utf-8-sig") else name


def recognise(path: Path, encoding: str = "utf-8") -> File:
    """The file at `path` with its format; refuses what holds no table."""
    encoding = known_encoding(encoding)
    if path.is_dir():
        readable = sorted(file.name for file in path.iterdir() if _format_by_name(file.name.removesuffix(".gz")))
        advice = f"name a file in it, e.g. {', '.join(readable[:5])}" if readable else "name a file"
        raise InputError(f"{path} is a folder", expected=f"one file: {READABLE}", fix=advice)
    if not path.exists():
        raise missing_file(path, READABLE)
    if not path.is_file():
        raise InputError(f"{path} is not a file that can be read twice", fix="save it as a file first")
    first = _first_bytes(path)
    gzipped = first.startswith(b"\x1f\x8b")
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    by_name = _format_by_name(inner.name.lower())
    if inner is not path and not gzipped:
        raise InputError(f"{path} is not compressed with gzip, as its ending says", fix=f"rename it to {inner.name}")
    if gzipped and inner is path and by_name:
        raise InputError(f"{path} is compressed with gzip", fix=f"rename it to {path.name}.gz")
    if gzipped:
        with gzip.open(path) as stream:
            first = stream.read(len(first) + HEAD)
    if not first:
        raise TableError(f"{path} is empty", expected="a line of column names, then rows", got="no bytes")
    wide = next((name for mark, name in WIDE_MARKS.items() if first.startswith(mark)), None)
    if wide and encoding == "utf-8":
        raise TableError(
            f"{path} is encoded in {wide.upper()}",
            expected="UTF-8",
            got=f"a {wide.upper()} byte order mark on line 1",
            fix=f"encoding={wide!r}",
        )
    return File(path, _format(path, first, by_name, gzipped), gzipped, encoding)


def _format_by_name(name: str) -> str | None:
    return FORMATS.get(Path(name).suffix)


def _format(path: Path, first: bytes, by_name: str | None, gzipped: bool) -> str:
    foreign = _foreign(first)
    if foreign == PARQUET and by_name in (None, "parquet") and not gzipped:
        return "parquet"
    if foreign:
        raise InputError(f"{path} cannot be read as a table", expected=READABLE, got=foreign, fix="export it as CSV")
    if by_name == "parquet":
        raise InputError(
            f"{path} is not a Parquet file",
            expected="a file that starts with PAR1" + ", not compressed" * gzipped,
            got=repr(first[:8]),
            fix="rename it if it is CSV or JSONL",
        )
    if by_name:
        return by_name
    return "json" if first.removeprefix(UTF8_MARK).lstrip()[:1] in (b"{", b"[") else "delimited"


def foreign_format(path: Path) -> str | None:
    """What a file is, by its first bytes, that is certainly no text."""
    with reading(path):
        return _foreign(_first_bytes(path))


def _foreign(first: bytes) -> str | None:
    return next((name for mark, name in FOREIGN.items() if first.startswith(mark)), None)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What goes wrong between the disk and us, as an InputError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        raise InputError(
            f"{path} is a damaged gzip file", got=str(cause), fix="copy or download it again; it may be cut short"
        ) from cause
    except PermissionError as cause:
        raise InputError(f"{path} may not be read", got=str(cause), fix="ask for permission to read it") from cause
    except OSError as cause:
        raise InputError(f"{path} cannot be read", got=str(cause), fix="check the disk and the path") from cause
