"""The viewer over HTTP, for one person on this machine.

It listens on 127.0.0.1 alone. Every address begins with a token that only whoever started it knows; requests that name
another host, or come from a page of another origin, are refused, so no page in the same browser can read or write
anything. Only files of the run folders are served, and of these none that begin with a dot.
"""

from __future__ import annotations

import gzip
import hmac
import json
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from unseen.errors import InputError, UnseenError, complaint
from unseen.viewer import pages
from unseen.viewer.opened import REPORT, OpenRun
from unseen.viewer.tasks import Task

HOST = "127.0.0.1"
LONGEST = 20_000
"""Bytes of a request that is taken."""
AT_ONCE = 500
"""Texts that may be asked for at once."""
HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "SAMEORIGIN",
}  # fmt: skip


class Viewer:
    """What is looked at, and by whom."""

    def __init__(self, runs: Sequence[OpenRun], task: Task | None = None, token: str | None = None) -> None:
        self.runs, self.task, self.token = list(runs), task, token or secrets.token_urlsafe(16)

    @property
    def start(self) -> str:
        """The path of the first page: the task, of one run its texts or its report, of several their list."""
        if self.task is not None:
            return f"/{self.token}/task"
        if len(self.runs) > 1:
            return f"/{self.token}/"
        return f"/{self.token}/run/0/" + ("" if self.runs[0].has_map else "report")

    def tabs(self, number: int) -> dict[str, str]:
        """The pages of one run, by name, as links from one of them."""
        run = self.runs[number]
        places = {"All runs": "../../", "Report": "report"} if len(self.runs) > 1 else {"Report": "report"}
        if run.has_map:
            places |= {"Texts": "./", "Pairs": "pairs"}
        if run.cases:
            places |= {"Failed cases": "cases"}
        if self.task is not None:
            places |= {"Review": "../../task"}
        for other in pages.beside(self.runs, number):
            places[f"Compare with {self.runs[other].name}"] = f"../../compare?a={number}&b={other}"
        return places

    def run(self, request: Request) -> tuple[int, OpenRun]:
        """The run that is asked about."""
        number = int(request.path_params["number"])
        if not 0 <= number < len(self.runs):
            raise InputError("there is no such run")
        return number, self.runs[number]

    # -- pages ---------------------------------------------------------------------------------------------------------

    def overview(self, request: Request) -> Response:
        """All runs."""
        address = {
            number: {
                name: f"run/{number}/{place.removeprefix('./')}"
                for name, place in self.tabs(number).items()
                if not place.startswith("..")
            }
            for number in range(len(self.runs))
        }
        return HTMLResponse(pages.list_page(self.runs, address))

    def explorer(self, request: Request) -> Response:
        """Map and table."""
        number, run = self.run(request)
        return HTMLResponse(pages.explorer_page(run, self.tabs(number), whole=False))

    def pairs(self, request: Request) -> Response:
        """Near-duplicates."""
        number, run = self.run(request)
        return HTMLResponse(pages.pairs_page(run, self.tabs(number)))

    def cases(self, request: Request) -> Response:
        """Failed cases."""
        number, run = self.run(request)
        return HTMLResponse(pages.cases_page(run, self.tabs(number)))

    def compare(self, request: Request) -> Response:
        """Two runs."""
        a, b = (int(request.query_params.get(name, -1)) for name in ("a", "b"))
        if not (0 <= a < len(self.runs) and 0 <= b < len(self.runs)):
            raise InputError("there are no such runs")
        tabs = {"All runs": "./", self.runs[a].name: f"run/{a}/", self.runs[b].name: f"run/{b}/"}
        return HTMLResponse(pages.comparison_page(self.runs[a], self.runs[b], tabs))

    def report(self, request: Request) -> Response:
        """The report, as its folder has it."""
        return Response(status_code=303, headers={"Location": f"files/{REPORT}"})

    def file(self, request: Request) -> Response:
        """A file of a run folder, or the names in a folder of it."""
        _, run = self.run(request)
        root, name = run.folder.resolve(), request.path_params["path"]
        path = (root / name).resolve()
        if any(part.startswith(".") for part in Path(name).parts) or not path.is_relative_to(root):
            return PlainTextResponse("there is no such file", 404)
        if path.is_dir() and name.endswith("/") and path != root:
            inside = sorted(one.name for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
            tabs = {"Report": "../" * name.count("/") + REPORT}
            return HTMLResponse(pages.rendered("folder.html", name=name, inside=inside, tabs=tabs))
        if not path.is_file():
            return PlainTextResponse("there is no such file", 404)
        kinds = {".csv": "text/csv", ".md": "text/markdown", ".json": "application/json", ".html": "text/html"}
        kind = kinds.get(path.suffix, "application/octet-stream")
        return FileResponse(path, media_type=f"{kind}; charset=utf-8" if kind in kinds.values() else kind)

    # -- data ----------------------------------------------------------------------------------------------------------

    def points(self, request: Request) -> Response:
        """The points, packed."""
        _, run = self.run(request)
        body = gzip.compress(run.packed, 1, mtime=0)
        return Response(body, media_type="application/octet-stream", headers={"Content-Encoding": "gzip"})

    def texts(self, request: Request) -> Response:
        """Some texts."""
        _, run = self.run(request)
        rows = [int(row) for row in request.query_params.get("rows", "").split(",") if row][:AT_ONCE]
        if run.points is None or not all(0 <= row < len(run.points) for row in rows):
            raise InputError("there are no such texts")
        return JSONResponse({"texts": None if run.texts is None else [run.text(row) for row in rows]})

    def text(self, request: Request) -> Response:
        """All about one text."""
        _, run = self.run(request)
        return JSONResponse(run.details(int(request.query_params.get("row", -1))))

    def search(self, request: Request) -> Response:
        """The texts with these words."""
        _, run = self.run(request)
        return JSONResponse({"rows": run.search(request.query_params.get("q", "")[:200])})

    # -- the task ------------------------------------------------------------------------------------------------------

    def task_page(self, request: Request) -> Response:
        """The page of the task."""
        tabs = {"Report": "run/0/report", "Texts": "run/0/"} if self.runs and self.runs[0].has_map else {}
        return HTMLResponse(pages.task_page(self.asked, tabs))

    @property
    def asked(self) -> Task:
        """The task; refuses where there is none."""
        if self.task is None:
            raise InputError("nothing was asked of anybody", fix="unseen view RUN --review")
        return self.task

    def next(self, request: Request) -> Response:
        """The next text, and how far the task is."""
        return JSONResponse(self.asked.state())

    async def act(self, request: Request) -> Response:
        """Do what the page of the task asks for; the state after it."""
        content = await body_of(request)
        action = self.asked.actions.get(request.path_params["action"])
        if action is None:
            raise InputError("this task has no such action")
        return JSONResponse(await run_in_threadpool(action, content))


async def body_of(request: Request) -> Mapping[str, Any]:
    """The JSON of a request that writes."""
    if request.headers.get("content-type") != "application/json":
        raise InputError("only JSON is taken")
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LONGEST:
            raise InputError("the request is too long")
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"the request is not JSON: {complaint(cause)}") from cause
    if not isinstance(parsed, dict):
        raise InputError("the request is not a JSON object")
    return parsed


