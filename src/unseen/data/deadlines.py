"""Requests that end: a server that sends a byte now and then would keep a plain one for ever."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from contextlib import suppress
from types import TracebackType
from typing import Any


class Deadline:
    """Cuts every connection of its handlers `seconds` after the block was entered; `passed` says whether it did."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._timer.cancel()

    @property
    def handlers(self) -> tuple[urllib.request.BaseHandler, ...]:
        """Handlers of http and https for an opener."""
        return _Http(self), _Https(self)

    def kind(self, connection: Any) -> Any:
        """A class of connections that this deadline cuts."""
        deadline = self

        class Cut(connection):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                deadline._sockets.append(self.sock)

        return Cut

    def _cut(self) -> None:
        self.passed = True
        for each in self._sockets:
            with suppress(OSError):  # closed already
                each.shutdown(socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._kind = deadline.kind(http.client.HTTPConnection)

    def http_open(self, req: urllib.request.Request) -> Any:
        """The answer."""
        return self.do_open(self._kind, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._kind = deadline.kind(http.client.HTTPSConnection)

    def https_open(self, req: urllib.request.Request) -> Any:
        """The answer."""
        return self.do_open(self._kind, req, context=self._context)  # type: ignore[attr-defined]
