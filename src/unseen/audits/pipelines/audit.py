"""The audit of a pipeline: which experiments its shape allows, and what they found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unseen.audits.audit import Audit
from unseen.audits.findings import Judgement
from unseen.audits.pipelines.bench import Bench, skipped
from unseen.audits.pipelines.experiments import (
    SHUFFLES,
    both_sides,
    captured,
    exchanged_labels,
    fewer_rows,
    fitted,
    nonsense_texts,
    planted,
    refit,
    repeatable,
    shuffled,
    vocabulary,
)
from unseen.audits.pipelines.pipeline import Pipeline, open_pipeline, shape_of
from unseen.errors import InputError
from unseen.progress import track
from unseen.registry import require_known
from unseen.types import Dataset, Split

FEWEST_PLANTED = 20


@dataclass(frozen=True)
class PipelineExperiment:
    """One experiment: what does it, how many runs of the pipeline it costs, and which shapes it can be made on."""

    do: Callable[[Bench], Judgement]
    runs: int
    shapes: tuple[str, ...]


ONLY_TRAINING = "it is given the training rows alone, so nothing that is done to the test rows can reach it"
EXPERIMENTS = {
    "repeatable": PipelineExperiment(repeatable, 2, ("recipe", "protocol", "own split", "estimator")),
    "test_labels": PipelineExperiment(exchanged_labels, 1, ("protocol", "own split")),
    "test_texts": PipelineExperiment(nonsense_texts, 1, ("protocol", "own split")),
    "fewer_rows": PipelineExperiment(fewer_rows, 1, ("protocol",)),
    "planted": PipelineExperiment(planted, 1, ("protocol", "own split")),
    "rows_on_both_sides": PipelineExperiment(both_sides, 0, ("own split",)),
    "vocabulary": PipelineExperiment(vocabulary, 0, ("recipe", "protocol", "estimator")),
    "captured_data": PipelineExperiment(captured, 0, ("recipe",)),
    "refit": PipelineExperiment(refit, 4, ("estimator",)),
    "shuffled_training_labels": PipelineExperiment(shuffled, SHUFFLES, ("recipe", "estimator")),
}


def audit_pipeline(
    fit: Any,
    data: Dataset,
    split: Split | None = None,
    *,
    experiments: Sequence[str] | None = None,
    shape: str | None = None,
    seed: int = 42,
    planted: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Audit:
    """Find out by experiment whether `fit` learns from test rows.

    `fit` is one of: `fit(data, split, seed)` or `fit(data, folds, seed)`, which answers about all rows or the test
    rows; `fit(data, seed=…)`, which makes its own split and returns (rows tested, scores); `fit(train, dev, seed)`
    or a recipe; a scikit-learn estimator from texts to labels, fitted or not; or the name, place or file of one of
    these (`open_pipeline`). `shape` says which where its parameter names do not; `settings` are handed to it. `planted`
    is the number of nonsense texts that are planted, by default as many as it takes. `planned_runs` tells how often
    the pipeline will be run.

    A failed finding is a proof: the pipeline noticed what it could not have noticed. A passed audit is none: a leak
    that moves no answer, or that was baked into the data before, is not seen. A pipeline that is not repeatable
    hides small leaks, and its findings say so.
    """
    pipeline, chosen = prepared(
        fit, data, split, experiments=experiments, shape=shape, planted=planted, settings=settings
    )
    as_it_came = Bench(pipeline, data, None if split is None else split.of(data), seed, planted)
    bench = replace(as_it_came, pipeline=_fitting_copies(pipeline)) if pipeline.shape == "estimator" else as_it_came
    bench.baseline  # noqa: B018  a pipeline that cannot be run at all is an error, not a finding
    judgements = []
    if pipeline.shape in ("recipe", "estimator") and not experiments:
        judgements.append(skipped("test_rows", ONLY_TRAINING))
    for name in track(chosen, "pipeline audit", len(chosen)):
        try:
            judgements.append(EXPERIMENTS[name].do(as_it_came if name == "refit" else bench))
        except InputError as cause:
            why = f"the pipeline could not be run on the changed data: {cause.message}"
            judgements.append(skipped(name, why))
    findings = tuple(finding for _, finding in judgements)
    return Audit(findings, tuple(row for rows, _ in judgements for row in rows))


def prepared(
    fit: Any,
    data: Dataset,
    split: Split | None,
    *,
    experiments: Sequence[str] | None = None,
    shape: str | None = None,
    planted: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Pipeline, list[str]]:
    """The pipeline that would be audited, and by which experiments; refuses what cannot be audited, runs nothing."""
    pipeline = Pipeline.of(open_pipeline(fit), shape, settings)
    chosen = _chosen(experiments, pipeline.shape)
    _refuse(pipeline, data, split, planted)
    return pipeline, chosen


def planned_runs(fit: Any, experiments: Sequence[str] | None = None, shape: str | None = None) -> dict[str, int]:
    """Runs of the pipeline per experiment, before any is made; two more where equal runs differ."""
    fit = open_pipeline(fit)
    runs = {name: EXPERIMENTS[name].runs for name in _chosen(experiments, shape_of(fit, shape))}
    if "refit" in runs and getattr(fit, "classes_", None) is None:
        runs["refit"] = 0
    return runs


def _fitting_copies(pipeline: Pipeline) -> Pipeline:
    """A scikit-learn estimator as a function that fits a copy of it on the training rows."""
    estimator = pipeline.fit

    def refitted(data: Dataset, split: Split, seed: int) -> Any:
        return fitted(estimator, data, split.rows("train", "dev"), seed)

    return replace(pipeline, fit=refitted, shape="protocol")


def _chosen(experiments: Sequence[str] | None, shape: str) -> list[str]:
    """The experiments to make, all that the shape allows by default."""
    possible = [name for name, experiment in EXPERIMENTS.items() if shape in experiment.shapes]
    require_known("experiment", EXPERIMENTS, *(experiments or ()))
    vain = [name for name in experiments or () if name not in possible]
    if vain:
        expected = f"some of {', '.join(possible)}"
        raise InputError(f"{', '.join(vain)} cannot be tried on a pipeline of the shape {shape!r}", expected=expected)
    return possible if experiments is None else list(dict.fromkeys(experiments))


def _refuse(pipeline: Pipeline, data: Dataset, split: Split | None, planted: int | None) -> None:
    problems = []
    if pipeline.shape == "own split" and split is not None:
        problems.append("a split has no effect on a pipeline that makes its own")
    if pipeline.shape != "own split" and split is None:
        problems.append(f"a pipeline of the shape {pipeline.shape!r} needs a split")
    if planted is not None and planted < FEWEST_PLANTED:
        problems.append(f"planted must be at least {FEWEST_PLANTED}, not {planted!r}")
    if len([name for name, count in data.label_counts.items() if count]) < 2:
        problems.append(f"{data.name} holds a single label")
    if split is not None and not len(split.rows("test")):
        problems.append(f"the split {split.name!r} has no test rows")
    if problems:
        raise InputError("the pipeline cannot be audited", problems=problems)
