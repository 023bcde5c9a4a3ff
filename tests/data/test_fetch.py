"""Downloads, against a real server on this machine."""

from __future__ import annotations

import asyncio
import hashlib
import io
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from unseen.data import fetch
from unseen.data.catalogue import CardFile, CatalogueCard, copy_of
from unseen.errors import FetchError, UnseenWarning

BODY = bytes(range(256)) * 4096
SHA = hashlib.sha256(BODY).hexdigest()

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Site:
    """A server whose answers are given one by one; the last is repeated."""

    address: str = ""
    answers: list[Answer] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(fetch, "PAUSE", 0.01)
    monkeypatch.setattr(fetch, "TIMEOUT", 5.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.ranges.append(self.headers.get("Range"))
            site.next_answer()(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}/data.bin"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


def whole(body: bytes = BODY, etag: str | None = None) -> Answer:
    """A server that knows no ranges."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        if etag:
            request.send_header("ETag", etag)
        request.end_headers()
        request.wfile.write(body)

    return answer


def ranged(body: bytes = BODY, etag: str | None = None) -> Answer:
    """A server that goes on where it was asked to, if the version is still the same."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked, version = request.headers.get("Range"), request.headers.get("If-Range")
        if asked is None or (version and version != etag):
            whole(body, etag)(request)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(body)}")
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        request.send_response(206)
        request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        request.send_header("Content-Length", str(len(body) - start))
        if etag:
            request.send_header("ETag", etag)
        request.end_headers()
        request.wfile.write(body[start:])

    return answer


