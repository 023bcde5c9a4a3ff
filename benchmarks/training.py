"""Fine-tuning beside Hugging Face's Trainer and the published way, what each saving is worth, and the light recipes.

`python -m benchmarks.training` writes docs/results/training.md; with `tuning`, `savings` or `light` only that section.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from time import process_time
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, data_folder, in_fresh_process, machine, processor_seconds, seconds, table
from unseen.machine import cores

TRAIN, VALIDATION, PUBLISHED, ENCODED = 2_400, 2_000, 8, 600
EPOCHS, BATCH, RATE, SEED = 2, 32, 1e-4, 42
SEEDS = (42, 43)
STEPS = 10
FROZEN = 2
LIGHT = {3_000: (101, 102, 103), 20_000: (101,)}
RECIPES_MEASURED = ("logistic", "svm", "neural")
SHARED = {"learning_rate": RATE, "num_train_epochs": EPOCHS}


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


def ours(train: Any, validation: Any, seed: int, **settings: Any) -> dict[str, float]:
    """unseen's loop, fixed epochs, the last weights."""
    from unseen.training.transformer import Transformer

    recipe = Transformer("minilm", preset="fast", epochs=EPOCHS, batch=BATCH, learning_rate=RATE, **settings)
    took, model = processor_seconds(lambda: recipe.fit(train, train.take([]), seed))
    return {"speed": len(train) * EPOCHS / took, "accuracy": accuracy(model.predict_proba, validation)}


SAVINGS = ("vocabulary", "batches", "class token")
"""What can be left out."""


def leave_out(saving: str) -> None:
    """Do without one of the savings in this process."""
    from unseen.representations import backbone

    @contextmanager
    def whole(network: Any, *texts: Any) -> Any:
        del network
        yield [*texts]

    def mixed(tokens: Any, size: int, seed: int) -> Any:
        order = np.random.default_rng(seed).permutation(len(tokens))
        return [order[at : at + size] for at in range(0, len(order), size)]

    if saving == "vocabulary":
        backbone.Backbone.vocabulary_of = whole  # type: ignore[method-assign]
    elif saving == "batches":
        backbone.Tokens.shuffled_batches = mixed  # type: ignore[method-assign]
    else:
        backbone.read_class_token_only = lambda network: None


def step_times(train: Any, batch: int, precision: str) -> dict[str, float]:
    """Processor time of a step without each saving ÷ with all, and share of matrix products; steps in turn."""
    import torch
    from torch.profiler import profile

    from unseen.representations import backbone
    from unseen.training.transformer import Transformer, _step, decaying
    from unseen.training.transformer_classifier import TransformerClassifier

    homes = ((backbone.Backbone, "vocabulary_of"), (backbone.Tokens, "shuffled_batches"))
    usual = [(home, name, getattr(home, name)) for home, name in (*homes, (backbone, "read_class_token_only"))]
    recipe = Transformer("minilm", preset="fast", batch=batch, precision=precision)
    with ExitStack() as stack:
        ways = {}
        for saving in ("", *SAVINGS):
            if saving:
                leave_out(saving)
            classifier = TransformerClassifier.untrained(recipe.settings, train.label_names)
            tokens = classifier.backbone.tokens(train.texts.to_pylist())
            (tokens,) = stack.enter_context(classifier.backbone.vocabulary_of(tokens))
            optimiser = torch.optim.AdamW(decaying(classifier.modules, 0.01), RATE, fused=True)
            classifier.modules.train()
            ways[saving] = classifier, optimiser, tokens, tokens.shuffled_batches(batch, SEED)
            for home, name, value in usual:
                setattr(home, name, value)
        equal, taken = torch.ones(len(train.label_names)), defaultdict(float)

        def step(way: str, at: int) -> None:
            classifier, optimiser, tokens, batches = ways[way]
            _step(classifier, optimiser, tokens, train.labels, batches[at], 1e-5, equal)

        for at in range(STEPS + 1):
            for way in ways:
                took, _ = processor_seconds(lambda way=way, at=at: step(way, at))
                taken[way] += took if at else 0.0  # the first one is always slow
        with profile() as profiled:
            step("", 1)
        times = {event.key: event.self_cpu_time_total for event in profiled.key_averages()}
    products = sum(times.get(f"aten::{name}", 0.0) for name in ("mm", "addmm", "bmm"))
    return {way: taken[way] / taken[""] for way in SAVINGS} | {"products": products / sum(times.values())}


