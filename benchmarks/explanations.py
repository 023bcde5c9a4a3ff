"""Explanations beside captum and shap on the same MiniLM: docs/results/explanations-peers.md.

python -m benchmarks.explanations [POSTS]

Times are of one process each, one after the other; attributions are compared with those of the peer. The real data is
looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, hatexplain, machine, seconds, table, write_measured
from unseen.explanations import EXPLAINERS
from unseen.explanations.subject import ExplainedTexts
from unseen.training.transformer_classifier import TransformerSettings, untrained

PAGE = ROOT / "docs" / "results" / "explanations-peers.md"
LABELS = ("no", "yes")
STEPS = 20


def model() -> Any:
    """MiniLM with a head that was never trained: it costs the same, and nobody's texts are needed."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(42)
        return untrained(TransformerSettings(encoder="minilm", precision="fp32"), LABELS)


def captum_scores(made: Any, texts: list[str], method: str) -> list[Any]:
    """Scores of the pieces of each text by captum, a text at a time, as its documentation does."""
    import torch
    from captum.attr import FeatureAblation, InputXGradient, IntegratedGradients

    backbone, head = made.backbone, made.head
    embed = backbone.network.get_input_embeddings()

    def of_vectors(vectors: Any, mask: Any) -> Any:
        hidden = backbone.network(inputs_embeds=vectors, attention_mask=mask.expand(len(vectors), -1)).last_hidden_state
        return head(hidden[:, 0])

    def of_pieces(ids: Any, mask: Any) -> Any:
        hidden = backbone.network(input_ids=ids, attention_mask=mask.expand(len(ids), -1)).last_hidden_state
        return head(hidden[:, 0]).softmax(1)

    scores = []
    for text in texts:
        read = backbone.tokenizer(text, return_tensors="pt", truncation=True, max_length=backbone.max_tokens)
        ids, mask = read["input_ids"], read["attention_mask"]
        if method == "occlusion":
            with torch.inference_mode():
                hidden = torch.full_like(ids, backbone.tokenizer.mask_token_id)
                theirs = (
                    FeatureAblation(of_pieces)
                    .attribute(
                        ids, baselines=hidden, target=1, additional_forward_args=(mask,), perturbations_per_eval=32
                    )[0]
                    .float()
                )
        else:
            vectors = embed(ids).detach()
            padded = torch.full_like(ids, backbone.padding)
            padded[:, [0, -1]] = ids[:, [0, -1]]
            given: dict[str, Any] = {"target": 1, "additional_forward_args": (mask,)}
            if method == "gradient-input":
                theirs = InputXGradient(of_vectors).attribute(vectors.requires_grad_(), **given).sum(-1)[0]
            else:
                theirs = (
                    IntegratedGradients(of_vectors)
                    .attribute(vectors, embed(padded).detach(), n_steps=STEPS, **given)
                    .sum(-1)[0]
                )
        scores.append(theirs[1:-1].detach().numpy())
    return scores


def shap_scores(made: Any, texts: list[str]) -> list[Any]:
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
    for text in texts:
        words = text.split()

        def ask(masks: Any, words: list[str] = words) -> Any:
            return made.predict_proba([" ".join(np.array(words)[mask.astype(bool)]) for mask in np.asarray(masks)])[
                :, 1
            ]

        explainer = shap.explainers.Partition(ask, Masker(words))
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


def main() -> None:
    """Time both, compare what they say, write the page."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    texts = [text for text in hatexplain()[0] if 3 < len(text.split()) < 60][:count]
    made = model()
    made.modules.eval()
    rows = []
    for name, peer in (("occlusion", "captum"), ("partition-shap", "shap"), ("gradient-input", "captum"),
                       ("integrated-gradients", "captum")):  # fmt: skip
        units, erase = ("words", "delete") if peer == "shap" else ("pieces", "mask")
        params = {"steps": STEPS} if name == "integrated-gradients" else {}
        explainer = EXPLAINERS.make(name, **params)

        def ours(explainer: Any = explainer, units: Any = units, erase: Any = erase) -> Any:
            return explainer.attributions(ExplainedTexts(made, texts, LABELS, "yes", units, erase)).scores

        def theirs(name: str = name, peer: str = peer) -> Any:
            return shap_scores(made, texts) if peer == "shap" else captum_scores(made, texts, name)

        own_time, own = seconds(ours)
        peer_time, other = seconds(theirs)
        same = [np.abs(a - b).max() / max(np.abs(b).max(), 1e-12) for a, b in zip(own, other, strict=True)]
        ranks = [np.corrcoef(a, b)[0, 1] for a, b in zip(own, other, strict=True) if np.ptp(a) and np.ptp(b)]
        print(name, own_time, peer_time, flush=True)
        rows.append([name, peer, f"{peer_time / own_time:.1f} ×", f"{np.median(same):.0e}", f"{np.mean(ranks):.3f}"])
    header = [
        "method",
        "peer",
        "ours is faster by",
        "median of the largest difference, of the largest score",
        "correlation",
    ]
    write_measured(
        PAGE, "Explanations beside other programs", f"{machine()}; {len(texts)} posts.\n\n{table(header, rows)}"
    )


if __name__ == "__main__":
    main()
