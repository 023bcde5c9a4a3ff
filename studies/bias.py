"""MiniLM trained on HateXplain: is it worse on posts about some communities? Writes docs/results/bias.md.

    python -m studies.bias FOLDER

The official split: trained on its training posts, validated on its validation posts, measured on its test posts. The
data is looked for in $UNSEEN_DATA or in shared/data beside the checkout. Interrupted and started again, training
goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.setting import ROOT, data_folder, machine, table

import unseen
from unseen import inference
from unseen.data.catalogue import hatexplain_posts
from unseen.data.tables import load_table
from unseen.models import open_model
from unseen.naming import recipe_of
from unseen.subgroups import groups_by_attribute, groups_by_terms, subgroup_measurements, swap_cases, swap_measurements
from unseen.subgroups.subgroup import AUCS, BACKGROUNDS
from unseen.types import Dataset, Measurement

SEED = 42
LABELS = ("normal", "offensive", "hatespeech")
TOXIC = ("offensive", "hatespeech")
COMMUNITIES = (
    "African", "Islam", "Jewish", "Homosexual", "Women", "Refugee", "Arab", "Caucasian", "Hispanic", "Asian",
)  # fmt: skip
FAITHS = ("muslim", "jewish", "christian", "buddhist", "catholic", "hindu")
PUBLISHED = [
    ["CNN-GRU", ".627", ".606", ".793", ".654", ".623", ".659"],
    ["BiRNN", ".595", ".575", ".767", ".640", ".604", ".671"],
    ["BiRNN-Attn", ".621", ".614", ".795", ".653", ".662", ".668"],
    ["BiRNN-HateXplain", ".629", ".629", ".805", ".691", ".636", ".674"],
    ["BERT", ".690", ".674", ".843", ".762", ".709", ".757"],
    ["BERT-HateXplain", ".698", ".687", ".851", ".807", ".745", ".763"],
]
"""Accuracy, macro F1, AUROC and the three generalised means (Mathew et al. 2021)."""
READING = """## Reading

Read on 16 November 2026.

