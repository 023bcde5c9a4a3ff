"""Fine-tuning and encoding: texts per second beside Hugging Face's Trainer and beside the published way."""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.metadata import version
from typing import Any

from benchmarks.setting import ROOT, data_folder, in_fresh_process, machine, seconds, table

TRAIN, VALIDATION, PUBLISHED, ENCODED = 2_000, 1_000, 48, 4_000
EPOCHS, BATCH, RATE, SEED = 2, 32, 1e-4, 42
LIGHT = {3_000: (101, 102, 103), 20_000: (101,)}
RECIPES_MEASURED = ("logistic", "svm", "neural")
SHARED = {"learning_rate": RATE, "num_train_epochs": EPOCHS, "seed": SEED}


def parts() -> tuple[Any, Any, str]:
    """Training and validation texts: HateXplain where it is, else the sample."""
    import unseen
    from unseen.data.sample import sample_corpus

    folder = data_folder()
    if folder is None:
        data, name = sample_corpus(TRAIN + VALIDATION), "the synthetic sample"
    else:
        data = unseen.load(folder / "hatexplain" / "train_test.csv", text="example", label="label")
        name = "HateXplain"
    split = unseen.split(data, "random", test=VALIDATION, dev=len(data) - TRAIN - VALIDATION or 0, seed=SEED)
    return data.take(split.rows("train")), data.take(split.rows("test")), name


def ours(train: Any, validation: Any) -> dict[str, float]:
    """unseen's loop, fixed epochs, the last weights."""
    from unseen.training.transformer import Transformer

    recipe = Transformer("minilm", preset="fast", epochs=EPOCHS, batch=BATCH, learning_rate=RATE)
    took, model = seconds(lambda: recipe.fit(train, train.take([]), SEED))
    return {"speed": len(train) * EPOCHS / took, "accuracy": accuracy(model.predict_proba, validation)}


def trainer(train: Any, validation: Any, pad_to: int | None = None, batch: int = BATCH) -> dict[str, float]:
    """Hugging Face's Trainer with its defaults; with `pad_to` every text is padded to that length."""
    import datasets
    import transformers

    from unseen.representations.checkpoints import find_checkpoint

    place = find_checkpoint("minilm").place
    transformers.set_seed(SEED)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    labels = len(train.label_names)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(place, num_labels=labels)
    padding = {"padding": "max_length", "max_length": pad_to} if pad_to else {"max_length": 128}

    def encoded(part: Any) -> Any:
        rows = datasets.Dataset.from_dict({"text": part.texts.to_pylist(), "label": part.labels.astype(int).tolist()})
        return rows.map(lambda some: tokenizer(some["text"], truncation=True, **padding), batched=True)

    with tempfile.TemporaryDirectory() as folder:
        settings = transformers.TrainingArguments(
            folder, per_device_train_batch_size=batch, report_to=[], save_strategy="no", **SHARED
        )
        loop = transformers.Trainer(model, settings, train_dataset=encoded(train), processing_class=tokenizer)
        took, _ = seconds(loop.train)
        said = loop.predict(encoded(validation)).predictions.argmax(1)
    return {"speed": len(train) * EPOCHS / took, "accuracy": float((said == validation.labels).mean())}


def encoding(train: Any, validation: Any) -> dict[str, float]:
    """Vectors of a pretrained MiniLM."""
    import unseen
    from unseen.representations.transformer import TransformerEncoder

    del validation
    folder = data_folder()
    texts = train.texts.to_pylist()
    if folder is not None:
        data = unseen.load(folder / "hatexplain" / "train_test.csv", text="example", label="label")
        texts = data.texts.to_pylist()[::4][:ENCODED]
    encoder = TransformerEncoder("minilm")
    encoder.encode(texts[:64])
    took, _ = seconds(lambda: encoder.encode(texts))
    return {"speed": len(texts) / took, "accuracy": 0.0}


def accuracy(predict: Any, validation: Any) -> float:
    """Share of the validation texts that get their label."""
    return float((predict(validation.texts.to_pylist()).argmax(1) == validation.labels).mean())


