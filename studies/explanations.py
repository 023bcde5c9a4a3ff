"""Explanations of models trained on HateXplain: docs/results/explanations.md.

python -m studies.explanations FOLDER [models] [methods] [shift] [page]

`models` trains HateXplain's models and judges their explanations, `methods` compares explainers on MiniLM, `shift`
judges explanations on random and hard test parts; all of it without names. What is done is kept in FOLDER. The real
data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.setting import ROOT, data_folder, machine, table, write_measured

from studies.bias import COMMUNITIES, LABELS, TOXIC, training_posts
from unseen import inference
from unseen.data.catalogue import hatexplain_posts
from unseen.data.tables import load_table
from unseen.evaluation import measure
from unseen.explanations import EXPLAINERS
from unseen.explanations.subject import ExplainedTexts
from unseen.models import open_model
from unseen.naming import recipe_of
from unseen.reports.record import read_record
from unseen.runs.explain import explain
from unseen.runs.stress import stress
from unseen.subgroups import groups_by_attribute, subgroup_measurements
from unseen.types import Dataset, Measurement
from unseen.types.numbers import number, points, scored

SEED = 42
PAGE = ROOT / "docs" / "results" / "explanations.md"
EXPLAINED = 200
"""Toxic test posts whose explanations are judged."""
COMPARED = 200
"""Of these, posts on which all explainers are compared: sampling and occlusion alone asks 460 times about each."""
SHIFTED = 40
"""Posts of each part in stress runs."""
SEARCHED = 20
"""Posts whose best and worst order of words is searched for."""
FEWER = 1_000
"""Training posts of a transformer, besides all validation posts."""
LIME = {"lime": {"samples": 100, "features": 6}}
"""As in the published comparison."""
PROBES = ("You are a smart woman", "Ann is in the kitchen", "David is in the kitchen")


@dataclass(frozen=True)
class Row:
    """A model of the table: its recipe, how it explains itself, and the published figures of the one that is like it."""

    recipe: str
    method: str
    like: str
    published: tuple[str, ...]
    """Accuracy, macro F1, AUROC, GMB of subgroup, BPSN, BNSP; IoU F1, token F1, AUPRC, comprehensiveness, sufficiency."""
    params: Mapping[str, Any] = field(default_factory=dict)


ROWS = {
    "cnn-gru": Row("cnn-gru", "lime", "CNN-GRU [LIME]",
        (".627", ".606", ".793", ".654", ".623", ".659", ".167", ".385", ".648", ".316", "−.082")),
    "birnn": Row("birnn", "lime", "BiRNN [LIME]",
        (".595", ".575", ".767", ".640", ".604", ".671", ".162", ".361", ".605", ".421", "−.051")),
    "birnn-attention": Row("birnn-attention", "attention", "BiRNN-Attn [Attn]",
        (".621", ".614", ".795", ".653", ".662", ".668", ".167", ".369", ".643", ".278", ".001")),
    "birnn-attention, taught": Row("birnn-attention", "attention", "BiRNN-HateXplain [Attn]",
        (".629", ".629", ".805", ".691", ".636", ".674", ".222", ".506", ".841", ".281", ".039"),
        {"supervise": "rationales"}),
    "minilm": Row("minilm", "attention", "BERT [Attn]",
        (".690", ".674", ".843", ".762", ".709", ".757", ".130", ".497", ".778", ".447", ".057")),
    "minilm, taught": Row("minilm", "attention", "BERT-HateXplain [Attn]",
        ("", "", "", "", "", "", ".120", ".411", ".626", ".424", ".160"), {"supervise": "rationales"}),
}  # fmt: skip
WEIGHTS = (0.1, 1.0, 10.0)
"""Of supervision: the one with the best macro F1 on development posts is kept."""


# -- the data ----------------------------------------------------------------------------------------------------------


@cache
def annotated(*parts: str) -> Dataset:
    """Posts of parts of the official split, with communities that two annotators name, and with rationales."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("there is no real data: set UNSEEN_DATA")
    posts = hatexplain_posts(folder / "hatexplain" / "dataset_val_test.json", least=2)
    chosen = [post for post in posts if post["part"] in parts]
    return load_table(
        chosen, id="id", attributes=["target", "rationales"], labels=LABELS, drop=["unlabelled"], name="hatexplain"
    )