def frozen_share(train: Any) -> dict[str, float]:
    """Share of a step's processor time that goes into frozen layers, and bytes of what they say about a text, in bf16."""
    import torch

    from unseen.training.transformer import Transformer, _step, decaying
    from unseen.training.transformer_classifier import TransformerClassifier

    recipe = Transformer("minilm", preset="fast", batch=BATCH, frozen=FROZEN)
    classifier = TransformerClassifier.untrained(recipe.settings, train.label_names)
    classifier.backbone.freeze(FROZEN)
    network = classifier.backbone.network
    tokens = classifier.backbone.tokens(train.texts.to_pylist())
    optimiser = torch.optim.AdamW(decaying(classifier.modules, 0.01), RATE, fused=True)
    classifier.modules.train()
    equal, times = torch.ones(len(train.label_names)), list[float]()
    for part in (network.embeddings, *network.encoder.layer[:FROZEN]):
        part.register_forward_pre_hook(lambda *given: times.append(-process_time()))
        part.register_forward_hook(lambda *given: times.append(process_time()))
    whole = 0.0
    for at, rows in enumerate(tokens.shuffled_batches(BATCH, SEED)[: STEPS + 1]):
        begun = process_time()
        _step(classifier, optimiser, tokens, train.labels, rows, 1e-5, equal)
        whole += process_time() - begun
        if not at:  # the first one is always slow
            whole = 0.0
            times.clear()
    return {"share": sum(times) / whole, "bytes": 2 * classifier.backbone.width * float(tokens.lengths.mean())}


def savings_section() -> str:
    """What each saving is worth in a step."""
    rows = []
    for batch in (BATCH, 4):
        for precision in ("bf16", "fp32"):
            answer = json.loads(
                in_fresh_process("-m", "benchmarks.training", f"steps {precision}", str(batch)).splitlines()[-1]
            )
            rows.append(
                [f"{batch}, {precision}", *(f"{answer[way]:.2f}" for way in SAVINGS), f"{answer['products']:.0%}"]
            )
    heads = [
        "batches of", "all 30,522 embeddings", "batches of any length",
        "all tokens in the last layer", "share of matrix products, nothing left out",
    ]  # fmt: skip
    return (
        f"\n## What each saving is worth in a step\n\n{machine()}. Processor time of {STEPS} steps without a saving ÷ "
        f"with all of them, steps of all ways in turn in one process, {TRAIN} texts as above. Matrix products bound "
        "what is left to save without other mathematics.\n\n" + table(heads, rows) + "\n" + frozen_sentence()
    )


def frozen_sentence() -> str:
    """What computing frozen layers once could save at most."""
    answer = json.loads(in_fresh_process("-m", "benchmarks.training", "frozen share", str(SEED)).splitlines()[-1])
    return (
        f"With `frozen={FROZEN}` the frozen layers, forwards, are {answer['share']:.0%} of a step (batches of {BATCH}, bf16). "
        "Computing them once for all epochs could save no more than that from the second epoch on; it would take "
        f"{answer['bytes'] / 1e3:.0f} kB for each text, and dropout in these layers would be gone. It is not done.\n"
    )


