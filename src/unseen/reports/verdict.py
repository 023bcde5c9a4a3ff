"""The verdict of a run in plain sentences, for the page and for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from unseen.analysis import largest_changes
from unseen.audits.hardness import NEAR, NOTABLE, SINGLES, TIMES
from unseen.reports.case import Case, chance, hardest, hardest_split
from unseen.reports.run import BASELINE, Run, SplitCard
from unseen.reports.wording import amount, bounds, called, capital, higher_is_better, in_points, number, percent, points
from unseen.reports.wording import scored as said
from unseen.types import Measurement

MOST_CHANGES = 3


@dataclass(frozen=True)
class Verdict:
    """What a run says, the headline first."""

    headline: str
    sentences: list[str]
    level: str
    """ok: no fall that is more than chance; warn: a fall, or no conclusion; fail: a fall above the limit."""

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.sentences])


def verdict(run: Run) -> Verdict:
    """Headline, sentences and level; says so where numbers are missing or mislead."""
    case = hardest(run)
    if case is None:
        return _nothing(run)
    return Verdict(_headline(case), [capital(each) for each in _sentences(case)], _level(case))


def _nothing(run: Run) -> Verdict:
    random = run.score(BASELINE)
    why = (
        f"No {called(run.metric)} on a random split was measured, so there is nothing to compare with."
        if random is None
        else f"On a random split {called(run.metric)} is {said(random)}; no other split was measured."
    )
    return Verdict("No verdict: there are no two scores to compare.", [why], "warn")


def _level(case: Case) -> str:
    if not case.fell:
        return "warn" if case.open else "ok"
    if case.broken:
        return "warn"
    return "fail" if case.drop > case.limit else "warn"


def _headline(case: Case) -> str:
    name = capital(called(case.run.metric))
    if case.open:
        return f"No conclusion: on the {case.place} there may be no fall or a large one."
    if not case.fell and case.drop > 0:
        return f"No certain fall: on the {case.place} {called(case.run.metric)} is worse by no more than chance."
    if not case.fell:
        return f"No fall: on the {case.place} {called(case.run.metric)} is as good as on a random split."
    falls = "falls" if higher_is_better(case.run.metric) else "rises"
    change = amount(case.run.metric, case.drop)
    if case.broken:
        return f"{name} {falls} by {change}, but the split “{case.family}” teaches too little to say why."
    return f"{name} {falls} by {change} on the {case.place}."


def _sentences(case: Case) -> Iterator[str]:
    yield f"On a random split {called(case.run.metric)} is {said(case.random)}."
    yield _compared(case)
    yield from _few_runs(case)
    yield from _below_chance(case)
    yield from _composed(case)
    if case.fell:
        yield _independent(case)
    yield from _conflicts(case)
    if case.fell:
        changes = [each.rstrip(". ") for each in differences(case)]
        if changes:
            yield f"What is different: {'; '.join(changes)}."


def _compared(case: Case) -> str:
    metric, higher = case.run.metric, higher_is_better(case.run.metric)
    begin = f"on the {case.place} it is {said(case.hard)}"
    interval = bounds(case.fall, points if in_points(metric) else number)
    change = " ".join(filter(None, [amount(metric, abs(case.drop)), interval]))
    if case.fell:
        missing = "" if case.fall.low is not None else " (no interval was computed)"
        return f"{begin}: a {'fall' if higher else 'rise'} of {change}{missing}."
    if case.certain is False and case.drop > 0:
        return f"{begin}: {change} {'lower' if higher else 'higher'}, which may be chance: the interval includes zero."
    if case.certain and case.drop < 0:
        flipped = replace(case.fall, low=-(case.fall.high or 0.0), high=-(case.fall.low or 0.0))
        gain = f"{amount(metric, -case.drop)} {bounds(flipped, points if in_points(metric) else number)}"
        return f"{begin}: {gain} better, so nothing in this run is harder than chance makes it."
    return f"{begin}: no difference that is more than chance."


def _few_runs(case: Case) -> Iterator[str]:
    runs = {family: len(case.run.single(family)) for family in (BASELINE, case.family)}
    lonely = [f"“{family}”" for family, count in runs.items() if count == 1]
    if lonely:
        yield (
            f"There is one training run only on {' and on '.join(lonely)}: the luck of training is in no interval. "
            "More seeds would show it."
        )


def _better(metric: str, value: float | None, other: float) -> bool:
    """Whether a score is at least as good as another."""
    return value is not None and (value >= other if higher_is_better(metric) else value <= other)


def _below_chance(case: Case) -> Iterator[str]:
    guessing, metric = chance(case.run, case.family), case.run.metric
    if guessing is None or _better(metric, case.hard.value, guessing):
        return
    best = case.hard.high if higher_is_better(metric) else case.hard.low
    how = "no better than" if best is not None and _better(metric, best, guessing) else "worse than"
    begin = f"That is {how} guessing by the class mix ({number(guessing)})."
    conflict, rest = _conflict(case), _rest(case)
    if conflict is None:
        yield f"{begin} Whether labels contradict their neighbourhood was not measured: look at the labels first."
    elif rest is not None and _better(metric, rest.value, guessing):
        yield f"{begin} Labels that contradict their neighbourhood ({percent(conflict)}) explain it."
    else:
        yield (
            f"{begin} Labels that contradict their neighbourhood ({percent(conflict)}) do not explain it: look for a "
            "fault of the labels or of the test part."
        )


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


def _independent(case: Case) -> str:
    ours, theirs = (case.run.score(each, "independent") for each in (case.family, BASELINE))
    if ours is None:
        return "Nothing was measured on independent data, so it is open whether the task was learnt from that split."
    if theirs is None or case.lost is None:
        return (
            f"Trained on that split it reaches {number(ours.value)} on independent data; there is no such score of a "
            "random split to compare with."
        )
    beside = f"{number(theirs.value)} when trained on a random split"
    if case.lost <= NEAR:
        return (
            f"Trained on that split it still reaches {number(ours.value)} on independent data ({beside}), so the task "
            "was learnt; the hard part is different, not missing."
        )
    if not case.broken:
        return (
            f"Trained on that split it reaches {number(ours.value)} on independent data, against {beside}: a part of "
            "the fall is that less was learnt, the rest is that the hard part is different."
        )
    return (
        f"Trained on that split it is worse on independent data as well, {number(ours.value)} instead of "
        f"{number(theirs.value)}: the training part does not teach the task. The split is broken or leaves too little "
        "data; do not read its fall as a blind spot of the model."
    )


def _conflict(case: Case) -> float | None:
    found = case.run.found("label_conflict", case.family)
    return None if found is None else found.value


def _rest(case: Case) -> Measurement | None:
    return case.run.found(f"{case.run.metric}.without_conflict", case.family)


def _conflicts(case: Case) -> Iterator[str]:
    """Label conflict where it is frequent, and more so than in random splits, with the score on the rest."""
    conflict, usual = _conflict(case), case.run.found("label_conflict.control", case.family)
    expected = 0.0 if usual is None else usual.value or 0.0
    if not case.fell or conflict is None or conflict <= max(NOTABLE, TIMES * expected):
        return
    beside = "" if usual is None else f" ({percent(usual.value)} on a random split)"
    said_so = (
        f"The labels of {percent(conflict)} of its test texts{beside} contradict both their nearest training texts and "
        "cross-validated predictions: a part of the fall is label noise or ambiguity."
    )
    rest, usual_rest = _rest(case), case.run.found(f"{case.run.metric}.without_conflict.control", case.family)
    if rest is not None:
        beside = "" if usual_rest is None else f" (random split: {number(usual_rest.value)})"
        said_so += f" On the rest {called(case.run.metric)} is {said(rest)}{beside}."
    yield said_so


def differences(case: Case, most: int = MOST_CHANGES) -> list[str]:
    """How the hardest split differs from random ones, the largest change first."""
    return changes_of(case.run, hardest_split(case), most)


def changes_of(run: Run, split: SplitCard, most: int) -> list[str]:
    """Sentences about the properties of a split that differ most from those of the random splits."""
    baselines = [each.name for each in run.of_family(BASELINE)]
    return [each.sentence for each in largest_changes(run.properties, split.name, baselines)][:most]
