"""Explainers: against brute force, captum and shap, and on models whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiny_transformer import write_transformer
from unseen.errors import InputError
from unseen.explanations import EXPLAINERS
from unseen.explanations.subject import ExplainedTexts, units_of

WORDS = ["good", "bad", "day", "cat", "the", "very", "not", "sun", "rain", "we"]
TEXTS = ["the good day", "not very bad rain we", "cat", "sun the sun bad bad good we day not very"]
WEIGHTS = {"good": 1.5, "bad": -2.0, "very": 0.5, "sun": 0.7}


class Additive:
    """Probabilities that are a sum of words: the truth about every word is known."""

    classes_ = ("no", "yes")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def predict_proba(self, texts: list[str]) -> Any:
        self.asked += texts
        yes = np.array([0.5 + 0.02 * sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
        return np.column_stack([1 - yes, yes])


class Interacting(Additive):
    """Words that matter only together."""

    def predict_proba(self, texts: list[str]) -> Any:
        yes = [
            0.1 + 0.6 * ("good" in text and "day" in text) - 0.05 * ("bad" in text) * len(text) / 40 for text in texts
        ]
        return np.column_stack([1 - np.array(yes), yes])


def subject(model: Any, **options: Any) -> ExplainedTexts:
    return ExplainedTexts(model, TEXTS, ("no", "yes"), **{"label": "yes", **options})


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from unseen.training.transformer_classifier import TransformerClassifier, TransformerSettings

    folder = write_transformer(tmp_path_factory.mktemp("tiny") / "bert", WORDS)
    return TransformerClassifier.untrained(TransformerSettings(encoder=str(folder), precision="fp32"), ("no", "yes"))


@pytest.mark.parametrize("name", ["occlusion", "partition-shap", "lime"])
def test_of_a_sum_of_words_each_word_gets_its_own(name: str) -> None:
    made = EXPLAINERS.make(name).attributions(subject(Additive()))
    tolerance = 1e-9 if name != "lime" else 0.02  # the ridge shrinks weights a little
    for text, scores in zip(TEXTS, made.scores, strict=True):
        assert scores == pytest.approx([0.02 * WEIGHTS.get(word, 0.0) for word in text.split()], abs=tolerance)


def test_sampled_contexts_leave_the_sign_of_a_word() -> None:
    made = EXPLAINERS.make("sampling-occlusion", samples=5).attributions(subject(Additive()))
    for text, scores in zip(TEXTS, made.scores, strict=True):
        assert np.sign(np.round(scores, 9)).tolist() == [np.sign(WEIGHTS.get(word, 0.0)) for word in text.split()]


def test_contexts_are_drawn_from_the_corpus() -> None:
    model = Additive()
    EXPLAINERS.make("sampling-occlusion", samples=3, corpus=["rain rain rain"]).attributions(subject(model))
    drawn = [text for text in model.asked if text not in TEXTS]
    assert any("rain" in text for text in drawn)
    assert {word for text in drawn for word in text.split()} <= {*WORDS}


def test_owen_values_are_those_of_shap_and_sum_to_the_effect_of_all_words() -> None:
    import shap

    model, row = Interacting(), 3
    words = TEXTS[row].split()
    ours = EXPLAINERS.make("partition-shap", most=0).attributions(subject(model)).scores[row]

    def erased(masks: Any) -> Any:
        return model.predict_proba([" ".join(np.array(words)[mask.astype(bool)]) for mask in masks])[:, 1]

    def halves(start: int, end: int, links: list[Any]) -> tuple[int, int]:
        """Our tree as scipy's linkage: returns the number of the node and its size."""
        if end - start == 1:
            return start, 1
        middle = (start + end + 1) // 2
        left, right = halves(start, middle, links), halves(middle, end, links)
        links.append([left[0], right[0], end - start, end - start])
        return len(words) + len(links) - 1, end - start

    links: list[Any] = []
    halves(0, len(words), links)

    class Masker:
        clustering = np.array(links, float)
        shape = (1, len(words))

        def __call__(self, mask: Any, x: Any) -> Any:
            return mask[None]

    theirs = shap.explainers.Partition(lambda masks: erased(np.asarray(masks)), Masker())(
        np.ones((1, len(words))), max_evals=10_000, silent=True
    )
    assert ours == pytest.approx(theirs.values[0], abs=1e-6)
    whole, empty = model.predict_proba([TEXTS[row], ""])[:, 1]
    assert ours.sum() == pytest.approx(whole - empty)


