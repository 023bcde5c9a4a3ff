"""Archives from elsewhere, unpacked without trusting what they say about themselves."""

from __future__ import annotations

import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from unseen.errors import FetchError

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
