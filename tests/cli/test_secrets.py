"""Keys and passwords in what a user types are in no file and on no terminal."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from unseen.redaction import redacted


@pytest.fixture
def address() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"labels": ["fine" for _ in texts]}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("place", ["http://HOST/ask?api_key=hunter2", "http://me:hunter2@HOST/ask"])
def test_a_secret_in_an_address_is_written_nowhere(
    unseen: Callable[..., Any], folder: Path, address: str, place: str
) -> None:
    (folder / "cases.csv").write_text("text,label,functionality\nIt is so.,fine,a\nIt is not.,bad,b\n")
    done = unseen("check", place.replace("HOST", address), "--suite", "cases.csv", "-o", "out")
    assert done.code == (2 if "@" in place else 0), done.err
    assert (folder / "out" / "report.html").exists() or done.code
    assert "hunter2" not in done.out + done.err
    assert [each for each in (folder / "out").rglob("*") if each.is_file() and b"hunter2" in each.read_bytes()] == []
    assert not any("hunter2" in each.name for each in (folder / "out").rglob("*"))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("https://me:pw@host/ask?x=1#t", "https://***@host/ask?***"),
        ("https://host:8080/ask --key-env MINE", "https://host:8080/ask --key-env MINE"),
        ("--set key_env=MINE --set api_key=abc", "--set key_env=MINE --set api_key=***"),
        ('--set \'extra={"token": "abc"}\'', '--set \'extra={"token": "***"}\''),
        ("--map monkey=animal", "--map monkey=animal"),
        ("https://", "https://"),
    ],
)
def test_what_is_struck_out(typed: str, shown: str) -> None:
    assert redacted(typed) == shown
