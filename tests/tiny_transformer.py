"""Transformers of a few thousand weights, with a tokenizer of whole words, written to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48,
    "max_position_embeddings": 40,
}  # fmt: skip
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertModel", SMALL),
    "roberta": ("RobertaConfig", "RobertaModel", SMALL | {"pad_token_id": 0}),
    "electra": ("ElectraConfig", "ElectraModel", SMALL | {"embedding_size": 16}),
    "distilbert": (
        "DistilBertConfig", "DistilBertModel",
        {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 48, "max_position_embeddings": 40},
    ),
    "deberta-v2": ("DebertaV2Config", "DebertaV2Model", SMALL),
    "modernbert": (
        "ModernBertConfig", "ModernBertModel",
        SMALL | {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3},
    ),
    "llama": ("LlamaConfig", "LlamaModel", SMALL | {"architectures": ["LlamaForCausalLM"]}),
}  # fmt: skip


def write_transformer(folder: Path, words: list[str], architecture: str = "bert", seed: int = 0) -> Path:
    """A randomly initialised model of that architecture that knows these words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: code for code, word in enumerate([*SPECIAL, *words])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    if architecture != "llama":
        pair = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
        core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=pair)
    named = {"eos_token": "[SEP]"} if architecture == "llama" else {"pad_token": "[PAD]", "cls_token": "[CLS]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]", **named)
    config, model, sizes = ARCHITECTURES[architecture]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = getattr(transformers, model)(getattr(transformers, config)(vocab_size=len(vocabulary), **sizes))
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
