"""A model behind HTTP: texts go out as JSON in batches, probabilities or labels come back.

The key is read from the environment for each request and kept nowhere. What a server says is shown only
after the key and the values in the address have been struck out of it. Redirects are not followed: another
host would see the key.
"""

from __future__ import annotations

import asyncio
import email.utils
import ipaddress
import json
import os
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import httpx

from unseen.data.web import TRANSIENT, new_client, reason, wait_for
from unseen.errors import FetchError, InputError
from unseen.models.python import FunctionClassifier
from unseen.redaction import STRUCK, redacted
from unseen.registry import Count, Natural, Positive, check_numbers, check_parameters

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
LARGEST_ANSWER = 64_000_000


def open_endpoint(source: str, *, label_names: tuple[str, ...] | None = None, **options: Any) -> FunctionClassifier:
    """The model that answers at the address `source`; `options` are those of `Endpoint`."""
    check_parameters("an endpoint", Endpoint, options)
    endpoint = Endpoint(source, **options)
    return FunctionClassifier(endpoint, label_names, endpoint.source)


@dataclass(eq=False, repr=False)
class Endpoint:
    """Texts to the answers of a server, in order.

    `timeout` is for a whole answer, in seconds.
    `field` is the request's name for the texts, `extra` what else it holds; `answer` is where the rows are
    in the response, e.g. `result.rows`. `rate` is the highest number of requests per second.
    """

    pause = staticmethod(time.sleep)

    url: str
    _: KW_ONLY
    key_env: str | None = None
    batch: Count = 32
    timeout: Positive = 30.0
    retries: Natural = 5
    rate: Positive | None = None
    field: str = "texts"
    extra: Mapping[str, Any] | None = None
    answer: str | None = None

    def __post_init__(self) -> None:
        check_numbers("an endpoint", type(self), vars(self))
        if not isinstance(self.extra or {}, Mapping):
            raise InputError("extra must be names and values", expected="{'language': 'en'}", got=repr(self.extra))
        self.source = _shown(self.url, self.key_env)
        self._next = 0.0
        self._key()

    def __repr__(self) -> str:
        return f"Endpoint({self.source!r})"

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """One row per text: probabilities, {label: probability}, or a label."""
        rows: list[Any] = []
        for start in range(0, len(texts), self.batch):
            batch = list(texts[start : start + self.batch])
            answered = _rows(self._post(batch), self.answer, len(batch), self.source)
            if len(answered) != len(batch):
                raise InputError(f"{self.source} answered {len(answered)} rows for {len(batch)} texts")
            rows += answered
        return rows

    def _post(self, texts: list[str]) -> Any:
        """The answer to one batch, after as many attempts as it takes and is allowed."""
        body = json.dumps({**(self.extra or {}), self.field: texts}).encode()
        failure = ""
        for attempt in range(self.retries + 1):
            # a proxy is another machine: it would see the texts and the key that are sent to this one
            client = new_client(timeout=None, trust_env=not is_local(self.url))
            self._wait()
            content, failure, pause = self._attempt(client, body)
            if content is not None:
                return self._parsed(content)
            if attempt < self.retries:
                self.pause(min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt if pause is None else pause))
        raise FetchError(
            f"{self.source} failed {self.retries + 1} times: {failure}",
            fix="is it running? A smaller batch, a longer timeout, a lower rate or more retries may help",
        )

    def _attempt(self, client: httpx.AsyncClient, body: bytes) -> tuple[bytes | None, str, float | None]:
        """One request: what was answered, or why it may be tried again and after how long."""
        try:
            response, content = wait_for(self._ask, client, body)
        except TimeoutError:
            return None, f"no answer within {self.timeout:g} seconds", None
        except ConnectionError as cut:
            return None, str(cut), None
        except httpx.TransportError as cause:
            return None, self._struck(f"{type(cause).__name__}: {reason(cause)}"), None
        status = response.status_code
        if response.is_success:
            if len(content) > LARGEST_ANSWER:
                raise InputError(f"{self.source} answered more than {LARGEST_ANSWER} bytes", fix="a smaller batch")
            return content, "", None
        if status in TRANSIENT:
            return None, f"status {status}", _retry_after(response.headers.get("Retry-After"))
        target = self._struck(response.headers.get("Location", ""))
        shown = target or self._struck(content.decode("utf-8", "replace"))[:300]
        hint = "give the address it redirects to" if response.is_redirect else _hint(status, self.key_env)
        raise FetchError(f"{self.source} answered with status {status}", got=repr(shown), fix=hint)

    async def _ask(self, client: httpx.AsyncClient, body: bytes) -> tuple[httpx.Response, bytes]:
        """An answer and its content, of errors only the beginning."""
        key, content = self._key(), bytearray()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        async with (
            asyncio.timeout(self.timeout),
            client,
            client.stream("POST", self.url, content=body, headers=headers) as response,
        ):
            most = LARGEST_ANSWER if response.is_success else 2000
            try:
                async for block in response.aiter_raw():
                    content += block
                    if len(content) > most:
                        break
            except httpx.RemoteProtocolError as cause:
                if response.is_success:
                    raise ConnectionError("the answer was cut off") from cause
        return response, bytes(content)

    def _parsed(self, content: bytes) -> Any:
        try:
            parsed = json.loads(content)
            # a server that repeats the key in a label would get it into an error message
            return json.loads(self._struck(json.dumps(parsed), answer=True))
        except (ValueError, RecursionError):
            beginning = self._struck(content[:2000].decode("utf-8", "replace"))[:100]
            raise InputError(f"{self.source} did not answer with JSON", got=repr(beginning)) from None

    def _wait(self) -> None:
        """Keep to the rate."""
        if self.rate is not None:
            now = time.monotonic()
            if now < self._next:
                self.pause(self._next - now)
            self._next = max(now, self._next) + 1 / self.rate

    def _key(self) -> str | None:
        """The key, checked: an invalid header would be quoted in the error of the HTTP library."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise InputError(
                f"the environment variable {self.key_env} holds no key", fix=f"export {self.key_env}=…; see key_env"
            )
        if not key.isascii() or not key.isprintable():
            raise InputError(f"the key in {self.key_env} holds characters that no HTTP header can carry")
        return key

    def _struck(self, text: str, *, answer: bool = False) -> str:
        """A text of the server without the key and the values of the address, however they are written there.

        A label may be a word of the address too: of an answer, only values that are called a key are struck.
        """
        secrets = {self._key() or ""}
        for setting in urllib.parse.urlsplit(self.url).query.split("&"):
            value = setting.partition("=")[2] or setting
            if redacted(setting) != setting or (not answer and len(value) > 3):
                secrets |= {value, urllib.parse.unquote(value), urllib.parse.unquote_plus(value)}
        forms = {form for key in secrets for form in (key, urllib.parse.quote(key, safe=""), json.dumps(key)[1:-1])}
        for form in sorted(forms - {""}, key=len, reverse=True):
            text = text.replace(form, STRUCK)
        return text


def _shown(url: str, key_env: str | None) -> str:
    """The address without what may be secret in it; refuses one that would give secrets away."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, _ = parts.hostname, httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise InputError("the address of the endpoint is not a URL", expected="https://host/path") from None
    if not host:
        raise InputError("the address of the endpoint has no host", expected="https://host/path")
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"the address of {host} holds a password",
            fix="leave it out; key_env='NAME' sends a key from the environment",
        )
    if key_env and parts.scheme != "https" and not is_local(url):
        raise InputError(f"the key would be sent to {host} unencrypted", fix="use https://")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def is_local(url: str) -> bool:
    """Whether an address is of this machine."""
    host = urllib.parse.urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def _hint(status: int, key_env: str | None) -> str:
    if status in (401, 403):
        return f"is the key in {key_env} right?" if key_env else "it may need a key: key_env='NAME'"
    return "field, extra and answer set the form of request and response"


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait, from a number or a date."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _rows(answer: Any, place: str | None, texts: int, source: str) -> list[Any]:
    """The rows in an answer, with names where the answer has them."""
    for step in place.split(".") if place else ():
        if not isinstance(answer, Mapping) or step not in answer:
            raise InputError(f"{source} answered without {place!r}", got=_form(answer))
        answer = answer[step]
    if isinstance(answer, Mapping):
        return _of_object(answer, source)
    if not isinstance(answer, list):
        raise InputError(f"{source} did not answer with rows", got=_form(answer))
    flat = [isinstance(row, Mapping) and {"label", "score"} <= row.keys() for row in answer]
    return [answer] if texts == 1 and len(answer) > 1 and all(flat) else answer


def _of_object(answer: Mapping[str, Any], source: str) -> list[Any]:
    rows, names = answer.get("probabilities"), answer.get("labels")
    if rows is None and isinstance(names, list):
        return names
    if not isinstance(rows, list):
        raise InputError(
            f"{source} answered in a form that is not known",
            expected='{"probabilities": [[…]], "labels": […]}, or a list of rows',
            got=_form(answer),
            fix="answer='name' says where the rows are",
        )
    if names is None:
        return rows
    if not isinstance(names, list) or any(not isinstance(row, list) or len(row) != len(names) for row in rows):
        raise InputError(
            f"{source} answered rows that do not have a probability for each of its labels", got=_form(answer)
        )
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _form(answer: Any) -> str:
    """What an answer looks like, without its content, which may be anything."""
    return f"an object with {sorted(map(str, answer))[:10]}" if isinstance(answer, Mapping) else type(answer).__name__
