"""Attacks on many texts at once beside the same attacks one text, or one question, at a time.

python -m benchmarks.attacks [POSTS]

The same search with the same queries three times: all texts at once (the engine), one text after the other (its
candidates in one call, as published tools do), and one question a call; on one thread, by processor seconds. Writes
docs/results/attacks-speed.md. The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import unseen
from benchmarks.setting import ROOT, hatexplain, machine, processor_seconds, real_file, table, write_measured
from unseen import inference
from unseen.attacks import ATTACKS
from unseen.attacks.search import Informants, attack_texts
from unseen.training.transformer_classifier import TransformerClassifier, TransformerSettings
from unseen.types.arrays import Floats

PAGE = ROOT / "docs" / "results" / "attacks-speed.md"
SEED = 42


def minilm(labels: tuple[str, ...]) -> Any:
    """MiniLM with a head that was never trained: it costs the same."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        return TransformerClassifier.untrained(TransformerSettings(encoder="minilm"), labels)


def one_by_one(ask: Callable[[Sequence[str]], Floats]) -> Callable[[Sequence[str]], Floats]:
    """The same answers, a call for each text."""
    return lambda texts: np.concatenate([ask([text]) for text in texts])


def main() -> None:
    """Time all three ways for each model and attack."""
    import torch

    torch.set_num_threads(1)
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    texts, _, _ = hatexplain()
    labels = ("no", "yes")
    some = [texts[row] for row in np.random.default_rng(SEED).permutation(len(texts))[:most]]
    data = unseen.load([{"text": text, "label": labels[len(text) % 2]} for text in texts[:4000]])
    synonyms = str(real_file("lexicons", "ppdb_synonyms.txt"))
    lines = []
    for name, model in (("logistic", unseen.train(data, "logistic", C=1.0)), ("minilm", minilm(labels))):
        columns = inference.matched(model.classes_, labels)

        def ask(batch: Sequence[str], model: Any = model, columns: Any = columns) -> Floats:
            return inference.answers(model, batch)[:, columns]

        given = ask(some).argmax(axis=1).tolist()
        for attack, params in (
            ("characters", {"places": 5}),
            ("pwws-synonyms", {"synonyms": synonyms, "unknown": "x"}),
        ):
            made = ATTACKS.make(attack, **params)
            source = getattr(made, "source", None)

            def informants(answer: Any, source: Any = source) -> Informants:
                return Informants(answer, None if source is None else source.candidates)

            def together(
                made: Any = made, ask: Any = ask, given: Any = given, informants: Any = informants
            ) -> list[Any]:
                return attack_texts(some, given, made.search, informants(ask))

            def singly(made: Any = made, ask: Any = ask, given: Any = given, informants: Any = informants) -> list[Any]:
                pairs = zip(some, given, strict=True)
                return [attack_texts([text], [label], made.search, informants(ask))[0] for text, label in pairs]

            def plainly(
                made: Any = made, ask: Any = ask, given: Any = given, informants: Any = informants
            ) -> list[Any]:
                return attack_texts(some, given, made.search, informants(one_by_one(ask)))

            attempts = together()
            times = [processor_seconds(way)[0] for way in (together, singly, plainly)]
            queries = sum(one.queries for one in attempts)
            lines.append([
                name, attack, f"{queries:,}", f"{queries / times[0]:,.0f}", f"{times[1] / times[0]:.1f} ×",
                f"{times[2] / times[0]:.1f} ×",
            ])  # fmt: skip
    header = [
        "model",
        "attack",
        "queries",
        "queries a second",
        "against one text at a time",
        "against one question a call",
    ]
    write_measured(PAGE, "Attacks: speed", f"{machine()}; {most} posts, seed {SEED}.\n\n{table(header, lines)}")


if __name__ == "__main__":
    main()
