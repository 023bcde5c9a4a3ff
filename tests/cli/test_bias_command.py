"""`unseen audit bias`, through its options."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import unseen as package
from unseen.cli.bias import bias
from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.runs.bias import SHIFTED
from unseen.store import read_measurements, read_predictions, write_predictions, write_split
from unseen.subgroups import groups_by_attribute, groups_by_terms, subgroup_measurements, swap_cases
from unseen.types import Predictions

SOURCE = ("posts.csv", "--text", "text", "--label", "label", "--id", "id")
app = typer.Typer()
app.command()(bias)

MODEL = """
def model(texts):
    return [{"loud": p, "calm": 1 - p} for p in (min(0.9, 0.1 + 0.2 * text.count("o")) for text in texts)]
"""


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`run("--about", "source", …)` is `unseen audit bias posts.csv …` in the folder; mistakes are raised."""
    data = package.load(folder / "posts.csv", text="text", label="label", id="id")
    score = np.random.default_rng(0).random(len(data)).round(1) * 0.8 + 0.2 * data.labels
    write_predictions(Predictions(data.ids, np.column_stack([1 - score, score]), data.label_names), "p.csv")
    (folder / "own_bias_model.py").write_text(MODEL, encoding="utf-8")
    (folder / "terms.toml").write_text('sky = ["rain", "cloud"]\nfood = ["soup"]\n', encoding="utf-8")
    (folder / "swap.toml").write_text('things = ["rain", "soup", "goal"]\n', encoding="utf-8")
    monkeypatch.syspath_prepend(folder)

    def command(*words: str) -> Any:
        done = CliRunner().invoke(app, [*SOURCE, "--positive", "loud", *words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    return command


def measured(done: Any) -> list[dict[str, Any]]:
    """The measurements that a command printed as JSON."""
    rows: list[dict[str, Any]] = json.loads(done.stdout)["measurements"]
    return rows


def loaded() -> Any:
    return package.load("posts.csv", text="text", label="label", id="id", attributes=["source"])


def test_numbers_are_those_of_the_library(run):
    done = run("--about", "source", "--predictions", "p.csv", "--background", "both", "--json", "-o", "m", "-q")
    assert done.exit_code == 0, done.output
    data = loaded()
    said, groups = read_predictions("p.csv", data), groups_by_attribute(data, "source")
    expected = [
        row
        for each in ("all", "mentioned")
        for row in subgroup_measurements(data, said, groups, np.arange(60), ["loud"], background=each)
    ]
    found = measured(done)
    assert [(row["metric"], row["slice"], row["value"], row["low"]) for row in found] == [
        (row.metric, row.slice, row.value, row.low) for row in expected
    ]
    assert {row["tags"]["background"] for row in found} == {"all", "mentioned"}
    assert [row.value for row in read_measurements("m/measurements.csv")] == [row.value for row in expected]


def test_the_tables_have_a_line_per_group_and_per_mean(run):
    lines = run("--terms", "terms.toml", "--predictions", "p.csv").stdout.splitlines()
    assert lines[:2] == ["Groups", lines[1]]
    assert lines[1].split()[:4] == ["group", "positive", "negative", "subgroup"]
    groups = groups_by_terms(loaded(), {"sky": ["rain", "cloud"], "food": ["soup"]})
    loud = loaded().labels == 1
    counts = [
        [name, str((mask & loud).sum()), str((mask & ~loud).sum())]
        for name, mask in zip(groups.names, groups.members.T, strict=True)
    ]
    assert [line.split()[:3] for line in lines[2:4]] == counts
    means = lines[lines.index("All groups") + 2 :]
    assert means[0].startswith("subgroup AUC, generalised mean")
    assert means[0].rstrip().endswith("2 of 2")
    assert "(too few texts: 8)" in means[4]


def test_the_verdict_names_the_lowest_number_and_counts_clear_gaps(run):
    rows = measured(run("--about", "source", "--predictions", "p.csv", "--json", "-q"))
    lowest = min(
        (row for row in rows if row["metric"].endswith("_auc") and row["slice"] != "all" and row["low"] is not None),
        key=lambda row: row["value"],
    )
    gaps = [row for row in rows if row["metric"] in SHIFTED and row["low"] is not None]
    clear = [row for row in gaps if row["low"] > 0 or row["high"] < 0]
    said = run("--about", "source", "--predictions", "p.csv").stdout
    name = lowest["slice"].partition("=")[2]
    assert re.search(rf"Lowest AUC of a group.*: \S+ AUC of “{name}”, \.\d+ \[", said)
    assert f"{len(clear)} of {len(gaps)} gaps between groups and others are clearly not zero" in said


def test_a_gate_about_a_group_fails_the_build(run):
    kept = run("--about", "source", "--predictions", "p.csv", "--gate", "bias.bpsn_auc where source=* >= 0.01")
    assert (kept.exit_code, kept.stdout.count("gate passed")) == (0, 3)
    failed = run("--about", "source", "--predictions", "p.csv", "--gate", "bias.bpsn_auc where source=web >= 0.999")
    assert (failed.exit_code, failed.stdout.count("gate FAILED")) == (1, 1)


def test_a_clear_shift_is_a_finding_with_its_direction(run):
    lines = [f"p{n},text {n},{('calm', 'loud')[n % 2]},{('web', 'app', 'mail')[n % 3]}" for n in range(240)]
    Path("many.csv").write_text("\n".join(["id,text,label,source", *lines]), encoding="utf-8")
    data = package.load("many.csv", attributes=["source"])
    web = np.array([source == "web" for source in data.attribute("source").to_pylist()])
    score = np.random.default_rng(0).random(len(data)) * 0.5 + 0.45 * web
    write_predictions(Predictions(data.ids, np.column_stack([1 - score, score]), data.label_names), "high.csv")
    result = package.bias(data, ["loud"], about="source", predictions="high.csv")
    (finding,) = [one for one in result.findings if one.check == "bias[web]" and "harmless" in one.message]
    assert "score higher than other harmless ones" in finding.message
    assert "false alarms" in finding.advice
    (missed,) = [one for one in result.findings if one.check == "bias[web]" and "harmful" in one.message]
    assert "score higher" in missed.message
    assert not missed.advice
    assert result.verdict.level == "warn"


def test_what_is_undefined_for_one_reason_is_one_line(run, write_posts):
    write_posts(Path("posts.csv"), edit=lambda n, row: {"source": f"bird{n}"} if n < 6 else {})
    done = run("--about", "source", "--predictions", "p.csv")
    reasons = re.findall(r"Undefined: [^:]*: ([^.]*)\.", done.stdout)
    assert 1 <= len(reasons) == len(set(reasons)) <= 2


def test_an_undefined_number_is_a_dash_with_its_reason(run, write_posts):
    write_posts(Path("posts.csv"), edit=lambda n, row: {"source": "pigeon"} if n == 3 else {})
    data = package.load("posts.csv", text="text", label="label", id="id")
    done = run("--about", "source", "--predictions", "p.csv")
    assert done.exit_code == 0
    kind = "negative" if data.labels[3] else "positive"
    assert "Undefined: subgroup AUC, " in done.stdout
    assert f" of “pigeon”: no {kind} rows in the group" in done.stdout
    assert "3 of 4" in done.stdout
    few = run("--about", "source", "--predictions", "p.csv", "--fewest", "2")
    assert "pigeon" not in few.stdout


def test_parts_of_several_splits_stand_side_by_side(run):
    data = loaded()
    for seed in (1, 2):
        write_split(package.split(data, "random", test=0.4, dev=0.2, seed=seed, name=f"s{seed}"), f"s{seed}.csv")
    words = ("--about", "source", "--predictions", "p.csv", "--split", "s1.csv", "--split", "s2.csv")
    done = run(*words, "--json", "-q")
    places = [(row["tags"]["split"], row["tags"]["part"]) for row in measured(done)]
    assert list(dict.fromkeys(places)) == [("s1", "dev"), ("s1", "test"), ("s2", "dev"), ("s2", "test")]
    shown = run(*words, "--part", "test", "--only", "web", "--only", "app").stdout
    table = shown[shown.index("Parts side by side") :].splitlines()
    assert "test of s1  test of s2" in table[1]
    (line,) = [line.split() for line in table if line.startswith("BPSN AUC, generalised mean")]
    rows = measured(run(*words, "--part", "test", "--only", "web", "--only", "app", "--json", "-q"))
    values = [f"{row['value']:.2f}".lstrip("0") for row in rows if row["metric"] == "bias.gmb_bpsn_auc"]
    assert line[-2:] == values
    assert "mail" not in shown


def test_metrics_by_group(run):
    done = run(
        "--about", "source", "--predictions", "p.csv", "-m", "false_positive_rate", "-m", "accuracy", "--json", "-q"
    )
    metrics = {row["metric"] for row in measured(done)}
    assert {"false_positive_rate", "accuracy", "group_difference.accuracy", "smallest_ratio.accuracy"} < metrics
    plain = run("--about", "source", "--predictions", "p.csv", "-m", "accuracy").stdout
    slices = [line.split()[1] for line in plain.splitlines() if line.startswith("accuracy")]
    sources = ("app", "mail", "web")
    assert slices == ["all", *(f"source={each}" for each in sources), *(f"source!={each}" for each in sources)]


def test_labels_have_rates_and_no_aucs(run):
    data = loaded()
    lines = ["id,prediction", *(f"{each},{data.label_names[0]}" for each in data.ids.to_pylist())]
    Path("hard.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="need probabilities"):
        run("--about", "source", "--predictions", "hard.csv")
    done = run("--about", "source", "--predictions", "hard.csv", "-m", "positive_rate", "--json")
    assert not any(row["metric"].startswith("bias.") for row in measured(done))
    assert "note: these predictions are labels" in done.stderr


def test_a_model_is_asked_about_texts_and_their_swaps(run):
    done = run("--terms", "terms.toml", "--model", "own_bias_model:model", "--swap", "swap.toml", "--json", "-q")
    assert done.exit_code == 0, done.output
    rows = {(row["metric"], row["slice"]): row for row in measured(done)}
    change = rows["bias.mean_change", "swap=rain → soup"]
    texts = [text for text in loaded().texts.to_pylist() if "rain" in text.split()]
    assert change["n"] == len(texts)

    def loud(text):
        return min(0.9, 0.1 + 0.2 * text.count("o"))

    expected = [loud(text.replace("rain", "soup")) - loud(text) for text in texts]
    assert change["value"] == pytest.approx(np.mean(expected))
    shown = run("--terms", "terms.toml", "--model", "own_bias_model:model", "--swap", "swap.toml").stdout
    assert any(line.startswith("swap=rain → soup") for line in shown.splitlines())


def test_so_many_texts_are_swapped(run, monkeypatch):
    words = ("--terms", "terms.toml", "--model", "own_bias_model:model", "--swap", "swap.toml")
    done = run(*words, "--limit", "5", "--cases", "cases.csv", "--seed", "3", "--json")
    assert "note: swaps are made of 5 texts, drawn with the seed 3; more texts hold a term (--limit N)" in done.stderr
    with pytest.warns(UnseenWarning):
        cases = swap_cases(loaded(), {"things": ["rain", "soup", "goal"]}, most=5, seed=3)
    written = package.load("cases.csv", text="text", label="label", id="id")
    assert written.ids.to_pylist() == cases.ids.to_pylist()
    (row,) = [row for row in measured(done) if (row["metric"], row["slice"]) == ("bias.flip_rate", "all")]
    assert row["n"] == len(cases) - 5
    monkeypatch.setattr("unseen.runs.bias.SWAPPED", 4)
    assert "made of 4 texts" in run(*words).stderr
    assert "made of" not in run(*words, "--limit", "60").stderr


def test_swapped_texts_can_be_predicted_elsewhere(run):
    words = ("--terms", "terms.toml", "--predictions", "p.csv", "--swap", "swap.toml")
    first = run(*words, "--cases", "cases.csv")
    assert "the swapped texts are in cases.csv" in first.stderr
    assert "other label" not in first.stdout
    cases = swap_cases(loaded(), {"things": ["rain", "soup", "goal"]})
    again = package.load("cases.csv", text="text", label="label", id="id")
    assert again.texts.to_pylist() == cases.texts.to_pylist()
    half = np.full((len(cases), 2), 0.5)
    write_predictions(Predictions(cases.ids, half, cases.label_names), "said.csv")
    rows = measured(run(*words, "--swapped", "said.csv", "--json", "-q"))
    assert {"bias.flip_rate", "bias.largest_change"} <= {row["metric"] for row in rows}
    (change,) = [row for row in rows if (row["metric"], row["slice"]) == ("bias.mean_change", "all")]
    loud = dict(zip(loaded().ids.to_pylist(), read_predictions("p.csv", loaded()).probabilities[:, 1], strict=True))
    originals = [loud[each] for each in cases.attribute("reference").to_pylist() if each is not None]
    assert change["value"] == pytest.approx(np.mean([0.5 - each for each in originals]))
    with pytest.raises(MismatchError, match="have no prediction"):
        run(*words, "--swapped", "p.csv")


def test_a_part_without_terms_has_no_swaps(run, write_posts):
    write_posts(Path("posts.csv"), edit=lambda n, row: {"text": f"x {n}"} if n % 5 == 0 else {})
    words = ("--about", "source", "--predictions", "p.csv", "--split", "parts.csv", "--swap", "swap.toml")
    data = loaded()
    lines = ["id,part", *(f"{each},{'dev' if n % 5 else 'test'}" for n, each in enumerate(data.ids.to_pylist()))]
    Path("parts.csv").write_text("\n".join(lines), encoding="utf-8")
    cases = swap_cases(data, {"things": ["rain", "soup", "goal"]})
    write_predictions(Predictions(cases.ids, np.full((len(cases), 2), 0.5), cases.label_names), "said.csv")
    rows = measured(run(*words, "--swapped", "said.csv", "--json", "-q"))
    assert {row["tags"]["part"] for row in rows if row["metric"] == "bias.flip_rate"} == {"dev"}
    assert {row["tags"]["part"] for row in rows} == {"dev", "test"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--predictions", "p.csv"), "one of about='column' and terms='FILE'"),
        (
            ("--about", "source", "--terms", "terms.toml", "--predictions", "p.csv"),
            "groups come from a column",
        ),
        (("--about", "source"), "one of model='MODEL' and predictions='FILE'"),
        (
            ("--about", "source", "--model", "own_bias_model:model", "--predictions", "p.csv"),
            "bias is that of a model",
        ),
        (("--about", "source", "--predictions", "p.csv", "--part", "test"), "no effect without a split"),
        (
            ("--about", "source", "--predictions", "p.csv", "--swapped", "p.csv"),
            "swapped=… has no effect",
        ),
        (("--about", "source", "--predictions", "p.csv", "--limit", "5"), "limit=… has no effect without swap=…"),
        (("--about", "source", "--predictions", "p.csv", "--set", "rate=5"), "rate=… has no effect without model=…"),
        (("--about", "source", "--predictions", "p.csv", "--swap", "swap.toml"), "needs what the model says"),
        (("--about", "source", "--predictions", "p.csv", "--background", "al"), "did you mean 'all'"),
        (("--about", "source", "--predictions", "p.csv", "--only", "wob"), "did you mean 'web'"),
        (("--about", "source", "--predictions", "p.csv", "--positive", "laud"), "did you mean 'loud'"),
    ],
)
def test_wrong_options_are_named(run, words, said):
    with pytest.raises((InputError, UnknownNameError)) as error:
        run(*words)
    assert said in str(error.value)


def test_a_positive_label_is_needed(folder):
    done = CliRunner().invoke(app, [*SOURCE, "--about", "source", "--predictions", "p.csv"])
    assert done.exit_code == 2
    assert "--positive" in done.stderr


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bias.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_about_bias_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [("cook", "clerk", "nurse")[n % 3] for n in range(60)]
    lines = [f"p{n},a {word} said {n},{('fine', 'rude')[n // 3 % 2]},{word}s" for n, word in enumerate(words)]
    Path("posts.csv").write_text("\n".join(["id,text,label,target", *lines]), encoding="utf-8")
    data = package.load("posts.csv", id="id")
    score = np.random.default_rng(0).random(60)
    write_predictions(Predictions(data.ids, np.column_stack([1 - score, score]), data.label_names), "predictions.csv")
    for name, seed in (("random", 1), ("hard", 2)):
        write_split(package.split(data, "random", test=0.5, seed=seed, name=name), f"{name}.csv")
    terms, swaps = blocks("toml")
    Path("terms.toml").write_text(terms, encoding="utf-8")
    Path("swaps.toml").write_text(swaps, encoding="utf-8")
    commands = [shlex.split(block)[3:] for block in blocks("sh")]
    assert len(commands) == 6
    for command in commands:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.exception
    assert {row.tags["split"] for row in read_measurements("parts/measurements.csv")} == {"random", "hard"}
    (code,) = blocks("python")
    exec(compile(code, "bias.md", "exec"), {})


def test_other_labels_are_told_by_map_and_a_mistyped_positive_label_before_the_model_is_asked(run, folder, unseen):
    model = 'def model(texts):\n    print("asked")\n    return [{"LOUD!": 0.5, "quiet": 0.5} for _ in texts]\n'
    (folder / "other_labels.py").write_text(model, encoding="utf-8")
    given = ("--about", "source", "--model", "other_labels:model")
    refused = unseen("audit", "bias", *SOURCE, *given, "--positive", "laud")
    assert "did you mean 'loud'?" in refused.err
    assert "asked" not in refused.out
    refused = unseen("audit", "bias", *SOURCE, *given, "--positive", "loud")
    assert "mean: --map theirs=ours" in refused.err
    assert run(*given, "--map", "LOUD!=loud,quiet=calm").exit_code == 0
    renamed = Path("p.csv").read_text(encoding="utf-8").replace("calm,loud", "quiet,LOUD!")
    Path("theirs.csv").write_text(renamed, encoding="utf-8")
    refused = unseen("model", "score", *SOURCE, "theirs.csv")
    assert "--map theirs=ours" in refused.err
    assert unseen("model", "score", *SOURCE, "theirs.csv", "--map", "LOUD!=loud,quiet=calm").code == 0


def test_what_is_written_is_told_and_only_measurements_are_overwritten(run, unseen):
    for _ in range(2):
        assert "note: written: m.csv\n" in unseen("model", "score", *SOURCE, "p.csv", "--json", "-o", "m.csv").err
    before = Path("posts.csv").read_bytes()
    refused = unseen("model", "score", *SOURCE, "p.csv", "-o", "posts.csv")
    assert "posts.csv holds no measurements and would be overwritten" in refused.err
    assert Path("posts.csv").read_bytes() == before
