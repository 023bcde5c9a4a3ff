"""A run in a notebook: its map and its texts, in a frame of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from unseen.errors import InputError
from unseen.viewer import pages
from unseen.viewer.opened import REPORT, OpenRun


@dataclass(frozen=True)
class RunView:
    """A run that a notebook shows; printed, the command that shows it in a browser."""

    run: OpenRun

    def _repr_html_(self) -> Markup:
        if self.run.points is None:
            page = (self.run.folder / REPORT).read_text(encoding="utf-8")
        else:
            page = pages.explorer_page(self.run, {}, whole=True)
        frame = Markup('<iframe srcdoc="{}" sandbox="allow-scripts" style="width:100%;height:56rem;border:0"></iframe>')
        return frame.format(page)

    def __str__(self) -> str:
        return f"unseen view {self.run.folder}"


def view(run: Any) -> RunView:
    """Show a run in a notebook: a `Result` that was written to a folder, or the folder.

    The map, the table of texts and what is known of each are in the page itself; nothing is asked of a server.
    """
    folder = run if isinstance(run, str | Path) else getattr(run, "folder", None)
    if folder is None:
        raise InputError("only a run that was written can be viewed", fix="out='FOLDER' when it is run")
    return RunView(OpenRun(folder))
