"""Run the benchmarks of splitting; `python -m benchmarks sweep scale` runs some and prints them."""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.setting import ROOT, machine

NAMES = ("sweep", "faiss_sweep", "subset_sum", "scale", "groups", "loading")

wanted = sys.argv[1:] or NAMES
sections = [import_module(f"benchmarks.{name}").section() for name in wanted]
page = (
    f"# Loading and splitting: what was measured\n\n{machine()}. Ratios are of times in one run on one machine.\n\n"
    + "\n".join(sections)
)
if len(wanted) == len(NAMES):
    (ROOT / "docs" / "results" / "splitting.md").write_text(page, encoding="utf-8")
print(page)
