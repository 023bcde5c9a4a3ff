"""Requests over HTTP, for downloads and for models that answer there.

They are asynchronous because only so a whole answer has a deadline: a server that sends a byte now and then would keep
a plain request for ever.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, TypeVar

import httpx
from anyio.from_thread import start_blocking_portal

from unseen.errors import FetchError

TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""
HEADERS = {"User-Agent": "unseen", "Accept-Encoding": "identity"}

T = TypeVar("T")


def wait_for(ask: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """What `ask` gives at last, from a thread of its own: that of a notebook runs an event loop already."""
    with start_blocking_portal() as portal:
        return portal.call(ask, *arguments)


def new_client(**options: Any) -> httpx.AsyncClient:
    """A client that trusts the certificates of this machine; those that come with httpx lack those of a company."""
    for name in ("httpx", "httpcore"):
        log = logging.getLogger(name)  # whole addresses and headers would stand in it, with what is secret in them
        log.setLevel(max(log.level, logging.WARNING))
    try:
        return httpx.AsyncClient(headers=HEADERS, verify=_certificates(), **options)
    except (ImportError, ValueError, httpx.InvalidURL) as cause:
        raise FetchError(
            f"the proxy that the environment names cannot be used: {cause}",
            fix="see http_proxy, https_proxy, all_proxy",
        ) from cause


def reason(error: BaseException) -> str:
    """What lies at the bottom of an error of httpx: which call failed, not `All connection attempts failed`."""
    if isinstance(error, httpx.TimeoutException):
        return "timed out"
    while below := error.__cause__ or error.__context__:
        error = below
    if isinstance(error, BaseExceptionGroup):  # one for each address of a name
        error = error.exceptions[0]
    return str(error) or type(error).__name__


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()
