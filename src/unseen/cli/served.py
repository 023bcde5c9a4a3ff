"""A viewer that a command starts, and the name of who sits before it."""

from __future__ import annotations

from typing import Any

from unseen.cli.console import say
from unseen.errors import require


def serve_here(runs: list[Any], task: Any, port: int, no_browser: bool, quiet: bool) -> None:
    """Serve runs or a task to this machine until it is interrupted; prints the address and opens it."""
    require("view", "the viewer")
    from unseen.viewer.server import Viewer, serve

    def ready(address: str) -> None:
        say(address)
        if not quiet:
            say("Ctrl-C ends it; nobody else on the network can open it.", err=True)
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    serve(Viewer(runs, task), port, ready)


def own_name() -> str:
    """The user's name on this machine."""
    try:
        import getpass

        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"
