"""Domain pretraining as a treatment: what an encoder gains by reading unlabelled texts of the domain.

Arms are the encoder as it comes, after so many domain texts, and after equal steps on other text, the control; each is
fine-tuned on every dataset. Each seed draws its own texts, trains its own encoders and fine-tunes them. Test texts that
stand in either corpus are looked for, and scores are told again without them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unseen.audits.subject import Subject, texts_together
from unseen.data.post_texts import with_plain_posts
from unseen.data.tables import load_texts
from unseen.duplicates import same_forms
from unseen.engines import Inline, Local, Step, Workspace
from unseen.engines.steps import carry_out, timings
from unseen.errors import InputError
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate
from unseen.evaluation.metrics import metric as metric_of
from unseen.naming import content_of_name
from unseen.registry import check_parameters
from unseen.runs.experiment import Arm, Chosen, Contrast, Level, answers, measured, trainings_done
from unseen.runs.frame import Output, Result, carry_through
from unseen.runs.source import by_id
from unseen.runs.spaces import MODEL, Model
from unseen.runs.transfer import KINDS, SHOWN, SeenTexts, refuse_same_files, rows_like, settled_datasets
from unseen.runs.transfer_file import DatasetEntry, Datasets, Member, members
from unseen.seeding import generator
from unseen.store import read_json, write_json
from unseen.store.files import file_name
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, some
from unseen.types.arrays import Mask, Rows
from unseen.types.numbers import number, portion

if TYPE_CHECKING:
    from unseen.training.pretraining import PretrainingSettings

AS_IT_COMES, DOMAIN, CONTROL = "as it comes", "domain", "control"
"""What an encoder was trained on before it is fine-tuned."""
ALL = "all datasets"
WITHOUT = "without contaminated"
"""The slice of test texts that stand in neither corpus, not even nearly."""
MUCH = 0.01
"""Share of the texts above which contamination is a failure, and a control is none."""
GUESSING = 0.9
"""A head whose loss is at least this share of the loss of guessing has not been trained."""
MORE_OFTEN = 1.25
"""Times as often as domain texts, from which on it matters that texts of the control are read more often."""
HELD_OUT, MOST_HELD_OUT = 0.1, 1_000
"""Share of each corpus whose masked-LM loss is measured, and texts of it at most."""
SMALLEST = 1_000
"""The smallest number of texts where nobody names any; others are ten, a hundred … times as many."""
READ = "read.json"


@dataclass(frozen=True, eq=False)
class UnlabelledTexts:
    """Unlabelled texts in the order of their ids: some are trained on, some held out."""

    data: Dataset
    held_out: Mask

    @classmethod
    def of(cls, data: Dataset, seed: int) -> UnlabelledTexts:
        """The corpus with a part held out; texts that are the same but for trifles stay together."""
        ours = by_id(data)
        different, place = np.unique(same_forms(ours.texts), return_inverse=True)
        if len(different) < 2:
            raise InputError(f"the corpus {data.name!r} has one text only", expected="two different texts or more")
        count = max(1, round(min(HELD_OUT, MOST_HELD_OUT / len(ours)) * len(different)))
        return cls(ours, np.isin(place, generator(seed, "held out").permutation(len(different))[:count]))

    @cached_property
    def train(self) -> Dataset:
        """Texts to train on."""
        return self.data.take(np.flatnonzero(~self.held_out))

    @cached_property
    def rest(self) -> Dataset:
        """Texts that are held out."""
        return self.data.take(np.flatnonzero(self.held_out))

    def order(self, seed: int) -> Rows:
        """The order in which this seed takes the texts to train on: few of them are the first of many."""
        return generator(seed, "corpus").permutation(len(self.train))

    @property
    def described(self) -> dict[str, Any]:
        """Plain values about it."""
        sizes = {"rows": len(self.data), "train": len(self.train), "held_out": len(self.rest)}
        return {"source": self.data.name, **sizes, "fingerprint": self.data.fingerprint}


class Dose(NamedTuple):
    """What an encoder was trained on, and how much of it."""

    of: str
    texts: int
    """Domain texts; of the control, the domain texts whose tokens it equals."""

    @property
    def tags(self) -> dict[str, Any]:
        """What tells its numbers apart."""
        return {"encoder": self.of, "texts": self.texts}

    def __str__(self) -> str:
        return self.of if self.of == AS_IT_COMES else f"{self.of} {self.texts}"


@dataclass(frozen=True)
class PretrainingPlan:
    """What a run will do."""

    texts: Mapping[str, Mapping[str, int]]
    """Rows per part, by dataset."""
    steps: Mapping[int, int]
    """Steps of masked-LM training by number of domain texts, those of the first seed."""
    tokens: int
    """Tokens that are read in all pretrainings."""
    pretrainings: int
    trainings: int
    """Fine-tunings."""
    done: int
    """Of these."""


@dataclass(frozen=True, eq=False)
class Treatment:
    """The steps that train the encoder further: for each dose and seed, equally many for domain and control."""

    model: Model
    settings: PretrainingSettings
    corpora: Mapping[str, UnlabelledTexts]
    sizes: Sequence[int]
    seeds: Sequence[int]
    masks: int
    """Seed of the masks of the held-out texts, the same for every encoder."""

    @property
    def encoder(self) -> str:
        """The encoder as it comes."""
        return str(self.model.outline.settings.encoder)

    @property
    def doses(self) -> list[Dose]:
        """As it comes, then domain and control by the number of texts."""
        return [Dose(AS_IT_COMES, 0), *(Dose(of, texts) for texts in self.sizes for of in (DOMAIN, CONTROL))]

    @cached_property
    def amounts(self) -> dict[tuple[Dose, int], tuple[int, int]]:
        """Texts and steps of each dose and seed: the control has as many steps, on texts of as many tokens.

        The encoder is opened to count them; one that has no head is refused here.
        """
        from unseen.training.pretraining import MaskedLM

        amounts, lengths = {}, {}
        language_model = MaskedLM(self.encoder, self.settings, **self.model.opening.get("opening", {}))
        for of, corpus in self.corpora.items():
            lengths[of] = language_model.tokens(corpus.train.texts.to_pylist()).lengths
        for seed in self.seeds:
            domain, control = (np.cumsum(lengths[of][self.corpora[of].order(seed)]) for of in (DOMAIN, CONTROL))
            for texts in self.sizes:
                tokens = int(domain[texts - 1])
                steps, as_many = self.settings.steps(tokens), int(np.searchsorted(control, tokens, "right"))
                amounts[Dose(DOMAIN, texts), seed] = texts, steps
                amounts[Dose(CONTROL, texts), seed] = max(1, as_many), steps
        return amounts

    def step(self, dose: Dose, seed: int) -> Step:
        """The masked-LM training of one dose; as it comes nothing is trained, and its losses are measured."""
        texts, steps = self.amounts.get((dose, seed), (0, 0))
        corpora = {of: [corpus.train.fingerprint, corpus.rest.fingerprint] for of, corpus in self.corpora.items()}
        settings = {
            "encoder": self.encoder, "content": content_of_name(self.encoder), "pretraining": asdict(self.settings),
            "corpora": corpora, "of": dose.of, "texts": texts, "steps": steps, "seed": seed if steps else None,
            "masks": self.masks, **self.model.opening,
        }  # fmt: skip
        name = f"read {dose}, seed {seed}" if steps else f"read nothing, {dose}"
        shared = {of: of for of in self.corpora}
        return Step(name, f"{__name__}:read_texts", settings, shared=shared, uses_gpu=True)

    @cached_property
    def steps(self) -> dict[tuple[Dose, int], Step]:
        """The step of every dose and seed."""
        return {(dose, seed): self.step(dose, seed) for dose in self.doses for seed in self.seeds}


def read_texts(here: Workspace) -> None:
    """Train an encoder further and write it down, with what it makes of the held-out texts of both corpora."""
    from unseen.training.pretraining import MaskedLM, PretrainingSettings

    settings = here.settings
    recipe = PretrainingSettings(**settings["pretraining"])
    language_model = MaskedLM(settings["encoder"], recipe, **settings.get("opening", {}))
    about: dict[str, Any] = {"steps": settings["steps"], "texts": settings["texts"], "tokens": 0}
    if settings["steps"]:
        corpus: UnlabelledTexts = here.shared[settings["of"]]
        chosen = corpus.train.take(corpus.order(settings["seed"])[: settings["texts"]])
        tokens = language_model.tokens(chosen.texts.to_pylist())
        about["tokens"] = language_model.train(tokens, settings["steps"], settings["seed"], here.scratch)
        about["passes"] = about["tokens"] / int(tokens.lengths.sum())
        about["tokenizer"] = language_model.save(here.folder / MODEL)
    about |= {"losses": {}, "guessing": language_model.uniform_loss}
    for of in (DOMAIN, CONTROL):
        held_out = language_model.tokens(here.shared[of].rest.texts.to_pylist())
        about["losses"][of] = language_model.loss(held_out, settings["masks"])._asdict()
    write_json(here.folder / READ, about)


class Contamination(SeenTexts):
    """Test texts of one dataset that stand in one corpus."""

    def finding(self) -> Finding:
        """What that means."""
        data, corpus, n = self.tags["data"], self.tags["corpus"], len(self.near)
        check = f"contamination[{corpus} → {data}]"
        if not self.count:
            return Finding(check, "ok", f"None of the {n:,} test texts of {data} stands in the {corpus} corpus.")
        message = f"{portion(self.count, n, 'test texts')} of {data} stand in the {corpus} corpus: {self.ways}."
        advice = f"Read the scores “{WITHOUT}”, or take these texts out of the corpus and train again."
        return Finding(check, "fail" if self.count > MUCH * n else "warn", message, self.count, self.ids, advice)


class Copies:
    """All texts of a run as one subject of an audit, so that copies are looked for once."""

    def __init__(self, tests: Mapping[str, Dataset], corpora: Mapping[str, UnlabelledTexts], seed: int) -> None:
        self.tests, self.corpora = tests, corpora
        parts = {("test", name): data for name, data in tests.items()}
        parts |= {("corpus", of): corpus.data for of, corpus in corpora.items()}
        self.subject = Subject(texts_together(list(parts.values())), seed=seed)
        ends = np.cumsum([0, *map(len, parts.values())]).tolist()
        self.rows = {part: np.arange(begin, end) for part, begin, end in zip(parts, ends, ends[1:], strict=False)}

    def like(self, kind: str, ours: tuple[str, str], theirs: tuple[str, str]) -> Mask:
        """Which of our texts are like one of theirs."""
        return rows_like(self.subject, kind, self.rows[ours], self.rows[theirs])

    def contaminations(self) -> list[Contamination]:
        """Every test part against every corpus, held-out texts included."""
        cases = []
        for name, data in self.tests.items():
            for of in self.corpora:
                kinds = {kind: self.like(kind, ("test", name), ("corpus", of)) for kind in KINDS}
                ids = data.ids.take(np.flatnonzero(kinds["near"])[:SHOWN]).to_pylist()
                cases.append(Contamination({"data": name, "corpus": of}, kinds, tuple(ids)))
        return cases

    def control_finding(self) -> Finding:
        """Whether the control is other text: how many of its texts stand in the domain corpus."""
        like = self.like("near", ("corpus", CONTROL), ("corpus", DOMAIN))
        count = int(like.sum())
        some_texts = portion(count, len(like), "texts")
        message = f"{some_texts} of the control corpus stand in the domain corpus, word for word or nearly."
        if count <= MUCH * len(like):
            return Finding("control", "ok", message, count)
        return Finding("control", "warn", message, count, advice="A control is other text: take these out of it.")


@dataclass(frozen=True, eq=False)
class DoseRuns:
    """The runs of every dose on every dataset, and what is measured of them."""

    runs: Mapping[tuple[str, Dose], list[Run]]
    """By dataset and dose."""
    clean: Mapping[str, Mask]
    """Test rows of each dataset that stand in neither corpus."""

    @property
    def measures(self) -> list[Level | Contrast]:
        """Scores and differences of each dataset, and of all together where there are several."""
        names = [[name] for name in self.clean] + ([list(self.clean)] if len(self.clean) > 1 else [])
        return [measure for several in names for measure in self._measures(several)]

    def _measures(self, names: Sequence[str]) -> Iterator[Level | Contrast]:
        """Levels of all doses; differences of domain and control, and of both to the encoder as it comes."""
        data = {"data": ALL if len(names) > 1 else names[0]}
        first, *others = dict.fromkeys(dose for _, dose in self.runs)
        pairs = [(Dose(CONTROL, dose.texts), dose) for dose in others if dose.of == DOMAIN]
        pairs += [(first, dose) for dose in others]
        contaminated = not all(self.clean[name].all() for name in names)
        for slice in ("all", WITHOUT) if contaminated else ("all",):
            for dose in (first, *others):
                yield Level(self._runs(names, dose, slice), data | dose.tags, slice, singly=len(names) == 1)
            for before, after in pairs:
                reference, compared = (self._runs(names, dose, slice) for dose in (before, after))
                tags = data | after.tags | {"than": before.of}
                yield Contrast(reference, compared, tags, slice, sign="difference")

    def _runs(self, names: Sequence[str], dose: Dose, slice: str) -> list[Run]:
        if slice == "all":
            return [run for name in names for run in self.runs[name, dose]]
        if not all(self.clean[name].any() for name in names):
            return []
        return [run.only(self.clean[name]) for name in names for run in self.runs[name, dose]]


def pretrain(
    datasets: Mapping[str, DatasetEntry | Dataset | str] | Datasets,
    *,
    model: str,
    corpus: Any,
    control: Any,
    params: Mapping[str, Any] | None = None,
    pretraining: Mapping[str, Any] | None = None,
    sizes: Sequence[int] | None = None,
    metric: str = "f1.macro",
    trainings: int = 3,
    seed: int = 42,
    test: float | None = None,
    groups: str | None = None,
    text: str = "text",
    placeholders: bool = False,
    out: str | Path = "out",
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[PretrainingPlan], None] | None = None,
) -> Result:
    """Train an encoder further on unlabelled texts, and on as many tokens of other text, and see what it gains.

    `model` is an encoder with a masked-LM head. `corpus` and `control` are files, tables or Datasets of texts (column
    `text`). The encoder as it comes, after `sizes` texts of the corpus and after all of them, and after as many steps
    on the control, is fine-tuned on each of `datasets` with the parameters `params`. `pretraining` are those of the
    masked-LM training (`PretrainingSettings`). Everything is done `trainings` times, masked-LM training included.
    `placeholders` puts @USER and HTTP-URL for handles and links into all texts alike. Called again with the same
    folder, it goes on where it stopped.
    """
    metric_of(metric)
    recipe = Model(model, dict(params or {}))
    recipe.check()
    if not recipe.is_transformer:
        raise InputError(f"{model!r} is no encoder that can read on", expected="a transformer with a masked-LM head")
    from unseen.training.pretraining import PretrainingSettings

    check_parameters("masked-LM training", PretrainingSettings, dict(pretraining or {}))
    settings = PretrainingSettings(**dict(pretraining or {}))
    given, share = settled_datasets(datasets, trainings, test, groups)
    labelled = _labelled(given.entries, share, seed)
    raw = {of: UnlabelledTexts.of(_texts(source, text), seed) for of, source in ((DOMAIN, corpus), (CONTROL, control))}
    prepared = {of: replace(one, data=with_plain_posts(one.data)) for of, one in raw.items()} if placeholders else raw
    run_seeds = range(seed, seed + trainings)
    treatment = Treatment(recipe, settings, prepared, _sizes(sizes, raw[DOMAIN]), run_seeds, seed)
    steps, arms = treatment.steps, _arms(treatment, labelled, placeholders)
    about = {
        "model": model,
        "settings": {
            "metric": metric, "sizes": list(treatment.sizes), "seed": seed, "trainings": trainings,
            "placeholders": placeholders, "params": dict(params or {}), "pretraining": asdict(settings),
        },
        "datasets": {name: member.described for name, member in labelled.items()},
        "corpora": {of: one.described for of, one in raw.items()},
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        results, engine = folder.results, Inline() if workers == 1 else Local(workers)
        if announce is not None:
            announce(_plan(treatment, labelled, *trainings_done(list(arms.values()), recipe, results)))
        different = {step.key: step for step in steps.values()}
        carry_out(list(different.values()), engine, results, prepared, "pretrainings")
        predictions = answers(list(arms.values()), recipe, results, workers=workers)
        shutil.rmtree(folder / "models", ignore_errors=True)
        for (dose, own_seed), step in steps.items():
            folder.publish(step.key, MODEL, f"models/{file_name(str(dose))}.seed-{own_seed}")
        files = {
            f"{file_name(name)}/{file_name(str(dose))}.seed-{own_seed}": predictions[arm.name]["test"]
            for (name, dose, own_seed), arm in arms.items()
        }
        copies = Copies({name: _test(member) for name, member in labelled.items()}, raw, seed)
        cases = copies.contaminations()
        unread = {name: [~case.near for case in cases if case.tags["data"] == name] for name in labelled}
        clean = {name: np.logical_and.reduce(masks) for name, masks in unread.items()}
        runs: dict[tuple[str, Dose], list[Run]] = {}
        for (name, dose, own_seed), arm in arms.items():
            member, answered = labelled[name], predictions[arm.name]["test"]
            run = member.run(_test(member), answered, split=f"{name}, {dose}", family=str(dose), seed=own_seed)
            runs.setdefault((name, dose), []).append(run)
        reads = {place: read_json(results.folder(step.key) / READ) for place, step in steps.items()}
        rows = [row for case in cases for row in case.measurements("contamination")] + _reading_rows(reads)
        rows += measured(DoseRuns(runs, clean).measures, list(dict.fromkeys([metric, "accuracy"])), seed)
        findings = [*(case.finding() for case in cases), copies.control_finding()]
        findings += [_head_finding(reads[treatment.doses[0], seed])]
        findings += [_passes_finding(*(reads[dose, seed] for dose in treatment.doses[-2:]))]
        (tokenizer,) = {read["tokenizer"] for read in reads.values() if "tokenizer" in read}
        made = [*different.values(), *(arm.step(recipe) for arm in arms.values())]
        splits = {name: member.parts for name, member in labelled.items()}
        more = {"tokenizer": tokenizer, "timings": timings(made, results)}
        return Output(rows, findings, more, splits=splits, predictions=files)

    return carry_through("pretraining", about, work, out=out, command=command, gates=gates)


def _labelled(entries: Mapping[str, DatasetEntry], test: float, seed: int) -> dict[str, Member]:
    """The datasets, each under its own labels and with its parts."""
    if not entries or ALL in entries:
        expected = f"one or more labelled datasets, none called {ALL!r}"
        raise InputError("there is nothing to fine-tune on", expected=expected, got=some(entries) or "none")
    refuse_same_files(list(entries))
    return {name: members({name: entry}, None, test=test, seed=seed)[name] for name, entry in entries.items()}


def _texts(source: Any, text: str) -> Dataset:
    return source if isinstance(source, Dataset) else load_texts(source, ("",), text=text, label=None)[0]


def _sizes(asked: Sequence[int] | None, corpus: UnlabelledTexts) -> list[int]:
    """Numbers of texts in order, all of them last."""
    whole = len(corpus.train)
    if asked is None:
        asked = [SMALLEST * 10**power for power in range(9)]
    elif wrong := [size for size in asked if not 1 <= size <= whole]:
        raise InputError(
            "so many texts cannot be drawn from the corpus", got=some(map(str, wrong)),
            expected=f"1 to {whole:,}; {len(corpus.rest):,} of its {len(corpus.data):,} texts are held out",
        )  # fmt: skip
    return sorted({whole, *(size for size in asked if size < whole)})


def _arms(treatment: Treatment, labelled: Mapping[str, Member], placeholders: bool) -> dict[tuple[str, Dose, int], Arm]:
    """Every encoder fine-tuned on every dataset."""
    arms = {}
    for name, member in labelled.items():
        data = with_plain_posts(member.data) if placeholders else member.data
        train, dev, test = (Chosen(data, member.rows(part)) for part in ("train", "dev", "test"))
        for (dose, seed), step in treatment.steps.items():
            encoder, called = None if dose.of == AS_IT_COMES else step, f"{name}, {dose}, seed {seed}"
            arms[name, dose, seed] = Arm(called, train, dev, {"test": test}, seed, encoder=encoder)
    return arms


def _plan(treatment: Treatment, labelled: Mapping[str, Member], trainings: int, done: int) -> PretrainingPlan:
    amounts, first = treatment.amounts, treatment.seeds[0]
    steps = {dose.texts: steps for (dose, seed), (_, steps) in amounts.items() if seed == first}
    tokens = sum(steps for _, steps in amounts.values()) * treatment.settings.batch_tokens
    texts = {name: member.parts.sizes for name, member in labelled.items()}
    return PretrainingPlan(texts, steps, tokens, len(amounts), trainings, done)


def _test(member: Member) -> Dataset:
    return member.data.take(member.rows("test"))


def _reading_rows(reads: Mapping[tuple[Dose, int], Mapping[str, Any]]) -> list[Measurement]:
    """Of each dose, means over seeds: steps, tokens and passes, and the masked-LM loss on the held-out texts."""
    rows = []
    for dose in dict.fromkeys(dose for dose, _ in reads):
        own = [read for (other, _), read in reads.items() if other == dose]
        for name in ("steps", "tokens", "passes") if dose.texts else ():
            mean = float(np.mean([read[name] for read in own]))
            rows.append(Measurement(f"pretraining.{name}", mean, len(own), tags=dose.tags))
        for of in (DOMAIN, CONTROL):
            losses = [read["losses"][of] for read in own]
            mean = float(np.mean([loss["value"] for loss in losses]))
            rows.append(Measurement("masked_loss", mean, losses[0]["tokens"], tags=dose.tags | {"held_out": of}))
    return rows


def _head_finding(before: Mapping[str, Any]) -> Finding:
    """Whether the head was trained before."""
    best, guessing = min(loss["value"] for loss in before["losses"].values()), before["guessing"]
    message = f"As it comes, its masked-LM loss is {number(best)}; that of guessing is {number(guessing)}."
    if best < GUESSING * guessing:
        return Finding("head", "ok", message)
    advice = "Its head has hardly been trained: a gain may come from learning any language at all, not the domain's."
    return Finding("head", "warn", message, advice=advice)


def _passes_finding(domain: Mapping[str, Any], control: Mapping[str, Any]) -> Finding:
    """Whether the texts of the control had to be read more often than those of the domain."""
    often = [number(read["passes"], 1) for read in (domain, control)]
    message = f"Domain texts were read {often[0]} times, those of the control {often[1]} times."
    if control["passes"] <= MORE_OFTEN * domain["passes"]:
        return Finding("passes", "ok", message)
    advice = "The control corpus is too small for as many tokens of different texts: name a larger one."
    return Finding("passes", "warn", message, advice=advice)
