"""The author audit from data to report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unseen.errors import InputError
from unseen.runs.authors import UnseenAuthors, _cuts, authors, over_cap, unseen_authors
from unseen.runs.frame import Result, report
from unseen.runs.spaces import Model
from unseen.seeding import generator
from unseen.store import read_findings, read_json, read_measurements
from unseen.store.results import Results
from unseen.types import TRAIN, Certificate, Dataset, Measurement, Split

Builder = Callable[..., Dataset]
AUTHORS, EACH = 40, 12
WORDS = [f"word{each}" for each in range(30)]


@pytest.fixture(scope="module")
def signed(tiny: Builder) -> Dataset:
    """Every author has a word and mostly one label of his own: labels of unseen authors cannot be told."""
    draw, texts, labels, users = np.random.default_rng(0), [], [], []
    for author in range(AUTHORS):
        for _ in range(EACH if author else 3 * EACH):
            texts.append(" ".join([*draw.choice(WORDS, 5), f"sign{author}", f"sign{author}"]))
            labels.append(("no", "yes")[(author + (draw.random() < 0.1)) % 2])
            users.append(f"=u{author}")
    texts += ["by nobody"] * 5
    return tiny(
        ids=[f"{row:04}" for row in range(len(texts))], texts=texts, labels=[*labels, *["no"] * 5],
        user=[*users, *[None] * 5],
    )  # fmt: skip


@pytest.fixture(scope="module")
def audited(signed: Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    out = tmp_path_factory.mktemp("authors") / "out"
    return authors(signed, author="user", model="logistic", trainings=2, cap=20, out=out), out


def one(rows: object, metric: str, /, **tags: str) -> Measurement:
    (found,) = (
        row
        for row in rows  # type: ignore[attr-defined]
        if row.metric == metric and all(row.tags.get(name) == tags[name] for name in tags)
    )
    return found


def test_a_model_that_knows_authors_falls_on_unseen_ones(audited: tuple[Result, Path]) -> None:
    rows = audited[0].measurements
    fall = one(rows, "fall.f1.macro", split="grouped", than="random")
    assert fall.low > 0.1  # type: ignore[operator]
    assert fall.value == pytest.approx(
        one(rows, "f1.macro", split="random").value - one(rows, "f1.macro", split="grouped").value  # type: ignore[operator]
    )
    both = {row.tags["split"]: row.value for row in rows if row.metric == "authors_on_both_sides"}
    assert both["grouped"] == both["capped"] == both["thinned"] == 0
    assert both["random"] > 20  # type: ignore[operator]
    levels = {finding.check: finding.level for finding in audited[0].findings}
    assert levels == {
        "author_concentration": "ok", "unknown_authors": "ok", "know_the_author": "fail", "unseen_authors": "fail",
        "author_cap": "ok",
    }  # fmt: skip


def test_both_splits_have_one_size_and_mix(signed: Dataset) -> None:
    known = signed.take(np.arange(len(signed) - 5))
    cuts = dict(_cuts(known, "user", UnseenAuthors(trainings=1, cap=20), 42))
    sizes = {family: [len(part) for part in parts] for (family, _), parts in cuts.items()}
    assert sizes["random"] == sizes["grouped"]
    counts = {family: np.bincount(known.labels[parts[2]], minlength=2).tolist() for (family, _), parts in cuts.items()}
    assert counts["random"] == counts["grouped"]
    assert sizes["capped"] == sizes["thinned"]
    assert sizes["capped"][0] < sizes["grouped"][0]
    trained = {family: np.bincount(known.labels[parts[0]]).tolist() for (family, _), parts in cuts.items()}
    assert trained["capped"] == trained["thinned"]


def test_a_cap_keeps_so_many_of_each_author_and_label() -> None:
    draw = np.random.default_rng(0)
    author, labels = draw.integers(6, size=200), draw.integers(3, size=200)
    dropped = over_cap(author, labels, 7, 42)
    before, after = (
        Counter(zip(author[kept].tolist(), labels[kept].tolist(), strict=True)) for kept in (dropped | True, ~dropped)
    )
    assert after == {pair: min(7, count) for pair, count in before.items()}
    assert not over_cap(author, labels, 200, 42).any()
    order = generator(42, "cap").permutation(200)
    seen: Counter[tuple[int, int]] = Counter()
    expected = np.zeros(200, bool)  # the draw of an earlier version, row by row
    for row in order.tolist():
        seen[pair := (author[row], labels[row])] += 1
        expected[row] = seen[pair] > 7
    assert (dropped == expected).all()


def test_the_folder_holds_what_was_measured(audited: tuple[Result, Path]) -> None:
    done, out = audited
    assert read_json(out / "run.json")["kind"] == "authors"
    back = read_measurements(out / "measurements.csv")
    assert [(row.metric, row.value) for row in back] == [(row.metric, row.value) for row in done.measurements]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert report(out).report.read_text(encoding="utf-8") == page  # type: ignore[union-attr]
    assert page.count('<svg role="img"') == 2
    assert "unseen authors" in page
    assert "word1" not in page
    assert [each.check for each in read_findings(out / "findings.csv")] == [each.check for each in done.record.findings]
    assert list(done.tables) == ["concentration", "know-the-author", "top-authors", "unseen-authors"]
    assert [row[0] for row in done.tables["unseen-authors"].rows][:2] == ["random split", "unseen authors"]
    assert done.verdict.level == "fail"


def test_hostile_labels_are_escaped(tiny: Builder, tmp_path: Path) -> None:
    data = tiny(label_names=("<b>no</b>", "=yes"), user=["a", "a", "b", "b"])
    page = authors(data, author="user", out=tmp_path / "out").report.read_text(encoding="utf-8")  # type: ignore[union-attr]
    assert "<b>no" not in page
    assert "&lt;b&gt;no" in page
    assert "'=yes" in (tmp_path / "out" / "tables" / "concentration.csv").read_text(encoding="utf-8")


def test_the_order_of_rows_decides_nothing(signed: Dataset, tmp_path: Path) -> None:
    known = signed.take(np.arange(len(signed) - 5))
    shuffled = known.take(np.random.default_rng(1).permutation(len(known)))
    how = UnseenAuthors(Model("logistic"), trainings=1)
    first, second = (unseen_authors(each, "user", how, Results(tmp_path)) for each in (known, shuffled))
    assert [row.value for row in second] == pytest.approx([row.value for row in first])


def test_two_authors_are_too_few_to_part(tiny: Builder) -> None:
    data = tiny(ids=list("abcdefgh"), user=["x"] * 7 + [None])
    done = authors(data, author="user", model="logistic", trainings=1)
    skipped = [each for each in done.findings if each.check == "unseen_authors"]
    assert [each.level for each in skipped] == ["skipped"]


def test_names_that_nobody_has_are_said_to_be_missing(tiny: Builder, tmp_path: Path) -> None:
    data = tiny(user=[None, "", None, ""])
    done = authors(data, author="user")
    assert [(each.check, each.level) for each in done.findings] == [("unknown_authors", "skipped")]
    with pytest.raises(InputError, match="no row has a value in 'user'"):
        authors(data, author="user", model="logistic", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_authors_of_one_label_have_no_score(tiny: Builder) -> None:
    data = tiny(labels=["no", "no", "no", "yes"], user=["a", "b", "c", None])
    skipped = [each for each in authors(data, author="user", model="logistic").findings if each.level == "skipped"]
    assert [each.check for each in skipped] == ["author_concentration", "unseen_authors"]
    assert "too few rows to judge" in skipped[0].message
    assert "one label only" in skipped[1].message


def test_a_split_without_a_side_is_refused(signed: Dataset) -> None:
    n = len(signed)
    cut = Split("whole", signed.ids, np.full(n, TRAIN), np.full(n, -1), Certificate({}, {}), signed.fingerprint)
    with pytest.raises(InputError, match="'whole' has no test rows"):
        authors(signed, cut, author="user")


def test_without_authors_nothing_is_claimed(signed: Dataset, tmp_path: Path) -> None:
    done = authors(signed, out=tmp_path / "out")
    (finding,) = done.findings
    assert finding.level == "skipped"
    assert "--calibrate" in finding.advice
    assert done.measurements == ()
    assert done.report is not None


def test_an_estimate_stands_in_for_names(signed: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.audits.author_estimate.TRIALS", 2)
    monkeypatch.setattr("unseen.audits.author_estimate.DRAWS", 50)
    done = authors(signed, calibrate=signed, calibrate_author="user", out=tmp_path / "out")
    (finding,) = done.findings
    assert "estimate" in finding.message
    assert "measured error" in finding.message
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "An estimate, with its measured error" in page


def test_arguments_without_effect_are_refused(signed: Dataset) -> None:
    with pytest.raises(InputError, match="calibrate=… has no effect"):
        authors(signed, author="user", calibrate=signed, calibrate_author="user")
    with pytest.raises(InputError, match="model=… has no effect"):
        authors(signed, model="logistic")
    with pytest.raises(InputError, match="at least 1"):
        UnseenAuthors(cap=0)
