"""Explanations beside captum and shap on the same fine-tuned MiniLM: docs/results/explanations-peers.md.

python -m benchmarks.explanations MODEL [POSTS]

MODEL is the folder of a MiniLM that `unseen model train` or `studies.explanations` wrote. Everything runs in one
process on one thread, one after the other, and processor seconds are compared: other programs may be running. Ours is
timed in fp32, as the peers compute, and as it comes, which is bf16 where the processor multiplies it. The real data is
looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.setting import ROOT, hatexplain, machine, processor_seconds, table, write_measured
from unseen.explanations import EXPLAINERS
from unseen.explanations.subject import ExplainedTexts
from unseen.models import open_model

PAGE = ROOT / "docs" / "results" / "explanations-peers.md"
STEPS, TOP = 20, 5
PEERS = {"occlusion": "captum", "partition-shap": "shap", "gradient-input": "captum", "integrated-gradients": "captum"}


def captum_scores(method: str, made: Any, texts: list[str], labels: Any, at_once: int = 1) -> list[Any]:
    """Scores of the pieces of each text by captum, a text at a time, `at_once` perturbations in a batch."""
    import torch
    from captum.attr import FeatureAblation, InputXGradient, IntegratedGradients

    backbone, head, network = made.backbone, made.head, deepcopy(made.backbone.network)
    network.encoder.layer[-1].__dict__.pop("forward", None)  # as transformers computes it
    embed = network.get_input_embeddings()

    def of_vectors(vectors: Any, mask: Any) -> Any:
        hidden = network(inputs_embeds=vectors, attention_mask=mask.expand(len(vectors), -1)).last_hidden_state
        return head(hidden[:, 0])

    def of_pieces(ids: Any, mask: Any) -> Any:
        hidden = network(input_ids=ids, attention_mask=mask.expand(len(ids), -1)).last_hidden_state
        return head(hidden[:, 0]).softmax(1)

    scores = []
    for text, label in zip(texts, labels.tolist(), strict=True):
        read = backbone.tokenizer(text, return_tensors="pt", truncation=True, max_length=backbone.max_tokens)
        ids, mask = read["input_ids"], read["attention_mask"]
        if method == "occlusion":
            with torch.inference_mode():
                hidden = torch.full_like(ids, backbone.tokenizer.mask_token_id)
                theirs = FeatureAblation(of_pieces).attribute(
                    ids, hidden, target=label, additional_forward_args=(mask,), perturbations_per_eval=at_once
                )[0].float()  # fmt: skip
        else:
            vectors = embed(ids).detach()
            padded = torch.full_like(ids, backbone.padding)
            padded[:, [0, -1]] = ids[:, [0, -1]]
            given: dict[str, Any] = {"target": label, "additional_forward_args": (mask,)}
            if method == "gradient-input":
                theirs = InputXGradient(of_vectors).attribute(vectors.requires_grad_(), **given).sum(-1)[0]
            else:
                baseline = embed(padded).detach()
                theirs = IntegratedGradients(of_vectors).attribute(vectors, baseline, n_steps=STEPS, **given).sum(-1)[0]
        scores.append(theirs[1:-1].detach().numpy())
    return scores


def shap_scores(made: Any, texts: list[str], labels: Any) -> list[Any]:
    """Scores of the words of each text by shap's partition explainer, with our tree, and its default budget."""
    import shap

    class Masker:
        def __init__(self, words: list[str]) -> None:
            links: list[list[float]] = []
            _linked(0, len(words), len(words), links)
            self.clustering, self.shape = np.array(links), (1, len(words))

        def __call__(self, mask: Any, x: Any) -> Any:
            return mask[None]

    scores = []
    for text, label in zip(texts, labels.tolist(), strict=True):
        words = np.array(text.split())

        def ask(masks: Any, words: Any = words, label: int = label) -> Any:
            return made.predict_proba([" ".join(words[mask.astype(bool)]) for mask in np.asarray(masks)])[:, label]

        explainer = shap.explainers.Partition(ask, Masker(list(words)))
        scores.append(explainer(np.ones((1, len(words))), max_evals=500, silent=True).values[0])
    return scores


def _linked(start: int, end: int, leaves: int, links: list[list[float]]) -> int:
    """The tree of halves as scipy writes it; returns the number of its root."""
    if end - start == 1:
        return start
    middle = (start + end + 1) // 2
    left, right = _linked(start, middle, leaves, links), _linked(middle, end, leaves, links)
    links.append([left, right, end - start, end - start])
    return leaves + len(links) - 1


def agreement(own: list[Any], other: list[Any]) -> tuple[str, str, str]:
    """The median of the largest difference (of the largest score), the mean rank correlation, and shared top words."""
    pairs = [(a, b) for a, b in zip(own, other, strict=True) if np.ptp(a) and np.ptp(b)]
    apart = np.median([np.abs(a - b).max() / np.abs(b).max() for a, b in pairs])
    ranks = np.mean([spearmanr(a, b).statistic for a, b in pairs])
    shared = np.mean([len({*np.argsort(-a)[:TOP]} & {*np.argsort(-b)[:TOP]}) / min(TOP, len(a)) for a, b in pairs])
    return f"{apart:.0e}", f"{ranks:.3f}", f"{100 * shared:.0f} %"


def main() -> None:
    """Time both, compare what they say, write the page."""
    import torch

    torch.set_num_threads(1)
    made, count = open_model(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    texts = [text for text in hatexplain()[0] if 3 < len(text.split()) < 60][:count]
    made.backbone.network.eval(), made.head.eval()
    as_it_comes = made.backbone.use_bf16
    rows = []
    for name, peer in PEERS.items():
        explainer = EXPLAINERS.make(name, **({"steps": STEPS} if name == "integrated-gradients" else {}))
        units, erase = ("words", "delete") if peer == "shap" else ("pieces", "mask")

        def ours(bf16: bool, explainer: Any = explainer, units: Any = units, erase: Any = erase) -> tuple[float, Any]:
            made.backbone.use_bf16 = bf16
            subject = ExplainedTexts(made, texts, made.classes_, units=units, erase=erase)
            return processor_seconds(lambda: explainer.attributions(subject).scores)

        made.backbone.use_bf16 = False
        labels = made.predict_proba(texts).argmax(1)
        ask_peer = partial(*((shap_scores,) if peer == "shap" else (captum_scores, name)), made, texts, labels)
        peer_time, theirs = processor_seconds(partial(ask_peer, at_once=32) if name == "occlusion" else ask_peer)
        untuned = [processor_seconds(ask_peer)] if name == "occlusion" else []
        own_time, own = ours(False)
        fast_time, fast = ours(as_it_comes)
        print(name, own_time, fast_time, peer_time, flush=True)
        apart, _, _ = agreement(own, theirs)
        _, ranks, shared = agreement(fast, own)
        rows.append([name, peer, *(f"{peer_time / time:.1f} ×" for time in (own_time, fast_time)),
                     *([f"{untuned[0][0] / fast_time:.1f} ×"] if untuned else ["–"]), apart, ranks, shared])  # fmt: skip
    header = ["method", "peer", "in fp32, faster by", "as it comes", "as it comes, against the peer's defaults",
              "largest difference in fp32", "ranks as it comes against fp32", f"top {TOP} shared"]  # fmt: skip
    comes = "bf16" if as_it_comes else "fp32"
    measured = f"{machine()}; {len(texts)} posts; as it comes is {comes} here.\n\n{table(header, rows)}"
    write_measured(PAGE, "Explanations beside other programs", measured)


if __name__ == "__main__":
    main()