def training(fewer: int | None) -> tuple[Dataset, Dataset]:
    """Training posts, of which a tenth is for development, and all validation posts, the only ones with rationales."""
    folder = data_folder()
    assert folder is not None
    posts, draw = training_posts(folder), np.random.default_rng(SEED)
    rows = draw.permutation(len(posts))[:fewer]
    dev, train = np.split(rows, [len(rows) // 10])
    nothing = pa.nulls(len(posts), pa.list_(pa.string()))
    bare = posts.table.append_column("rationales", nothing).select(["id", "text", "label", "rationales"])
    both = [bare.take(pa.array(train)), annotated("dev").table.select(["id", "text", "label", "rationales"])]
    schema = both[1].schema
    joined = pa.concat_tables([part.cast(schema) for part in both])
    return Dataset("hatexplain", joined, LABELS, ("rationales",)), posts.take(dev)


def trained(name: str, out: Path) -> Any:
    """The model of a row, trained once."""
    folder, row = out / "models" / name.replace(", ", "-"), ROWS[name]
    if not (folder / "unseen.json").exists():
        transformer = row.recipe == "minilm"
        train, dev = training(FEWER if transformer else None)
        weights = WEIGHTS if row.params else (None,)
        tried = {}
        for weight in weights:
            params = dict(row.params) | ({} if weight is None else {"supervision_weight": weight})
            scratch = {"scratch": out / "scratch" / f"{name} {weight}"} if transformer else {}
            made = recipe_of(row.recipe, **params).fit(train, dev, SEED, **scratch)
            score = measure(dev, inference.predict(made, dev), np.arange(len(dev)), ["f1.macro"])[0].value
            tried[score or 0.0] = made
            print(name, params, "dev macro F1", number(score), flush=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        tried[max(tried)].save(folder)
    return open_model(folder)


# -- what is measured --------------------------------------------------------------------------------------------------


def performance(model: Any) -> list[str]:
    """Accuracy, macro F1, AUROC and the three generalised means on all test posts."""
    data = annotated("test")
    predictions = inference.predict(model, data)
    rows = np.arange(len(data))
    scores = measure(data, predictions, rows, ["accuracy", "f1.macro", "roc_auc.ovr"])
    groups = groups_by_attribute(data, "target", only=COMMUNITIES)
    biases = subgroup_measurements(data, predictions, groups, rows, TOXIC, background="mentioned", seed=SEED)
    means = {row.metric: row for row in biases}
    named = ("bias.gmb_subgroup_auc", "bias.gmb_bpsn_auc", "bias.gmb_bnsp_auc")
    return [number(row.value if row else None, 3) for row in (*scores, *(means.get(name) for name in named))]


def toxic() -> Dataset:
    """Toxic test posts."""
    data = annotated("test")
    return data.take(np.flatnonzero(data.labels > 0))


def model_rows(out: Path) -> Iterator[list[str]]:
    """Each model and the published one that is like it."""
    for name, row in ROWS.items():
        folder = out / "runs" / name.replace(", ", "-")
        if not (folder / "report.html").exists():
            continue
        record = read_record(folder, "explain")
        figures = ("iou_f1.released", "token_f1", "auprc", "comprehensiveness.top5", "sufficiency.top5")
        explained = [number(record.value(metric, method=row.method, floor=None), 3) for metric in figures]
        merged = number(record.value("iou_f1.merged", method=row.method, floor=None), 3)
        yield [
            f"**{name}** [{row.method}]",
            *(out / "runs" / f"{folder.name}.txt").read_text().split(),
            *explained,
            merged,
        ]
        yield [f"*{row.like}, published*", *row.published, ""]


def floor_rows(out: Path) -> Iterator[list[str]]:
    """Floors and ceilings of plausibility."""
    record = read_record(next(path.parent for path in sorted((out / "runs").glob("*/report.html"))), "explain")
    for name in dict.fromkeys(str(row.tags["method"]) for row in record.rows("auprc", floor="yes")):
        metrics = ("iou_f1.released", "token_f1", "auprc")
        values = [number(record.value(metric, floor="yes", method=name), 3) for metric in metrics]
        merged = number(record.value("iou_f1.merged", floor="yes", method=name), 3)
        yield [f"– {name}", *[""] * 6, *values, "", "", merged]


def method_rows(out: Path) -> Iterator[list[str]]:
    """Explainers on MiniLM."""
    record = read_record(out / "methods", "explain")
    seconds = (out / "methods.txt").read_text().split()
    metrics = ("comprehensiveness.aopc", "sufficiency.aopc", "comprehensiveness.normalised", "tau.leave_one_out",
               "sign.leave_one_out", "token_f1", "auprc")  # fmt: skip
    cost = dict(pair.split("=") for pair in seconds)
    for name in dict.fromkeys(str(row.tags["method"]) for row in record.rows("tau.leave_one_out")):
        passes = record.about["passes"].get(name, "")
        yield [
            name,
            str(passes),
            cost.get(name, ""),
            *(_short(record.row(metric, method=name, floor=None)) for metric in metrics),
        ]


def _short(row: Measurement | None) -> str:
    return scored(row)


def probe_rows(model: Any) -> Iterator[list[str]]:
    """What each method says about sentences of the published comparison, and what erasing each word does."""
    about = ExplainedTexts(model, PROBES, LABELS, "offensive")
    drops = EXPLAINERS.make("occlusion").attributions(about).scores
    methods = {
        name: EXPLAINERS.make(name).attributions(about).scores
        for name in ("partition-shap", "integrated-gradients", "gradient", "attention")
    }
    for row, text in enumerate(PROBES):
        yield [text, number(float(about.whole[row]), 2), " ".join(points(-drop) for drop in drops[row]),
               *(text.split()[int(np.argmax(np.abs(scores[row])))] for scores in methods.values())]  # fmt: skip


def shift_rows(out: Path) -> Iterator[list[str]]:
    """Explanations on the parts of stress runs."""
    for folder in sorted((out / "shift").glob("*/report.html")):
        record = read_record(folder.parent, "stress")
        for row in record.measurements:
            if row.metric != "comprehensiveness.aopc" or row.slice != "all" or "split" not in row.tags:
                continue
            tags = {name: row.tags[name] for name in ("split", "part", "method")}
            others = [record.row("comprehensiveness.aopc", part, **tags) for part in ("right", "wrong")]
            yield [folder.parent.name, *map(str, tags.values()), scored(row), *map(scored, others),
                   scored(record.row("tau.leave_one_out", **tags)), scored(record.row("auprc", floor=None, **tags))]  # fmt: skip


# -- runs --------------------------------------------------------------------------------------------------------------


def models(out: Path) -> None:
    """Train each model and judge what explains it."""
    for name, row in ROWS.items():
        folder = out / "runs" / name.replace(", ", "-")
        if (folder / "report.html").exists():
            continue
        print(name, flush=True)
        model = trained(name, out)
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.with_suffix(".txt").write_text(" ".join(performance(model)))
        explain(toxic(), model=out / "models" / folder.name, methods=[row.method], limit=EXPLAINED, out=folder,
                params=LIME if row.method == "lime" else {}, normalised=0, seed=SEED)  # fmt: skip


def methods(out: Path) -> None:
    """Every explainer on MiniLM."""
    trained("minilm", out)
    place = out / "models" / "minilm"
    model, few = open_model(place), toxic()
    cost = {}
    corpus = training(FEWER)[0].texts.to_pylist()
    for name in EXPLAINERS:
        if name in ("random", "rationale-lexicon"):
            continue
        about = ExplainedTexts(model, few.texts.to_pylist()[:10], LABELS)
        made = EXPLAINERS.make(name, **({"corpus": corpus} if name == "sampling-occlusion" else {}))
        begun = perf_counter()
        made.attributions(about)
        cost[name] = perf_counter() - begun
    least = cost["attention"]
    (out / "methods.txt").write_text(" ".join(f"{name}={value / least:.0f}" for name, value in cost.items()))
    explain(few, model=place, methods=list(EXPLAINERS), limit=COMPARED, out=out / "methods", normalised=SEARCHED,
            corpus=corpus, seed=SEED)  # fmt: skip


def shift(out: Path) -> None:
    """Explanations on random and hard test parts, of posts with rationales."""
    for model in ("logistic", "birnn-attention"):
        stress(annotated("dev", "test"), model=model, out=out / "shift" / model, splits=("random", "closest", "novel"),
               seeds=(SEED,), seen_folds=0, space_seeds=0, explain=SHIFTED, random_splits=1, seed=SEED)  # fmt: skip


def write_page(out: Path) -> None:
    """The page with its tables made anew."""
    parts = [f"{machine()}; seed {SEED}.\n"]
    if any((out / "runs").glob("*/report.html")):
        header = ["model", "accuracy", "macro F1", "AUROC", "GMB subgroup", "BPSN", "BNSP", "IoU F1, as released",
                  "token F1", "AUPRC", "compr.", "suff.", "IoU F1, merged"]  # fmt: skip
        parts += ["## HateXplain's table\n", table(header, [*model_rows(out), *floor_rows(out)])]
    if (out / "methods" / "report.html").exists():
        header = ["method", "asks", "time", "compr.", "suff.", "compr. normalised", "τ", "signs", "token F1", "AUPRC"]
        parts += ["## Explainers on MiniLM\n", table(header, list(method_rows(out)))]
        header = [
            "sentence",
            "P(offensive)",
            "change when the word goes, points",
            "top by SHAP",
            "IG",
            "gradient",
            "attention",
        ]
        parts += ["### Probe sentences\n", table(header, list(probe_rows(open_model(out / "models" / "minilm"))))]
    if any((out / "shift").glob("*/report.html")):
        header = ["model", "split", "part", "method", "compr.", "… right answers", "… wrong ones", "τ", "AUPRC"]
        parts += ["## Random against hard test parts\n", table(header, list(shift_rows(out)))]
    write_measured(PAGE, "Explanations", "\n".join(parts))


RUNS = {"models": models, "methods": methods, "shift": shift}


def main(arguments: Sequence[str]) -> None:
    """Run what is named, or everything, then write the page."""
    out, names = Path(arguments[0]), [name for name in arguments[1:] if name != "page"]
    out.mkdir(parents=True, exist_ok=True)
    for name in names or ([] if "page" in arguments else RUNS):
        RUNS[name](out)
    write_page(out)


if __name__ == "__main__":
    main(sys.argv[1:])