def trainer(train: Any, validation: Any, seed: int, pad_to: int | None = None, batch: int = BATCH) -> dict[str, float]:
    """Hugging Face's Trainer with its defaults; with `pad_to` every text is padded to that length."""
    import datasets
    import transformers

    from unseen.representations.checkpoints import find_checkpoint

    place = find_checkpoint("minilm").place
    transformers.set_seed(seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    labels = len(train.label_names)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(place, num_labels=labels)
    padding = {"padding": "max_length", "max_length": pad_to} if pad_to else {"max_length": 128}

    def encoded(part: Any) -> Any:
        rows = datasets.Dataset.from_dict({"text": part.texts.to_pylist(), "label": part.labels.astype(int).tolist()})
        return rows.map(lambda some: tokenizer(some["text"], truncation=True, **padding), batched=True)

    with tempfile.TemporaryDirectory() as folder:
        settings = transformers.TrainingArguments(
            folder, per_device_train_batch_size=batch, report_to=[], save_strategy="no", seed=seed, **SHARED
        )
        loop = transformers.Trainer(model, settings, train_dataset=encoded(train), processing_class=tokenizer)
        took, _ = processor_seconds(loop.train)
        said = loop.predict(encoded(validation)).predictions.argmax(1)
    return {"speed": len(train) * EPOCHS / took, "accuracy": float((said == validation.labels).mean())}


def peak(train: Any, kept: int) -> dict[str, float]:
    """Bytes at most, and processor seconds, of an epoch while torch keeps so many compiled products."""
    from unseen import measure_cost
    from unseen.representations.backbone import KERNELS_KEPT
    from unseen.training.transformer import Transformer

    os.environ[KERNELS_KEPT[0]] = str(kept)
    with measure_cost(idle_seconds=0) as cost:
        Transformer("minilm", preset="fast", epochs=1, batch=BATCH).fit(train, train.take([]), SEED)
    return {"bytes": float(cost.peak_memory or 0), "seconds": float(cost.processor_seconds or 0)}


def memory_sentence() -> str:
    """What it saves that torch keeps the products of one batch."""
    few, many = (
        json.loads(in_fresh_process("-m", "benchmarks.training", "peak", str(kept)).splitlines()[-1])
        for kept in (32, 1_024)
    )
    return (
        f"\nAn epoch takes {few['bytes'] / 1e9:.2f} GB at most; where torch keeps 1,024 compiled products, as it does by "
        f"itself, {many['bytes'] / 1e9:.2f} GB and {many['seconds'] / few['seconds']:.2f} times the processor time (one "
        "run each).\n"
    )


def encoding(train: Any, validation: Any) -> dict[str, float]:
    """Vectors of a pretrained MiniLM."""
    from unseen.representations.transformer import TransformerEncoder

    del validation
    texts = train.texts.to_pylist()[:ENCODED]
    encoder = TransformerEncoder("minilm")
    encoder.encode(texts[:64])
    took, _ = processor_seconds(lambda: encoder.encode(texts))
    return {"speed": len(texts) / took, "accuracy": 0.0}


def accuracy(predict: Any, validation: Any) -> float:
    """Share of the validation texts that get their label."""
    return float((predict(validation.texts.to_pylist()).argmax(1) == validation.labels).mean())


def light(train: Any, validation: Any) -> dict[str, float]:
    """Macro F1 and time of the light recipes on random splits of the sample, 80/10/10."""
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
    found = json.loads(in_fresh_process("-m", "benchmarks.training", "light", str(SEED)).splitlines()[-1])
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
        f"\n## Light recipes\n\n{machine()}. Macro F1 on random splits of the bundled sample (80/10/10, seeds 101 to 103, one seed for the larger size; "
        "invented texts, which say nothing about real ones).\n\n" + table(["recipe", *heads], rows)
    )


WAYS = {
    "unseen": ours,
    "trainer": trainer,
    "fp32": lambda *given: ours(*given, precision="fp32"),
    "frozen": lambda *given: ours(*given, frozen=FROZEN),
    "published": lambda train, validation, seed: trainer(
        train.take(range(PUBLISHED)), validation.take(range(8)), seed, 512, 4
    ),
    "steps bf16": lambda train, validation, batch: step_times(train, batch, "bf16"),
    "steps fp32": lambda train, validation, batch: step_times(train, batch, "fp32"),
    "frozen share": lambda train, validation, seed: frozen_share(train),
    "peak": lambda train, validation, kept: peak(train, kept),
    "encoding": lambda train, validation, seed: encoding(train, validation),
    "light": lambda train, validation, seed: light(train, validation),
}
CALLED = {
    "unseen": "unseen, fast preset, bf16 where the processor multiplies it",
    "trainer": "Trainer, its defaults",
    "fp32": "unseen in fp32",
    "frozen": f"unseen with `frozen={FROZEN}`: embeddings and two of six layers stay as they are",
    "published": "padded to 512 tokens, batches of 4",
}
ONCE = ("published", "encoding")
"""Ways that one seed is enough for."""


