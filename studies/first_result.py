"""How long a newcomer waits for the first useful result: docs/results/first-result.md.

python -m studies.first_result FOLDER

Types what the README names, on data that no test reads, and writes down when each answer was there. The real data is
looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.setting import ROOT, machine, real_file, table, write_measured

PAGE = ROOT / "docs" / "results" / "first-result.md"
DATA = {
    "TweetEval offensive": (("tweeteval", "offensive.csv"), []),
    "TrustPilot reviews, by gender": (("trustpilot", "en_train.csv"), ["--label", "gender"]),
    "reviews, by domain": (("reviews", "reviews.csv"), ["--label", "domain"]),
}
COMMANDS = {
    "audit data": [],
    "stress": ["--model", "logistic", "--limit", "3000"],
}
"""What the README and the tutorial name first, and its options."""


def waited(command: str, options: list[str], path: Path, columns: list[str], out: Path) -> list[str]:
    """Minutes that a command took, the minutes it had announced, and the first line that it answered."""
    typed = [*command.split(), str(path), *columns, *options, *(["--out", str(out)] if options else [])]
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "unseen", *typed], capture_output=True, text=True, check=False)
    minutes = (time.monotonic() - begun) / 60
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    said = re.search(r"that takes about (.+?) \(", done.stderr)
    return [f"{minutes:.1f}", said[1] if said else "–", done.stdout.splitlines()[0].replace("|", "/")]


def main() -> None:
    """Type every command, then write the page."""
    out, lines = Path(sys.argv[1]), []
    for number, (name, (place, columns)) in enumerate(DATA.items()):
        for place_, (command, options) in enumerate(COMMANDS.items()):
            folder = out / f"{number}-{place_}"
            shown = " ".join([command, *options])
            lines.append([name, f"`{shown}`", *waited(command, options, real_file(*place), columns, folder)])
            print(*lines[-1], sep=" | ", flush=True)
    header = ["data", "command", "minutes", "announced", "answer"]
    write_measured(PAGE, "The first useful result", f"{machine()}.\n\n{table(header, lines)}")


if __name__ == "__main__":
    main()