def test_few_questions_still_share_the_whole_effect() -> None:
    made = EXPLAINERS.make("partition-shap", most=8).attributions(subject(Interacting()))
    for text, scores in zip(TEXTS, made.scores, strict=True):
        whole, empty = Interacting().predict_proba([text, ""])[:, 1]
        assert scores.sum() == pytest.approx(whole - empty)


def test_questions_are_as_many_as_it_says() -> None:
    for name in ("occlusion", "partition-shap"):
        about, explainer = subject(Additive()), EXPLAINERS.make(name)
        explainer.attributions(about)
        assert about.asked <= sum(explainer.passes(size) for size in about.sizes)


def test_nothing_is_asked_twice() -> None:
    model = Additive()
    about = subject(model)
    for name in ("occlusion", "partition-shap"):
        EXPLAINERS.make(name).attributions(about)
    asked = len(model.asked)
    EXPLAINERS.make("occlusion").attributions(about)
    EXPLAINERS.make("occlusion").attributions(about.of(np.array([1, 3])))
    assert len(model.asked) == asked


# -- networks ----------------------------------------------------------------------------------------------------------


def logit_of_vectors(transformer: Any, vectors: Any, mask: Any) -> Any:
    hidden = transformer.backbone.network(inputs_embeds=vectors, attention_mask=mask).last_hidden_state
    return transformer.head(hidden[:, 0])


@pytest.mark.parametrize("name", ["gradient", "gradient-input", "integrated-gradients"])
def test_gradients_are_those_of_captum(transformer: Any, name: str) -> None:
    import torch
    from captum.attr import InputXGradient, IntegratedGradients, Saliency

    transformer.modules.eval()
    explainer = EXPLAINERS.make(name, **({"steps": 20} if name == "integrated-gradients" else {}))
    made = explainer.attributions(subject(transformer))
    for text, ours in zip(TEXTS, made.scores, strict=True):
        read = transformer.backbone.tokenizer(text, return_tensors="pt")
        embed = transformer.backbone.network.get_input_embeddings()
        vectors = embed(read["input_ids"]).detach()
        padded = torch.full_like(read["input_ids"], transformer.backbone.padding)
        padded[:, [0, -1]] = read["input_ids"][:, [0, -1]]

        def forward(given: Any, mask: Any) -> Any:
            return logit_of_vectors(transformer, given, mask)

        mask = read["attention_mask"]
        if name == "gradient":
            theirs = Saliency(forward).attribute(vectors, target=1, additional_forward_args=(mask,))
        elif name == "gradient-input":
            theirs = InputXGradient(forward).attribute(
                vectors.requires_grad_(), target=1, additional_forward_args=(mask,)
            )
        else:
            theirs = IntegratedGradients(forward).attribute(
                vectors, embed(padded).detach(), target=1, n_steps=20, additional_forward_args=(mask,)
            )
        assert ours == pytest.approx(theirs.sum(-1)[0, 1:-1].detach().numpy(), abs=1e-5)


def test_integrated_gradients_are_complete(transformer: Any) -> None:
    few, many = (EXPLAINERS.make("integrated-gradients", steps=n).attributions(subject(transformer)) for n in (1, 30))
    assert many.notes["completeness_error"].max() < 1e-4
    assert few.notes["completeness_error"].max() > 3 * many.notes["completeness_error"].max()


def test_attention_is_the_row_of_the_class_token(transformer: Any) -> None:
    made = EXPLAINERS.make("attention").attributions(subject(transformer))
    network = transformer.backbone.network
    before = network.config._attn_implementation
    network.set_attn_implementation("eager")
    read = transformer.backbone.tokenizer(TEXTS[1], return_tensors="pt")
    row = network(**read, output_attentions=True).attentions[-1][0, :, 0].mean(0)
    network.set_attn_implementation(before)
    assert made.scores[1] == pytest.approx(row[1:-1].detach().numpy(), abs=1e-6)
    assert made.scores[1].sum() < 1  # the special tokens have the rest


def test_effective_attention_differs_beyond_the_width_of_a_head(transformer: Any) -> None:
    short, long = TEXTS[1], " ".join(WORDS * 3)  # heads are 16 wide
    about = ExplainedTexts(transformer, [short, long], ("no", "yes"), "yes")
    raw, effective = (EXPLAINERS.make(name).attributions(about).scores for name in ("attention", "effective-attention"))
    assert effective[0] == pytest.approx(raw[0], abs=1e-5)
    assert np.abs(effective[1] - raw[1]).max() > 1e-4


