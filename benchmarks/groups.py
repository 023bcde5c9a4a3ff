"""Size and class mix of group-disjoint splits against others, on the users of Stormfront."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, data_folder, in_fresh_process, table

PEERS = ROOT / ".bench"
SHARE = 0.1
SEEDS = range(10)


def section() -> str:
    """Ten seeds each; the peers run in an environment of their own."""
    folder = data_folder()
    if folder is None:
        return "## Groups\n\nStormfront is not here; nothing was measured.\n"
    users, labels = stormfront(folder)
    rows = [_row("unseen grouped", [ours(users, labels, seed) for seed in SEEDS], labels, users)]
    peers = json.loads(in_fresh_process(str(Path(__file__)), str(folder), python=str(_environment())))
    rows += [_row(name, [np.array(test) for test in tests], labels, users) for name, tests in peers.items()]
    return (
        "## Groups\n\n"
        f"Stormfront, {len(labels):,} sentences of {len(np.unique(users)):,} users, two classes; {SHARE:.0%} of the rows asked for, "
        f"no user on both sides, seeds {SEEDS.start} to {SEEDS.stop - 1} (DataSAIL takes none: one run). Size and class mix "
        "are those of the rows that came back; “rows off” adds up, over the two classes, how many rows are too many or too few against a tenth of each class, rounded (951 and 120, one more than the 1,070 rows asked for).\n\n"
        + table(
            [
                "splitter",
                "test share, least to most",
                "share of hate in test, least to most",
                "rows off, mean",
                "users on both sides",
            ],
            rows,
        )
    )


def stormfront(folder: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Users and labels (0, 1) of the sentences that have one of the two labels."""
    import csv

    with (folder / "stormfront" / "stormfront.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] in ("noHate", "hate")]
    return np.array([row["user_id"] for row in rows]), np.array([row["label"] == "hate" for row in rows], dtype=int)


def ours(users: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], seed: int) -> np.ndarray[Any, Any]:
    """Test rows of GroupedSplit."""
    from unseen.splits import GroupedSplit

    return next(GroupedSplit(test_size=SHARE, random_state=seed).split(None, labels, users))[1]


def _row(
    name: str, tests: list[np.ndarray[Any, Any]], labels: np.ndarray[Any, Any], users: np.ndarray[Any, Any]
) -> list[str]:
    asked = np.round(np.bincount(labels) * SHARE)
    shares = [len(test) / len(labels) for test in tests]
    mixes = [labels[test].mean() for test in tests]
    off = [np.abs(np.bincount(labels[test], minlength=2) - asked).sum() for test in tests]
    both = [len(set(users[test]) & set(np.delete(users, test))) for test in tests]
    return [
        name,
        f"{min(shares):.2%} to {max(shares):.2%}",
        f"{min(mixes):.2%} to {max(mixes):.2%}",
        f"{np.mean(off):.0f}",
        str(max(both)),
    ]


def peers(folder: Path) -> dict[str, list[list[int]]]:
    """Test rows of the others; runs in the peers' environment."""
    from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold

    users, labels = stormfront(folder)
    X = np.zeros((len(labels), 1))
    found: dict[str, list[list[int]]] = {"GroupShuffleSplit": [], "StratifiedGroupKFold (10 folds)": []}
    for seed in SEEDS:
        found["GroupShuffleSplit"].append(
            next(GroupShuffleSplit(1, test_size=SHARE, random_state=seed).split(X, labels, users))[1].tolist()
        )
        folds = StratifiedGroupKFold(10, shuffle=True, random_state=seed)
        found["StratifiedGroupKFold (10 folds)"].append(next(folds.split(X, labels, users))[1].tolist())
    found |= _astartes(users, labels) | _datasail(users, labels)
    return found


def _astartes(users: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> dict[str, list[list[int]]]:
    """astartes has no group argument; DBSCAN on user numbers one apart makes each user a cluster, kept whole."""
    from astartes import train_test_split

    codes = np.unique(users, return_inverse=True)[1].astype(float)[:, None]
    tests = []
    for seed in SEEDS:
        parts = train_test_split(
            codes, train_size=1 - SHARE, test_size=SHARE, sampler="dbscan", random_state=seed,
            hopts={"eps": 0.1, "min_samples": 1}, return_indices=True,
        )  # fmt: skip
        tests.append(np.asarray(parts[-1]).astype(int).tolist())
    return {"astartes (DBSCAN, one cluster per user)": tests}


def _datasail(users: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> dict[str, list[list[int]]]:
    """DataSAIL with users as entities, weighted by their rows and stratified by whether they wrote hate."""
    from datasail.sail import datasail

    names = np.unique(users)
    weights = {name: int((users == name).sum()) for name in names}
    strata = {name: int(labels[users == name].any()) for name in names}
    splits = datasail(
        techniques=["I1e"], splits=[1 - SHARE, SHARE], names=["train", "test"], runs=1, solver="SCIP", max_sec=300,
        e_type="O", e_data={name: [0.0] for name in names}, e_weights=weights, e_strat=strata, verbose="E",
    )  # fmt: skip
    parts = splits[0]["I1e"][0]
    test = [row for row, user in enumerate(users) if parts.get(user) == "test"]
    return {"DataSAIL (I1e, weighted, stratified)": [test]}


def _environment() -> Path:
    python = PEERS / "bin" / "python"
    if not python.exists():
        venv.create(PEERS, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "astartes", "datasail", "scikit-learn"], check=True)
    return python


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with redirect_stdout(sys.stderr):
            found = peers(Path(sys.argv[1]))
        print(json.dumps(found))
    else:
        print(section())
