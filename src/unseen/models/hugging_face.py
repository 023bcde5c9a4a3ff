"""A sequence classification model of transformers: a folder, or a name on the hub.

A folder is never looked up on the network. A name is fetched once into Hugging Face's own cache and, with
HF_HUB_OFFLINE=1, read from there alone. Code that comes with a model is run only with trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, MismatchError, UnseenError, require
from unseen.models.label_names import names_for
from unseen.registry import Count
from unseen.representations.checkpoints import open_pretrained

LONGEST = 512
"""Tokens per text where neither tokenizer nor model says."""


def open_hugging_face(
    source: str,
    *,
    label_names: tuple[str, ...] | None = None,
    revision: str | None = None,
    max_length: Count | None = None,
    batch: Count = 32,
    trust: bool = False,
) -> HuggingFaceClassifier:
    """The sequence classification model at `source`, with its tokenizer."""
    require("models", f"opening {source!r}")
    local = Path(source).is_dir()
    if local and revision is not None:
        raise InputError("revision has no effect on a folder", fix="leave it out")
    options: dict[str, Any] = {"trust": trust, "local_files_only": local, "revision": revision or "main"}
    try:
        config = open_pretrained("AutoConfig", source, **options)
        names = _labels(config, label_names, source)
        model, loaded = open_pretrained(
            "AutoModelForSequenceClassification", source, config=config, output_loading_info=True, **options
        )
        tokenizer = open_pretrained("AutoTokenizer", source, **options)
    except (UnseenError, Warning, MemoryError):
        raise
    except Exception as cause:
        raise InputError(
            f"{source!r} cannot be opened as a sequence classification model: {_first_line(cause)}",
            expected="a folder of ours or of Hugging Face's, or the name of a model on the hub (org/name)",
            fix=None if local else "fetching a name needs the network once",
        ) from cause
    _refuse_untrained(loaded, source)
    _prepare_padding(model, tokenizer)
    tokens = max_length or _longest(config, tokenizer)
    return HuggingFaceClassifier(model, tokenizer, names, Path(source).name if local else source, (tokens, batch))


class HuggingFaceClassifier:
    """A sequence classification model; texts are batched by length, longer ones are cut."""

    def __init__(
        self, model: Any, tokenizer: Any, label_names: tuple[str, ...], source: str, sizes: tuple[int, int]
    ) -> None:
        import torch

        self.model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer = tokenizer
        self.classes_ = label_names
        self.source = source
        self.max_length, self.batch = sizes

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        import torch

        if not len(texts):
            return np.empty((0, len(self.classes_)))
        tokens = self.tokenizer(list(texts), truncation=True, max_length=self.max_length)
        by_length = np.argsort([len(ids) for ids in tokens["input_ids"]], kind="stable")
        probabilities = np.empty((len(texts), len(self.classes_)))
        with torch.inference_mode():
            for start in range(0, len(texts), self.batch):
                rows = by_length[start : start + self.batch]
                padded = self.tokenizer.pad(
                    {name: [values[row] for row in rows] for name, values in tokens.items()}, return_tensors="pt"
                )
                scores = self.model(**padded.to(self.model.device)).logits.double()
                probabilities[rows] = _probabilities(scores).cpu().numpy()
        return probabilities


def _probabilities(scores: Any) -> Any:
    """Softmax; of a single score, the sigmoid as the second of two labels."""
    import torch

    return torch.nn.functional.pad(scores, (1, 0)).softmax(1) if scores.shape[1] == 1 else scores.softmax(1)


def _labels(config: Any, given: tuple[str, ...] | None, source: str) -> tuple[str, ...]:
    if config.problem_type == "multi_label_classification":
        raise InputError(
            f"{source} gives each label a probability of its own (multi-label)",
            expected="one label per text: probabilities that sum to one",
            fix="wrap it in a function of yours that decides, and open that as module:function",
        )
    if config.num_labels > 1:
        return names_for([config.id2label[number] for number in range(config.num_labels)], given, source)
    if given is None or len(given) != 2:
        raise MismatchError(
            f"{source} gives a single score per text",
            expected="label_names of two labels: the score's sigmoid is the probability of the second",
            got=f"label_names {given}",
        )
    return given


def _refuse_untrained(loaded: Any, source: str) -> None:
    """Weights that the files lack would be random."""
    missing = sorted(loaded["missing_keys"]) + sorted(map(str, loaded.get("mismatched_keys", ())))
    if missing:
        raise InputError(
            f"{source} is not a trained classifier",
            problems=[f"no weights for {name}" for name in missing],
            fix="train one from it: unseen model train with this encoder",
        )


def _prepare_padding(model: Any, tokenizer: Any) -> None:
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise InputError("the tokenizer has no padding token", fix="set tokenizer.pad_token and save it again")
        tokenizer.pad_token = tokenizer.eos_token
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id


def _longest(config: Any, tokenizer: Any) -> int:
    if tokenizer.model_max_length < 1_000_000:  # transformers has a huge number for "not said"
        return int(tokenizer.model_max_length)
    places = getattr(config, "max_position_embeddings", None)
    return min(LONGEST, places - 2) if places and places > 2 else LONGEST  # RoBERTa keeps two places to itself


def _first_line(cause: BaseException) -> str:
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
