"""A run folder whose every name wants to run, to break out or to break the page."""

from __future__ import annotations

import json
from pathlib import Path

from fake_run import FakeRun

from unseen.types import Finding

RUNS = "document.title='it ran'"
NAME = f"<script>{RUNS}</script> & co"
LABELS = (f'"><img src=x onerror="{RUNS}">', "it's “quoted” {{ 7 * 7 }} $x_1$ {% raw %}", "W" * 300)
SPLITS = {
    f"</title></svg><script>{RUNS}</script>": "random",
    "long-" * 60: "subset-sum",
    f'\'" onload="{RUNS}" x="': f"--><b onclick={RUNS}>",
}
SLICES = (f"who=<iframe src=javascript:{RUNS}>", f"{'m' * 200}=&amp;&lt;")
WORDS = (f"</style><script>{RUNS}</script>", "y" * 250, "<b>", "漢字", "\u202eright", "$\\frac{1}{2}$")
COMMAND = f"unseen stress '</pre><script>{RUNS}</script>'"
MESSAGE = f"<details open ontoggle={RUNS}>"
EVERY = (NAME, *LABELS, *SPLITS, *SPLITS.values(), *SLICES, *WORDS, COMMAND, MESSAGE)


def hostile_run(folder: Path) -> Path:
    """Write it, with texts."""
    scores = {"random": (0.66, 0.65), "subset-sum": (0.5, 0.6), f"--><b onclick={RUNS}>": (0.2, 0.3)}
    run = FakeRun(
        rows=400, name=NAME, labels=LABELS, splits=SPLITS, scores=scores, slices=SLICES, words=WORDS, command=COMMAND,
        texts=True, findings=[Finding(MESSAGE, "fail", MESSAGE, 3, (MESSAGE,), MESSAGE)],
    )  # fmt: skip
    run.write(folder)
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    about["model"], about["versions"], about["host"] = MESSAGE, {MESSAGE: MESSAGE}, MESSAGE
    about["timings"][0]["step"] = MESSAGE
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    return folder
