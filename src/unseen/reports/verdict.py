"""The verdict of a run in plain sentences, for the page and for the command line: hard, mislabelled, or new."""

from __future__ import annotations

from collections.abc import Iterator

from unseen.analysis import largest_changes
from unseen.audits.hardness import NEAR, SINGLES
from unseen.evaluation.wording import amount_within, called, capital, higher_is_better
from unseen.reports.actions import actions
from unseen.reports.behaviour import behaviours, headline, kinds_of_failure
from unseen.reports.case import VISIBLE, Case, cases, chance, hardest_split, newest
from unseen.reports.page import Verdict
from unseen.reports.record import BASELINE, RunRecord, SplitFile
from unseen.reports.review_section import review_sentences
from unseen.types.numbers import bounds, number, percent, scored, turned

NOTHING = "No verdict: there are no two scores to compare."
BADGES = {"ok": "holds", "warn": "look closer", "fail": "falls"}
MOST_CHANGES = 3
HARDLY = 0.05
"""Where being unseen costs less than this even at the end of its interval, it costs hardly anything."""
SHAKY = 0.5
"""A split that keeps less of its test part than this when its space is made again is one of many."""
CAUSES = {
    "mislabelled": "most of that is wrong labels",
    "new": "most of that is because texts like these were not in training",
    "hard": "not because its texts are unseen, but because they are hard, ambiguous or mislabelled wherever they are",
    "mixed": "partly because texts like these were not in training, partly because they are hard anyway",
    "unclear": "whether that is because texts like these were not in training or because they are hard is open",
    "unknown": "how much of it comes from being unseen was not measured",
}


def verdict(run: RunRecord) -> Verdict:
    """Headline, sentences, level and actions; says so where numbers are missing or mislead."""
    falls, behaved = cases(run), list(_behaved(run))
    if not falls:
        return Verdict(NOTHING, [_nothing(run), *behaved], "warn", badge=BADGES["warn"])
    worst, level = falls[0], _level(falls[0])
    sentences = [capital(sentence) for sentence in (*_sentences(run, worst), *_impossible(run))]
    return Verdict(_headline(run, worst), sentences + behaved, level, actions(run), BADGES[level])


def _behaved(run: RunRecord) -> Iterator[str]:
    """What the model passes of each suite, and what kind of failure it shows."""
    for of in behaviours(run.measurements):
        yield " ".join([*(headline(of, model) for model in of.models), *kinds_of_failure(of)])


def _nothing(run: RunRecord) -> str:
    random = run.score(BASELINE)
    if random is None:
        return f"No {called(run.metric)} on a random split was measured, so there is nothing to compare with."
    return f"On a random split {called(run.metric)} is {scored(random)}; no other split was measured."


def _impossible(run: RunRecord) -> Iterator[str]:
    """The splits that this data does not allow."""
    for family, why in dict(run.about.get("impossible") or {}).items():
        yield f"“{family}” could not be made: {str(why).splitlines()[0]}."


def _level(case: Case) -> str:
    if not case.fell:
        return "warn" if case.open else "ok"
    if case.broken or case.seeds < 2:
        return "warn"
    return "fail" if case.drop > case.limit else "warn"


def _headline(run: RunRecord, worst: Case) -> str:
    """What to expect: on texts like those of training, on kinds that were not there, on the hardest."""
    guessing = chance(run, worst.family)
    if guessing is not None and not _better(run.metric, worst.random.value, guessing):
        beside = (
            f"{called(run.metric)} is {number(worst.random.value)} on random splits, {number(guessing)} by guessing"
        )
        return f"The model has not learnt the task: {beside}."
    expect = [f"Expect {called(run.metric)} of about {number(worst.random.value)} on texts like those it learnt from"]
    new = newest(run)
    if new is not None:
        expect.append(_expected_of_new(new))
    if worst.fell and (new is None or not new.is_new or new.family != worst.family):
        expect.append(f"{number(worst.hard.value)} on the {worst.place}")
    if len(expect) == 1:
        if worst.open:
            return f"{expect[0]}; whether any split is harder cannot be told."
        return f"{expect[0]}; no split was clearly harder than a random one."
    return f"{', '.join(expect[:-1])}, and {expect[-1]}."