- **As a classifier MiniLM is at BERT's level** (macro F1 .667, AUROC .854; BERT .674, .843). With the background of the published code (`mentioned`) its generalised means are at BERT's level too: .808, .705, .784 against .762, .709, .757; the intervals hold BERT's figures.
- **The background decides**: against all other posts BNSP rises to .853 and BPSN falls to .677. Figures with different backgrounds must not be compared.
- **The weak side is BPSN, false alarms about people**: normal posts about Jewish, African, Arab and Hispanic people score higher than most other normal posts (negative gaps of −.28 to −.40). There are few such posts (2 to 21), so the generalised mean, which hangs on the worst group, is uncertain by .2 and more; the published figures have no intervals.
- **The identity templates show the same without that uncertainty**: a normal sentence with "mexican" or "muslim" scores above half of all toxic sentences about others (BPSN .42 and .48).
- **Swapping the faith in real posts** changes the label of 28 % of the versions, of 34 % where "muslim" goes, and takes 17 points of toxic probability with it.
"""


def training_posts(folder: Path) -> Dataset:
    """The official training posts, under the names of the official annotations."""
    names = {"noHate": "normal", "offensive": "offensive", "hate": "hatespeech"}
    path = folder / "hatexplain" / "standard" / "train_standard.csv"
    return unseen.load(path, text="example", label="label", labels=names)


def annotated_posts(folder: Path, part: str) -> Dataset:
    """The posts of one part of the official split; a community counts when two annotators name it."""
    posts = hatexplain_posts(folder / "hatexplain" / "dataset_val_test.json", least=2)
    chosen = [post for post in posts if post["part"] == part]
    return load_table(chosen, id="id", attributes=["target"], labels=LABELS, drop=["unlabelled"], name="hatexplain")


def identity_terms(templates: Dataset) -> list[str]:
    """The terms that the templates are about: what stands behind the verb."""
    kinds = templates.attribute("template").to_pylist()
    texts = templates.texts.to_pylist()
    return sorted({text.partition(" ")[2] for text, kind in zip(texts, kinds, strict=True) if kind == "verb_adj"})


def number(row: Measurement | None) -> str:
    """A value with its interval."""
    if row is None or row.value is None:
        return "undefined"
    bounds = "" if row.low is None or row.high is None else f" [{row.low:.2f}, {row.high:.2f}]"
    return f"{row.value:.3f}{bounds}".replace("0.", ".")


def by_group(rows: Sequence[Measurement], lowest: str = "") -> list[list[str]]:
    """A line per group: its texts and three AUCs; sorted by one of them when it is named."""
    found: dict[str, dict[str, Measurement]] = {}
    for row in rows:
        if row.slice != "all":
            found.setdefault(row.slice.partition("=")[2], {})[row.metric.removeprefix("bias.")] = row
    names = sorted(found, key=lambda name: found[name][lowest].value or 0) if lowest else list(found)
    return [
        [
            name, str(found[name]["subgroup_auc"].tags["positives"]), str(found[name]["subgroup_auc"].tags["negatives"]),
            *(number(found[name][metric]) for metric in AUCS), number(found[name]["negative_aeg"]),
        ]
        for name in names
    ]  # fmt: skip


def means(rows: Sequence[Measurement]) -> list[str]:
    """The three generalised means."""
    found = {row.metric: row for row in rows}
    return [number(found[f"bias.gmb_{metric}"]) for metric in AUCS]


def main() -> None:
    """Train, measure, write the page."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("the data is not here: name its folder by UNSEEN_DATA")
    out = Path(sys.argv[1])
    train, dev, test = training_posts(folder), annotated_posts(folder, "dev"), annotated_posts(folder, "test")
    place = out / "model"
    if not (place / "unseen.json").exists():
        recipe_of("minilm").fit(train, dev, SEED, scratch=out / "scratch").save(place)
    model = open_model(place)
    said = inference.predict(model, test)
    scores = unseen.score(test, said, metrics=["accuracy", "f1.macro", "roc_auc.ovr"], seed=SEED)
    groups = groups_by_attribute(test, "target", only=COMMUNITIES)
    rows = np.arange(len(test))
    biases = {
        each: subgroup_measurements(test, said, groups, rows, TOXIC, background=each, seed=SEED) for each in BACKGROUNDS
    }
    templates = unseen.load("identity-templates", data_dir=folder)
    begun = time.perf_counter()
    names = {"normal": "nontoxic", "offensive": "toxic", "hatespeech": "toxic"}
    toxic = inference.predict(open_model(place, rename=names), templates)
    asked = time.perf_counter() - begun
    terms = groups_by_terms(templates, identity_terms(templates))
    begun = time.perf_counter()
    on_templates = subgroup_measurements(templates, toxic, terms, np.arange(len(templates)), ["toxic"], seed=SEED)
    measured = time.perf_counter() - begun
    cases = swap_cases(test, FAITHS)
    swaps = swap_measurements(cases, inference.predict(model, cases), TOXIC, seed=SEED)
    mentioned = float(np.mean(groups.members.any(axis=1)))
    lines = [
        "# Bias by community\n",
        f"{machine()}. Written by `python -m studies.bias`, seed {SEED}. MiniLM fine-tuned with the default settings on "
        f"the {len(train):,} official training posts of HateXplain, measured on the {len(test):,} test posts. Positive "
        "are offensive posts and hate speech together; a community counts when two of three annotators name it. "
        "Brackets: 95 % intervals.\n",
        READING,
        "## Beside the published models\n",
        table(
            ["model", "accuracy", "macro F1", "AUROC", "GMB subgroup", "GMB BPSN", "GMB BNSP"],
            [
                *PUBLISHED,
                ["MiniLM, background all", *(number(row) for row in scores), *means(biases["all"])],
                ["MiniLM, background mentioned", "", "", "", *means(biases["mentioned"])],
            ],
        ),
        f"\n`all` compares a community with every post that does not mention it (Borkan et al. 2019), `mentioned` only "
        f"with posts that mention another one, as the published code does: {100 * (1 - mentioned):.0f} % of the test "
        "posts mention none of the ten.\n",
        "## By community, background all\n",
        table(["community", "positive", "negative", *AUCS, "negative gap"], by_group(biases["all"])),
        "\n## By community, background mentioned\n",
        table(["community", "positive", "negative", *AUCS, "negative gap"], by_group(biases["mentioned"])),
        "\n## On identity templates\n",
        f"{len(templates):,} phrases, half of them toxic whatever term they hold; {asked / 60:.1f} minutes to ask the "
        f"model, {measured:.0f} seconds to measure {len(terms.names)} terms with intervals. Generalised means: subgroup, "
        f"BPSN, BNSP {', '.join(means(on_templates))}. The ten terms with the lowest BPSN AUC:\n",
        table(["term", "positive", "negative", *AUCS, "negative gap"], by_group(on_templates, "bpsn_auc")[:10]),
        "\n## Swaps of faiths in the test posts\n",
        f"{len(cases):,} texts and versions; the faiths are {', '.join(FAITHS)}.\n",
        table(
            ["", "versions", "flip rate", "mean change of the toxic probability"],
            [
                [name, str(row.n), number(row), number(next(e for e in swaps if (e.metric, e.slice) == change))]
                for row in swaps
                if row.metric == "bias.flip_rate" and row.slice.startswith(("all", "from=", "to="))
                for name, change in [(row.slice, ("bias.mean_change", row.slice))]
            ],
        ),
    ]  # fmt: skip
    (ROOT / "docs" / "results" / "bias.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