def light(train: Any, validation: Any) -> dict[str, float]:
    """Macro F1 and time of the light recipes on random splits of the sample, 80/10/10."""
    import numpy as np

    import unseen
    from unseen.data.sample import sample_corpus
    from unseen.evaluation import measure
    from unseen.inference import predict
    from unseen.training import RECIPES

    del train, validation
    found: dict[str, float] = {}
    for rows, seeds in LIGHT.items():
        data = sample_corpus(rows)
        for name in RECIPES_MEASURED:
            scores, times = [], []
            for seed in seeds:
                split = unseen.split(data, "random", test=0.1, dev=0.1, seed=seed)
                parts = [data.take(split.rows(part)) for part in ("train", "dev")]
                took, model = seconds(lambda parts=parts, name=name, seed=seed: RECIPES.make(name).fit(*parts, seed))
                said = predict(model, data, split.rows("test"))
                scores.append(measure(data, said, split.rows("test"), ["f1.macro"], draws=2)[0].value)
                times.append(took)
            found |= {f"{name} {rows} f1": float(np.mean(scores)), f"{name} {rows} seconds": float(np.mean(times))}
    return found


def light_section() -> str:
    """The light recipes in a table."""
    found = json.loads(in_fresh_process("-m", "benchmarks.training", "light").splitlines()[-1])
    rows = [
        [f"`{name}`"]
        + [
            cell
            for size in LIGHT
            for cell in (
                f"{found[f'{name} {size} f1']:.3f}",
                f"{found[f'{name} {size} seconds'] / found[f'logistic {size} seconds']:.1f}",
            )
        ]
        for name in RECIPES_MEASURED
    ]
    heads = [head for size in LIGHT for head in (f"{size:,} texts", "time ÷ logistic's")]
    return (
        "\n## Light recipes\n\nMacro F1 on random splits of the bundled sample (80/10/10, seeds 101 to 103, one seed for the larger size; "
        "invented texts, which say nothing about real ones).\n\n" + table(["recipe", *heads], rows)
    )


WAYS = {
    "unseen": lambda train, validation: ours(train, validation),
    "trainer": lambda train, validation: trainer(train, validation),
    "published": lambda train, validation: trainer(train.take(range(PUBLISHED)), validation.take(range(8)), 512, 4),
    "encoding": lambda train, validation: encoding(train, validation),
    "light": lambda train, validation: light(train, validation),
}


def section() -> str:
    """The three ways one after the other, each in a fresh process."""
    found = {
        name: json.loads(in_fresh_process("-m", "benchmarks.training", name).splitlines()[-1])
        for name in WAYS
        if name != "light"
    }
    mine = found["unseen"]
    name = parts()[2]
    rows = [
        ["unseen, fast preset", "1", f"{mine['accuracy']:.3f}"],
        [
            "Trainer, its defaults",
            f"{mine['speed'] / found['trainer']['speed']:.2f}",
            f"{found['trainer']['accuracy']:.3f}",
        ],
        ["padded to 512 tokens, batches of 4", f"{mine['speed'] / found['published']['speed']:.1f}", ""],
    ]
    return (
        f"## Fine-tuning MiniLM\n\n{TRAIN:,} texts of {name} drawn at random (seed {SEED}), {EPOCHS} epochs, batches of {BATCH}, "
        f"learning rate {RATE:g}, no early stopping; accuracy on {VALIDATION:,} other texts, one seed each. The padded way was "
        f"timed on {PUBLISHED} texts, too few for a score. Each way in a fresh process, loading of the weights included.\n\n"
        + table(["way", "its time per text ÷ unseen's", "accuracy"], rows)
        + f"\nEncoding ({ENCODED:,} texts, no padding but within batches of like length) runs at "
        f"{found['encoding']['speed'] / mine['speed']:.1f} times the speed of training: 20,000 such texts in "
        f"{20_000 / found['encoding']['speed'] / 60:.1f} minutes here.\n"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        train, validation, _ = parts()
        print(json.dumps(WAYS[sys.argv[1]](train, validation)))
    else:
        packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers"))
        page = f"# Training: what was measured\n\n{machine()}, {packages}. Ratios are of times in one run on one machine.\n\n"
        page += section() + light_section()
        (ROOT / "docs" / "results" / "training.md").write_text(page, encoding="utf-8")
        print(page)