class Guard:
    """Refuses whoever does not know the token, names another host, or comes from a page of another origin."""

    def __init__(self, app: Any, token: str, port: Callable[[], int]) -> None:
        self.app, self.token, self.port = app, token, port

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        port = self.port()
        own = {f"{host}:{port}" for host in (HOST, "localhost")}
        own |= {HOST, "localhost"} if port == 80 else set()  # browsers leave this one out
        origin = headers.get("origin")
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if headers.get("host") not in own or (origin is not None and origin.removeprefix("http://") not in own):
            await PlainTextResponse("this viewer is for the machine that it runs on", 403)(scope, receive, send)
            return
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            await PlainTextResponse("the address lacks its token: take the whole address that was printed", 403)(
                scope, receive, send
            )
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        inner = {**scope, "path": f"/{rest}", "raw_path": None, "root_path": ""}
        await self.app(inner, receive, guarded)


def application(viewer: Viewer, port: Callable[[], int]) -> Any:
    """The viewer as an ASGI application."""
    get: dict[str, Callable[[Request], Any]] = {
        "/": viewer.overview, "/compare": viewer.compare, "/run/{number:int}/": viewer.explorer,
        "/run/{number:int}/report": viewer.report, "/run/{number:int}/files/{path:path}": viewer.file,
        "/run/{number:int}/pairs": viewer.pairs, "/run/{number:int}/cases": viewer.cases,
        "/run/{number:int}/points.bin": viewer.points, "/run/{number:int}/texts": viewer.texts,
        "/run/{number:int}/text": viewer.text, "/run/{number:int}/search": viewer.search,
        "/task": viewer.task_page, "/task/next": viewer.next,
    }  # fmt: skip
    post = {"/task/{action}": viewer.act}
    routes = [Route(path, work, methods=["GET"]) for path, work in get.items()]
    routes += [Route(path, work, methods=["POST"]) for path, work in post.items()]

    def refused(_: Request, error: Exception) -> Response:
        return PlainTextResponse(str(error), 400)

    handlers: dict[Any, Any] = {UnseenError: refused, ValueError: refused}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), viewer.token, port)


def serve(viewer: Viewer, port: int = 0, ready: Callable[[str], None] | None = None) -> None:
    """Serve until it is interrupted; `ready` is called with the address. Port 0 takes a free one."""
    import uvicorn

    for run in viewer.runs:
        if not (run.folder / REPORT).exists():
            from unseen.runs.frame import report

            report(run.folder)
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((HOST, port))
        except (OSError, OverflowError) as cause:
            why = "ports go from 1 to 65535" if isinstance(cause, OverflowError) else cause.strerror
            raise InputError(f"port {port} cannot be used: {why}", fix="another --port, or none") from cause
        taken = held.getsockname()[1]
        app = application(viewer, lambda: taken)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, server_header=False))
        if ready is not None:
            held.listen()
            ready(f"http://{HOST}:{taken}{viewer.start}")
        server.run(sockets=[held])
