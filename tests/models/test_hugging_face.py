from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from unseen.errors import InputError, MismatchError
from unseen.inference import predict
from unseen.models import open_model
from unseen.representations.backbone import Backbone

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["warm", "cold", "tea", "rain", "more", "much", "text", "1", "2", "3", "4"]
TEXTS = ["warm tea", "cold rain and much more rain", "", "tea " * 100]


def tokenizer():
    """Words by a space, made on the fly."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    vocabulary = {each: place for place, each in enumerate(names)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def config(**settings):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return transformers.BertConfig(vocab_size=4 + len(WORDS), max_position_embeddings=40, **sizes, **settings)


def saved(folder, kind=transformers.BertForSequenceClassification, **settings):
    torch.manual_seed(0)
    model = kind(config(**settings))
    for each in model.parameters():
        each.data.mul_(5)  # so that texts differ
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return model.eval()


NAMED = {"id2label": {0: "yes", 1: "no"}, "label2id": {"yes": 0, "no": 1}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tiny-bert")
    saved(place, **NAMED)
    return place


def expected(folder, texts, longest=38):
    """One text at a time, without padding."""
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    said = []
    for each in texts:
        tokens = tokenizer()(each, truncation=True, max_length=longest, return_tensors="pt")
        with torch.no_grad():
            said.append(model(**tokens).logits.softmax(1)[0].numpy())
    return np.array(said)


def test_a_folder_says_what_the_model_says_text_by_text(tiny, folder):
    data = tiny(texts=TEXTS)
    found = predict(open_model(folder, batch=2), data)
    np.testing.assert_allclose(found.probabilities[:, ::-1], expected(folder, TEXTS), atol=1e-5)
    assert np.ptp(found.probabilities[:, 0]) > 0.01
    assert found.origin.params == {"model": folder.name, "hard": False}


def test_no_texts_give_no_rows(folder):
    assert open_model(folder).predict_proba([]).shape == (0, 2)


def test_longer_texts_are_cut(folder):
    short = open_model(folder, max_length=5).predict_proba(["warm tea cold", "warm tea cold rain rain"])
    assert short[0].tolist() == pytest.approx(short[1].tolist(), abs=1e-6)


def test_labels_may_be_renamed(tiny, folder):
    found = predict(open_model(folder, rename={"yes": "oui"}), tiny(label_names=("no", "oui"), texts=TEXTS))
    np.testing.assert_allclose(found.probabilities[:, 1], expected(folder, TEXTS)[:, 0], atol=1e-5)


def test_labels_without_names_can_be_named(tmp_path):
    saved(tmp_path)
    assert open_model(tmp_path).classes_ == ("LABEL_0", "LABEL_1")
    assert open_model(tmp_path, label_names=["no", "yes"]).classes_ == ("no", "yes")
    with pytest.raises(MismatchError, match="has 2 labels"):
        open_model(tmp_path, label_names=["no", "yes", "maybe"])


def test_labels_with_names_are_not_named_by_position(folder):
    with pytest.raises(MismatchError, match="has names for its labels"):
        open_model(folder, label_names=["no", "yes"])


def test_many_labels_per_text_are_refused(tmp_path):
    saved(tmp_path, problem_type="multi_label_classification", **NAMED)
    with pytest.raises(InputError, match="multi-label"):
        open_model(tmp_path)


def test_a_single_score_needs_two_names(tmp_path):
    model = saved(tmp_path, num_labels=1)
    with pytest.raises(MismatchError, match="single score"):
        open_model(tmp_path)
    tokens = tokenizer()("warm tea", return_tensors="pt")
    score = torch.sigmoid(model(**tokens).logits).item()
    found = open_model(tmp_path, label_names=["no", "yes"]).predict_proba(["warm tea"])
    np.testing.assert_allclose(found, [[1 - score, score]], atol=1e-5)


def test_a_model_without_a_trained_head_is_refused(tmp_path):
    saved(tmp_path, transformers.BertModel)
    with pytest.raises(InputError, match="not a trained classifier") as caught:
        open_model(tmp_path)
    assert any("classifier" in each for each in caught.value.problems)


@pytest.mark.parametrize("damage", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_is_not_whole_is_refused(folder, tmp_path, damage):
    shutil.copytree(folder, tmp_path / "part")
    (tmp_path / "part" / damage).unlink()
    with pytest.raises(InputError, match="cannot be opened"):
        open_model(tmp_path / "part")


def test_weights_that_are_cut_are_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    for opening in (open_model, lambda place: Backbone(str(place))):
        with pytest.raises(InputError, match="/cut' cannot be"):
            opening(tmp_path / "cut")


def test_weights_that_would_run_code_are_refused(folder, tmp_path):
    place = tmp_path / "pickled"
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("model.safetensors"))
    (place / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    for opening in (open_model, lambda where: Backbone(str(where))):
        with pytest.raises(InputError, match="/pickled are damaged, or would run code") as caught:
            opening(place)
        assert "weights_only" not in str(caught.value)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        open_model(tmp_path)


def test_code_that_comes_with_a_model_is_not_run(folder, tmp_path):
    place = tmp_path / "code"
    shutil.copytree(folder, place)
    said = json.loads((place / "config.json").read_text())
    said |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    (place / "config.json").write_text(json.dumps(said))
    (place / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Mine: pass\n")
    with pytest.raises(InputError, match="code of its own"):
        open_model(place)
    assert not (tmp_path / "ran").exists()


def test_a_tokenizer_without_padding_gets_one(folder, tmp_path):
    place = tmp_path / "no-pad"
    shutil.copytree(folder, place)
    bare = tokenizer()
    bare.pad_token, bare.eos_token = None, "[SEP]"
    bare.save_pretrained(place)
    found = open_model(place, batch=4).predict_proba(TEXTS)
    np.testing.assert_allclose(found, expected(folder, TEXTS), atol=1e-5)


@pytest.mark.parametrize("options", [{"batch": 0}, {"batch": "many"}, {"max_length": 0}, {"revision": "main"}])
def test_options_that_are_wrong(folder, options):
    with pytest.raises(InputError, match=next(iter(options))):
        open_model(folder, **options)


BY_NAME = """
import sys
from unseen.errors import InputError
from unseen.models import open_model
found = open_model("org/tiny")
print(found.source, found.classes_, found.predict_proba(["warm tea"]).tolist())
try:
    open_model("org/absent")
except InputError as error:
    print("refused", "org/absent" in str(error))
"""


def test_a_name_on_the_hub_is_read_from_its_cache_offline(folder, tmp_path):
    model = tmp_path / "hub" / "models--org--tiny"
    commit = "0123456789abcdef0123456789abcdef01234567"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text(commit)
    shutil.copytree(folder, model / "snapshots" / commit)
    done = subprocess.run(
        [sys.executable, "-c", BY_NAME],
        cwd=tmp_path,
        env=os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[-2:]
    assert first.startswith("org/tiny ('yes', 'no') [[")
    assert second == "refused True"