def measured() -> dict[str, list[dict[str, float]]]:
    """The ways in turn, each in a fresh process, for one seed beside the other."""

    def answer(name: str, seed: int) -> dict[str, float]:
        result: dict[str, float] = json.loads(
            in_fresh_process("-m", "benchmarks.training", name, str(seed)).splitlines()[-1]
        )
        print(name, seed, result, file=sys.stderr, flush=True)
        return result

    often = [name for name in CALLED if name not in ONCE]
    chains = [[(name, seed) for name in often] for seed in SEEDS] + [[(name, SEED) for name in ONCE]]
    results: dict[str, list[dict[str, float]]] = defaultdict(list)
    with ThreadPoolExecutor(cores()) as pool:  # each process has one thread
        for chain, answers in zip(chains, pool.map(lambda chain: [answer(*one) for one in chain], chains), strict=True):
            for (name, _), result in zip(chain, answers, strict=True):
                results[name].append(result)
    return results


def section() -> str:
    """Fine-tuning, and what each saving is worth."""
    results, speeds = measured(), {}
    for name, answers in results.items():
        speeds[name] = np.array([answer["speed"] for answer in answers])
    rows = []
    for name, called in CALLED.items():
        ratios = speeds["unseen"][: len(speeds[name])] / speeds[name]
        theirs = speeds[name] / speeds["trainer"][: len(speeds[name])]
        scores = [answer["accuracy"] for answer in results[name]]
        spread = "" if name in ONCE else f"{np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})"
        rows.append([called, f"{np.mean(ratios):.2f}", f"{np.mean(theirs):.2f}", spread])
    ratios = speeds["unseen"] / speeds["trainer"]
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers"))
    return (
        f"# Training: what was measured\n\n## Fine-tuning MiniLM\n\n{machine()}, {packages}. "
        f"{TRAIN:,} texts of {parts()[2]} drawn at random (seed {SEED}), epochs: {EPOCHS}, batches of {BATCH}, learning "
        f"rate {RATE:g}, no early stopping; accuracy on {VALIDATION:,} other texts, mean and range of the seeds "
        f"{', '.join(map(str, SEEDS))}. Processor time of one thread, "
        "the ways in turn, each in a fresh process, on a busy machine; ours includes loading the weights, Trainer's "
        "does not. The padded way was timed on "
        f"{PUBLISHED} texts, too few for a score.\n\n"
        f"**unseen is {np.mean(ratios):.1f} times as fast as Trainer** ({ratios.min():.1f} to {ratios.max():.1f}).\n\n"
        + table(["way", "its time per text ÷ unseen's", "speed ÷ Trainer's", "accuracy"], rows)
        + "\n`frozen` is off unless it is asked for. "
        + padding()
        + f" Encoding ({ENCODED:,} texts) runs at {speeds['encoding'][0] / speeds['unseen'].mean():.1f} times the "
        "speed of training.\n" + memory_sentence()
    )


def padding() -> str:
    """What packing without padding could save at most."""
    from unseen.representations.backbone import Backbone

    tokens = Backbone("minilm").tokens(parts()[0].texts.to_pylist())
    cells = sum(len(rows) * int(tokens.lengths[rows].max()) for rows in tokens.shuffled_batches(BATCH, SEED))
    return (
        f"Of the tokens that are computed, {1 - tokens.lengths.sum() / cells:.1%} are padding: packing texts without "
        "it, or batches by a budget of tokens, can save no more, and neither is done."
    )


SECTIONS = {"tuning": section, "savings": savings_section, "light": light_section}

if __name__ == "__main__":
    place = ROOT / "docs" / "results" / "training.md"
    if len(sys.argv) == 3 and sys.argv[2].isdecimal():
        train, validation, _ = parts()
        print(json.dumps(WAYS[sys.argv[1]](train, validation, int(sys.argv[2]))))
    else:
        os.environ["OMP_NUM_THREADS"] = "1"  # of the processes to come: two threads collapse on a busy machine
        before = place.read_text(encoding="utf-8")
        begins = [0, *(before.find(f"\n## {head}") for head in ("What", "Light")), len(before)]
        kept = {name: before[begins[at] : begins[at + 1]] for at, name in enumerate(SECTIONS)}
        asked = sys.argv[1:] or [*SECTIONS]
        page = "".join(make() if name in asked else kept[name] for name, make in SECTIONS.items())
        place.write_text(page, encoding="utf-8")
        print(page)
