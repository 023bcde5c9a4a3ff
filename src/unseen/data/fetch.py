"""Download the files of a known dataset: resumed, checked, and whole or not there.

Archives are unpacked without trusting what they say about themselves.
"""

from __future__ import annotations

import asyncio
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import urljoin, urlsplit

import httpx

from unseen.data.catalogue import CardFile, CatalogueCard, copy_of, data_folder, locate, recorded_sha256
from unseen.data.web import TRANSIENT, new_client, reason, wait_for
from unseen.errors import FetchError, UnseenWarning
from unseen.store import sha256_of, write_text

MOST_FILES = 200_000
MOST_BYTES = 4 * 2**30
MOST_HEADER_BYTES = 1 << 24
"""Of all extended headers of a tar archive, which are read into memory before a member has a name."""
BLOCK = 1 << 20
EXTENDED = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)
"""What reading a damaged archive raises; the last is zipfile's for an encrypted one, or an unknown compression."""
ATTEMPTS = 4
PAUSE = 1.0
"""Seconds before the second attempt; doubled before each further one."""
TIMEOUT = 30.0
"""Seconds for the head of an answer, and between two bytes."""
SLOWEST = 1_000
"""Bytes per second, on average, below which an attempt is given up once it has lasted TIMEOUT."""
LARGEST = 4 * 2**30
"""Bytes at which a download of unannounced size is given up."""
NOTHING_LEFT = 416
"""Status that says that the range which was asked for is not in the file."""
Progress = Callable[[str, int, int | None], None]
"""Called with the name of a file, its bytes so far and in total (None when the server does not say)."""


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a zip or tar `archive` so that its members lie in `folder`; what was in `folder` before is replaced.

    Refuses, before `folder` is touched, an archive with a member outside the folder, a link, a device, more than
    MOST_FILES members or more than MOST_BYTES of content, as counted while unpacking.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        _write_members(archive, fresh)
        fresh.chmod(0o755)
        _replace(fresh, folder)
    except BROKEN as cause:
        raise FetchError(f"{archive} cannot be unpacked: {cause}", fix="delete it and fetch it again") from cause
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _write_members(archive: Path, folder: Path) -> None:
    left = MOST_BYTES
    with _members(archive) as members:
        for count, (name, content) in enumerate(members, 1):
            if count > MOST_FILES:
                raise FetchError(f"{archive} holds more than {MOST_FILES} files", expected="a dataset, not a bomb")
            place = folder / safe_name(name, archive)
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                while block := content.read(BLOCK):
                    left -= len(block)
                    if left < 0:
                        raise FetchError(f"{archive} unpacks to more than {MOST_BYTES} bytes")
                    file.write(block)


def safe_name(name: str, archive: Path) -> PurePosixPath:
    """The name of a member as a path inside a folder; refuses one that leads out of it."""
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name:
        raise FetchError(
            f"{archive} holds a member that would be written outside its folder",
            got=repr(name),
            fix="do not use this archive",
        )
    return path


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Name and content of each regular file in `archive`."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened_zip:
            yield _zip_members(opened_zip, archive)
    else:
        with _open_tar(archive) as opened_tar:
            yield _tar_members(opened_tar, archive)


