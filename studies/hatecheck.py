"""Three models of Davidson's tweets, balanced by class weights, run through HateCheck: docs/results/hatecheck.md.

    python -m studies.hatecheck FOLDER

Fine-tuning is that of HateCheck's authors for their BERT models, with MiniLM in place of BERT and one epoch in place
of three. The data is looked for in $UNSEEN_DATA or in shared/data beside the checkout. Interrupted and started again,
training goes on.
"""

from __future__ import annotations

import html
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.setting import ROOT, data_folder, machine, table

import unseen
from unseen.evaluation.probability_scores import auc
from unseen.functional import load_suite
from unseen.models import open_model
from unseen.naming import recipe_of
from unseen.reports.behaviour import Behaviour, axis_table, behaviours, functionality_table, headline, pair_table
from unseen.reports.formats import to_markdown
from unseen.runs.check import check
from unseen.store import read_predictions
from unseen.store.files import file_name
from unseen.types import Dataset, string_array
from unseen.types.arrays import encode_labels

SEED = 123
LABELS = ("non-hateful", "hateful")
TUNED = "MiniLM fine-tuned"
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    TUNED: ("minilm", {
        "epochs": 1, "batch": 16, "learning_rate": 5e-5, "weight_decay": 0.01, "dropout": 0.1,
        "class_weights": "balanced",
    }),
    "MiniLM frozen": ("logistic", {"features": "minilm", "class_weights": "balanced"}),
    "TF-IDF": ("logistic", {"class_weights": "balanced"}),
}  # fmt: skip
"""Recipe and settings by the name on the page."""
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\ufe0f\u200d]+")
BERT = (
    88.6, 88.6, 91.4, 71.4, 87.2, 91.4, 60.4, 66.7, 39.5, 82.9, 99.0, 87.1, 85.7, 85.0, 12.8, 80.7, 85.7, 20.6, 21.7,
    26.6, 29.1, 87.7, 27.7, 35.5, 69.9, 59.3, 68.1, 43.9, 48.0,
)  # fmt: skip
"""Accuracy in percent of BERT-Davidson on the functionalities F1 to F29 (Röttger et al. 2021)."""
BERT_LABELS = {"hateful": 75.5, "non-hateful": 36.0, "all": 63.2}
BERT_TARGETS = {
    "women": 34.9, "trans people": 69.1, "gay people": 73.9, "black people": 69.8, "disabled people": 71.0,
    "Muslims": 72.2, "immigrants": 70.5,
}  # fmt: skip
READING = """## Reading

Read on 17 November 2026. Training took some twelve minutes of one core, an hour on the clock beside other work. One seed.

- **Fine-tuned MiniLM does on HateCheck what BERT-Davidson does**: it finds 73.5 % of the hateful cases (BERT 75.5) and spares 37.9 % of the others (36.0), and on held-out tweets it has a macro F1 of 69.8 (70.8). Frozen MiniLM with a linear head goes further the same way (80.8 and 28.5) at a macro F1 of 60.8: it calls most texts about groups hateful. TF-IDF does less of both (47.1 and 55.9).
- **All three order the cases little better than chance** (ROC AUC .54 to .57). With thresholds moved until each finds as much hate as BERT-Davidson, they spare 36, 34 and 32 % (BERT 36). Held-out scores tell nothing of this.
- **The weak points are the paper's**: negated hate (14 %; BERT 13), neutral and positive mentions of groups (21 and 16; 21 and 22), counter speech (24 and 26; 27 and 29). Of a hateful case and its non-hateful contrast fine-tuned MiniLM gets both right in 2 % (last table). Abuse of individuals and of other groups is told apart better than by BERT (77 and 71; 28 and 36).
- **Women are protected least** by fine-tuned and frozen MiniLM, as in the paper (23 and 43; BERT 35); TF-IDF is worst on Muslims and immigrants.

## What this page said before, and why it was wrong

Until 16 November 2026 it said that MiniLM looked like the opposite of BERT-Davidson: 19.7 % of the hateful cases found and 82.6 % of the others spared (TF-IDF 20.1 and 82.2). That was our training, not the models: class weights were asked for and then undone.

- TF-IDF: C was chosen by unweighted log loss on the validation part, which prefers a C at which the weights hardly count. By weighted log loss it is .1, and nothing else was changed: 20.1 became 47.1.
- MiniLM: the loss was divided by the weights of each batch, so that a batch without hateful tweets pulled as hard as one with them, and gradients of weighted batches were clipped to the length of any other. Now a batch counts by its weights, clipped or not. The earlier run also had three epochs, this one has one: how much of the change is due to that was not measured here.

The price is on held-out tweets, whose mix is not balanced: macro F1 fell from 70.6 to 69.8 (MiniLM) and from 69.8 to 67.2 (TF-IDF). A model with weights that is worse than a constant on its validation part now says so; none of these three does.
"""


def cleaned(text: str) -> str:
    """A tweet as the recipe wants it: lower case, one line, placeholders, hashtags as words."""
    text = html.unescape(text).lower().lstrip("!").replace("\n", " ").replace("\t", " ")
    text = re.sub(r"https?://\S+", "[URL]", text)
    text = re.sub(r"@\w+:?", "[USER]", text)
    text = EMOJI.sub(" [EMOJI] ", text)
    text = re.sub(r"#(\w+)", lambda found: " ".join(words_in(found[1])), text)
    return re.sub(r"\s+", " ", text).strip() or "[EMPTY]"


def words_in(hashtag: str) -> list[str]:
    """The words of a hashtag."""
    import wordsegment

    if not wordsegment.UNIGRAMS:
        wordsegment.load()
    return list(wordsegment.segment(hashtag)) or [hashtag]