def _expected_of_new(case: Case) -> str:
    if case.is_new:
        return f"{number(case.hard.value)} on kinds of text it has not seen (“{case.family}”)"
    most = max((other.novelty.high or 0.0 for other in cases(case.run) if other.novelty is not None), default=0.0)
    if case.seeds > 1 and most <= HARDLY:
        return "hardly less on kinds of text it has not seen"
    return "perhaps less on kinds of text it has not seen"


def _sentences(run: RunRecord, worst: Case) -> Iterator[str]:
    yield _compared(worst)
    yield from _parts(worst)
    new = newest(run)
    if new is not None and new.family != worst.family:
        yield _new(new)
    yield from _below_chance(worst)
    yield from _noise(worst)
    yield from review_sentences(worst)
    yield from _composed(worst)
    if worst.fell:
        yield from _independent(worst)
    yield from _certainty(worst)
    if worst.fell:
        changes = [change.rstrip(". ") for change in changes_of(run, hardest_split(worst), MOST_CHANGES)]
        if changes:
            yield f"What is different there: {'; '.join(changes)}."


def _compared(case: Case) -> str:
    """The score of the hardest family, its fall, and what that mostly is."""
    metric, higher = case.run.metric, higher_is_better(case.run.metric)
    begin = f"on the {case.place} {called(metric)} is {scored(case.hard)}, on random splits {scored(case.random)}"
    change = amount_within(metric, case.fall)
    if case.open:
        return f"{begin}. No conclusion: there may be no fall or a large one, {change}."
    if case.fell:
        missing = "" if case.fall.low is not None else " (no interval was computed)"
        why = "but that split teaches too little to say why" if case.broken else CAUSES[case.cause]
        return f"{begin}: a {'fall' if higher else 'rise'} of {change}{missing}; {why}."
    if case.certain is False and case.drop > 0:
        return f"{begin}: {change} {'lower' if higher else 'higher'}, which may be chance."
    if case.certain is not False and case.drop <= -VISIBLE:
        missing = "" if case.certain else " (no interval was computed)"
        return f"{begin}: {amount_within(metric, turned(case.fall))} better{missing}; nothing here is harder."
    return f"{begin}: no difference that is more than chance."


def _parts(case: Case) -> Iterator[str]:
    """The fall as a sum of selection and novelty."""
    if not case.fell or case.seen is None or case.selection is None or case.novelty is None:
        return
    metric = case.run.metric
    selection, novelty = amount_within(metric, case.selection), amount_within(metric, case.novelty)
    hard = (
        f"So {selection} of the fall are selection: texts like these are hard even then."
        if (case.selection.value or 0.0) > 0
        else f"So nothing of the fall is selection ({selection}): texts like these are then not harder than others."
    )
    new = (
        f"{novelty} are novelty: what being unseen costs."
        if (case.novelty.value or 0.0) > 0
        else f"Nothing of it is novelty ({novelty}): being unseen costs them nothing."
    )
    yield f"The same texts reach {scored(case.seen)} when the rest of their region is in training. {hard} {new}"


def _new(case: Case) -> str:
    """What being unseen costs where it costs most."""
    metric, novelty = case.run.metric, case.novelty
    assert novelty is not None
    seen = "" if case.seen is None else f": {number(case.seen.value)} seen, {number(case.hard.value)} unseen"
    if case.is_new:
        return f"Being unseen costs most on “{case.family}”, {amount_within(metric, novelty)}{seen}."
    nothing = "No split shows clearly that being unseen costs anything."
    if (novelty.value or 0.0) <= 0:
        return nothing
    most = amount_within(metric, novelty)
    return f"{nothing} The largest estimate is {most}, on “{case.family}”, and it may be chance."