def _open_tar(archive: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(archive, tarinfo=_Member)
    except tarfile.ReadError as cause:
        raise FetchError(f"{archive} is neither a zip nor a tar archive") from cause


class _Member(tarfile.TarInfo):
    """A member whose extended headers, together with those before it, fit into memory."""

    def _proc_member(self, tarfile_: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in EXTENDED:
            tarfile_.header_bytes = getattr(tarfile_, "header_bytes", 0) + self.size  # type: ignore[attr-defined]
            if tarfile_.header_bytes > MOST_HEADER_BYTES:  # type: ignore[attr-defined]
                raise FetchError(
                    f"{tarfile_.name!s} has extended headers of more than {MOST_HEADER_BYTES:,} bytes",
                    fix="do not use this archive",
                )
        return super()._proc_member(tarfile_)  # type: ignore[misc, no-any-return]


def _zip_members(opened: zipfile.ZipFile, archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for member in opened.infolist():
        safe_name(member.filename, archive)
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _not_a_file(archive, member.filename)
        if member.flag_bits & 0x1:
            raise FetchError(f"{archive} is encrypted")
        if not member.is_dir():
            with opened.open(member) as content:
                yield member.filename, content


def _tar_members(opened: tarfile.TarFile, archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for member in opened:
        if member.isdir() and member.name in (".", "./"):
            continue
        safe_name(member.name, archive)
        if not (member.isfile() or member.isdir()):
            raise _not_a_file(archive, member.name)
        content = opened.extractfile(member) if member.isfile() else None
        if content is not None:
            with content:
                yield member.name, content


def _not_a_file(archive: Path, name: str) -> FetchError:
    return FetchError(
        f"{archive} holds a link or a device", expected="files and folders", got=repr(name), fix="do not use it"
    )


def _replace(fresh: Path, folder: Path) -> None:
    """Put `fresh` where `folder` is, so that at no moment a half-filled folder has that name."""
    old = fresh.with_name(f"{fresh.name}.old")
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def fetch(card: CatalogueCard, data_dir: str | Path | None = None, progress: Progress | None = None) -> list[Path]:
    """Download what `card` lists and is not there yet; gives the paths of all its files that are there.

    A file that is there stays, unless it differs from a checksum that is known: then a good download replaces it.
    Where no checksum is known, warns, and notes the one it got in `NAME.sha256`, so that a later change is noticed.
    An archive is not downloaded when the texts are there in another form.
    """
    folder = data_folder(data_dir)
    public = [file for file in card.files if file.url]
    if not public and not locate(card, folder):
        raise FetchError(f"{card.name} cannot be downloaded: access is {card.access}", fix=card.instructions)
    for file in public:
        if not (file.unpack and _has_texts(card, folder)):
            fetch_file(file, folder, progress)
    if card.instructions and not _has_texts(card, folder):
        warnings.warn(f"the texts of {card.name} are still missing. {card.instructions}", UnseenWarning, stacklevel=2)
    return locate(card, folder)


def _has_texts(card: CatalogueCard, folder: Path) -> bool:
    return any(file.default and (folder / file.path).is_file() for file in card.files)


def fetch_file(file: CardFile, folder: Path, progress: Progress | None = None) -> Path:
    """Download one file into `folder` unless it is there and right, and unpack it if it is an archive."""
    for name in (file.path, file.unpack):
        _refuse_climbing(folder, name)
    target = folder / file.path
    fresh = copy_of(file, folder).state in ("absent", "changed")
    if fresh:
        _download(file, inside(folder, file.path), inside(folder, f"{file.path}.part"), progress)
    if file.unpack and (fresh or not (folder / file.unpack).is_dir()):
        unpack(target, inside(folder, file.unpack))
    return target


def inside(folder: Path, name: str) -> Path:
    """The path of `name` in `folder`; refuses one that leads out of it, also through a link."""
    _refuse_climbing(folder, name)
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _outside(folder, name)
    return path


def _refuse_climbing(folder: Path, name: str | None) -> None:
    relative = PurePosixPath(name or "nothing")
    if relative.is_absolute() or ".." in relative.parts or not relative.parts or "\\" in str(relative):
        raise _outside(folder, str(name))


def _outside(folder: Path, name: str) -> FetchError:
    return FetchError(f"{name!r} would be written outside {folder}", expected="a path inside the data folder")


def _download(file: CardFile, target: Path, part: Path, progress: Progress | None) -> None:
    """Fill `part`, check it, and put it in the place of `target`."""
    url = str(file.url)
    _refuse_other_schemes(url)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        resumed = _receive(file, url, part, progress)
        problem = _problem(file, target, part)
        if problem and resumed:
            _discard(part)
            _receive(file, url, part, progress)
            problem = _problem(file, target, part)
        if problem:
            _discard(part)
            raise problem
        _keep(file, target, part)
    except OSError as cause:
        raise FetchError(f"cannot write {target}: {cause.strerror or cause}", fix="name another --data-dir") from cause


def _receive(file: CardFile, url: str, part: Path, progress: Progress | None) -> bool:
    """Fill `part`, trying again after errors that may pass; says whether bytes of an earlier run were used."""
    resumed = part.exists()
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            wait_for(_receive_once, file, url, part, progress)
            return resumed
        except httpx.TooManyRedirects as cause:
            raise FetchError(f"{url} redirects for ever", fix=_by_hand(part)) from cause
        except httpx.HTTPStatusError as cause:
            error: Exception = cause
            status, why = cause.response.status_code, cause.response.reason_phrase
            if status not in TRANSIENT:
                raise FetchError(f"{url} answers {status} {why}", fix=_by_hand(part)) from cause
        except httpx.TransportError as cause:
            error, why = cause, reason(cause)
        except (TimeoutError, ConnectionError) as cause:
            error, why = cause, str(cause) or "timed out"
    raise FetchError(
        f"{url} could not be downloaded in {ATTEMPTS} attempts: {why}",
        fix=f"try again, it goes on from {part.name}; {_by_hand(part)}",
    ) from error


async def _receive_once(file: CardFile, url: str, part: Path, progress: Progress | None) -> None:
    """One request, for the bytes that `part` does not have yet."""
    have, tag = _resumable(file, part)
    headers = {"Range": f"bytes={have}-"} if have else {}
    if have and tag:
        headers["If-Range"] = tag
    async with new_client(timeout=TIMEOUT, follow_redirects=True, event_hooks={"response": [check_redirect]}) as client:
        async with asyncio.timeout(TIMEOUT):
            answer = await client.send(client.build_request("GET", url, headers=headers), stream=True)
        if answer.status_code == NOTHING_LEFT:
            if have and answer.headers.get("Content-Range") == f"bytes */{have}":
                return
            _discard(part)
            raise ConnectionError("the server no longer has the part that was asked for")
        answer.raise_for_status()
        if answer.status_code != httpx.codes.PARTIAL_CONTENT or not _continues(answer, have):
            have = 0
        _note_tag(part, answer.headers.get("ETag"))
        length = answer.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else None
        try:
            with part.open("ab" if have else "wb") as out:
                have = await _copy(answer, out, have, total, file, progress)
        except FetchError:
            _discard(part)
            raise
    if part.stat().st_size != have:
        raise FetchError(f"another program writes to {part}", fix="wait for it to finish")


async def check_redirect(answer: httpx.Response) -> None:
    """Refuse a redirect that leads away from the web, or from https to http."""
    if answer.has_redirect_location:
        old, new = str(answer.url), urljoin(str(answer.url), answer.headers["Location"])
        _refuse_other_schemes(new)
        if urlsplit(old).scheme == "https" != urlsplit(new).scheme:
            raise FetchError(f"{old} redirects to {new}, which is not encrypted")


async def _copy(
    answer: httpx.Response, out: IO[bytes], have: int, total: int | None, file: CardFile, progress: Progress | None
) -> int:
    """Write what `answer` holds to `out`; gives the bytes that are there now."""
    most = file.bytes or LARGEST
    if total is not None and total > most:
        raise FetchError(f"{file.url} is larger than it should be", expected=f"{most} bytes", got=f"{total} bytes")
    begun, before = time.monotonic(), have
    try:
        async for block in answer.aiter_raw():
            have += len(block)
            lasted = time.monotonic() - begun
            if lasted > TIMEOUT and have - before < SLOWEST * lasted:
                raise TimeoutError(f"less than {SLOWEST} bytes per second arrive")
            if have > most:
                raise FetchError(f"{file.url} is larger than it should be", expected=f"{most} bytes", got="more")
            out.write(block)
            if progress:
                progress(file.name, have, total or file.bytes)
    except httpx.RemoteProtocolError as cause:
        promised = "" if total is None else f" of {total}"
        raise ConnectionError(f"the connection ended after {have}{promised} bytes") from cause
    out.flush()
    os.fsync(out.fileno())
    return have


def _resumable(file: CardFile, part: Path) -> tuple[int, str | None]:
    """Bytes of `part` that may be kept, and the tag that says of which version they are.

    Without a checksum and without a tag nothing would notice that two versions were glued together.
    """
    try:
        tag = _tag_path(part).read_text(encoding="latin-1").strip() or None
    except OSError:
        tag = None
    have = part.stat().st_size if part.exists() and (file.sha256 or tag) else 0
    return have, tag


def _note_tag(part: Path, tag: str | None) -> None:
    if tag and not tag.startswith("W/"):
        _tag_path(part).write_text(tag, encoding="latin-1")
    else:
        _tag_path(part).unlink(missing_ok=True)


def _tag_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _continues(answer: httpx.Response, have: int) -> bool:
    return answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")


def _problem(file: CardFile, target: Path, part: Path) -> FetchError | None:
    """Why the downloaded `part` must not be used, or None."""
    size, digest = part.stat().st_size, sha256_of(part)
    noted = recorded_sha256(target)
    if file.sha256 and digest != file.sha256:
        return FetchError(
            f"{file.url} is not the file it should be; the download was removed",
            expected=f"sha256 {file.sha256}" + (f", {file.bytes} bytes" if file.bytes else ""),
            got=f"sha256 {digest}, {size} bytes",
            fix=f"try again; if it stays so the public file was changed: get a copy by hand and put it at {target}",
        )
    if not file.sha256 and noted and digest != noted:
        return FetchError(
            f"{file.url} has changed since it was first downloaded; the new download was removed",
            expected=f"sha256 {noted}, noted in {target.name}.sha256",
            got=f"sha256 {digest}, {size} bytes",
            fix=f"delete {target}.sha256 to accept the new version",
        )
    return None


def _keep(file: CardFile, target: Path, part: Path) -> None:
    digest = sha256_of(part)
    part.replace(target)
    _discard(part)
    if not file.sha256 and recorded_sha256(target) is None:
        write_text(target.with_name(f"{target.name}.sha256"), f"{digest}  {target.name}\n")
        warnings.warn(
            f"no checksum is known for {file.url}: {target.name} could not be verified; "
            f"its sha256 {digest} is noted in {target.name}.sha256, so that a later change is noticed",
            UnseenWarning,
            stacklevel=2,
        )


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _tag_path(part).unlink(missing_ok=True)


def _by_hand(part: Path) -> str:
    return f"or put the file at {part.with_suffix('')} by hand"


def _refuse_other_schemes(url: str) -> None:
    if urlsplit(url).scheme not in ("http", "https"):
        raise FetchError(f"{url!r} is not a web address", expected="http:// or https://")