def broken(after: int, body: bytes = BODY, etag: str | None = None) -> Answer:
    """A server that promises all of `body` and hangs up early."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        if etag:
            request.send_header("ETag", etag)
        request.end_headers()
        request.wfile.write(body[:after])

    return answer


def status(code: int, location: str | None = None) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        request.send_header("Content-Length", "0")
        if location:
            request.send_header("Location", location)
        request.end_headers()

    return answer


def card_of(*files: CardFile, access: str = "public") -> CatalogueCard:
    about = ("toy", "Toy", "t", "en", "h", "MIT", "c", access, 1, ("a", "b"), files)
    return CatalogueCard(*about, instructions="" if access == "public" else "ask the owner")


def known(site: Site, **changes: object) -> CardFile:
    return replace(CardFile("toy/data.bin", url=site.address, sha256=SHA, bytes=len(BODY)), **changes)


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_good_file_is_kept_and_progress_reaches_its_size(site: Site, tmp_path: Path) -> None:
    site.answers = [whole()]
    seen: list[tuple[str, int, int | None]] = []
    paths = fetch.fetch(card_of(known(site)), tmp_path, lambda *event: seen.append(event))
    assert paths == [tmp_path / "toy/data.bin"]
    assert paths[0].read_bytes() == BODY
    assert seen[-1] == ("data.bin", len(BODY), len(BODY))
    assert leftovers(tmp_path) == ["data.bin"]


def test_file_that_is_there_and_right_is_not_asked_for(site: Site, tmp_path: Path) -> None:
    site.answers = [status(500)]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin").write_bytes(BODY)
    assert fetch.fetch(card_of(known(site)), tmp_path) == [tmp_path / "toy/data.bin"]
    assert site.ranges == []


def test_local_copy_that_differs_from_the_public_file_is_not_replaced(site: Site, tmp_path: Path) -> None:
    site.answers = [whole()]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin").write_bytes(b"masked")
    file = known(site, sha256=None, bytes=None, local_sha256=hashlib.sha256(b"masked").hexdigest())
    fetch.fetch(card_of(file), tmp_path)
    assert site.ranges == []
    assert copy_of(file, tmp_path).state == "local copy"


def test_broken_connection_is_resumed(site: Site, tmp_path: Path) -> None:
    site.answers = [broken(300_000), ranged()]
    path = fetch.fetch_file(known(site), tmp_path)
    assert path.read_bytes() == BODY
    assert site.ranges == [None, "bytes=300000-"]


def test_part_of_an_earlier_run_is_resumed(site: Site, tmp_path: Path) -> None:
    site.answers = [ranged()]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin.part").write_bytes(BODY[:1000])
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY
    assert site.ranges == ["bytes=1000-"]


def test_server_without_ranges_starts_again(site: Site, tmp_path: Path) -> None:
    site.answers = [broken(1000), whole()]
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY
    assert site.ranges == [None, "bytes=1000-"]


def test_complete_part_is_used_when_the_server_says_nothing_is_left(site: Site, tmp_path: Path) -> None:
    site.answers = [ranged()]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin.part").write_bytes(BODY)
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY
    assert site.ranges == [f"bytes={len(BODY)}-"]


def test_part_longer_than_the_file_is_thrown_away(site: Site, tmp_path: Path) -> None:
    site.answers = [ranged()]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin.part").write_bytes(BODY + b"more")
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY
    assert site.ranges == [f"bytes={len(BODY) + 4}-", None]


def test_stale_part_that_spoils_the_checksum_is_thrown_away(site: Site, tmp_path: Path) -> None:
    site.answers = [ranged()]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin.part").write_bytes(b"x" * 1000)
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY
    assert site.ranges == ["bytes=1000-", None]


def test_without_checksum_versions_are_not_glued_together(site: Site, tmp_path: Path) -> None:
    newer = BODY[::-1]
    site.answers = [broken(1000, etag='"old"'), ranged(newer, etag='"new"')]
    with pytest.warns(UnseenWarning):
        path = fetch.fetch_file(known(site, sha256=None, bytes=None), tmp_path)
    assert path.read_bytes() == newer


def test_without_checksum_and_tag_nothing_is_resumed(site: Site, tmp_path: Path) -> None:
    site.answers = [broken(1000), ranged()]
    with pytest.warns(UnseenWarning):
        fetch.fetch_file(known(site, sha256=None, bytes=None), tmp_path)
    assert site.ranges == [None, None]


def test_always_truncated_file_is_refused_and_its_part_kept(site: Site, tmp_path: Path) -> None:
    site.answers = [broken(1000)]
    with pytest.raises(FetchError, match=r"4 attempts.*1000 of 1048576 bytes"):
        fetch.fetch_file(known(site), tmp_path)
    assert leftovers(tmp_path) == ["data.bin.part"]


def test_tampered_file_is_removed_and_the_old_one_stays(site: Site, tmp_path: Path) -> None:
    tampered = b"!" + BODY[1:]
    site.answers = [whole(tampered)]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin").write_bytes(b"what was there")
    with pytest.raises(FetchError) as error:
        fetch.fetch_file(known(site), tmp_path)
    assert SHA in str(error.value.expected)
    assert hashlib.sha256(tampered).hexdigest() in str(error.value.got)
    assert (tmp_path / "toy/data.bin").read_bytes() == b"what was there"
    assert leftovers(tmp_path) == ["data.bin"]


def test_changed_file_is_replaced_by_a_good_download(site: Site, tmp_path: Path) -> None:
    site.answers = [whole()]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin").write_bytes(b"what was there")
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY


def test_larger_file_than_promised_is_given_up(site: Site, tmp_path: Path) -> None:
    site.answers = [whole(BODY * 2)]
    seen: list[int] = []
    with pytest.raises(FetchError, match="larger than it should be"):
        fetch.fetch_file(known(site), tmp_path, lambda name, done, total: seen.append(done))
    assert seen == []
    assert leftovers(tmp_path) == []


def test_larger_file_of_unannounced_size_is_given_up(site: Site, tmp_path: Path) -> None:
    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(BODY * 2)

    site.answers = [endless]
    with pytest.raises(FetchError, match="larger than it should be"):
        fetch.fetch_file(known(site), tmp_path)
    assert leftovers(tmp_path) == []


def test_server_that_sends_a_byte_now_and_then_is_given_up(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", 0.3)
    monkeypatch.setattr(fetch, "ATTEMPTS", 2)

    def dripping(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(BODY)))
        request.end_headers()
        with suppress(OSError):  # the client hung up
            for _ in range(40):
                request.wfile.write(b"x")
                request.wfile.flush()
                time.sleep(0.1)

    site.answers = [dripping]
    begun = time.monotonic()
    with pytest.raises(FetchError, match="bytes per second"):
        fetch.fetch_file(known(site), tmp_path)
    assert time.monotonic() - begun < 3


def test_head_that_never_ends_is_given_up(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", 0.3)
    monkeypatch.setattr(fetch, "ATTEMPTS", 2)

    def dripping(request: BaseHTTPRequestHandler) -> None:
        with suppress(OSError):  # the client hung up
            for letter in b"HTTP/1.0 200 OK\r\nX: " + b"x" * 40:
                request.wfile.write(bytes([letter]))
                request.wfile.flush()
                time.sleep(0.1)

    site.answers = [dripping]
    begun = time.monotonic()
    with pytest.raises(FetchError, match="2 attempts: timed out"):
        fetch.fetch_file(known(site), tmp_path)
    assert time.monotonic() - begun < 3


def test_missing_file_is_said_at_once(site: Site, tmp_path: Path) -> None:
    site.answers = [status(404)]
    with pytest.raises(FetchError, match="answers 404") as error:
        fetch.fetch_file(known(site), tmp_path)
    assert len(site.ranges) == 1
    assert str(tmp_path / "toy/data.bin") in str(error.value.fix)


def test_server_error_is_tried_again(site: Site, tmp_path: Path) -> None:
    site.answers = [status(500), status(503), whole()]
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY
    assert len(site.ranges) == 3


def test_attempts_are_limited(site: Site, tmp_path: Path) -> None:
    site.answers = [status(500)]
    with pytest.raises(FetchError, match="4 attempts"):
        fetch.fetch_file(known(site), tmp_path)
    assert len(site.ranges) == 4


def test_unreachable_server_is_a_fetch_error(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "ATTEMPTS", 2)
    with pytest.raises(FetchError, match=r"2 attempts: \[Errno \d+\] Connect call failed"):
        fetch.fetch_file(known(site, url="http://127.0.0.1:9/data.bin"), tmp_path)


def test_proxy_of_the_environment_is_asked(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.answers = [whole()]
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", site.address.removesuffix("/data.bin"))
    assert fetch.fetch_file(known(site, url="http://data.invalid/data.bin"), tmp_path).read_bytes() == BODY


def test_proxy_that_cannot_be_used_is_said(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "gopher://me:sesame@127.0.0.1")
    with pytest.raises(FetchError, match="the proxy that the environment names cannot be used") as error:
        fetch.fetch_file(known(site), tmp_path)
    assert "sesame" not in str(error.value)


def test_redirect_to_another_web_address_is_followed(site: Site, tmp_path: Path) -> None:
    site.answers = [status(302, "/elsewhere"), whole()]
    assert fetch.fetch_file(known(site), tmp_path).read_bytes() == BODY


def test_redirects_for_ever_are_said_at_once(site: Site, tmp_path: Path) -> None:
    site.answers = [status(302, "/elsewhere")]
    with pytest.raises(FetchError, match="redirects for ever"):
        fetch.fetch_file(known(site), tmp_path)
    assert len(site.ranges) < 30


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:,x"])
def test_redirect_away_from_the_web_is_refused(site: Site, tmp_path: Path, code: int, location: str) -> None:
    site.answers = [status(code, location)]
    with pytest.raises(FetchError, match="not a web address"):
        fetch.fetch_file(known(site, sha256=None), tmp_path)
    assert leftovers(tmp_path) == []


def test_address_that_is_not_of_the_web_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="not a web address"):
        fetch.fetch_file(CardFile("toy/data.bin", url="file:///etc/hostname"), tmp_path)


def test_redirect_from_https_to_http_is_refused() -> None:
    request = httpx.Request("GET", "https://example.org/a")
    answer = httpx.Response(302, headers={"Location": "http://example.org/a"}, request=request)
    with pytest.raises(FetchError, match="not encrypted"):
        asyncio.run(fetch.check_redirect(answer))


@pytest.mark.parametrize("name", ["../data.bin", "toy/../../data.bin", "/tmp/data.bin", "toy\\..\\data.bin", "."])
def test_path_that_leaves_the_folder_is_refused(site: Site, tmp_path: Path, name: str) -> None:
    site.answers = [whole()]
    with pytest.raises(FetchError, match="would be written outside"):
        fetch.fetch_file(known(site, path=name), tmp_path / "data")
    assert site.ranges == []


@pytest.mark.parametrize("up", ["../", "toy/../../", ""])
def test_path_that_leaves_the_folder_is_refused_when_a_file_is_there(tmp_path: Path, up: str) -> None:
    (tmp_path / "data.bin").write_bytes(BODY)
    (tmp_path / "data/toy").mkdir(parents=True)
    name = f"{up}data.bin" if up else str(tmp_path / "data.bin")
    with pytest.raises(FetchError, match="would be written outside"):
        fetch.fetch_file(CardFile(name, url="http://127.0.0.1:9/"), tmp_path / "data")


@pytest.mark.parametrize("linked", ["toy", "toy/data.bin", "toy/data.bin.part"])
def test_link_that_leaves_the_folder_is_refused(site: Site, tmp_path: Path, linked: str) -> None:
    site.answers = [whole()]
    outside = tmp_path / "outside"
    outside.mkdir()
    link = tmp_path / "data" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if linked == "toy" else outside / "other")
    with pytest.raises(FetchError, match="would be written outside"):
        fetch.fetch_file(known(site), tmp_path / "data")
    assert leftovers(outside) == []


def test_unknown_checksum_is_said_and_noted(site: Site, tmp_path: Path) -> None:
    site.answers = [whole()]
    file = known(site, sha256=None, bytes=None)
    with pytest.warns(UnseenWarning, match="no checksum is known"):
        fetch.fetch_file(file, tmp_path)
    assert (tmp_path / "toy/data.bin.sha256").read_text() == f"{SHA}  data.bin\n"
    assert copy_of(file, tmp_path).state == "as fetched"
    assert fetch.fetch_file(file, tmp_path).read_bytes() == BODY
    assert len(site.ranges) == 1


def test_later_change_of_a_file_without_checksum_is_noticed(site: Site, tmp_path: Path) -> None:
    site.answers = [whole(), whole(b"another")]
    file = known(site, sha256=None, bytes=None)
    with pytest.warns(UnseenWarning):
        fetch.fetch_file(file, tmp_path)
    (tmp_path / "toy/data.bin").unlink()
    with pytest.raises(FetchError, match="has changed since"):
        fetch.fetch_file(file, tmp_path)
    assert leftovers(tmp_path) == ["data.bin.sha256"]


def test_two_writers_of_one_part_are_noticed(site: Site, tmp_path: Path) -> None:
    site.answers = [whole()]

    def other_writer(*_: object) -> None:
        with (tmp_path / "toy/data.bin.part").open("ab") as part:
            part.write(b"x" * len(BODY))

    with pytest.raises(FetchError, match="another program"):
        fetch.fetch_file(known(site), tmp_path, other_writer)


def test_data_of_which_only_ids_are_public_says_what_is_missing(site: Site, tmp_path: Path) -> None:
    site.answers = [whole()]
    card = card_of(CardFile("toy/texts.csv", default=True), known(site), access="ids only")
    with pytest.warns(UnseenWarning, match="still missing. ask the owner"):
        assert fetch.fetch(card, tmp_path) == [tmp_path / "toy/data.bin"]
    (tmp_path / "toy/texts.csv").write_text("there")
    assert len(fetch.fetch(card, tmp_path)) == 2


def test_archive_is_left_alone_when_the_texts_are_there(site: Site, tmp_path: Path) -> None:
    archive = archive_file(site, zipped({"one.txt": b"1"}))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/texts.csv").write_text("there")
    assert fetch.fetch(card_of(CardFile("toy/texts.csv", default=True), archive), tmp_path) == [
        tmp_path / "toy/texts.csv"
    ]
    assert site.ranges == []


def test_data_on_request_says_how_to_get_it(tmp_path: Path) -> None:
    card = card_of(CardFile("toy/data.bin", default=True), access="on request")
    with pytest.raises(FetchError, match="on request") as error:
        fetch.fetch(card, tmp_path)
    assert error.value.fix == "ask the owner"
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/data.bin").write_bytes(b"by hand")
    assert fetch.fetch(card, tmp_path) == [tmp_path / "toy/data.bin"]


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def archive_file(site: Site, body: bytes) -> CardFile:
    site.answers = [whole(body)]
    return CardFile(
        "toy/a.zip", url=site.address, sha256=hashlib.sha256(body).hexdigest(), bytes=len(body), unpack="toy/a"
    )


@pytest.mark.parametrize(
    "make", [zipped, lambda members: tarred(*((tarfile.TarInfo(n), c) for n, c in members.items()))]
)
def test_archive_is_unpacked(site: Site, tmp_path: Path, make: Callable[[dict[str, bytes]], bytes]) -> None:
    file = archive_file(site, make({"top/one.txt": b"1", "top/deep/two.txt": b"2"}))
    fetch.fetch_file(file, tmp_path)
    assert (tmp_path / "toy/a/top/deep/two.txt").read_bytes() == b"2"
    assert leftovers(tmp_path) == ["a.zip", "one.txt", "two.txt"]


def test_archive_that_is_there_is_unpacked_again_when_its_folder_is_gone(site: Site, tmp_path: Path) -> None:
    file = archive_file(site, zipped({"one.txt": b"1"}))
    fetch.fetch_file(file, tmp_path)
    (tmp_path / "toy/a/one.txt").unlink()
    (tmp_path / "toy/a").rmdir()
    fetch.fetch_file(file, tmp_path)
    assert (tmp_path / "toy/a/one.txt").exists()
    assert len(site.ranges) == 1


@pytest.mark.parametrize(
    "name", ["../escaped.txt", "/tmp/unseen-escaped.txt", "a/../../escaped.txt", "C:\\escaped.txt"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_member_that_leaves_the_folder_is_refused(site: Site, tmp_path: Path, name: str, kind: str) -> None:
    body = zipped({"fine.txt": b"1", name: b"2"}) if kind == "zip" else tarred((tarfile.TarInfo(name), b"2"))
    with pytest.raises(FetchError, match="outside its folder"):
        fetch.fetch_file(archive_file(site, body), tmp_path)
    assert leftovers(tmp_path) == ["a.zip"]


def test_link_in_an_archive_is_refused(site: Site, tmp_path: Path) -> None:
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    with pytest.raises(FetchError, match="link or a device"):
        fetch.fetch_file(archive_file(site, tarred((link, b""))), tmp_path)
    member = zipfile.ZipInfo("link")
    member.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(member, "/etc")
    (tmp_path / "b.zip").write_bytes(out.getvalue())
    with pytest.raises(FetchError, match="link or a device"):
        fetch.unpack(tmp_path / "b.zip", tmp_path / "b")


def test_bomb_is_refused_and_what_was_unpacked_before_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 10_000)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/before.txt").write_bytes(b"1")
    (tmp_path / "a.zip").write_bytes(zipped({"bomb": bytes(1_000_000)}))
    with pytest.raises(FetchError, match="more than 10000 bytes"):
        fetch.unpack(tmp_path / "a.zip", tmp_path / "a")
    assert leftovers(tmp_path) == ["a.zip", "before.txt"]


def test_crowded_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_FILES", 3)
    (tmp_path / "a.zip").write_bytes(zipped({str(n): b"" for n in range(5)}))
    with pytest.raises(FetchError, match="more than 3 files"):
        fetch.unpack(tmp_path / "a.zip", tmp_path / "a")


def spoilt(archive: bytes) -> bytes:
    """The archive with other bytes where the content of its first member is."""
    return archive[:45] + b"\xff" * 40 + archive[85:]


@pytest.mark.parametrize(
    "content",
    [
        b"no archive",
        zipped({"a": BODY})[:-30],
        spoilt(zipped({"a": BODY})),
        tarred((tarfile.TarInfo("a"), hashlib.shake_128(BODY).digest(100_000)))[:50_000],
        tarred((tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a/b"), b"2")),
        tarred((tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2")),
    ],
    ids=range(6),
)
def test_broken_archive_is_a_fetch_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(FetchError):
        fetch.unpack(tmp_path / "a.zip", tmp_path / "a")
    assert leftovers(tmp_path) == ["a.zip"]


def test_extended_headers_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_HEADER_BYTES", 10_000)
    named = tarfile.TarInfo("a.txt")
    named.pax_headers = {"comment": "x" * 20_000}
    (tmp_path / "a.tar.gz").write_bytes(tarred((named, b"1")))
    with pytest.raises(FetchError, match="extended headers of more than 10,000 bytes"):
        fetch.unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    assert not (tmp_path / "out").exists()
