"""A BERT of a few thousand weights with a masked-LM head, written to a folder."""

from __future__ import annotations

from pathlib import Path

from tiny_transformer import SMALL, SPECIAL, write_transformer


def write_masked_lm(folder: Path, words: list[str], seed: int = 0) -> Path:
    """A randomly initialised model that knows these words."""
    import torch
    import transformers

    write_transformer(folder, words)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "[MASK]", "sep_token": "[SEP]"})
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = transformers.BertConfig(vocab_size=len(SPECIAL) + len(words), **SMALL)
        transformers.BertForMaskedLM(config).save_pretrained(folder)
    return folder