@pytest.fixture(scope="module")
def attentive() -> Any:
    """A network over words, hardly trained."""
    import unseen
    from unseen.naming import recipe_of

    rows = [{"text": text, "label": "yes" if "good" in text else "no"} for text in TEXTS * 5]
    data = unseen.load([{**row, "id": str(number)} for number, row in enumerate(rows)], id="id", labels=["no", "yes"])
    return recipe_of("birnn-attention", width=8, hidden=4, epochs=2).fit(data, data.take([]), 1)


def test_a_network_over_words_has_gradients_and_attention(attentive: Any) -> None:
    made = EXPLAINERS.make("integrated-gradients", steps=30).attributions(subject(attentive))
    assert made.notes["completeness_error"].max() < 1e-4
    attention = EXPLAINERS.make("attention").attributions(subject(attentive)).scores
    for (_, theirs), ours in zip(attentive.attention(TEXTS), attention, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)
    about = subject(attentive)
    kept = [np.zeros(size, bool) for size in about.sizes]
    assert about.ask(np.arange(len(TEXTS)), kept) == pytest.approx(attentive.predict_proba([""] * 4)[:, 1], abs=1e-6)


@pytest.mark.parametrize(
    ("model", "erase"), [("transformer", "delete"), ("transformer", "mask"), ("attentive", "delete")]
)
def test_erasing_pieces_is_erasing_words_and_reading_anew(model: str, erase: str, request: Any) -> None:
    transformer = request.getfixturevalue(model)
    about = subject(transformer, erase=erase)
    assert about._reads_pieces == (erase == "delete" or about.network.mask is not None)
    rows, kept = np.array([1, 3]), [np.array([1, 0, 1, 1, 0], bool), np.arange(10) % 2 == 0]
    texts = [about.erased_text(int(row), units) for row, units in zip(rows, kept, strict=True)]
    assert about.ask(rows, kept) == pytest.approx(transformer.predict_proba(texts)[:, 1], abs=1e-6)


def test_words_and_pieces_of_a_transformer_of_hugging_face_are_the_same(transformer: Any, tmp_path: Path) -> None:
    from unseen.models import open_model

    transformer.save(tmp_path / "ours")
    (tmp_path / "ours" / "unseen.json").unlink()
    theirs = open_model(tmp_path / "ours")
    for name in ("occlusion", "integrated-gradients", "attention"):
        explainer = EXPLAINERS.make(name)
        pieces = explainer.attributions(subject(theirs, units="pieces")).scores
        for one, other in zip(explainer.attributions(subject(transformer)).scores, pieces, strict=True):
            assert one == pytest.approx(other, abs=1e-5)


def test_pieces_belong_to_the_word_they_end_in() -> None:
    spans = [(0, 5), (6, 9)]  # "wordy cat"
    pieces = [None, (0, 4), (4, 5), (5, 9), None]  # a piece may begin with the blank before it
    assert units_of(pieces, spans).tolist() == [-1, 0, 0, 1, -1]


def test_a_model_that_can_only_be_asked_has_no_gradients() -> None:
    with pytest.raises(InputError, match="networks"):
        EXPLAINERS.make("gradient").attributions(subject(Additive()))
    with pytest.raises(InputError, match="pieces"):
        subject(Additive(), units="pieces")


def test_contexts_of_a_masked_language_model(tmp_path: Path) -> None:
    import torch
    import transformers

    folder = write_transformer(tmp_path / "masked", WORDS)
    config = transformers.BertConfig.from_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertForMaskedLM(config).save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.mask_token = "[MASK]"
    tokenizer.save_pretrained(folder)
    model = Additive()
    made = EXPLAINERS.make("sampling-occlusion", samples=4, masked=str(folder)).attributions(subject(model))
    assert made.scores[0][1] > 0  # "good", whatever stands beside it
    assert len({*model.asked}) > 20


@pytest.mark.parametrize("name", list(EXPLAINERS))
def test_the_same_seed_gives_the_same_scores(name: str, transformer: Any) -> None:
    texts = TEXTS * 3
    golds = [np.arange(len(text.split())) == 0 for text in texts]
    abouts = [ExplainedTexts(transformer, texts, ("no", "yes"), "yes", rationales=golds) for _ in range(2)]
    one, two = (EXPLAINERS.make(name).attributions(about, 7) for about in abouts)
    for first, second, text in zip(one.scores, two.scores, texts, strict=True):
        assert len(first) == len(text.split())
        assert first.tolist() == second.tolist()