def _noise(case: Case) -> Iterator[str]:
    """How many labels are wrong there, or that it cannot be told."""
    noise, usual, suspects = case.noise, case.usual_noise, case.suspects
    if noise is None:
        if suspects is not None and suspects.value:
            yield (
                f"How many of its labels are wrong cannot be told from the data: classes are too ambiguous "
                f"({percent(suspects.value)} of the labels are suspect). People have to read them."
            )
        return
    beside = "" if usual is None else f" ({percent(usual.value)} in random test parts)"
    begin = f"about {percent(noise.value)} {bounds(noise, percent)} of its labels are wrong{beside}"
    if not case.is_noisier or case.corrected is None or case.corrected.value is None or not case.fell:
        yield f"{begin}."
        return
    left = amount_within(case.run.metric, case.corrected)
    fall = f"the fall is {left}" if case.corrected.value > 0 else f"there is no fall ({left})"
    yield f"{begin}. Among right labels alone {fall}."


def _better(metric: str, value: float | None, other: float) -> bool:
    """Whether a score is at least as good as another."""
    return value is not None and (value >= other if higher_is_better(metric) else value <= other)


def _below_chance(case: Case) -> Iterator[str]:
    guessing, metric = chance(case.run, case.family), case.run.metric
    if guessing is None or _better(metric, case.hard.value, guessing):
        return
    if not _better(metric, case.random.value, guessing):
        yield (
            "Random splits are no better than guessing either: too few texts, too short a training, or labels that "
            "the texts do not tell."
        )
        return
    best = case.hard.high if higher_is_better(metric) else case.hard.low
    compared = "no better than" if best is not None and _better(metric, best, guessing) else "worse than"
    labels = case.noise is None or case.is_noisier
    why = "look at the labels before anything else" if labels else "there texts of one class look like another"
    yield f"On the {case.place} it is {compared} guessing by the class mix ({number(guessing)}): {why}."


def _composed(case: Case) -> Iterator[str]:
    """How the texts that were added singly do, when they are many: they were picked one by one for their class."""
    whole, single = (
        case.run.score(case.family, "test", "accuracy", f"test part={kind}")
        for kind in ("whole clusters", "added singly")
    )
    if whole is None or single is None or single.n <= SINGLES * (whole.n + single.n):
        return
    yield (
        f"{percent(single.n / (whole.n + single.n))} of that test part was added text by text, to keep size and class "
        f"mix: accuracy is {number(single.value)} there and {number(whole.value)} in the whole clusters."
    )


def _independent(case: Case) -> Iterator[str]:
    ours, theirs = (case.run.score(family, "independent") for family in (case.family, BASELINE))
    if ours is None or theirs is None or case.lost is None:
        yield "Whether the task was learnt from that split is open: there are no two scores on independent data."
        return
    beside = f"{number(ours.value)} on independent data, {number(theirs.value)} when trained on a random split"
    if case.lost <= NEAR:
        yield f"The task was learnt from that split: {beside}."
    elif not case.broken:
        yield f"A part of the fall is that less was learnt from that split: {beside}."
    else:
        yield (
            f"Trained on that split it is worse on independent data as well: {beside}. The split is broken or leaves "
            "too little data; do not read its fall as a blind spot of the model."
        )


def _certainty(case: Case) -> Iterator[str]:
    """How sure all this is."""
    runs = {family: len(case.run.single(family)) for family in (BASELINE, case.family)}
    lonely = [f"“{family}”" for family, count in runs.items() if count == 1]
    if lonely:
        yield (
            f"There is one training only on {' and on '.join(lonely)}: the intervals do not know how much another seed "
            "would change, so nothing here is certain."
        )
    elif case.families > 1 and case.fell:
        yield (
            f"Intervals of the falls allow for {runs[case.family]} seeds and for taking the worst of {case.families} "
            "splits."
        )
    overlap = case.overlap
    if overlap is not None and overlap.value is not None and overlap.value < SHAKY:
        by_chance = case.run.measured("test_overlap.space_seeds.chance", case.family)
        beside = "" if by_chance is None else f" (a random split {percent(by_chance.value)})"
        yield (
            f"“{case.family}” is one of many such splits: made again with another seed of the latent space it shares "
            f"{percent(overlap.value)} of its test texts{beside}."
        )


def changes_of(run: RunRecord, split: SplitFile, most: int) -> list[str]:
    """Sentences about the properties of a split that differ most from those of the random splits."""
    baselines = [random.name for random in run.of_family(BASELINE)]
    return [random.sentence for random in largest_changes(run.properties, split.name, baselines)][:most]