def with_clean_texts(data: Dataset) -> Dataset:
    """The same rows, cleaned."""
    texts = string_array([cleaned(each) for each in data.texts.to_pylist()])
    return Dataset(data.name, data.table.set_column(1, "text", texts), data.label_names, data.attributes, data.origin)


def davidson(folder: Path) -> Dataset:
    """Davidson's tweets as hateful or not."""
    data = unseen.load("davidson", data_dir=folder)
    said = pa.chunked_array([data.table["label"].combine_chunks().cast(pa.large_string())])
    names = string_array([LABELS[each == "hate"] for each in said.to_pylist()])
    columns = {"id": data.ids, "text": data.texts, "label": encode_labels(names, LABELS)}
    return with_clean_texts(Dataset("davidson", pa.table(columns), LABELS))


def ranking(suite: Dataset, path: Path) -> list[str]:
    """How well a model orders the cases, and what it spares when it finds as much hate as BERT-Davidson."""
    found = read_predictions(path, suite)
    scores, hateful = found.probabilities[:, LABELS.index("hateful")], suite.labels == LABELS.index("hateful")
    threshold = np.quantile(scores[hateful], 1 - BERT_LABELS["hateful"] / 100)
    spared = (scores[~hateful] < threshold).mean()
    return [f"{auc(hateful, scores):.3f}", f"{100 * (scores[hateful] >= threshold).mean():.1f}", f"{100 * spared:.1f}"]


def percent(of: Behaviour, slice: str, model: str) -> str:
    """A rate as the paper prints it."""
    found = of.rate(slice, model)
    return "" if found is None or found.value is None else f"{100 * found.value:.1f}"


def main() -> None:
    """Train, check, write the page."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("the data is not here: name its folder by UNSEEN_DATA")
    out = Path(sys.argv[1])
    tweets = davidson(folder)
    parts = unseen.split(tweets, "random", test=0.1, dev=0.1, seed=SEED)
    train, dev, test = (tweets.take(parts.rows(part)) for part in ("train", "dev", "test"))
    held_out = {}
    for name, (model, settings) in MODELS.items():
        place = out / "models" / name
        if not (place / "unseen.json").exists():
            scratch = {"scratch": out / "scratch"} if name == TUNED else {}
            recipe_of(model, **settings).fit(train, dev, SEED, **scratch).save(place)
        predictions = unseen.predict(test, open_model(place))
        held_out[name] = unseen.score(test, predictions, metrics=["f1.micro", "f1.macro"])
    suite = with_clean_texts(load_suite("hatecheck", data_dir=folder))
    begun = time.perf_counter()
    open_model(out / "models" / TUNED).predict_proba(suite.texts.to_pylist())
    seconds = time.perf_counter() - begun
    asked = {name: out / "models" / name for name in held_out}
    done = check(asked, suite, out=out / "check", command="python -m studies.hatecheck FOLDER", seed=SEED)
    (of,) = behaviours(done.measurements)
    published = [
        [name.partition("=")[2], f"{bert:.1f}", *(percent(of, name, each) for each in of.models)]
        for name, bert in zip(of.of_axis("functionality"), BERT, strict=True)
    ]  # fmt: skip
    others = [
        [name, f"{bert:.1f}", *(percent(of, key, each) for each in of.models)]
        for prefix, figures in (("label=", BERT_LABELS), ("target=", BERT_TARGETS))
        for name, bert in figures.items()
        for key in ["all" if name == "all" else f"{prefix}{name}"]
    ]  # fmt: skip
    pairs = pair_table(of)
    ranked = [
        [name, *ranking(suite, out / "check" / "predictions" / f"{file_name(name)}.parquet")] for name in of.models
    ]
    lines = [
        "# HateCheck\n",
        f"{machine()}. Written by `python -m studies.hatecheck`, seed {SEED}. Three models of {len(train):,} of Davidson's "
        "tweets, all with balanced class weights: MiniLM (22.7 M parameters) fine-tuned by the recipe of BERT-Davidson "
        "(batches of 16, rate 5e-5, cleaned texts) but for one epoch in place of three, to save time; logistic regression on the vectors of MiniLM as it comes (frozen); logistic regression on "
        "TF-IDF. The three placeholders of the cleaning are ordinary words here, not tokens of their own.\n",
        *(f"{headline(of, model)}\n" for model in of.models),
        READING,
        "## On the tweets that were kept for testing\n",
        table(
            ["model", "micro F1", "macro F1"],
            [["BERT-Davidson, published", "91.5", "70.8"]]
            + [[name, *(f"{100 * (row.value or 0):.1f}" for row in rows)] for name, rows in held_out.items()],
        ),
        f"\nThe {len(suite):,} cases took the fine-tuned MiniLM {seconds:.0f} seconds on this machine.\n",
        "## Beside BERT-Davidson, accuracy in percent\n",
        table(["functionality", "BERT-Davidson", *of.models], published),
        "\n" + table(["", "BERT-Davidson", *of.models], others),
        "\nTargets on the 421 cases each that come from templates with all seven.\n",
        "## Apart from the threshold\n",
        table(["model", "ROC AUC on the suite", "hateful", "non-hateful where hateful is 75.5, as for BERT-Davidson"], ranked),
        "\nBERT-Davidson: 75.5 and 36.0. The last column lowers the threshold of each model until it finds as much hate.\n",
        "## As the report has it\n",
        to_markdown(functionality_table(of)),
        *(to_markdown(axis_table(of, axis)) for axis in ("class", "direction", "target")),
        *([to_markdown(pairs)] if pairs else []),
    ]  # fmt: skip
    (ROOT / "docs" / "results" / "hatecheck.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
